"""Write: a memory, a batch or a conversation in; ids, verdicts and a consistency token out.

One transaction puts memory, history, hash item, ledger entry, pending mark and idempotency answer; the queue message
that follows is only a doorbell. Enrichment (embedding, duplicates, conflicts, index) is the worker's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rearview.domain.memory import Memory, Repeat
from rearview.domain.principal import Principal
from rearview.domain.scope import Scope
from rearview.errors import RearviewError
from rearview.ports import UnitOfWork
from rearview.usecases.admit import Draft, draft
from rearview.usecases.book import Book
from rearview.usecases.commands import WriteBatch, WriteMemory
from rearview.usecases.confirm import confirm
from rearview.usecases.enrich import Enricher
from rearview.usecases.fields import read
from rearview.usecases.idempotency import Answer, Once
from rearview.usecases.problems import problem
from rearview.usecases.services import Services
from rearview.usecases.texts import full_or_bare
from rearview.usecases.views import MemoryView, WriteAnswer, plain
from rearview.usecases.written import written

#: Writes of one scope per transaction: at most eight items each, under the hundred that DynamoDB allows.
CHUNK = 11


@dataclass(frozen=True, slots=True)
class Placed:
    """What a transaction did with a draft."""

    verdict: str
    memory: Memory
    seq: int


class Writer:
    """The write verbs for single memories and batches."""

    def __init__(self, services: Services, enricher: Enricher) -> None:
        self.services, self.enricher = services, enricher

    def write(
        self, principal: Principal, request: WriteMemory, *, wait: bool = False, once: Once | None = None
    ) -> Answer:
        """One memory. Answers (202 | 201 | 200, WriteAnswer as JSON)."""
        drafted = draft(self.services, principal, request)
        if drafted.verdict == "drop":
            return 200, dict(plain(dropped(drafted)))
        placed, answer = self._commit(principal, drafted.scope, [drafted], [once])
        self.services.ring(drafted.scope.partition, placed[-1].seq)
        if wait:
            self.enricher.wait(drafted.scope.partition, placed[-1].seq)
            return self.final(drafted, placed[0])
        return answer[0]

    def batch(
        self, principal: Principal, request: WriteBatch, *, wait: bool = False, once: Once | None = None
    ) -> Answer:
        """1-100 memories, judged one by one: an item that is refused carries its problem, the others stand."""
        results: list[dict[str, Any] | None] = [None] * len(request.items)
        drafts: dict[int, Draft] = {}
        for number, item in enumerate(request.items):
            kept = once.part(number).kept(self.services) if once is not None and once.resumed else None
            if kept is not None:
                results[number] = kept[1]
                continue
            try:
                drafted = draft(self.services, principal, read(WriteMemory, item, f"items[{number}]"))
            except RearviewError as error:
                results[number] = {"error": problem(error)}
                continue
            if drafted.verdict == "drop":
                results[number] = dict(plain(dropped(drafted)))
            else:
                drafts[number] = drafted
        placed: dict[int, Placed] = {}
        last: dict[str, int] = {}
        for scope, numbers in _by_scope(drafts):
            for start in range(0, len(numbers), CHUNK):
                some = numbers[start : start + CHUNK]
                guards = [once.part(number) if once else None for number in some]
                done, answers = self._commit(principal, scope, [drafts[number] for number in some], guards)
                for number, one, answer in zip(some, done, answers, strict=True):
                    placed[number], results[number] = one, answer[1]
                last[scope.partition] = max(one.seq for one in done)
        for partition, seq in last.items():
            self.services.ring(partition, seq)
        if wait and last:
            self.enricher.wait_all(last)
            for number, one in placed.items():
                results[number] = self.final(drafts[number], one)[1]
        return 200, {"results": results}

    def _commit(
        self, principal: Principal, scope: Scope, drafts: Sequence[Draft], guards: Sequence[Once | None]
    ) -> tuple[list[Placed], list[Answer]]:
        """Places drafts of one scope in one transaction, with their idempotency answers."""

        def work(uow: UnitOfWork) -> tuple[list[Placed], list[Answer]]:
            book = Book(uow, scope, self.services.now(), principal.id)
            done = [place(book, item) for item in drafts]
            done = shown(self.services, book, done)
            answers = [self.acknowledged(item, one) for item, one in zip(drafts, done, strict=True)]
            for guard, answer in zip(guards, answers, strict=True):
                if guard is not None:
                    guard.seal(uow, *answer)
            book.close()
            return done, answers

        return self.services.store.transact(scope.partition, work)

    def acknowledged(self, drafted: Draft, placed: Placed) -> Answer:
        """The answer at acknowledgement: durable, not yet enriched."""
        memory = placed.memory
        answer = WriteAnswer(
            id=memory.id,
            verdict=placed.verdict,
            reasons=list(drafted.reasons),
            status=memory.status,
            version=memory.version,
            token=self.services.token(drafted.scope, placed.seq),
            duplicate_of=memory.id if placed.verdict == "duplicate" else None,
            memory=MemoryView.of(memory),
        )
        return (200 if placed.verdict == "duplicate" else 202), dict(plain(answer))

    def final(self, drafted: Draft, placed: Placed) -> Answer:
        """The answer once enrichment is done; still 202 if the wait ran out."""
        reader = written(self.services.store, drafted.scope.partition, placed.memory.id)
        memory, verdict, duplicate_of = reader.memory, placed.verdict, None
        memory = full_or_bare(self.services, [memory])[0][0]
        if placed.verdict == "duplicate":
            duplicate_of = placed.memory.id
        elif memory.merged_into is not None:
            verdict, duplicate_of = "duplicate", memory.merged_into
        answer = WriteAnswer(
            id=memory.id,
            verdict=verdict,
            reasons=list(drafted.reasons) + reader.reasons,
            status=memory.status,
            version=memory.version,
            token=self.services.token(drafted.scope, placed.seq),
            duplicate_of=duplicate_of,
            conflicts=reader.conflicts,
            supersedes=reader.supersedes,
            memory=MemoryView.of(memory),
        )
        status = 200 if verdict == "duplicate" else 202 if memory.pending and not reader.settled else 201
        return status, dict(plain(answer))


def place(book: Book, drafted: Draft) -> Placed:
    """Puts a draft into its scope: as a new memory, or as a confirmation of the one that says the same."""
    memory = drafted.place(book)
    twin = None if drafted.verbatim else book.twin(memory.content_hash)
    if twin is None:
        # The codes of the verdict: years later somebody asks why this was let in.
        memory = book.add(memory, "created", reason=", ".join(drafted.reasons) or None)
        return Placed(drafted.verdict, memory, memory.seq)
    longer = (
        None
        if memory.expires_at is None or twin.expires_at is None
        else max(memory.expires_at, twin.expires_at)
    )
    more: dict[str, Any] = {"importance_stated": True} if drafted.importance_stated else {}
    again = Repeat(memory.valid_from, memory.session_id, book.now)
    by_user = drafted.origin == "user"
    twin = confirm(book, twin, "confirmed", repeat=again, by_user=by_user, expires_at=longer, **more)
    return Placed("duplicate", twin, book.seq)


def shown(services: Services, book: Book, placed: Sequence[Placed]) -> list[Placed]:
    """With their texts for the answer: what a repeat landed on may have its own in the archive."""
    memories, _ = full_or_bare(services, [item.memory for item in placed], book.uow)
    return [replace(item, memory=memory) for item, memory in zip(placed, memories, strict=True)]


def dropped(drafted: Draft) -> WriteAnswer:
    """The answer to a write that the sieves did not let in."""
    return WriteAnswer(id=None, verdict="drop", reasons=list(drafted.reasons))


def _by_scope(drafts: dict[int, Draft]) -> list[tuple[Scope, list[int]]]:
    rooms: dict[Scope, list[int]] = {}
    for number, item in drafts.items():
        rooms.setdefault(item.scope, []).append(number)
    return list(rooms.items())
