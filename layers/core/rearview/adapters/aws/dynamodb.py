"""The store over one DynamoDB table.

A transaction reads strongly consistently, buffers its writes and commits them as one ``TransactWriteItems`` under the
condition that the partition's guard (its head item) is at the revision read at the start. Every transaction of a
partition moves the guard, so whatever was read inside it still holds at commit; a collision is retried with jitter.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Final, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from rearview.adapters.aws import dynamodb_items as items
from rearview.adapters.aws import dynamodb_refusals as refusals
from rearview.adapters.aws.dynamodb_table import Client, Table, jitter
from rearview.adapters.aws.dynamodb_unit import DynamoUnit
from rearview.adapters.turnstile import Turnstile
from rearview.domain.codec import Body
from rearview.domain.keys import Key
from rearview.domain.times import to_text
from rearview.errors import RearviewError, Unavailable
from rearview.ports import Filter, Page, UnitOfWork

T = TypeVar("T")

#: Seconds after which writers that keep colliding are told to come back later.
PATIENCE: Final = 5.0


class DynamoStore:
    """Implements :class:`rearview.ports.MemoryStore`. Safe among threads, functions and machines."""

    def __init__(
        self,
        client: Client,
        table: str,
        *,
        patience: float = PATIENCE,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """``client``: a low-level DynamoDB client. ``table``: see ``dynamodb_items.table_definition``."""
        self._table = Table(client, table, patience=patience, pause=pause)
        self._patience, self._pause = patience, pause
        self._turns = _Turns()

    # --- reading

    def get(self, key: Key) -> Body | None:
        return self._table.get(key)

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Body]:
        return self._table.get_many(keys)

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
        return self._table.query(partition, prefix, after=after, limit=limit, reverse=reverse, where=where)

    # --- transactions

    def transact(self, partition: str, work: Callable[[UnitOfWork], T], *, durable: bool = True) -> T:  # noqa: ARG002 - all are
        """See the port. A transaction on the same partition inside ``work`` is a mistake and raises RuntimeError."""
        deadline = time.monotonic() + self._patience
        # Threads of this process take turns: to let them collide in the table would cost a round trip each.
        with self._turns.turn(partition, self._patience):
            attempt = 0
            while True:
                try:
                    return self._attempt(partition, work, deadline)
                except refusals.Again as again:
                    attempt += 1
                    self._wait(attempt, deadline, again.final)

    def _attempt(self, partition: str, work: Callable[[UnitOfWork], T], deadline: float) -> T:
        unit = DynamoUnit(self._table, partition)
        try:
            result = work(unit)
            unit.check()
        except Unavailable:
            raise
        except Exception:
            # Others may have written between two reads, and the trouble may come from the mixture alone.
            if self._torn(unit):
                raise refusals.collided() from None
            raise
        if unit.written:
            self._commit(unit, deadline)
        elif unit.stale():
            raise refusals.collided()
        return result

    @staticmethod
    def _torn(unit: DynamoUnit) -> bool:
        try:
            return unit.stale()
        except Unavailable:
            return False

    def _commit(self, unit: DynamoUnit, deadline: float) -> None:
        operations = unit.operations()
        keys = [key for key, _ in operations]
        # Under one token DynamoDB applies the request once, however often it is sent within ten minutes.
        token, attempt = str(uuid.uuid4()), 0
        while True:
            try:
                self._table.client.transact_write_items(
                    TransactItems=[operation for _, operation in operations], ClientRequestToken=token
                )
            except (ClientError, BotoCoreError) as error:
                meaning = refusals.of_transaction(error, keys, unit.revision)
            else:
                return
            if isinstance(meaning, refusals.Applied):
                return
            if not isinstance(meaning, refusals.Resend):
                raise meaning from None
            attempt += 1
            self._wait(attempt, deadline, Unavailable(f"DynamoDB did not answer: {meaning}"))

    def _wait(self, attempt: int, deadline: float, final: RearviewError) -> None:
        seconds = jitter(attempt)
        if time.monotonic() + seconds >= deadline:
            raise final from None
        self._pause(seconds)

    # --- sweeps

    def pending_partitions(self, limit: int = 100) -> list[str]:
        streams = [
            self._table.sparse(items.PENDING_INDEX, items.PENDING_SHARD, items.PENDING_SINCE, number)
            for number in range(items.SHARDS)
        ]
        found: dict[str, None] = {}
        for _, key in merge(*streams, key=lambda pair: pair[0]):
            found.setdefault(key.partition)
            if len(found) == limit:
                break
        return list(found)

    def due(self, now: datetime, limit: int = 1000) -> list[Key]:
        streams = [
            self._table.sparse(items.DUE_INDEX, items.DUE_SHARD, items.DUE_AT, number, to_text(now))
            for number in range(items.SHARDS)
        ]
        return [key for _, key in islice(merge(*streams, key=lambda pair: pair[0]), limit)]

    def partitions(self) -> Iterator[str]:
        return self._table.partitions()

    def close(self) -> None:
        self._table.client.close()


class _Turns:
    """A turnstile for each partition that somebody of this process is writing to."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, tuple[Turnstile, int]] = {}

    @contextmanager
    def turn(self, partition: str, seconds: float) -> Iterator[None]:
        """Lets one thread in after the other; TooManyWrites for one whose turn does not come in time."""
        with self._lock:
            gate, users = self._open.get(partition, (Turnstile(), 0))
            self._open[partition] = gate, users + 1
        try:
            if not gate.acquire(seconds):
                raise refusals.collided().final
            try:
                yield
            finally:
                gate.release()
        finally:
            with self._lock:
                gate, users = self._open[partition]
                if users == 1:
                    del self._open[partition]
                else:
                    self._open[partition] = gate, users - 1
