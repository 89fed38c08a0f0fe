"""The adapters under contract. A new one joins the suite by an entry in these tables.

Those that need stand-ins of AWS are marked ``aws`` and run by ``pytest -m aws tests/contract``, which starts the
stand-ins itself and leaves nothing running.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import opensearch_nodes
import pytest
from aws_services import SERVICES
from cluster_kit import Cluster

from rearview.adapters.embedded.archive import FolderArchive
from rearview.adapters.embedded.database import Database
from rearview.adapters.embedded.index import SqliteIndex
from rearview.adapters.embedded.queue import SqliteQueue
from rearview.adapters.embedded.store import SqliteStore
from rearview.domain.tokens import tokenise
from rearview.ports import Archive, IndexDocument, MemoryStore, VectorIndex, WriteQueue


class SetClock:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time

    def advance(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


class RealClock:
    """Time that passes by itself; the stand-ins of AWS know no other. Only short waits are worth it."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def advance(self, seconds: float) -> None:
        assert seconds <= 3, "a test that needs more must be given a clock that can be set"
        threading.Event().wait(seconds)


TestClock = SetClock | RealClock


def dynamodb_store(folder: Path, stack: ExitStack) -> MemoryStore:
    from rearview.adapters.aws.dynamodb import DynamoStore

    client = SERVICES.client("dynamodb")
    store = DynamoStore(client, SERVICES.table(client))
    stack.callback(store.close)
    return store


def sqs_queue(name: str) -> Callable[[Path, ExitStack, TestClock], WriteQueue]:
    def make(folder: Path, stack: ExitStack, clock: TestClock) -> WriteQueue:
        from rearview.adapters.aws.sqs import SqsQueue

        client = SERVICES.client("sqs", name)
        stack.callback(client.close)
        return SqsQueue(client, *SERVICES.queues(client))

    return make


def s3_archive(name: str) -> Callable[[Path, ExitStack], Archive]:
    def make(folder: Path, stack: ExitStack) -> Archive:
        from rearview.adapters.aws.s3 import S3Archive

        client = SERVICES.client("s3", name)
        stack.callback(client.close)
        return S3Archive(client, SERVICES.bucket(client), prefix="archive/")

    return make


def opensearch_index(version: str) -> Callable[[Path, ExitStack, str], VectorIndex]:
    aliases: dict[Path, str] = {}

    def make(folder: Path, stack: ExitStack, fingerprint: str) -> VectorIndex:
        from rearview.adapters.aws.opensearch import OpenSearchIndex
        from rearview.adapters.aws.opensearch_mapping import Options

        if folder not in aliases:
            aliases[folder] = opensearch_nodes.fresh_alias(version, stack)
        options = Options(alias=aliases[folder], search_seconds=30.0)
        return OpenSearchIndex(opensearch_nodes.client(version, stack), fingerprint, options)

    return make


OpenIndex = Callable[[str], VectorIndex]

STORES: dict[str, Callable[[Path, ExitStack], MemoryStore]] = {
    "sqlite": lambda folder, stack: SqliteStore(stack.enter_context(Database(folder))),
    "dynamodb": dynamodb_store,
}
INDEXES: dict[str, Callable[[Path, ExitStack, str], VectorIndex]] = {
    "sqlite": lambda folder, stack, fingerprint: SqliteIndex(
        stack.enter_context(Database(folder)), fingerprint
    ),
    **{f"opensearch-{version}": opensearch_index(version) for version in opensearch_nodes.VERSIONS},
}
QUEUES: dict[str, Callable[[Path, ExitStack, TestClock], WriteQueue]] = {
    "sqlite": lambda folder, stack, clock: SqliteQueue(stack.enter_context(Database(folder)), clock),
    "sqs-ministack": sqs_queue("ministack"),
    "sqs-localstack": sqs_queue("localstack"),
}
ARCHIVES: dict[str, Callable[[Path, ExitStack], Archive]] = {
    "folder": lambda folder, stack: FolderArchive(folder / "archive"),
    "s3-ministack": s3_archive("ministack"),
    "s3-localstack": s3_archive("localstack"),
}

#: What needs nothing but this process; all else is marked ``aws``.
AT_HOME = {"sqlite", "folder"}


def adapters(table: Iterable[str]) -> list[object]:
    return [name if name in AT_HOME else pytest.param(name, marks=pytest.mark.aws) for name in table]


@pytest.fixture(autouse=True, scope="session")
def _stand_ins_stop_with_the_session() -> Iterator[None]:
    yield
    SERVICES.stop()


@pytest.fixture
def resources() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def clock(request: pytest.FixtureRequest) -> TestClock:
    """One that can be set, unless the queue under test lives in real time."""
    chosen = (
        request.node.callspec.params.get("queue", "sqlite") if hasattr(request.node, "callspec") else "sqlite"
    )
    return SetClock() if chosen in AT_HOME else RealClock()


@pytest.fixture(params=adapters(STORES))
def store(request: pytest.FixtureRequest, tmp_path: Path, resources: ExitStack) -> MemoryStore:
    return STORES[request.param](tmp_path, resources)


@pytest.fixture(params=adapters(INDEXES))
def open_index(request: pytest.FixtureRequest, tmp_path: Path, resources: ExitStack) -> OpenIndex:
    """Opens the same index as a service would whose embedding model has the fingerprint given."""
    return lambda fingerprint: INDEXES[request.param](tmp_path, resources, fingerprint)


@pytest.fixture
def index(open_index: OpenIndex) -> VectorIndex:
    return open_index("model-a")


@pytest.fixture(params=opensearch_nodes.VERSIONS)
def cluster(request: pytest.FixtureRequest, resources: ExitStack) -> Cluster:
    return Cluster(request.param, resources)


#: Where a stand-in is not like what it stands for: (adapter, test) → how. The test must fail there, or this is stale.
GAPS = {
    ("sqs-localstack", "test_a_stale_receipt_is_ignored"): "LocalStack 4.14 deletes by a stale receipt too",
}


@pytest.fixture(autouse=True)
def _gaps_of_stand_ins(request: pytest.FixtureRequest) -> None:
    chosen = getattr(request.node, "callspec", None)
    for adapter in chosen.params.values() if chosen else ():
        why = GAPS.get((str(adapter), request.node.originalname))
        if why is not None:
            request.applymarker(pytest.mark.xfail(reason=why, strict=True))


@pytest.fixture(params=adapters(QUEUES))
def queue(
    request: pytest.FixtureRequest, tmp_path: Path, resources: ExitStack, clock: TestClock
) -> WriteQueue:
    return QUEUES[request.param](tmp_path, resources, clock)


@pytest.fixture(params=adapters(ARCHIVES))
def archive(request: pytest.FixtureRequest, tmp_path: Path, resources: ExitStack) -> Archive:
    return ARCHIVES[request.param](tmp_path, resources)


@pytest.fixture
def make_document() -> Callable[..., IndexDocument]:
    """``make_document(number, text, **fields)``: id by number, one second between them.

    ``vector``: a list of numbers, or a list of such lists, one a chunk; normalised here.
    """

    def make(number: int, text: str = "", *, vector: object = None, **fields: object) -> IndexDocument:
        vectors = None
        if vector is not None:
            vectors = np.atleast_2d(np.array(vector, np.float32))
            vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number)
        values: dict[str, object] = {
            "id": f"{number:026d}",
            "partition": "anna",
            "namespace": "shop",
            "record": "memory",
            "version": 1,
            "text": text,
            "terms": tokenise(text),
            "vectors": vectors,
            "status": "active",
            "memory_type": "long_term",
            "kind": "fact",
            "origin": "user",
            "audience": "user",
            "importance": 0.6,
            "created_at": moment,
            "valid_from": moment,
        }
        return IndexDocument(**{**values, **fields})  # type: ignore[arg-type]

    return make
