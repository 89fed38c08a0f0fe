"""Sweep: what has expired goes (ledger, index, hash item), what is past its grace is purged, what waits is re-driven."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.ports import UnitOfWork
from rearview.usecases import cold, gone, shelf, texts
from rearview.usecases.book import Book
from rearview.usecases.edit import forget_one
from rearview.usecases.moot import conflicts_with
from rearview.usecases.past import history_of
from rearview.usecases.services import Services, told

#: History rows per transaction of a purge.
CHUNK = 80
#: What a conflict asks once one of its sides was purged.
GONE = "One of these memories is gone."


@dataclass(slots=True)
class Swept:
    """Ids of the memories that expired and that were purged."""

    expired: list[str] = field(default_factory=list)
    purged: list[str] = field(default_factory=list)

    def note(self, memory: Memory) -> None:
        """One more, as it stood before: what was deleted goes for good, all else expires."""
        (self.purged if memory.status == "deleted" else self.expired).append(memory.id)


class Sweeper:
    """Run by the worker's idle loop and by schedule; doing it twice does nothing twice."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def sweep(
        self, limit: int = 500, swept: Swept | None = None, stop: Callable[[], bool] = lambda: False
    ) -> int:
        """Expires and purges what is due, until ``stop()``; answers how many items it dealt with, and adds the memories
        to ``swept``."""
        done = 0
        for at in self.services.store.due(self.services.now(), limit):
            if stop():
                break
            try:
                done += self._one(at, Swept() if swept is None else swept)
            except Exception as error:
                told("sweeping one item failed, the next sweep tries again", error)
        return done

    def preview(self, at: datetime, limit: int) -> Swept:
        """What a sweep at that time would first do with the memories as they are now; of at most ``limit`` due items."""
        swept = Swept()
        ats = [key for key in self.services.store.due(at, limit) if key.sort.startswith(keys.MEMORIES)]
        for body in self.services.store.get_many(ats).values():
            memory = decode(Memory, body)
            if _due(memory, at):
                swept.note(memory)
        return swept

    def _one(self, at: keys.Key, swept: Swept) -> int:
        if not at.sort.startswith(keys.MEMORIES):
            self.services.store.transact(at.partition, lambda uow: uow.delete(at))
            return 1
        body = self.services.store.get(at)
        memory = None if body is None else decode(Memory, body)
        if memory is None or not _due(memory, self.services.now()):
            return 0
        done = self._purge(memory) if memory.status == "deleted" else self._expire(memory)
        if done:
            swept.note(memory)
        return done

    def _expire(self, memory: Memory) -> int:
        def work(uow: UnitOfWork) -> int:
            book = Book(uow, memory.scope, self.services.now(), "sweep")
            current = book.memory(memory.id)
            if current.status == "deleted" or not current.expired(book.now):
                return 0
            changed = forget_one(book, current, "shelf life over", "expired")
            book.close()
            return changed.seq

        seq = self.services.store.transact(memory.scope.partition, work)
        if seq:
            self.services.ring(memory.scope.partition, seq)
        return int(seq > 0)

    def _purge(self, memory: Memory) -> int:
        """Content goes from store, index and archive for good; the ledger says that it went, and the id when and why."""
        partition = memory.scope.partition
        at = keys.memory(partition, memory.id)

        def still(uow: UnitOfWork) -> bool:
            # Another sweep, or a restore just before the grace was over.
            body = uow.get(at)
            return body is not None and body["status"] == "deleted"

        def begun(uow: UnitOfWork) -> bool:
            if not still(uow):
                return False
            # The user's own time is past the grace from here on: nobody whose clock is behind, or was set back, can
            # restore what is half gone.
            book = Book(uow, memory.scope, self.services.now(), "sweep")
            book.tick()
            book.close()
            return True

        if not self.services.store.transact(partition, begun):
            return 0
        self.services.index.delete([memory.id])
        # First the texts, while their user's records still say that something is to be purged.
        texts.drop(self.services, partition, memory.id)
        cold.forget(self.services, memory)
        shelf.reword(self.services, memory)
        rows = history_of(self.services.store, partition, memory.id)
        old = [keys.history(partition, memory.id, row.memory.version) for row in rows]
        for start in range(0, len(old), CHUNK):
            some = old[start : start + CHUNK]
            self.services.store.transact(partition, lambda uow, some=some: [uow.delete(at) for at in some])  # type: ignore[misc]

        def work(uow: UnitOfWork) -> None:
            if not still(uow):
                return
            book = Book(uow, memory.scope, self.services.now(), "sweep")
            book.release(memory)
            for conflict in conflicts_with(uow, partition, memory.id):
                # The question quotes both sides.
                book.put_conflict(replace(conflict, question=GONE), "conflict_emptied")
            uow.delete(keys.memory(partition, memory.id))
            gone.mark(book, memory)
            book.record("purged", memory.id, {"because": memory.deleted_because})
            book.close()

        self.services.store.transact(partition, work)
        return 1


def _due(memory: Memory, now: datetime) -> bool:
    return memory.due is not None and memory.due <= now
