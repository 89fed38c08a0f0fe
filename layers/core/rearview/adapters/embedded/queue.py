"""The durable per-user FIFO queue over SQLite. A message is a doorbell; the store holds the work."""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from rearview.adapters.embedded.database import Database
from rearview.domain.times import plus, to_text
from rearview.ports import Clock, Message

_DEDUPLICATION: Final = timedelta(minutes=5)
_POLL_SECONDS: Final = 0.05

# A group with a message out (or put off) is closed; of the others the oldest messages, in the order sent.
_READY: Final = """
    FROM messages WHERE group_id NOT IN (SELECT group_id FROM messages WHERE hidden_until > ?)
"""
_BURY: Final = """
    INSERT INTO dead_letters (id, group_id, body, attempts, died_at)
    SELECT id, group_id, body, attempts, ? FROM messages WHERE id = ?
"""


class SqliteQueue:
    """Implements :class:`rearview.ports.WriteQueue` for workers of any number of processes."""

    def __init__(self, database: Database, clock: Clock, *, max_deliveries: int = 5) -> None:
        self._database = database
        self._clock = clock
        self._max_deliveries = max_deliveries
        self._rung = threading.Event()

    def send(self, group: str, deduplication_id: str, body: Mapping[str, Any]) -> None:
        now = self._clock.now()
        text = json.dumps(dict(body), ensure_ascii=False, separators=(",", ":"))
        with self._database.write(durable=False) as connection:
            connection.execute(
                "DELETE FROM sent_messages WHERE sent_at <= ?", (to_text(now - _DEDUPLICATION),)
            )
            fresh = connection.execute(
                "INSERT OR IGNORE INTO sent_messages (group_id, deduplication_id, sent_at) VALUES (?, ?, ?)",
                (group, deduplication_id, to_text(now)),
            ).rowcount
            if fresh:
                connection.execute(
                    "INSERT INTO messages (id, group_id, body) VALUES (?, ?, ?)",
                    (secrets.token_hex(16), group, text),
                )
        self._rung.set()

    def receive(self, limit: int = 10, *, visibility_seconds: float = 60.0) -> list[Message]:
        """See the port. Several messages of one group may come together, in their order.

        What was delivered too often without an answer goes to the dead letters here.
        """
        if not self._ready():
            return []
        now = self._clock.now()
        until = to_text(plus(now, timedelta(seconds=visibility_seconds)))
        taken: list[Message] = []
        with self._database.write(durable=False) as connection:
            while len(taken) < limit:
                rows = connection.execute(
                    f"SELECT id, group_id, body, attempts {_READY} ORDER BY seq LIMIT ?",
                    (to_text(now), limit),
                ).fetchall()
                exhausted = [row for row in rows if row[3] >= self._max_deliveries]
                if exhausted:
                    # Taken out first: the place in the batch belongs to the ones behind them.
                    for row in exhausted:
                        self._bury(connection, row[0])
                    continue
                for one, group, body, attempts in rows:
                    receipt = secrets.token_hex(16)
                    connection.execute(
                        "UPDATE messages SET hidden_until = ?, receipt = ?, attempts = ? WHERE id = ?",
                        (until, receipt, attempts + 1, one),
                    )
                    taken.append(Message(one, group, json.loads(body), receipt, attempts + 1))
                break
        return taken

    def acknowledge(self, message: Message) -> None:
        with self._database.write(durable=False) as connection:
            connection.execute(
                "DELETE FROM messages WHERE id = ? AND receipt = ?", (message.id, message.receipt)
            )
        self._rung.set()

    def release(self, message: Message, *, delay_seconds: float = 0.0) -> None:
        now = self._clock.now()
        until = to_text(plus(now, timedelta(seconds=delay_seconds)))
        with self._database.write(durable=False) as connection:
            row = connection.execute(
                "SELECT attempts FROM messages WHERE id = ? AND receipt = ?", (message.id, message.receipt)
            ).fetchone()
            if row is None:
                return
            if row[0] >= self._max_deliveries:
                self._bury(connection, message.id)
            else:
                connection.execute(
                    "UPDATE messages SET hidden_until = ?, receipt = NULL WHERE id = ?", (until, message.id)
                )
        self._rung.set()

    def _bury(self, connection: sqlite3.Connection, message_id: str) -> None:
        connection.execute(_BURY, (to_text(self._clock.now()), message_id))
        connection.execute("DELETE FROM messages WHERE id = ?", (message_id,))

    def depth(self) -> tuple[int, int]:
        with self._database.read() as connection:
            waiting, dead = connection.execute(
                "SELECT (SELECT count(*) FROM messages), (SELECT count(*) FROM dead_letters)"
            ).fetchone()
        return int(waiting), int(dead)

    def dead_letters(self, limit: int = 100) -> list[Message]:
        """The oldest dead letters; their receipt is empty."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT id, group_id, body, attempts FROM dead_letters ORDER BY seq LIMIT ?", (limit,)
            ).fetchall()
        return [Message(one, group, json.loads(body), "", attempts) for one, group, body, attempts in rows]

    def wait(self, timeout: float, *, poll_seconds: float = _POLL_SECONDS) -> bool:
        """Sleeps until there is something to receive, at most ``timeout`` seconds; whether there is.

        A send in this process wakes it at once, one in another within ``poll_seconds``.
        """
        deadline = time.monotonic() + timeout
        while True:
            # Cleared before looking: a send after the look finds the event unset and sets it.
            self._rung.clear()
            if self._ready():
                return True
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self._rung.wait(min(left, poll_seconds))

    def wake(self) -> None:
        """Ends the present nap of a :meth:`wait`, which looks again."""
        self._rung.set()

    def _ready(self) -> bool:
        with self._database.read() as connection:
            now = to_text(self._clock.now())
            return connection.execute(f"SELECT 1 {_READY} LIMIT 1", (now,)).fetchone() is not None
