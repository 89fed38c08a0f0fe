"""The index: candidates by meaning and by words. Never the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


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

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """Of those memories that the index holds with vectors of the model that filled it: one row a chunk, in the order
        of the text, (n, dims) float32. Those it has not, or only by their words, are missing from the answer."""
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
