"""The store: items under keys, strongly consistent, changed in transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol, TypeVar

from rearview.domain.codec import Body
from rearview.domain.keys import Key

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on one top-level field of a body.

    ``eq``/``in``: the field equals the value / one of the values (a missing field is None); ``has``: the field is a
    list that holds the value; ``le``/``ge``/``lt``/``gt``: compared as texts (times compare as texts do), false when
    missing; ``open_or_gt``: missing, None, or greater.
    """

    field: str
    op: Literal["eq", "in", "has", "le", "ge", "lt", "gt", "open_or_gt"]
    value: Any

    def holds(self, body: Mapping[str, Any]) -> bool:
        """The same condition in Python, for adapters whose engine cannot say it."""
        have = body.get(self.field)
        match self.op:
            case "eq":
                return bool(have == self.value)
            case "in":
                return have in self.value
            case "has":
                return isinstance(have, list) and self.value in have
            case "open_or_gt":
                return have is None or have > self.value
        if have is None:
            return False
        return bool(
            {
                "le": have <= self.value,
                "ge": have >= self.value,
                "lt": have < self.value,
                "gt": have > self.value,
            }[self.op]
        )


@dataclass(frozen=True, slots=True)
class Page:
    """Items in key order; ``last`` is the sort key to go on after, None at the end."""

    items: list[tuple[Key, Body]]
    last: str | None


class Reading(Protocol):
    """Strongly consistent reads."""

    def get(self, key: Key) -> Body | None:
        """The body, or None."""
        ...

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Body]:
        """Those of the keys that exist."""
        ...

    def query(
        self,
        partition: str,
        prefix: str,
        *,
        after: str | None = None,
        limit: int = 1000,
        reverse: bool = False,
        where: Sequence[Filter] = (),
    ) -> Page:
        """Items of a partition whose sort key starts with ``prefix``, in (reverse) sort order, beyond ``after``.

        ``where`` is applied before ``limit``: a page is short only at the end.
        """
        ...


class UnitOfWork(Reading, Protocol):
    """Reads and buffered writes of one transaction; nothing is seen by others until it commits, then all at once."""

    def put(
        self,
        key: Key,
        body: Body,
        *,
        expires_at: datetime | None = None,
        absent: bool = False,
        ttl: bool = False,
    ) -> None:
        """Writes an item. With ``absent`` the transaction fails (AlreadyThere) if the key exists at commit.

        ``expires_at`` makes the item show up in :meth:`MemoryStore.due`; with ``ttl`` the store itself may remove it
        from seven days after that time on.
        """
        ...

    def delete(self, key: Key) -> None:
        """Removes an item; no error if it is not there."""
        ...


class AlreadyThere(Exception):
    """A put with ``absent`` met an existing key."""

    def __init__(self, key: Key) -> None:
        super().__init__(key.sort)
        self.key = key


class MemoryStore(Reading, Protocol):
    """Records, history, ledger, pending marks: the truth."""

    def transact(self, partition: str, work: Callable[[UnitOfWork], T], *, durable: bool = True) -> T:
        """Runs ``work`` as one atomic, durable transaction, serialised against all others of the same partition.

        ``work`` may run more than once and must have no effect but through its unit of work. It may write keys of
        other partitions; reads of those are guarded only by ``absent``. An exception inside rolls back and goes on
        to the caller. What is not ``durable`` may be undone by a loss of power, never by a kill: for bookkeeping
        that can be done again. Raises TooManyWrites when writers of the partition kept colliding.
        """
        ...

    def pending_partitions(self, limit: int = 100) -> list[str]:
        """Partitions that hold pending marks (sort keys ``P#…``), longest waiting first; may lag behind a little."""
        ...

    def due(self, now: datetime, limit: int = 1000) -> list[Key]:
        """Keys of items whose ``expires_at`` has come, oldest first; may lag behind a little."""
        ...

    def partitions(self) -> Iterable[str]:
        """All partitions (for reindex and audits of everything)."""
        ...

    def close(self) -> None:
        """Gives back what it holds."""
        ...
