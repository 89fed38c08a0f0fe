"""The store over SQLite: items under (partition, sort key), the truth of the embedded mode."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from rearview.adapters.bodies import read_body
from rearview.adapters.embedded.database import Database
from rearview.adapters.embedded.filters import compile_filters
from rearview.domain.codec import Body
from rearview.domain.keys import MEMORIES, PENDING, Key
from rearview.domain.times import to_text
from rearview.ports import AlreadyThere, Filter, Page, UnitOfWork

T = TypeVar("T")

_GRACE: Final = timedelta(days=7)
_SWEEP: Final = 1000

_GET_SOME: Final = (
    "SELECT sort, body FROM items WHERE partition = ? AND sort IN (SELECT value FROM json_each(?))"
)
_GET: Final = "SELECT body FROM items WHERE partition = ? AND sort = ?"
_INSERT: Final = "INSERT INTO items (partition, sort, body, expires_at, ttl) VALUES (?, ?, ?, ?, ?)"
# An upsert keeps the row's number, and with it a pending mark's place in the line.
_UPSERT: Final = (
    _INSERT + " ON CONFLICT (partition, sort) DO UPDATE"
    " SET body = excluded.body, expires_at = excluded.expires_at, ttl = excluded.ttl"
)
_DELETE: Final = "DELETE FROM items WHERE partition = ? AND sort = ?"
_PENDING: Final = """
    SELECT partition FROM items WHERE sort >= 'P#' AND sort < 'P$'
    GROUP BY partition ORDER BY min(item) LIMIT ?
"""
_DUE: Final = """
    SELECT partition, sort FROM items WHERE expires_at IS NOT NULL AND expires_at <= ?
    ORDER BY expires_at, item LIMIT ?
"""
_RUBBISH: Final = """
    SELECT item FROM items WHERE expires_at IS NOT NULL AND expires_at <= ? AND ttl = 1
    AND NOT (sort >= 'M#' AND sort < 'M$') LIMIT ?
"""
# Jumps from one partition to the next in the index instead of walking over all of its items.
_PARTITIONS: Final = """
    WITH RECURSIVE found (partition, n) AS (
        SELECT (SELECT min(partition) FROM items WHERE partition > ?1), 1
        UNION ALL
        SELECT (SELECT min(items.partition) FROM items WHERE items.partition > found.partition), n + 1
        FROM found WHERE found.partition IS NOT NULL AND n < 500
    )
    SELECT partition FROM found WHERE partition IS NOT NULL
"""
assert (MEMORIES, PENDING) == ("M#", "P#")


def _dump(body: Body) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _after(prefix: str) -> str | None:
    """The least text above all that start with ``prefix``; None if there is none."""
    for end in range(len(prefix), 0, -1):
        code = ord(prefix[end - 1])
        if code < 0x10FFFF:
            # Surrogates are no text: the successor of the last character below them is the first above.
            return prefix[: end - 1] + chr(0xE000 if code == 0xD7FF else code + 1)
    return None


def _get(connection: sqlite3.Connection, key: Key) -> Body | None:
    row = connection.execute(_GET, (key.partition, key.sort)).fetchone()
    if row is None:
        return None
    return read_body(row[0])


def _get_many(connection: sqlite3.Connection, keys: Iterable[Key]) -> dict[Key, Body]:
    wanted = list(dict.fromkeys(keys))
    rooms: dict[str, list[str]] = {}
    for key in wanted:
        rooms.setdefault(key.partition, []).append(key.sort)
    found: dict[Key, Body] = {}
    for partition, sorts in rooms.items():
        # One statement for all: a recall reads some two hundred records.
        for sort, text in connection.execute(_GET_SOME, (partition, json.dumps(sorts))):
            found[Key(partition, sort)] = read_body(text)
    return {key: found[key] for key in wanted if key in found}


def _query(
    connection: sqlite3.Connection,
    partition: str,
    prefix: str,
    after: str | None,
    limit: int,
    reverse: bool,
    where: Sequence[Filter],
) -> Page:
    if limit < 1:
        raise ValueError("limit must be at least 1")
    compiled, rest = compile_filters(where)
    conditions = ["partition = ?", "sort >= ?"]
    parameters: list[Any] = [partition, prefix]
    upper = _after(prefix)
    if upper is not None:
        conditions.append("sort < ?")
        parameters.append(upper)
    for sql, values in compiled:
        conditions.append(sql)
        parameters.extend(values)
    beyond, order = ("sort < ?", "DESC") if reverse else ("sort > ?", "ASC")
    items: list[tuple[Key, Body]] = []
    batch = limit + 1
    while True:
        moved = [] if after is None else [after]
        text = " AND ".join([*conditions, *([beyond] if moved else [])])
        rows = connection.execute(
            f"SELECT sort, body FROM items WHERE {text} ORDER BY sort {order} LIMIT ?",  # noqa: S608
            (*parameters, *moved, batch),
        ).fetchall()
        for sort, text_body in rows:
            body = read_body(text_body)
            if all(one.holds(body) for one in rest):
                if len(items) == limit:
                    return Page(items, items[-1][0].sort)
                items.append((Key(partition, sort), body))
        if len(rows) < batch:
            return Page(items, None)
        after = rows[-1][0]
        batch = min(4 * batch, 1000)


class SqliteStore:
    """Implements :class:`rearview.ports.MemoryStore`. Every transaction is serialised against every other."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: Key) -> Body | None:
        with self._database.read() as connection:
            return _get(connection, key)

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Body]:
        with self._database.read() as connection:
            return _get_many(connection, keys)

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
        with self._database.read() as connection:
            return _query(connection, partition, prefix, after, limit, reverse, where)

    def transact(self, partition: str, work: Callable[[UnitOfWork], T], *, durable: bool = True) -> T:  # noqa: ARG002 - one writer at a time
        """See the port. ``work`` runs once; a transaction inside it is a mistake and raises RuntimeError."""
        with self._database.write(durable=durable) as connection:
            unit = _SqliteUnit(connection)
            try:
                result = work(unit)
                unit.check()
            finally:
                unit.end()
            return result

    def pending_partitions(self, limit: int = 100) -> list[str]:
        with self._database.read() as connection:
            return [partition for (partition,) in connection.execute(_PENDING, (limit,))]

    def due(self, now: datetime, limit: int = 1000) -> list[Key]:
        """See the port. This engine has no TTL of its own, so what is past its grace is taken out here; but for memories:
        however long nobody swept, their purge takes history, texts and index along."""
        self._sweep(now)
        with self._database.read() as connection:
            return [Key(*row) for row in connection.execute(_DUE, (to_text(now), limit))]

    def _sweep(self, now: datetime) -> None:
        arguments = (to_text(now - _GRACE), _SWEEP)
        with self._database.read() as connection:
            rows = connection.execute(_RUBBISH, arguments).fetchall()
        if not rows:
            return
        with self._database.write() as connection:
            # Chosen again inside: between the two an item may have been given a new life.
            connection.execute(f"DELETE FROM items WHERE item IN ({_RUBBISH})", arguments)  # noqa: S608

    def partitions(self) -> Iterator[str]:
        last = ""
        while True:
            with self._database.read() as connection:
                found = [partition for (partition,) in connection.execute(_PARTITIONS, (last,))]
            yield from found
            if len(found) < 500:
                return
            last = found[-1]

    def close(self) -> None:
        """Closes the database, which other parts of the same process may share."""
        self._database.close()


class _SqliteUnit:
    """Implements :class:`rearview.ports.UnitOfWork` straight on the open write transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection: sqlite3.Connection | None = connection
        self._refused: Key | None = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise RuntimeError("the transaction of this unit of work has ended")
        return self._connection

    def get(self, key: Key) -> Body | None:
        return _get(self._open(), key)

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Body]:
        return _get_many(self._open(), keys)

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
        return _query(self._open(), partition, prefix, after, limit, reverse, where)

    def put(
        self,
        key: Key,
        body: Body,
        *,
        expires_at: datetime | None = None,
        absent: bool = False,
        ttl: bool = False,
    ) -> None:
        row = (key.partition, key.sort, _dump(body), to_text(expires_at) if expires_at else None, ttl)
        if not absent:
            self._open().execute(_UPSERT, row)
            return
        try:
            self._open().execute(_INSERT, row)
        except sqlite3.IntegrityError as error:
            self._refused = key
            raise AlreadyThere(key) from error

    def delete(self, key: Key) -> None:
        self._open().execute(_DELETE, (key.partition, key.sort))

    def check(self) -> None:
        """Other stores learn of an existing key at commit only, so here too no ``work`` can swallow it."""
        if self._refused is not None:
            raise AlreadyThere(self._refused)

    def end(self) -> None:
        self._connection = None
