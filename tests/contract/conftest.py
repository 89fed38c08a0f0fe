"""The adapters under contract. A new one joins the suite by an entry in these tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

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


OpenIndex = Callable[[str], VectorIndex]

STORES: dict[str, Callable[[Path, ExitStack], MemoryStore]] = {
    "sqlite": lambda folder, stack: SqliteStore(stack.enter_context(Database(folder))),
}
INDEXES: dict[str, Callable[[Path, ExitStack, str], VectorIndex]] = {
    "sqlite": lambda folder, stack, fingerprint: SqliteIndex(
        stack.enter_context(Database(folder)), fingerprint
    ),
}
QUEUES: dict[str, Callable[[Path, ExitStack, SetClock], WriteQueue]] = {
    "sqlite": lambda folder, stack, clock: SqliteQueue(stack.enter_context(Database(folder)), clock),
}
ARCHIVES: dict[str, Callable[[Path, ExitStack], Archive]] = {
    "folder": lambda folder, stack: FolderArchive(folder / "archive"),
}


@pytest.fixture
def resources() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path, resources: ExitStack) -> MemoryStore:
    return STORES[request.param](tmp_path, resources)


@pytest.fixture(params=INDEXES)
def open_index(request: pytest.FixtureRequest, tmp_path: Path, resources: ExitStack) -> OpenIndex:
    """Opens the same index as a service would whose embedding model has the fingerprint given."""
    return lambda fingerprint: INDEXES[request.param](tmp_path, resources, fingerprint)


@pytest.fixture
def index(open_index: OpenIndex) -> VectorIndex:
    return open_index("model-a")


@pytest.fixture(params=QUEUES)
def queue(
    request: pytest.FixtureRequest, tmp_path: Path, resources: ExitStack, clock: SetClock
) -> WriteQueue:
    return QUEUES[request.param](tmp_path, resources, clock)


@pytest.fixture(params=ARCHIVES)
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
