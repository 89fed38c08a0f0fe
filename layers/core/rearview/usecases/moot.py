"""Moot conflicts: when one side no longer stands there is nothing to ask; when it comes back, the question does too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.lifecycle import packed
from rearview.domain.memory import Memory
from rearview.domain.records import Conflict
from rearview.domain.relations import question_for
from rearview.ports import Filter, Reading
from rearview.usecases.book import Book

#: Why a conflict was set aside: one side was forgotten, lost against a third memory, or says something else now.
FORGOTTEN, SUPERSEDED, CHANGED = "member_forgotten", "member_superseded", "member_changed"
MOOT = frozenset({FORGOTTEN, SUPERSEDED, CHANGED})
#: Those that open again when their sides stand again.
_PASSING = (FORGOTTEN, SUPERSEDED)


def set_aside(book: Book, conflict_id: str, memory_id: str, resolution: str) -> None:
    """One side of an open conflict is going: the other has nobody left to disagree with. The side that goes is
    changed by the caller."""
    body = book.uow.get(keys.conflict(book.partition, conflict_id))
    if body is None or body["state"] != "open":
        return
    conflict = decode(Conflict, body)
    stays = [item for item in conflict.memory_ids if item != memory_id]
    for other in stays:
        memory = book.memory(other)
        left = tuple(item for item in memory.conflicts if item != conflict_id)
        status = "active" if memory.status == "disputed" and not left else memory.status
        book.change(memory, "conflict_settled", conflicts=left, status=status)
    settled = replace(
        conflict,
        state="resolved",
        resolution=resolution,
        keep=stays[0] if resolution == SUPERSEDED else None,
        resolved_by=book.by,
        updated_at=book.tick(),
    )
    book.put_conflict(settled, "conflict_resolved")


def take_up(book: Book, memory_id: str) -> None:
    """A memory stands again: conflicts that were set aside open again where all their sides stand."""
    for conflict in conflicts_with(book.uow, book.partition, memory_id):
        if conflict.resolution not in _PASSING:
            continue
        members = standing(book, conflict)
        if members is None:
            continue
        for memory in members:
            book.change(
                memory,
                "conflict_reopened",
                status="disputed",
                conflicts=tuple(dict.fromkeys((*memory.conflicts, conflict.id))),
                **out_of_its_pack(memory),
            )
        book.put_conflict(reopened(book, conflict, members), "conflict_reopened")


def standing(book: Book, conflict: Conflict) -> list[Memory] | None:
    """The sides of a conflict, if every one of them is live, or in a pack: what is asked about is spoken of, and comes out of it."""
    bodies = [book.uow.get(keys.memory(book.partition, item)) for item in conflict.memory_ids]
    members = [decode(Memory, body) for body in bodies if body is not None and body["status"] != "deleted"]
    whole = len(members) == len(bodies) and all(
        item.live(book.now) or (in_pack(item) and not item.expired(book.now)) for item in members
    )
    return members if whole else None


def in_pack(memory: Memory) -> bool:
    """Whether a memory is archived as cold or consolidated: it stands, if nowhere near."""
    return memory.status == "archived" and packed(memory)


def out_of_its_pack(memory: Memory) -> dict[str, Any]:
    """What a side that comes out of its pack because it is asked about leaves behind: it is one of many no longer."""
    return {"consolidated_into": None} if packed(memory) else {}


def reopened(book: Book, conflict: Conflict, members: list[Memory]) -> Conflict:
    """The conflict as an open one, asking about what its sides say now."""
    # The texts may lie in the archive, which a transaction does not wait for: their summaries tell them apart.
    first, second = members[0].gist, members[-1].gist
    question = question_for(conflict.subject, conflict.slot, first, second)
    return replace(as_open(conflict), question=question, before={}, updated_at=book.tick())


def as_open(conflict: Conflict) -> Conflict:
    """The conflict as it was before it was resolved."""
    return replace(
        conflict,
        state="open",
        resolution=None,
        keep=None,
        resolved_by=None,
        automatic=False,
        note=None,
    )


def conflicts_with(reading: Reading, partition: str, memory_id: str) -> list[Conflict]:
    """All conflicts that a memory was ever in."""
    mine = (Filter("memory_ids", "has", memory_id),)
    return [decode(Conflict, body) for _, body in reading.query(partition, keys.CONFLICTS, where=mine).items]
