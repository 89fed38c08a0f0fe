"""SQLite's result codes as errors of the service."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rearview.errors import TooManyWrites, Unavailable

_REASONS: Final = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk could not be read or written",
    sqlite3.SQLITE_CANTOPEN: "the data file cannot be opened",
    sqlite3.SQLITE_READONLY: "the data file is read-only",
    sqlite3.SQLITE_PERM: "the data file may not be accessed",
    sqlite3.SQLITE_AUTH: "the data file may not be accessed",
    sqlite3.SQLITE_NOTADB: "the data file is not a database",
    sqlite3.SQLITE_CORRUPT: "the data file is damaged",
    sqlite3.SQLITE_NOMEM: "out of memory",
}
# PROTOCOL: gave up racing others that were just opening the write-ahead log.
_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether the file was locked by somebody else, so that it may work a moment later."""
    return _code(error) in _BUSY


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, 0 if the error came from Python's own checks."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


@contextmanager
def translated(*, writing: bool) -> Iterator[None]:
    """Turns what an operator or a retry can mend into the service's errors; mistakes in SQL pass unchanged."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = _code(error)
        if code in _BUSY:
            if writing:
                raise TooManyWrites("the store is busy with other writers; try again") from error
            raise Unavailable("the store is locked; try again") from error
        if code in _REASONS:
            raise Unavailable(_REASONS[code]) from error
        raise
