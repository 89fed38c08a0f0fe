"""Adopt: lines of an export into this store, with their ids, versions, times and history.

The ledger starts again with one ``imported`` entry for each state, under this store's key of the user; hash items and
signatures are made anew, embeddings too. What was settled there (duplicates, conflicts) is not judged again. A record
that is here already in the same or a later state is left alone; one that differs is reported and left alone too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from rearview.domain import keys
from rearview.domain.codec import Body, decode, encode
from rearview.domain.memory import History, Memory
from rearview.domain.principal import Principal
from rearview.domain.records import Conflict, Decision, Outcome, Session, Turn
from rearview.domain.scope import Scope
from rearview.domain.signing import seal
from rearview.domain.types import LIVE
from rearview.errors import InvalidInput
from rearview.ports import UnitOfWork
from rearview.usecases import gone
from rearview.usecases.book import Book
from rearview.usecases.confirm import inherited
from rearview.usecases.recall import PURPOSE as RECALL_ID
from rearview.usecases.scans import recorded
from rearview.usecases.services import Services
from rearview.usecases.sessions import session_id_digest
from rearview.usecases.transfer import Exporter, whole
from rearview.usecases.transfer_format import RECORDS, line_of, memory_line, memory_of, record_of
from rearview.usecases.turns import stowed

#: Items of one transaction: under the hundred of DynamoDB, with room for head, key and directory.
BUDGET: Final = 88
#: Items that a record needs besides its history: record, locator, ledger entry, hash item, mark, on top a merge and what
#: the other one inherits by it.
COST: Final = 14
ADDED, UNCHANGED = "added", "unchanged"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an export, read: the record, a memory's history, and the line as it came."""

    kind: str
    scope: Scope
    record: Any
    raw: Mapping[str, Any]
    history: tuple[History, ...] = ()

    @property
    def cost(self) -> int:
        """Items that adopting it takes at most."""
        return COST + 2 * len(self.history)


@dataclass(frozen=True, slots=True)
class Adopted:
    """What became of a line: ``added``, ``unchanged``, or the error that kept it out."""

    state: str
    error: InvalidInput | None = None


def read_line(raw: Mapping[str, Any], scope: Scope, now: datetime) -> Line:
    """Raises InvalidInput naming field and rule."""
    kind = raw.get("type")
    if kind == "memory":
        memory, history = memory_of(raw, scope, now)
        return Line("memory", scope, memory, raw, tuple(history))
    if kind not in RECORDS:
        raise InvalidInput.of("type", "literal_error", f"must be memory, {', '.join(RECORDS)}")
    if kind == "decision":
        _check_recall(raw.get("recall"))
    return Line(str(kind), scope, record_of(RECORDS[str(kind)], str(kind), raw, scope, now), raw)


def _check_recall(recall: Any) -> None:
    if recall is None:
        return
    shape = {"n": str, "p": str, "t": str, "f": str, "w": dict, "h": list}
    good = isinstance(recall, dict) and all(isinstance(recall.get(key), kind) for key, kind in shape.items())
    if not good or not all(isinstance(hit, list) and len(hit) >= 2 for hit in recall["h"]):
        raise InvalidInput.of("recall", "object", "must be what a recall id vouches for")


class Adopter:
    """Puts lines of one scope into the store."""

    def __init__(self, services: Services, principal: Principal) -> None:
        self.services, self.principal = services, principal
        self.exporter = Exporter(services)

    def adopt(self, scope: Scope, lines: Sequence[Line]) -> tuple[list[Adopted], int]:
        """The fate of each line and the last sequence number. The lines' costs must fit :data:`BUDGET` together,
        unless it is one line: a long history goes in ahead in steps, and a repeat goes on where a kill stopped it."""
        if len(lines) == 1 and lines[0].cost > BUDGET:
            history = lines[0].history
            step = (BUDGET - COST) // 2
            for start in range(0, len(history) - 1, step):
                some = history[start : min(start + step, len(history) - 1)]
                self._run(scope, lambda book, some=some: self._states(book, lines[0], some))
        return self._run(scope, lambda book: [self._one(book, line) for line in lines])

    def _run(self, scope: Scope, work: Any) -> tuple[Any, int]:
        def transaction(uow: UnitOfWork) -> tuple[Any, int]:
            book = Book(uow, scope, self.services.now(), self.principal.id)
            done = work(book)
            book.close()
            return done, book.seq

        return self.services.store.transact(scope.partition, transaction)

    def _one(self, book: Book, line: Line) -> Adopted:
        if line.kind == "memory":
            return self._memory(book, line)
        if line.kind == "turn":
            return self._turn(book, line.record)
        if line.kind == "session":
            return self._session(book, line)
        return self._record(book, line)

    # --- memories ---

    def _memory(self, book: Book, line: Line) -> Adopted:
        memory: Memory = line.record
        at = keys.memory(book.partition, memory.id)
        held = self._held(book, at, memory.id)
        if isinstance(held, Adopted):
            return held
        if held is not None:
            return self._compare(book, decode(Memory, held), line)
        seq = self._states(book, line, line.history)
        memory = replace(self._keyed(book, memory), seq=seq, enrichment="pending")
        self._locate(book, memory.id, at)
        book.save(memory)
        book.mark(memory.id, "memory", seq, relate=line.raw.get("unrelated") is True)
        twin = None if memory.verbatim else book.twin(memory.content_hash)
        book.claim(memory)
        if (
            twin is not None
            and memory.status in LIVE
            and not memory.conflicts
            and not memory.expired(book.now)
        ):
            # This store knew it under another id; that one goes on, and this id keeps answering.
            book.change(memory, "merged", index=False, status="merged", merged_into=twin.id)
            said = inherited(memory, twin)
            if said:
                book.change(book.memory(twin.id), "confirmed", **said)
        return Adopted(ADDED)

    def _states(self, book: Book, line: Line, rows: Sequence[History]) -> int:
        """History rows with their ledger entries; those that an interrupted import left are there already."""
        for row in rows:
            state = self._keyed(book, row.memory)
            at = keys.history(book.partition, state.id, state.version)
            if book.uow.get(at) is not None and row is not line.history[-1]:
                continue
            book.pass_by(max(row.known_from, state.updated_at), state.id)
            seq = book.record("imported", state.id, recorded(state, book.key))
            book.uow.put(at, encode(replace(row, memory=replace(state, seq=seq))))
        return book.seq

    @staticmethod
    def _keyed(book: Book, memory: Memory) -> Memory:
        digest = book.digest(memory.content, memory.memory_type, memory.session_id, memory.audience)
        return replace(memory, content_hash=digest)

    def _compare(self, book: Book, here: Memory, line: Line) -> Adopted:
        here, rows = whole(self.services, book.uow, here)
        stored = memory_line(book.scope, here, rows)["history"]
        given = memory_line(book.scope, line.record, line.history)["history"]
        # The store may have moved on since: what came in is then a state that it went through.
        return _same() if stored[: len(given)] == given else _taken(line)

    # --- conflicts, decisions, outcomes ---

    def _record(self, book: Book, line: Line) -> Adopted:
        record = line.record
        at, known = self._address(book, line)
        held = self._held(book, at, record.id)
        if isinstance(held, Adopted):
            return held
        if held is not None:
            return self._same_record(line, decode(type(record), held))
        book.pass_by(known, record.id)
        if isinstance(record, Decision):
            record = self._sealed(record, line.raw.get("recall"))
        seq = book.record("imported", record.id, encode(record))
        if isinstance(record, Decision):
            record = replace(record, seq=seq, enrichment="pending")
            book.mark(record.id, "decision", seq)
        self._locate(book, record.id, at)
        book.uow.put(at, encode(record))
        return Adopted(ADDED)

    @staticmethod
    def _address(book: Book, line: Line) -> tuple[keys.Key, datetime]:
        record = line.record
        if isinstance(record, Conflict):
            return keys.conflict(book.partition, record.id), max(record.created_at, record.updated_at)
        if isinstance(record, Outcome):
            at = keys.outcome(book.partition, record.decision_id, record.id)
            return at, max(record.created_at, record.reverted_at or record.created_at)
        return keys.decision(book.partition, record.id), record.created_at

    def _same_record(self, line: Line, here: Any) -> Adopted:
        given = line.record
        if isinstance(here, Decision):
            stored = self.exporter.decision_line(line.scope, here)
            came = {**line_of(line.scope, "decision", given), "recall": line.raw.get("recall")}
            return _same() if stored == came else _taken(line)
        if isinstance(here, Conflict) and here.updated_at > given.updated_at:
            here = replace(given, id=here.id) if here.memory_ids == given.memory_ids else here
        if isinstance(here, Outcome) and here.reverted_at is not None and given.reverted_at is None:
            here = replace(here, reverted_at=None, reverted_by=None)
        return _same() if encode(here) == encode(given) else _taken(line)

    def _sealed(self, decision: Decision, recall: Any) -> Decision:
        """A recall id that this store vouches for, from what the other one's vouched for."""
        if recall is None or not self.principal.covers(recall["n"]):
            return decision
        return replace(decision, recall_id=seal(self.services.secret, RECALL_ID, recall))

    # --- sessions ---

    def _session(self, book: Book, line: Line) -> Adopted:
        session: Session = line.record
        at = keys.session(book.partition, session.id)
        held = book.uow.get(at)
        if held is not None:
            here = decode(Session, held)
            # Where its turns lie is this store's own business.
            here = replace(here, turns_archived=0, turns_cleared=0, turns_digest="", turns_before="")
            later = here.created_at == session.created_at and here.updated_at >= session.updated_at
            return _same() if here == session or later else _taken(line)
        book.pass_by(session.updated_at)
        book.uow.put(at, encode(session))
        book.record("imported", session_id_digest(session.id), encode(session))
        return Adopted(ADDED)

    def _turn(self, book: Book, turn: Turn) -> Adopted:
        at = keys.turn(book.partition, turn.session_id, turn.number)
        held = book.uow.get(at)
        if held is not None:
            return _same() if decode(Turn, held) == turn else _taken(None)
        session = book.uow.get(keys.session(book.partition, turn.session_id))
        if session is not None and session.get("turns_archived", 0) >= turn.number:
            early = stowed(self.services, decode(Session, session), book.uow)
            return _same() if early[turn.number - 1] == turn else _taken(None)
        book.uow.put(at, encode(turn))
        book.record("imported", session_id_digest(turn.session_id), [turn.content])
        return Adopted(ADDED)

    # --- what is there ---

    @staticmethod
    def _held(book: Book, at: keys.Key, record_id: str) -> Body | Adopted | None:
        """The record under that id in this scope; a collision if the id is another's."""
        place = book.uow.get(keys.locator(record_id))
        if place is not None and keys.Key(place["partition"], place["sort"]) != at:
            # What was purged here may come back out of a file.
            return None if gone.is_gone(place, book.partition, record_id) else _taken(None)
        return book.uow.get(at)

    @staticmethod
    def _locate(book: Book, record_id: str, at: keys.Key) -> None:
        """Another scope must not get the same id at the same time; over what is left of a purge it may go."""
        where = keys.locator(record_id)
        purged = book.uow.get(where) is not None
        if purged:
            gone.unmark(book.uow, book.partition, record_id)
        book.uow.put(where, {"partition": at.partition, "sort": at.sort}, absent=not purged)


def _same() -> Adopted:
    return Adopted(UNCHANGED)


def _taken(line: Line | None) -> Adopted:
    field = "id" if line is None else f"{line.kind}.id"
    return Adopted(
        "refused",
        InvalidInput.of(field, "id_taken", "is the id of another record, or of another state of this one"),
    )
