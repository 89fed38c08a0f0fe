"""The few protocols between the use cases and the world. Adapters implement them; bootstrap wires them.

The store speaks in items: a body (JSON types) under a :class:`~rearview.domain.keys.Key`. What the records mean is
the domain's affair, so an adapter is small and one contract suite covers all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from rearview.domain.codec import Body
from rearview.domain.keys import Key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

T = TypeVar("T")


class Clock(Protocol):
    """Where the time comes from; tests and evaluations bring their own."""

    def now(self) -> datetime:
        """Aware UTC, microseconds."""
        ...


# --- the store ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on one top-level field of a body.

    ``eq``/``in``: the field equals the value / one of the values (a missing field is None); ``has``: the field is a
    list that holds the value; ``le``/``ge``/``lt``/``gt``: compared as texts (times compare as texts do), false when
    missing; ``open_or_gt``: missing, None, or greater.
    """

    field: str
    op: Literal["eq", "in", "has", "le", "ge", "lt", "gt", "open_or_gt"]
    value: Any

    def holds(self, body: Mapping[str, Any]) -> bool:
        """The same condition in Python, for adapters whose engine cannot say it."""
        have = body.get(self.field)
        match self.op:
            case "eq":
                return bool(have == self.value)
            case "in":
                return have in self.value
            case "has":
                return isinstance(have, list) and self.value in have
            case "open_or_gt":
                return have is None or have > self.value
        if have is None:
            return False
        return bool(
            {
                "le": have <= self.value,
                "ge": have >= self.value,
                "lt": have < self.value,
                "gt": have > self.value,
            }[self.op]
        )


@dataclass(frozen=True, slots=True)
class Page:
    """Items in key order; ``last`` is the sort key to go on after, None at the end."""

    items: list[tuple[Key, Body]]
    last: str | None


class Reading(Protocol):
    """Strongly consistent reads."""

    def get(self, key: Key) -> Body | None:
        """The body, or None."""
        ...

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Body]:
        """Those of the keys that exist."""
        ...

    def query(
        self,
        partition: str,
        prefix: str,
        *,
        after: str | None = None,
        limit: int = 1000,
        reverse: bool = False,
        where: Sequence[Filter] = (),
    ) -> Page:
        """Items of a partition whose sort key starts with ``prefix``, in (reverse) sort order, beyond ``after``.

        ``where`` is applied before ``limit``: a page is short only at the end.
        """
        ...


class UnitOfWork(Reading, Protocol):
    """Reads and buffered writes of one transaction; nothing is seen by others until it commits, then all at once."""

    def put(
        self,
        key: Key,
        body: Body,
        *,
        expires_at: datetime | None = None,
        absent: bool = False,
        ttl: bool = False,
    ) -> None:
        """Writes an item. With ``absent`` the transaction fails (AlreadyThere) if the key exists at commit.

        ``expires_at`` makes the item show up in :meth:`MemoryStore.due`; with ``ttl`` the store itself may remove it
        from seven days after that time on.
        """
        ...

    def delete(self, key: Key) -> None:
        """Removes an item; no error if it is not there."""
        ...


class AlreadyThere(Exception):
    """A put with ``absent`` met an existing key."""

    def __init__(self, key: Key) -> None:
        super().__init__(key.sort)
        self.key = key


class MemoryStore(Reading, Protocol):
    """Records, history, ledger, pending marks: the truth."""

    def transact(self, partition: str, work: Callable[[UnitOfWork], T]) -> T:
        """Runs ``work`` as one atomic, durable transaction, serialised against all others of the same partition.

        ``work`` may run more than once and must have no effect but through its unit of work. It may write keys of
        other partitions; reads of those are guarded only by ``absent``. An exception inside rolls back and goes on
        to the caller. Raises TooManyWrites when writers of the partition kept colliding.
        """
        ...

    def pending_partitions(self, limit: int = 100) -> list[str]:
        """Partitions that hold pending marks (sort keys ``P#…``), longest waiting first; may lag behind a little."""
        ...

    def due(self, now: datetime, limit: int = 1000) -> list[Key]:
        """Keys of items whose ``expires_at`` has come, oldest first; may lag behind a little."""
        ...

    def partitions(self) -> Iterable[str]:
        """All partitions (for reindex and audits of everything)."""
        ...

    def close(self) -> None:
        """Gives back what it holds."""
        ...


# --- the index ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """What the index holds of one record: enough to filter and score, never the truth.

    ``vectors``: one row per chunk of the text (n, dims), L2-normalised; a document's vector score is the best of its
    chunks. ``terms``: the domain tokeniser's output for ``text``. ``version``: a write with a lower version than the
    one held is ignored.
    """

    id: str
    partition: str
    namespace: str
    record: Literal["memory", "decision"]
    version: int
    text: str
    terms: Sequence[str]
    vectors: Vectors | None
    status: str
    memory_type: str
    kind: str
    origin: str
    audience: str
    importance: float
    created_at: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    agent_id: str | None = None
    session_id: str | None = None
    tags: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """A search. All filters are applied inside the engine, before ``limit``.

    ``tags``: all of them must be there. ``partitions``: the user's own, one per namespace asked; ``namespaces``: where memories of audience ``namespace``
    may come from whoever wrote them. A document passes when it is in one or the other.
    """

    partitions: Sequence[str]
    namespaces: Sequence[str]
    record: Literal["memory", "decision"]
    limit: int
    now: datetime
    vector: Vectors | None = None
    text: str = ""
    terms: Sequence[str] = ()
    recent: int = 0
    statuses: Sequence[str] = ()
    memory_types: Sequence[str] = ()
    kinds: Sequence[str] = ()
    tags: Sequence[str] = ()
    origins: Sequence[str] = ()
    agent_id: str | None = None
    session_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    valid_at: datetime | None = None
    min_importance: float | None = None
    exclude: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Scored:
    """One candidate: raw cosine (−1…1) of its best chunk, raw keyword score of the engine (None: did not match)."""

    id: str
    partition: str
    vector: float | None
    keyword: float | None


@dataclass(frozen=True, slots=True)
class IndexAnswer:
    """The union of the arms. ``degraded`` names arms that did not run (``vector``, ``keyword``), with no error raised."""

    candidates: list[Scored]
    degraded: list[str] = field(default_factory=list)


class VectorIndex(Protocol):
    """Finds candidates by meaning and by words. Can be rebuilt from the store at any time."""

    def upsert(self, documents: Sequence[IndexDocument]) -> list[str]:
        """Writes documents (idempotent, older versions ignored) and answers the ids of those that failed."""
        ...

    def delete(self, ids: Sequence[str]) -> None:
        """Takes documents out."""
        ...

    def search(self, query: IndexQuery) -> IndexAnswer:
        """The vector, keyword and recency arms in one go.

        Each brings its best ``limit`` (recency: ``recent`` by valid_from) and the answer is their union, in which a
        missing vector score is computed exactly. Raises Unavailable only when no arm could run.
        """
        ...

    def versions(self, partition: str) -> dict[str, int]:
        """Id → version of every document of a partition, for drift checks."""
        ...

    def fingerprint(self) -> str | None:
        """The embedder's fingerprint that filled the vectors, None while there are none."""
        ...

    def begin_rebuild(self, fingerprint: str) -> RebuildHandle:
        """Starts filling a new generation beside the old one, which goes on answering."""
        ...


class RebuildHandle(Protocol):
    """A new generation of the index on its way; writes that come meanwhile reach both."""

    def upsert(self, documents: Sequence[IndexDocument]) -> list[str]:
        """Fills the new generation."""
        ...

    def missing(self, limit: int = 100) -> list[tuple[str, str]]:
        """(partition, id) of documents that the old generation has with vectors and the new one has not."""
        ...

    def commit(self) -> None:
        """Makes the new generation the one that answers, atomically, and drops the old one."""
        ...

    def abort(self) -> None:
        """Drops the new generation."""
        ...


# --- queue, archive, models --------------------------------------------------------------------------------------


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
