"""Bootstrap: the one place where adapters meet use cases. Reads settings and rule files and wires them."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from rearview.adapters import process
from rearview.adapters.clock import SystemClock
from rearview.domain.admission import compile_admission
from rearview.domain.claims import compile_slots
from rearview.domain.extraction import compile_extraction
from rearview.errors import Unavailable
from rearview.ports import Clock, Embedder, LanguageModel, Reranker, WriteQueue
from rearview.settings import Settings
from rearview.usecases.app import Rearview, assemble
from rearview.usecases.services import Rules, Services


@dataclass(frozen=True, slots=True)
class Runtime:
    """The use cases and what the process has to care for: the queue it may work off, and how to close it all.

    ``doze(seconds)`` sleeps until there is something to receive, at most so long; ``wake()`` ends it.
    """

    app: Rearview
    queue: WriteQueue
    settings: Settings
    close: Callable[[], None]
    doze: Callable[[float], object] = time.sleep
    wake: Callable[[], None] = lambda: None


@cache
def load_rules() -> Rules:
    """The rule files of the package, compiled once per process: they never change."""

    def table(*names: str) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for name in names:
            merged |= tomllib.loads(
                (resources.files("rearview") / "rules" / f"{name}.toml").read_text("utf-8")
            )
        return merged

    return Rules(
        admission=compile_admission(table("admission")),
        extraction=compile_extraction(table("extraction")),
        slots=compile_slots(table("slots", "negation", "concepts")),
    )


def make_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name; its model is loaded at first use."""
    embedder = _embedder(settings)
    if settings.fault_mark:
        from rearview.adapters.models.faulty import FaultyEmbedder

        return FaultyEmbedder(embedder, settings.fault_mark)
    return embedder


def _embedder(settings: Settings) -> Embedder:
    if settings.embedder == "hashing":
        from rearview.adapters.models.hashing import HashingEmbedder

        return HashingEmbedder()
    if settings.embedder == "openai":
        from rearview.adapters.models.openai_compatible import OpenAICompatibleEmbedder

        return OpenAICompatibleEmbedder(
            settings.embedder_url,
            settings.embedder_model,
            dims=settings.embedder_dims,
            query_prefix=settings.embedder_query_prefix,
            passage_prefix=settings.embedder_passage_prefix,
        )
    if settings.embedder == "bedrock":
        return _bedrock_embedder(settings)
    from rearview.adapters.models.e5 import E5Embedder

    return E5Embedder()


def make_text_model(settings: Settings) -> LanguageModel | None:
    """The language model that the settings name; None: all is done without one."""
    if not settings.text_model:
        return None
    try:
        from rearview.adapters.aws import clients
        from rearview.adapters.aws.bedrock_text import BedrockLanguageModel
    except ImportError as error:
        raise Unavailable(f"a text model needs boto3, which is not installed: {error}") from None
    return BedrockLanguageModel(clients.bedrock(region=settings.bedrock_region or None), settings.text_model)


def make_reranker(settings: Settings) -> Reranker | None:
    """The reranker that the settings name; None: hits stand as they are ranked."""
    if not settings.reranker_model:
        return None
    try:
        from rearview.adapters.aws import clients
        from rearview.adapters.aws.bedrock_rerank import BedrockReranker
    except ImportError as error:
        raise Unavailable(f"a reranker needs boto3, which is not installed: {error}") from None
    client = clients.bedrock("bedrock-agent-runtime", region=settings.bedrock_region or None, asked=True)
    return BedrockReranker(client, settings.reranker_model)


def _bedrock_embedder(settings: Settings) -> Embedder:
    try:
        from rearview.adapters.aws import clients
        from rearview.adapters.aws.bedrock import BedrockEmbedder
    except ImportError as error:
        raise Unavailable(f"embedder 'bedrock' needs boto3, which is not installed: {error}") from None
    region = settings.bedrock_region or None
    return BedrockEmbedder(
        clients.bedrock(region=region, asked=True),
        settings.bedrock_model,
        dims=settings.bedrock_dims,
        profile=settings.bedrock_profile,
        patient=lambda: clients.bedrock(region=region),
    )


def embedded(settings: Settings, *, embedder: Embedder | None = None, clock: Clock | None = None) -> Runtime:
    """Everything over one folder, in this process. Others may open the same folder at the same time."""
    from rearview.adapters.embedded.archive import FOLDER, FolderArchive
    from rearview.adapters.embedded.database import Database
    from rearview.adapters.embedded.index import SqliteIndex
    from rearview.adapters.embedded.queue import SqliteQueue
    from rearview.adapters.embedded.store import SqliteStore

    database = Database(settings.data)
    embedder = embedder or make_embedder(settings)
    clock = clock or SystemClock()
    store = SqliteStore(database)
    queue = SqliteQueue(database, SystemClock())
    services = Services(
        store=store,
        index=SqliteIndex(database, embedder.fingerprint),
        queue=queue,
        archive=FolderArchive(settings.data / FOLDER),
        embedder=embedder,
        clock=clock,
        rules=load_rules(),
        owner=process.owner(),
        alive=process.alive,
        conflict_policy=settings.conflict_policy,
        wait_seconds=settings.wait_seconds,
        maintenance_hour=settings.maintenance_hour,
        language_model=make_text_model(settings),
        reranker=make_reranker(settings),
    )
    app = assemble(services)

    def close() -> None:
        app.touches.flush()
        database.close()

    return Runtime(app, queue, settings, close, doze=queue.wait, wake=queue.wake)


@contextmanager
def opened(
    settings: Settings, *, embedder: Embedder | None = None, clock: Clock | None = None
) -> Iterator[Runtime]:
    """:func:`embedded`, closed at the end."""
    runtime = embedded(settings, embedder=embedder, clock=clock)
    try:
        yield runtime
    finally:
        runtime.close()
