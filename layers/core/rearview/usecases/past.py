"""Earlier views: what was known at a moment (history), and what was true at one (validity)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import History, Memory
from rearview.domain.times import to_text
from rearview.ports import Filter, Reading

#: Changed memories up to which a query for each is cheaper than one over all histories between them.
FEW = 20


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


def states_as_of(
    reading: Reading, partition: str, memories: Sequence[Memory], known_at: datetime
) -> list[Memory | None]:
    """:func:`as_of` of many memories of one partition (in the order of their ids, either way), with a query for each
    that has changed since while they are few, else with one over all their histories."""
    moved = [item for item in memories if item.created_at <= known_at < item.updated_at]
    if len(moved) <= FEW:
        return [as_of(reading, item, known_at) for item in memories]
    wanted = {item.id for item in moved}
    last = max(wanted)
    then: dict[str, Memory] = {}
    # The rows of the first one lie behind its bare prefix.
    after: str | None = keys.history_of(min(wanted))
    where = (Filter("known_from", "le", to_text(known_at)),)
    while after is not None:
        page = reading.query(partition, keys.HISTORY, after=after, limit=500, where=where)
        for _, body in page.items:
            row = decode(History, body)
            if row.memory.id in wanted:
                then[row.memory.id] = row.memory
            elif row.memory.id > last:
                break
        else:
            after = page.last
            continue
        break
    return [then.get(item.id) if item.id in wanted else as_of(reading, item, known_at) for item in memories]


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
