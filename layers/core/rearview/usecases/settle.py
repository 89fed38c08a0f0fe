"""Conflicts: opened by the worker, settled by the user or the policy, undone by one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.domain.principal import Principal
from rearview.domain.records import Conflict
from rearview.domain.relations import Judgement, question_for
from rearview.domain.times import optional_text, optional_time
from rearview.domain.types import LIVE, ConflictPolicy
from rearview.errors import Conflicting, InvalidInput, NotFound
from rearview.ports import Reading, UnitOfWork
from rearview.usecases.book import Book
from rearview.usecases.commands import Resolve
from rearview.usecases.moot import (
    CHANGED,
    FORGOTTEN,
    MOOT,
    SUPERSEDED,
    in_pack,
    out_of_its_pack,
    reopened,
    set_aside,
    take_up,
)
from rearview.usecases.services import Services
from rearview.usecases.views import ConflictView

#: Trust by origin for the policy ``trusted``: what the user said outweighs what others wrote.
_TRUST = {"user": 1.0, "document": 0.85, "tool": 0.85, "import": 0.85, "agent": 0.7}


def open_conflict(
    book: Book,
    old: Memory,
    new: Memory,
    judged: Judgement,
    policy: ConflictPolicy,
    texts: tuple[str, str],
) -> Conflict | None:
    """Opens a conflict between two memories of one scope; the policy may settle it at once. ``texts``: what the two
    say, for the question.

    ``ask`` leaves it open and both disputed; ``latest`` lets what holds since later win; ``trusted`` the higher
    confidence × origin, newer breaking ties; ``keep_both`` opens nothing. None if the pair has one already.
    """
    if policy == "keep_both" or set(old.conflicts) & set(new.conflicts):
        return None
    subject, slot = judged.subject or "user", judged.slot or "statement"
    at = book.tick()
    conflict = Conflict(
        id=book.new_id(at),
        scope=book.scope,
        type=judged.type or "value",
        subject=subject,
        slot=slot,
        memory_ids=(old.id, new.id),
        question=question_for(subject, slot, *texts),
        state="open",
        created_at=at,
        updated_at=at,
    )
    for memory in (old, new):
        _change(book, memory, "disputed", status="disputed", conflicts=(*memory.conflicts, conflict.id))
    conflict = book.put_conflict(conflict, "conflict_opened")
    if policy == "ask":
        return conflict
    winner = _winner(old, new, policy)
    return settle(book, conflict, keep=winner.id, by=f"policy:{policy}", automatic=True, note=None)


def _winner(old: Memory, new: Memory, policy: ConflictPolicy) -> Memory:
    later = new if new.valid_from >= old.valid_from else old
    if policy == "latest":
        return later
    weight = {item.id: item.confidence * _TRUST[item.origin] for item in (old, new)}
    if weight[old.id] == weight[new.id]:
        return later
    return max((old, new), key=lambda item: weight[item.id])


def _change(book: Book, memory: Memory, change: str, **fields: Any) -> Memory:
    """A new version of the memory as it stands in this transaction (an earlier step may have moved it)."""
    return book.change(book.memory(memory.id), change, **fields)


def settle(
    book: Book, conflict: Conflict, *, keep: str | None, by: str, automatic: bool, note: str | None
) -> Conflict:
    """Closes an open conflict. ``keep``: that memory wins and the others end where it begins; None keeps both."""
    members = [book.memory(item) for item in conflict.memory_ids]
    before = {item.id: _state(item) for item in members}
    winner = next((item for item in members if item.id == keep), None)
    for member in members:
        memory = book.memory(member.id)
        left = tuple(item for item in memory.conflicts if item != conflict.id)
        fields: dict[str, Any] = {"conflicts": left}
        if winner is not None and memory.id != winner.id:
            ends = winner.valid_from if winner.valid_from > memory.valid_from else book.now
            if memory.valid_to is not None:
                ends = min(ends, memory.valid_to)
            # What was to begin later never held: an end before the beginning would be nonsense.
            ends = max(ends, memory.valid_from)
            fields = {
                "conflicts": (),
                "status": "superseded",
                "superseded_by": winner.id,
                "valid_to": ends,
            }
            change = "superseded"
        else:
            if memory.status == "disputed" and not left:
                fields["status"] = "active"
            # Whoever settles it by hand has looked at what stays: at the winner, or at both.
            if not automatic:
                fields |= {"last_confirmed_at": book.now, "confirmations": memory.confirmations + 1}
            change = "conflict_settled"
        book.change(memory, change, reason=note, **fields)
        for other in left if change == "superseded" else ():
            set_aside(book, other, memory.id, SUPERSEDED)
    settled = replace(
        conflict,
        state="resolved",
        resolution="supersede" if winner is not None else "keep_both",
        keep=keep,
        resolved_by=by,
        automatic=automatic,
        note=note,
        before=before,
        updated_at=book.tick(),
    )
    return book.put_conflict(settled, "conflict_resolved")


def _state(memory: Memory) -> dict[str, Any]:
    return {
        "version": memory.version,
        "status": memory.status,
        "valid_to": optional_text(memory.valid_to),
        "superseded_by": memory.superseded_by,
        "last_confirmed_at": optional_text(memory.last_confirmed_at),
        "confirmations": memory.confirmations,
    }


def _stood(memory: Memory | None, keep: str | None) -> bool:
    """Whether a side of a resolved conflict stands once the resolution is taken back. What went into a pack since does:
    it is spoken of again."""
    return memory is not None and (
        memory.status in LIVE
        or in_pack(memory)
        or (memory.status == "superseded" and memory.superseded_by == keep)
    )


def _restored(
    memory: Memory, conflict: Conflict, before: Mapping[str, Any], *, disputed: bool
) -> dict[str, Any]:
    """The fields that put a memory back to where it stood before the resolution."""
    left = tuple(dict.fromkeys((*memory.conflicts, *([conflict.id] if disputed else []))))
    # The resolution's own confirmation goes; those that came later stay.
    added = int(not conflict.automatic and conflict.keep in (None, memory.id))
    later = memory.confirmations > before["confirmations"] + added
    confirmed = memory.last_confirmed_at if later else optional_time(before["last_confirmed_at"])
    earlier = "active" if before["status"] == "disputed" else before["status"]
    return {
        "conflicts": left,
        "status": "disputed" if left else earlier,
        "valid_to": optional_time(before["valid_to"]),
        "superseded_by": before["superseded_by"],
        **out_of_its_pack(memory),
        "last_confirmed_at": confirmed,
        "confirmations": max(before["confirmations"], memory.confirmations - added),
    }


def take_back(book: Book, conflict: Conflict) -> Conflict:
    """Undoes a resolution: its sides stand as before, and the question is open again if all of them do."""
    keep = conflict.keep
    bodies = {item: book.uow.get(keys.memory(book.partition, item)) for item in conflict.memory_ids}
    members = {item: None if body is None else decode(Memory, body) for item, body in bodies.items()}
    for item, memory in members.items():
        if item != keep and (memory is None or memory.status == "deleted"):
            raise Conflicting("one of the memories was forgotten; restore it first")
        if memory is not None and memory.status == "superseded" and not memory.verbatim:
            twin = book.twin(memory.content_hash)
            if twin is not None and memory.superseded_by == keep:
                raise Conflicting(f"the same content was written again as {twin.id}")
    whole = all(_stood(memory, keep) for memory in members.values())
    back = [memory for memory in members.values() if memory is not None and _stood(memory, keep)]
    for memory in back:
        before = conflict.before[memory.id]
        book.change(memory, "resolution_undone", **_restored(memory, conflict, before, disputed=whole))
    if whole:
        sides = [book.memory(item) for item in conflict.memory_ids]
        undone = book.put_conflict(reopened(book, conflict, sides), "conflict_reopened")
    else:
        winner = members[keep] if keep is not None else None
        why = SUPERSEDED if winner is not None and winner.status == "superseded" else FORGOTTEN
        undone = replace(
            conflict, resolution=why, keep=None, automatic=False, before={}, updated_at=book.tick()
        )
        book.put_conflict(undone, "conflict_set_aside")
    for memory in back:
        if memory.status == "superseded":
            take_up(book, memory.id)
    return undone


_SET_ASIDE = {
    FORGOTTEN: "one of the memories was forgotten; restore it, and the question is open again",
    SUPERSEDED: "one of the memories lost against another one; undo that, and the question is open again",
    CHANGED: "one of the memories says something else now; there is nothing to take back",
}


class Settler:
    """The verbs of conflicts."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def resolve(self, principal: Principal, conflict_id: str, request: Resolve) -> ConflictView:
        """Settles an open conflict; a resolved one answers 409, unless it was settled the same way."""

        def work(book: Book, conflict: Conflict) -> Conflict:
            keep = request.keep
            if keep is not None and keep not in conflict.memory_ids:
                raise InvalidInput.of("keep", "member", "must be one of the conflict's memory_ids")
            if conflict.state == "resolved":
                if conflict.keep == keep:
                    return conflict
                raise Conflicting("this conflict is resolved already; undo that first")
            if keep is not None and not book.memory(keep).live(book.now):
                raise Conflicting("the memory to keep no longer stands; keep the other one, or forget it")
            return settle(book, conflict, keep=keep, by=principal.id, automatic=False, note=request.note)

        return self._with(principal, conflict_id, work)

    def undo(self, principal: Principal, conflict_id: str) -> ConflictView:
        """Takes a resolution back: both memories stand as before, the conflict is open again."""

        def work(book: Book, conflict: Conflict) -> Conflict:
            if conflict.state == "open":
                return conflict
            if conflict.resolution in MOOT:
                raise Conflicting(_SET_ASIDE[str(conflict.resolution)])
            return take_back(book, conflict)

        return self._with(principal, conflict_id, work)

    def _with(self, principal: Principal, conflict_id: str, work: Any) -> ConflictView:
        at = self.services.locate(conflict_id, keys.CONFLICTS, "conflict")
        found = read_conflict(self.services.store, at)
        principal.see("write", found.scope.namespace, "conflict")

        def transaction(uow: UnitOfWork) -> tuple[Conflict, int]:
            book = Book(uow, found.scope, self.services.now(), principal.id)
            done: Conflict = work(book, read_conflict(uow, at))
            book.close()
            return done, book.seq

        done, seq = self.services.store.transact(at.partition, transaction)
        self.services.ring(at.partition, seq)
        return ConflictView.of(done)


def read_conflict(reading: Reading, at: keys.Key) -> Conflict:
    """The conflict at that address; NotFound otherwise."""
    body = reading.get(at)
    if body is None:
        raise NotFound("no such conflict")
    return decode(Conflict, body)


def conflict_bodies(reading: Reading, partition: str, ids: list[str]) -> list[Conflict]:
    """Those of the conflicts that exist, in the order given."""
    wanted = [keys.conflict(partition, item) for item in ids]
    found = reading.get_many(wanted)
    return [decode(Conflict, found[at]) for at in wanted if at in found]


__all__ = ["Settler", "conflict_bodies", "open_conflict", "read_conflict", "settle"]
