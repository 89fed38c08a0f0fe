"""The life after the write: what counts as use, which memories may go cold, and which of them the index does not hold."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from rearview.domain.memory import Memory
from rearview.domain.types import Kind, MemoryType, Status

#: Kinds that stay at hand however long nobody asks for them.
NEVER_COLD: Final[frozenset[Kind]] = frozenset({"preference", "fact", "instruction", "correction"})
#: Kinds of long_term memories that may go cold; of short_term ones all may but those above.
COLD_LONG_TERM: Final[frozenset[Kind]] = frozenset({"event", "summary"})
#: Reasons for which an archived memory lies in a pack, and not in the index. What was blamed stays in the index, where
#: filters keep it from every recall.
PACKED: Final[frozenset[str]] = frozenset({"cold", "consolidated"})

_LAYERS: Final[frozenset[MemoryType]] = frozenset({"short_term", "long_term"})
_STANDING: Final[frozenset[Status]] = frozenset({"active", "tentative"})


def last_use(memory: Memory) -> datetime:
    """When a memory was used last: written, recalled, confirmed, or of use to a decision that went well."""
    others = (memory.last_recalled_at, memory.last_confirmed_at, memory.last_used_at)
    return max([memory.created_at, *(at for at in others if at is not None)])


def never_cold(memory_type: MemoryType, kind: Kind) -> bool:
    """Whether memories of that layer and kind stay at hand, used or not."""
    if memory_type not in _LAYERS or kind in NEVER_COLD:
        return True
    return memory_type == "long_term" and kind not in COLD_LONG_TERM


def may_go_cold(memory: Memory) -> bool:
    """Whether a memory is of those that leave for the archive when nobody uses them.

    Never one in an open conflict, one that is still to be enriched (or could not be), or one that a namespace shares:
    packs are a user's own, and the others would not find it there.
    """
    return (
        not never_cold(memory.memory_type, memory.kind)
        and memory.status in _STANDING
        and not memory.conflicts
        and memory.enrichment == "done"
        and memory.audience == "user"
    )


def goes_cold(memory: Memory, as_of: datetime, days: int) -> bool:
    """Whether a memory that may go cold has not been used for ``days`` at ``as_of``."""
    return may_go_cold(memory) and as_of - last_use(memory) >= timedelta(days=days)


def packed(memory: Memory) -> bool:
    """Whether a memory belongs in a pack and not in the index: archived as cold or consolidated, or deleted as such."""
    return memory.archived_because in PACKED and memory.status in ("archived", "deleted")
