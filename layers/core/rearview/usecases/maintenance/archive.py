"""The task that moves whole texts into the archive: those of short-term memories of which the summary is enough by now,
and the raw turns of sessions that are over.

Nothing that a user sees changes by it: no version, no ledger entry, no write to the index, which goes on finding the
memory by all its vectors and words. The object comes first, then the transaction that lets the text go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from rearview.domain import keys
from rearview.domain.codec import Body, decode, encode
from rearview.domain.ledger import text_digest
from rearview.domain.memory import History, Memory
from rearview.domain.records import Session
from rearview.domain.runs import Cadence
from rearview.domain.times import plus, to_text
from rearview.domain.types import LIVE
from rearview.ports import Filter, UnitOfWork
from rearview.usecases import turns
from rearview.usecases.maintenance.task import Job, Result
from rearview.usecases.past import history_of
from rearview.usecases.portions import portions
from rearview.usecases.scans import memories_of
from rearview.usecases.services import Services, told
from rearview.usecases.sessions import session_id_digest
from rearview.usecases.texts import stow_many, user_key
from rearview.usecases.transfer import records

#: Items of one transaction, under the hundred of DynamoDB; memories whose texts are put into the archive in one go.
CHUNK, PORTION = 60, 32
SUMMARY_ONLY, TURNS = "summary_only", "turns_archived"


@dataclass(frozen=True, slots=True)
class Step:
    """A record whose text is in the archive by now, under one of ``digests``, and may leave the store."""

    at: keys.Key
    digests: frozenset[str]


class TextArchiver:
    """Implements :class:`rearview.usecases.maintenance.task.Task`."""

    name = "archive"
    cadence: Cadence = "daily"

    def __init__(self, services: Services) -> None:
        self.services = services

    def run(self, job: Job, stop: Callable[[], bool]) -> Result:
        """Texts first, then turns."""
        result = Result()
        self._texts(job, stop, result)
        if result.done:
            self._turns(job, stop, result)
        return result

    # --- texts of memories ---

    def _texts(self, job: Job, stop: Callable[[], bool], result: Result) -> None:
        days = job.policy.archiving.summary_only_days
        if days is None:
            return
        until = plus(job.as_of, -timedelta(days=days))
        for some in portions(self._old(job, until), PORTION, lambda memory: len(memory.content.encode())):
            if job.dry_run:
                for memory in some:
                    _note(result, memory.id, days)
                continue
            for steps in portions(self._stowed(job.scope.partition, some), CHUNK, lambda _: 0):
                self._let_go(job, until, steps, result)
            if stop():
                result.done = False
                return

    def _old(self, job: Job, until: datetime) -> Iterator[Memory]:
        where = (
            Filter("memory_type", "eq", "short_term"),
            Filter("status", "in", sorted(LIVE)),
            Filter("enrichment", "eq", "done"),
            Filter("created_at", "le", to_text(until)),
            # Records from before there was an archive do not say.
            Filter("text_archived", "in", [False, None]),
        )
        for memory in memories_of(self.services.store, job.scope.partition, where):
            if _gains(memory):
                yield memory

    def _stowed(self, partition: str, memories: Sequence[Memory]) -> Iterator[Step]:
        """Puts all texts that these memories have had into the archive. A history comes before its memory: while it is
        not done, the next run finds it again."""
        store = self.services.store
        rows = {
            memory.id: [row.memory for row in history_of(store, partition, memory.id) if _gains(row.memory)]
            for memory in memories
        }
        states = {
            (memory.id, state.content): state for memory in memories for state in [memory, *rows[memory.id]]
        }
        digests = stow_many(self.services, list(states.values()), user_key(store, partition))
        of: dict[str, set[str]] = {}
        for (memory_id, _), digest in zip(states, digests, strict=True):
            of.setdefault(memory_id, set()).add(digest)
        for memory in memories:
            for state in rows[memory.id]:
                at = keys.history(partition, memory.id, state.version)
                yield Step(at, frozenset(of[memory.id]))
            yield Step(keys.memory(partition, memory.id), frozenset(of[memory.id]))

    def _let_go(self, job: Job, until: datetime, steps: Sequence[Step], result: Result) -> None:
        partition = job.scope.partition

        def work(uow: UnitOfWork) -> list[str]:
            key = user_key(uow, partition)
            found = uow.get_many(step.at for step in steps)
            moved = []
            for step in steps:
                body = found.get(step.at)
                if body is None:
                    continue
                if step.at.sort.startswith(keys.HISTORY):
                    row = decode(History, body)
                    state = _without(row.memory, key, step.digests)
                    if state is not None:
                        uow.put(step.at, encode(replace(row, memory=state)))
                    continue
                state = _without(_still_old(body, until), key, step.digests)
                if state is not None:
                    uow.put(step.at, encode(state), expires_at=state.due, ttl=state.expires_at is not None)
                    moved.append(state.id)
            return moved

        for memory_id in self.services.store.transact(partition, work):
            _note(result, memory_id, job.policy.archiving.summary_only_days or 0)

    # --- turns of sessions ---

    def _turns(self, job: Job, stop: Callable[[], bool], result: Result) -> None:
        days = job.policy.archiving.turns_days
        until = None if days is None else plus(job.as_of, -timedelta(days=days))
        for session in records(self.services.store, job.scope.partition, keys.SESSIONS, Session):
            last = session.last_turn_at or session.updated_at
            due = until is not None and session.turns > session.turns_archived and last <= until
            half_done = session.turns_cleared < session.turns_archived
            if not (due or half_done):
                continue
            if stop():
                result.done = False
                return
            if job.dry_run or (due and self._move(session)):
                refs = (session_id_digest(session.id),)
                result.note(TURNS, refs, f"no turn for {days} days: they are read from the archive")
            if not job.dry_run:
                self._clear(session)

    def _move(self, session: Session) -> bool:
        """Puts the turns into the archive and lets the session know; False if it went on meanwhile."""
        services, partition = self.services, session.scope.partition
        found = turns.all_turns(services, session, services.store)
        if [turn.number for turn in found] != list(range(1, session.turns + 1)):
            told("a session's turns are not all there, an import may be under way", LookupError())
            return False
        text = turns.packed(found)
        digest = text_digest(user_key(services.store, partition), text)
        place = turns.objects_of(partition, session.id) + digest
        services.archive.put(place, text.encode())
        at = keys.session(partition, session.id)

        def work(uow: UnitOfWork) -> str:
            """The digest that the session names now."""
            body = uow.get(at)
            now = None if body is None else decode(Session, body)
            if now is None:
                return ""
            if (now.turns, now.turns_digest) != (session.turns, session.turns_digest):
                return now.turns_digest
            moved = replace(now, turns_archived=now.turns, turns_digest=digest, turns_before=now.turns_digest)
            uow.put(at, encode(moved))
            return digest

        moved = services.store.transact(partition, work) == digest
        if not moved:
            # The session went on, so nobody will ever name this object.
            services.archive.delete(place)
        return moved

    def _clear(self, session: Session) -> None:
        """Takes the turns that lie in the archive out of the store, and the object with fewer of them out of the archive."""
        services, partition = self.services, session.scope.partition
        at = keys.session(partition, session.id)
        body = services.store.get(at)
        if body is not None and body.get("turns_before"):
            # This one and no other: what is not known here may be on its way into the session.
            services.archive.delete(turns.objects_of(partition, session.id) + body["turns_before"])

        def some(uow: UnitOfWork) -> bool:
            body = uow.get(at)
            now = None if body is None else decode(Session, body)
            if now is None or now.turns_cleared >= now.turns_archived:
                return False
            end = min(now.turns_archived, now.turns_cleared + CHUNK)
            for number in range(now.turns_cleared + 1, end + 1):
                uow.delete(keys.turn(partition, session.id, number))
            last = end == now.turns_archived
            now = replace(now, turns_cleared=end, turns_before="" if last else now.turns_before)
            uow.put(at, encode(now))
            return not last

        while services.store.transact(partition, some):
            pass


def _note(result: Result, memory_id: str, days: int) -> None:
    result.note(SUMMARY_ONLY, (memory_id,), f"older than {days} days: its text is read from the archive")


def _gains(memory: Memory) -> bool:
    """Whether the store holds more of it than its summary."""
    return not memory.text_archived and len(memory.content) > len(memory.summary)


def _still_old(body: Body, until: datetime) -> Memory | None:
    memory = decode(Memory, body)
    still = memory.status in LIVE and memory.enrichment == "done" and memory.created_at <= until
    return memory if still else None


def _without(memory: Memory | None, key: bytes, digests: frozenset[str]) -> Memory | None:
    """The state without its text; None if that has to stay, because it is not the one that was put into the archive."""
    if memory is None or not _gains(memory):
        return None
    digest = text_digest(key, memory.content)
    if digest not in digests:
        return None
    return replace(memory, content="", text_archived=True, text_digest=digest)
