"""Written: what became of a write once enrichment has looked at it."""

from __future__ import annotations

from dataclasses import dataclass

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.errors import NotFound
from rearview.ports import Filter, MemoryStore
from rearview.usecases.settle import conflict_bodies
from rearview.usecases.views import ConflictView


@dataclass(frozen=True, slots=True)
class Written:
    """Where a write stands: the memory as it is now and what enrichment found."""

    memory: Memory
    conflicts: list[ConflictView]
    supersedes: list[str]
    reasons: list[str]
    settled: bool


def written(store: MemoryStore, partition: str, memory_id: str) -> Written:
    """What became of a memory."""
    body = store.get(keys.memory(partition, memory_id))
    if body is None:
        raise NotFound("no such memory")
    memory = decode(Memory, body)
    automatic = (Filter("keep", "eq", memory_id), Filter("automatic", "eq", True))
    won = store.query(partition, keys.CONFLICTS, where=automatic).items
    supersedes = [other for _, item in won for other in item["memory_ids"] if other != memory_id]
    reasons = ["enrichment_failed"] if memory.enrichment == "failed" else []
    return Written(
        memory=memory,
        conflicts=[
            ConflictView.of(item) for item in conflict_bodies(store, partition, list(memory.conflicts))
        ],
        supersedes=supersedes,
        reasons=reasons,
        settled=memory.embedding is not None or memory.enrichment == "failed",
    )
