"""When memories were last recalled: gathered while reading, written in batches, without version or ledger entry.

What is cold and was recalled wakes with it: that is a change like any other, with history, ledger and work for the worker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.lifecycle import last_use
from rearview.domain.memory import Memory
from rearview.ports import UnitOfWork
from rearview.usecases.book import Book
from rearview.usecases.services import Services, told
from rearview.usecases.texts import full_or_bare
from rearview.usecases.waking import sleeps, wake

#: Memories per transaction; of those that wake fewer, since each is some six items of the hundred that DynamoDB allows.
CHUNK, WAKES = 50, 10
#: Shelf lives and values count in days: a use within a day of the last one that is known of may get lost.
MATTERS = timedelta(days=1)


class Touches:
    """A buffer that the worker's loop and the end of the process flush. Losing it costs no acknowledged write."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._noted: dict[keys.Key, datetime] = {}
        self._asleep = self._stale = False
        self._lock = Lock()

    def note(self, memories: Sequence[Memory], at: datetime) -> None:
        """These were recalled at that time."""
        with self._lock:
            for memory in memories:
                self._noted[keys.memory(memory.scope.partition, memory.id)] = at
                self._asleep = self._asleep or sleeps(memory)
                self._stale = self._stale or at - last_use(memory) >= MATTERS

    @property
    def urgent(self) -> bool:
        """Whether something waits that matters, a memory to be woken or the first use in a day: where a process may be
        frozen after an answer and never thawed, better now than later."""
        return self._asleep or self._stale

    def drop(self) -> None:
        """What was noted and not yet written did not happen."""
        with self._lock:
            self._noted, self._asleep, self._stale = {}, False, False

    def flush(self) -> int:
        """Writes what was noted; answers how many memories."""
        with self._lock:
            noted, asleep = self._noted, self._asleep
            self._noted, self._asleep, self._stale = {}, False, False
        rooms: dict[str, list[keys.Key]] = {}
        for at in noted:
            rooms.setdefault(at.partition, []).append(at)
        for partition, some in rooms.items():
            try:
                woken = self._wake(partition, some, noted) if asleep else set()
                went = self._stamp(partition, [at for at in some if at not in woken], noted)
                if went:
                    self._wake(partition, went, noted)
            except Exception as error:
                told("could not note when memories were recalled", error)
        return len(noted)

    def _stamp(
        self, partition: str, some: Sequence[keys.Key], noted: Mapping[keys.Key, datetime]
    ) -> list[keys.Key]:
        """Answers those that went cold between the recall and now: they are to wake."""
        went: list[keys.Key] = []
        for start in range(0, len(some), CHUNK):
            part = some[start : start + CHUNK]

            def work(uow: UnitOfWork, part: Sequence[keys.Key] = part) -> list[keys.Key]:
                cold = []
                for at in part:
                    body = uow.get(at)
                    memory = None if body is None else decode(Memory, body)
                    if memory is None:
                        continue
                    if sleeps(memory):
                        cold.append(at)
                        continue
                    # Another process may have noted a later recall before.
                    memory = replace(
                        memory, last_recalled_at=max(memory.last_recalled_at or noted[at], noted[at])
                    )
                    ttl = memory.expires_at is not None
                    uow.put(at, encode(memory), expires_at=memory.due, ttl=ttl)
                return cold

            went += self.services.store.transact(partition, work, durable=False)
        return went

    def _wake(
        self, partition: str, some: Sequence[keys.Key], noted: Mapping[keys.Key, datetime]
    ) -> set[keys.Key]:
        """Wakes those that are cold; answers which."""
        bodies = self.services.store.get_many(some)
        cold = [decode(Memory, body) for body in bodies.values() if body["status"] == "archived"]
        cold = [memory for memory in cold if sleeps(memory)]
        # Texts of short_term memories stay where they are: at that age the summary is enough (see the policy).
        texts, _ = full_or_bare(self.services, [item for item in cold if item.memory_type == "long_term"])
        known = {item.id: item for item in texts if item.content}
        for start in range(0, len(cold), WAKES):
            part = cold[start : start + WAKES]

            def work(uow: UnitOfWork, part: Sequence[Memory] = part) -> int:
                book = Book(uow, part[0].scope, self.services.now(), "recall")
                seq = 0
                for held in part:
                    memory = book.memory(held.id)
                    if not sleeps(memory):
                        continue
                    at = keys.memory(partition, memory.id)
                    fields: dict[str, Any] = {"last_recalled_at": noted[at]}
                    text = known.get(memory.id)
                    if text is not None and text.text_digest == memory.text_digest:
                        fields |= {"content": text.content, "text_archived": False, "text_digest": ""}
                    seq = wake(book, memory, reason="recalled", **fields).seq
                book.close()
                return seq

            seq = self.services.store.transact(partition, work)
            if seq:
                self.services.ring(partition, seq)
        return {keys.memory(partition, memory.id) for memory in cold}
