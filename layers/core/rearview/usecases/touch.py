"""When memories were last recalled: gathered while reading, written in batches, without version or ledger entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from threading import Lock

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.memory import Memory
from rearview.ports import UnitOfWork
from rearview.usecases.services import Services, told

#: Memories per transaction.
CHUNK = 50


class Touches:
    """A buffer that the worker's loop and the end of the process flush. Losing it costs no acknowledged write."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._noted: dict[keys.Key, datetime] = {}
        self._lock = Lock()

    def note(self, memories: Sequence[Memory], at: datetime) -> None:
        """These were recalled at that time."""
        with self._lock:
            for memory in memories:
                self._noted[keys.memory(memory.scope.partition, memory.id)] = at

    def flush(self) -> int:
        """Writes what was noted; answers how many memories."""
        with self._lock:
            noted, self._noted = self._noted, {}
        rooms: dict[str, list[keys.Key]] = {}
        for at in noted:
            rooms.setdefault(at.partition, []).append(at)
        for partition, some in rooms.items():
            for start in range(0, len(some), CHUNK):
                part = some[start : start + CHUNK]

                def work(uow: UnitOfWork, part: Sequence[keys.Key] = part) -> None:
                    for at in part:
                        body = uow.get(at)
                        if body is not None:
                            memory = replace(decode(Memory, body), last_recalled_at=noted[at])
                            ttl = memory.expires_at is not None
                            uow.put(at, encode(memory), expires_at=memory.due, ttl=ttl)

                try:
                    self.services.store.transact(partition, work, durable=False)
                except Exception as error:
                    told("could not note when memories were recalled", error)
        return len(noted)
