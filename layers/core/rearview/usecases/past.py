"""Earlier views: what was known at a moment (history), and what was true at one (validity)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import History, Memory
from rearview.domain.times import to_text
from rearview.ports import Filter, Reading


def history_of(reading: Reading, partition: str, memory_id: str) -> list[History]:
    """All states of a memory, oldest first."""
    rows: list[History] = []
    after: str | None = None
    while True:
        page = reading.query(partition, keys.history_of(memory_id), after=after)
        rows += [decode(History, body) for _, body in page.items]
        after = page.last
        if after is None:
            return rows


def as_of(reading: Reading, memory: Memory, known_at: datetime) -> Memory | None:
    """The memory as it stood at ``known_at``: the last state whose ``known_from`` is not later. None before it was
    known at all."""
    if memory.created_at > known_at:
        return None
    if memory.updated_at <= known_at:
        return memory
    rows = history_of(reading, memory.scope.partition, memory.id)
    known = [row for row in rows if row.known_from <= known_at]
    return known[-1].memory if known else None


def memories_as_of(reading: Reading, partition: str, known_at: datetime) -> Iterable[Memory]:
    """Every memory of a partition as it stood at ``known_at``, oldest first; whatever has become of it since."""
    after: str | None = None
    where = (Filter("created_at", "le", to_text(known_at)),)
    while True:
        page = reading.query(partition, keys.MEMORIES, after=after, limit=500, where=where)
        for _, body in page.items:
            then = as_of(reading, decode(Memory, body), known_at)
            if then is not None:
                yield then
        after = page.last
        if after is None:
            return
