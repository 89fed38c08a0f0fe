"""The few protocols between the use cases and the world. Adapters implement them; bootstrap wires them.

The store speaks in items: a body (JSON types) under a :class:`~rearview.domain.keys.Key`. What the records mean is
the domain's affair, so an adapter is small and one contract suite covers all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rearview.ports.index import (
    IndexAnswer,
    IndexDocument,
    IndexQuery,
    RebuildHandle,
    Scored,
    VectorIndex,
)
from rearview.ports.services import Archive, Clock, Embedder, LanguageModel, Message, Reranker, WriteQueue
from rearview.ports.store import AlreadyThere, Filter, MemoryStore, Page, Reading, UnitOfWork

if TYPE_CHECKING:
    from rearview.ports.index import Vectors as Vectors

__all__ = [
    "AlreadyThere",
    "Archive",
    "Clock",
    "Embedder",
    "Filter",
    "IndexAnswer",
    "IndexDocument",
    "IndexQuery",
    "LanguageModel",
    "MemoryStore",
    "Message",
    "Page",
    "Reading",
    "RebuildHandle",
    "Reranker",
    "Scored",
    "UnitOfWork",
    "VectorIndex",
    "WriteQueue",
]
