"""Import: files of memories, transcripts or an export into the store; a repeat changes nothing.

Each line that went in leaves a receipt, keyed by an HMAC of it under the user's key, in the same transaction as its
memory (a transcript's turn: after its memories). A line is told apart by what it says and by which occurrence of it
in the file it is, so that a file can be resumed, repeated, or grow at its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rearview.domain import keys, ledger
from rearview.domain.principal import Principal
from rearview.domain.scope import Scope
from rearview.errors import InvalidInput, RearviewError
from rearview.ports import UnitOfWork
from rearview.usecases.admit import Draft, draft
from rearview.usecases.adopt import ADDED, BUDGET, UNCHANGED, Adopter, Line, read_line
from rearview.usecases.app import Rearview
from rearview.usecases.book import Book
from rearview.usecases.commands import TurnIn, WriteMemory, WriteTurns
from rearview.usecases.fields import read
from rearview.usecases.transcripts import Record
from rearview.usecases.transfer_format import check_header, scope_of
from rearview.usecases.write import place

#: Lines that go in together.
MEMORY_CHUNK, TURN_CHUNK = 10, 25
#: Refusals that are told in full; beyond, they are counted.
TOLD = 1000


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line that did not go in, and why."""

    line: int
    field: str
    rule: str
    message: str


@dataclass(slots=True)
class ImportReport:
    """What an import did. ``written`` counts new memories or records, ``unchanged`` what was here already,
    ``duplicates`` lines that confirmed a memory, ``dropped`` those that the sieves left out, by reason."""

    lines: int = 0
    written: Counter[str] = field(default_factory=Counter)
    unchanged: int = 0
    duplicates: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    refusals: list[Refusal] = field(default_factory=list)
    stopped: bool = False
    last: dict[str, int] = field(default_factory=dict)

    def refuse(self, record: Record, error: RearviewError) -> None:
        """Notes a line that stays out."""
        self.refused += 1
        for broken in error.errors or (None,):
            if len(self.refusals) >= TOLD:
                return
            if broken is None:
                self.refusals.append(Refusal(record.line, record.at or "line", error.slug, error.detail))
            else:
                at = (
                    f"{record.at}.{broken.field}" if record.at and broken.field != record.at else broken.field
                )
                self.refusals.append(Refusal(record.line, at, broken.rule, broken.message))


@dataclass(frozen=True, slots=True)
class Defaults:
    """What lines that name no scope or agent get. ``namespace`` None is the credential's own."""

    user_id: str | None = None
    namespace: str | None = None
    agent_id: str | None = None
    timezone: str | None = None

    def fill(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body with these where it is silent."""
        given = {"user_id": self.user_id, "namespace": self.namespace, "agent_id": self.agent_id}
        given["timezone"] = self.timezone
        silent = {key: value for key, value in given.items() if value is not None and body.get(key) is None}
        return {
            **{key: value for key, value in body.items() if value is not None or key not in given},
            **silent,
        }


@dataclass(frozen=True, slots=True)
class _Item:
    """A line on its way: its record, whose it is, and what goes in."""

    record: Record
    scope: Scope
    thing: Any
    identity: list[Any]


class Importer:
    """The import verb. One object imports any number of files into one report."""

    def __init__(
        self, app: Rearview, principal: Principal, defaults: Defaults, *, strict: bool = False
    ) -> None:
        self.app, self.services, self.principal = app, app.services, principal
        self.defaults, self.strict = defaults, strict
        self.report = ImportReport()
        self._adopter = Adopter(app.services, principal)
        self._seen: Counter[str] = Counter()
        self._batch: list[_Item] = []
        self._room: tuple[Any, ...] = ()

    def run(self, records: Iterable[Record], progress: Callable[[int], None] | None = None) -> ImportReport:
        """Imports what the records hold, in order. ``progress(line)`` is called as lines are done.

        With ``strict`` the first refused line ends it; what came before stands.
        """
        self._seen.clear()
        for record in records:
            self.report.lines += 1
            try:
                self._take(record)
            except RearviewError as error:
                self._flush()
                self.report.refuse(record, error)
            if self.strict and self.report.refused:
                self.report.stopped = True
                break
            if progress:
                progress(record.line)
        self._flush()
        for partition, seq in self.report.last.items():
            self.services.ring(partition, seq)
        return self.report

    # --- reading lines ---

    def _take(self, record: Record) -> None:
        if record.refused is not None:
            raise record.refused
        if record.kind == "header":
            check_header(record.body)
        elif record.kind == "line":
            scope = scope_of(record.body)
            self.principal.scope("write", scope.namespace, scope.user_id)
            line = read_line(record.body, scope, self.services.now())
            self._put(("line", scope), _Item(record, scope, line, []), BUDGET, line.cost)
        elif record.kind == "turn":
            self._take_turn(record)
        else:
            self._take_memory(record)

    def _take_memory(self, record: Record) -> None:
        body = self.defaults.fill(record.body)
        request = read(WriteMemory, {"origin": "import", **body})
        drafted = draft(self.services, self.principal, request)
        if drafted.verdict == "drop":
            self.report.dropped.update(drafted.reasons[:1])
            return
        identity = ["memory", request.model_dump(mode="json", exclude_unset=True)]
        item = _Item(record, drafted.scope, drafted, identity)
        self._put(("memory", drafted.scope), item, MEMORY_CHUNK, 1)

    def _take_turn(self, record: Record) -> None:
        turn = read(TurnIn, record.body["turn"])
        about = {key: value for key, value in record.body.items() if key != "turn"}
        common = self.defaults.fill(about)
        # Validates whose it is; the turns are put in with those that come after.
        request = read(WriteTurns, {**common, "turns": [turn]})
        scope = self.principal.scope("write", request.namespace, request.user_id)
        identity = ["turn", request.session_id, turn.model_dump(mode="json", exclude_unset=True)]
        item = _Item(record, scope, (common, turn), identity)
        room = ("turn", scope, request.session_id, request.agent_id, request.timezone)
        self._put(room, item, TURN_CHUNK, 1)

    # --- putting them in ---

    def _put(self, room: tuple[Any, ...], item: _Item, most: int, cost: int) -> None:
        used = sum(held.thing.cost if isinstance(held.thing, Line) else 1 for held in self._batch)
        if self._batch and (room != self._room or used + cost > most):
            self._flush()
        self._room = room
        self._batch.append(item)

    def _flush(self) -> None:
        batch, self._batch = self._batch, []
        if not batch:
            return
        scope = batch[0].scope
        try:
            match self._room[0]:
                case "line":
                    self._adopt(scope, batch)
                case "turn":
                    self._turns(scope, batch)
                case _:
                    self._memories(scope, batch)
        except InvalidInput as error:
            # The whole transaction was refused; alone, each tells for itself.
            if len(batch) == 1:
                self.report.refuse(batch[0].record, error)
                return
            for item in batch:
                self._batch = [item]
                self._flush()

    def _adopt(self, scope: Scope, batch: Sequence[_Item]) -> None:
        done, seq = self._adopter.adopt(scope, [item.thing for item in batch])
        for item, one in zip(batch, done, strict=True):
            if one.state == ADDED:
                self.report.written[item.thing.kind] += 1
            elif one.state == UNCHANGED:
                self.report.unchanged += 1
            elif one.error is not None:
                self.report.refuse(item.record, one.error)
        self._moved(scope, seq)

    def _memories(self, scope: Scope, batch: Sequence[_Item]) -> None:
        numbers = self._occurrences(scope, batch)

        def work(uow: UnitOfWork) -> tuple[list[str], int]:
            book = Book(uow, scope, self.services.now(), self.principal.id)
            done = []
            for item, number in zip(batch, numbers, strict=True):
                at = self._receipt(book, item, number)
                if uow.get(at) is not None:
                    done.append("unchanged")
                    continue
                drafted: Draft = item.thing
                placed = place(book, drafted)
                uow.put(at, {"id": placed.memory.id})
                done.append(placed.verdict)
            book.close()
            return done, book.seq

        done, seq = self.services.store.transact(scope.partition, work)
        for verdict in done:
            if verdict == "unchanged":
                self.report.unchanged += 1
            elif verdict == "duplicate":
                self.report.duplicates += 1
            else:
                self.report.written["memory"] += 1
        self._moved(scope, seq)

    def _turns(self, scope: Scope, batch: Sequence[_Item]) -> None:
        numbers = self._occurrences(scope, batch)

        def receipts(uow: UnitOfWork) -> list[keys.Key]:
            book = Book(uow, scope, self.services.now(), self.principal.id)
            return [self._receipt(book, item, number) for item, number in zip(batch, numbers, strict=True)]

        marks = self.services.store.transact(scope.partition, receipts)
        known = self.services.store.get_many(marks)
        fresh = [(item, mark) for item, mark in zip(batch, marks, strict=True) if mark not in known]
        self.report.unchanged += len(batch) - len(fresh)
        if not fresh:
            return
        common = fresh[0][0].thing[0]
        request = read(WriteTurns, {**common, "turns": [item.thing[1] for item, _ in fresh]})
        _, answer = self.app.sessions.turns(self.principal, request)
        for result in answer["results"]:
            for memory in result["memories"]:
                if memory["verdict"] == "duplicate":
                    self.report.duplicates += 1
                else:
                    self.report.written["memory"] += 1
            self.report.dropped.update(item["reason"] for item in result["dropped"])
        self.report.written["turn"] += len(fresh)

        def keep(uow: UnitOfWork) -> None:
            for _, mark in fresh:
                uow.put(mark, {"id": request.session_id})

        self.services.store.transact(scope.partition, keep)
        if answer["token"] is not None:
            self._moved(scope, self.services.open_token(answer["token"])[2])

    def _occurrences(self, scope: Scope, batch: Sequence[_Item]) -> list[int]:
        numbers = []
        for item in batch:
            said = ledger.keyed(scope.partition.encode(), item.identity)
            self._seen[said] += 1
            numbers.append(self._seen[said])
        return numbers

    @staticmethod
    def _receipt(book: Book, item: _Item, number: int) -> keys.Key:
        return keys.imported(book.partition, ledger.keyed(book.key, [*item.identity, number]))

    def _moved(self, scope: Scope, seq: int) -> None:
        if seq:
            self.report.last[scope.partition] = seq
