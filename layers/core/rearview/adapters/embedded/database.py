"""One SQLite file in a data folder, opened by several processes and many threads at once."""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from rearview.adapters.embedded.failures import is_busy, translated
from rearview.adapters.embedded.schema import is_current, migrate
from rearview.adapters.turnstile import Turnstile
from rearview.errors import TooManyWrites, Unavailable

FILE: Final = "rearview.db"

_MEBIBYTE: Final = 1 << 20
_OPENING: Final = threading.Lock()


class Database:
    """The connections to ``folder/rearview.db``, which is created with its schema if it is not there.

    Readers come from a pool, one connection for each thread that reads at the moment, and see one snapshot per
    ``read()`` block. Writers of this process take turns on one connection; against other processes they poll for
    SQLite's write lock. SQLite's own waiting sleeps up to 100 ms at a time, within which a busy neighbour has
    long begun its next transaction.
    """

    def __init__(
        self, folder: Path, *, busy_seconds: float = 10.0, wal_limit_bytes: int = 32 * _MEBIBYTE
    ) -> None:
        """``busy_seconds``: how long a writer waits before TooManyWrites. Raises Unavailable with the reason."""
        self.folder = folder
        self.path = folder / FILE
        self._busy_seconds = busy_seconds
        self._wal_limit = wal_limit_bytes
        self._wal = Path(f"{self.path}-wal")
        self._next_truncate = 0.0
        self._turn = Turnstile()
        self._writers: dict[bool, sqlite3.Connection] = {}
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        self._process = os.getpid()
        try:
            # Threads that open at once take turns; see _create.
            with _OPENING:
                self._create()
                self._prepare()
        except OSError as error:
            raise Unavailable(f"cannot use {folder} as data folder: {error.strerror}") from error
        except (Unavailable, TooManyWrites) as error:
            self.close()
            raise Unavailable(f"cannot open {self.path}: {error.detail}") from error
        except BaseException:
            self.close()
            raise

    # --- opening

    def _create(self) -> None:
        """Folder and file, for the owner only; the log beside the file takes its mode.

        A file that is there is not touched: closing any handle of it would cancel the locks that other
        connections of this process hold (POSIX).
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))

    def _prepare(self) -> None:
        """WAL mode and schema. Another process may be doing the same at this moment."""
        deadline = time.monotonic() + self._busy_seconds
        with translated(writing=False):
            connection = self._writers[True] = self._connect(writing=True)
            while True:
                try:
                    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
                    # A busy server next door must not make a command wait for the write lock without need.
                    current = is_current(connection)
                    break
                except sqlite3.OperationalError as error:
                    if not is_busy(error) or time.monotonic() > deadline:
                        raise
                    self._doze()
        if mode != "wal":
            raise Unavailable("its file system does not support shared memory, which WAL needs")
        if not current:
            with self.write() as connection:
                migrate(connection)

    def _connect(self, *, writing: bool, durable: bool = True) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            if writing:
                connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                connection.execute(f"PRAGMA journal_size_limit = {self._wal_limit // 2}")
                connection.execute("PRAGMA cache_size = -16384")
                # What is deleted shall not be left lying in free pages.
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute("PRAGMA busy_timeout = 0")
            else:
                connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("the store is closed")
        if self._process != os.getpid():
            # SQLite's locks belong to a process; a forked child that goes on with them damages the file.
            raise Unavailable("the store was opened before a fork; open it again in this process")

    # --- reading

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection whose statements all see the same committed state."""
        self._check_open()
        with translated(writing=False):
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = self._connect(writing=False)
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._give_back(connection)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            connection.close()
            return
        self._idle.append(connection)
        if self._closed:
            self._close_idle()

    # --- writing

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """A write transaction: committed at the end of the block, rolled back by any exception.

        With ``durable`` it is on disk when the block ends; without, a power cut (not the death of the process) may
        undo it until the next durable one, which is right for what can be made again: index and queue. Raises
        TooManyWrites when it is not its turn within ``busy_seconds``, RuntimeError inside another of its thread.
        """
        self._check_open()
        deadline = time.monotonic() + self._busy_seconds
        if not self._turn.acquire(self._busy_seconds):
            raise TooManyWrites("the store is busy with other writers; try again")
        try:
            self._check_open()
            with translated(writing=True):
                connection = self._begin(durable, deadline)
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    self._undo(connection, durable)
                    raise
                self._bound_wal(connection)
        finally:
            self._turn.release()

    def _begin(self, durable: bool, deadline: float) -> sqlite3.Connection:
        connection = self._writers.get(durable)
        if connection is None:
            connection = self._writers[durable] = self._connect(writing=True, durable=durable)
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return connection
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > deadline:
                    raise
                self._doze()

    def _undo(self, connection: sqlite3.Connection, durable: bool) -> None:
        """SQLite may have rolled back itself (disk full); a connection that cannot is thrown away."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            self._writers.pop(durable, None)
            connection.close()

    @staticmethod
    def _doze() -> None:
        time.sleep(random.uniform(0.0005, 0.002))  # noqa: S311 - only to be out of step with the others

    # --- the write-ahead log

    def _bound_wal(self, connection: sqlite3.Connection) -> None:
        """SQLite's automatic checkpoint never waits, so readers that overlap without a gap let the log grow.

        Past its limit this writer waits for them, for a quarter of a second at most and at most once a second.
        """
        with suppress(OSError, sqlite3.Error):
            if self._wal.stat().st_size <= self._wal_limit or time.monotonic() < self._next_truncate:
                return
            self._next_truncate = time.monotonic() + 1.0
            self._truncate(connection, 0.25)

    @staticmethod
    def _truncate(connection: sqlite3.Connection, seconds: float) -> bool:
        connection.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
        try:
            (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.execute("PRAGMA busy_timeout = 0")
        return not busy

    def checkpoint(self, seconds: float = 2.0) -> bool:
        """Moves the log into the file and empties it, so that erased content is in neither; False if readers held on."""
        self._check_open()
        if not self._turn.acquire(self._busy_seconds):
            return False
        try:
            with translated(writing=True):
                if True not in self._writers:
                    self._writers[True] = self._connect(writing=True)
                return self._truncate(self._writers[True], seconds)
        finally:
            self._turn.release()

    # --- closing

    def close(self) -> None:
        """Waits for the transaction that is being written, then closes; readers close when they come back."""
        self._closed = True
        if self._process != os.getpid():
            return
        in_turn = self._turn.acquire(5.0)
        try:
            if in_turn:
                while self._writers:
                    self._writers.popitem()[1].close()
            self._close_idle()
        finally:
            if in_turn:
                self._turn.release()

    def _close_idle(self) -> None:
        with suppress(IndexError):
            while True:
                self._idle.pop().close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
