"""The clock, the queue, the archive and the models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rearview.ports.index import Vectors


class Clock(Protocol):
    """Where the time comes from; tests and evaluations bring their own."""

    def now(self) -> datetime:
        """Aware UTC, microseconds."""
        ...


@dataclass(frozen=True, slots=True)
class Message:
    """A delivery. ``receipt`` acknowledges it; ``attempts`` counts deliveries, this one included."""

    id: str
    group: str
    body: Mapping[str, Any]
    receipt: str
    attempts: int


class WriteQueue(Protocol):
    """FIFO per group; at-least-once. A message is a doorbell, never the work itself."""

    def send(self, group: str, deduplication_id: str, body: Mapping[str, Any]) -> None:
        """Enqueues; a repeat of (group, deduplication_id) within five minutes is accepted and not enqueued again."""
        ...

    def receive(self, limit: int = 10, *, visibility_seconds: float = 60.0) -> list[Message]:
        """Up to ``limit`` messages. While one of a group is out, later ones of the group wait."""
        ...

    def acknowledge(self, message: Message) -> None:
        """Done with it. A stale receipt is ignored."""
        ...

    def release(self, message: Message, *, delay_seconds: float = 0.0) -> None:
        """Gives it back; after five deliveries it goes to the dead letters."""
        ...

    def depth(self) -> tuple[int, int]:
        """(waiting or out, dead letters)."""
        ...


class Archive(Protocol):
    """Objects by key, for what leaves the hot store."""

    def put(self, key: str, body: bytes) -> None: ...

    def get(self, key: str) -> bytes | None: ...

    def delete(self, key: str) -> None: ...

    def keys(self, prefix: str) -> Iterable[str]: ...


class Embedder(Protocol):
    """Text to L2-normalised float32 vectors, (n, dims). ``fingerprint`` changes whenever vectors would."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def dims(self) -> int: ...

    @property
    def max_weight(self) -> int:
        """Chunk budget in the unit of :func:`rearview.domain.chunks.chunk`."""
        ...

    @property
    def noise(self) -> tuple[float, float] | None:
        """Mean and standard deviation of this model's cosines between unrelated texts; None if not measured."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors: ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors: ...


class Reranker(Protocol):
    """Relevance of documents to a query, 0-1, in the order given."""

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]: ...


class LanguageModel(Protocol):
    """Text in, JSON out, kept to a schema; raises Unavailable when it cannot."""

    def complete(
        self, prompt: str, schema: Mapping[str, Any], *, max_tokens: int = 512
    ) -> Mapping[str, Any]: ...
