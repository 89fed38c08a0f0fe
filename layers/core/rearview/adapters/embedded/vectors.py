"""Vectors in memory: one matrix per source, kept up to date from the change log, searched exactly."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.embedded.scopes import Source

Vectors: TypeAlias = NDArray[np.float32]
Numbers: TypeAlias = NDArray[np.int64]

_FETCH: Final = 2000
_LEAST_SPARE: Final = 64


@dataclass(frozen=True, slots=True)
class View:
    """Chunk vectors (n, dims) and the document number of each row; −1 marks rows that are gone. Never changes."""

    vectors: Vectors
    owners: Numbers


@dataclass(frozen=True, slots=True)
class Log:
    """How far the change log reaches in a reader's snapshot: its newest entry, and the oldest still kept."""

    newest: int
    oldest: int


def read_log(connection: sqlite3.Connection) -> Log:
    """The reach of the change log in the connection's snapshot; (0, 0) while nothing was ever logged."""
    newest, oldest = connection.execute(
        "SELECT (SELECT max(seq) FROM vector_changes), (SELECT min(seq) FROM vector_changes)"
    ).fetchone()
    return Log(newest or 0, oldest or 0)


class SnapshotTooOldError(Exception):
    """The cached matrix is ahead of the reader's snapshot: read again from a new one."""


@dataclass(slots=True)
class _Matrix:
    """A growing matrix. Views share its memory: rows are appended past their end and never written over."""

    dims: int
    position: int = -1
    vectors: Vectors = field(init=False)
    owners: Numbers = field(init=False)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.vectors = np.empty((0, self.dims), np.float32)
        self.owners = np.empty(0, np.int64)

    def view(self) -> View:
        return View(self.vectors[: len(self.owners)], self.owners)

    def append(self, rows: Vectors, owners: Numbers) -> None:
        count = len(self.owners)
        needed = count + len(rows)
        if needed > len(self.vectors):
            larger = np.empty((max(needed + _LEAST_SPARE, count + count // 2), self.dims), np.float32)
            larger[:count] = self.vectors[:count]
            self.vectors = larger
        self.vectors[count:needed] = rows
        self.owners = np.concatenate([self.owners, owners])

    def remove(self, gone: Numbers) -> None:
        self.owners = np.where(np.isin(self.owners, gone), np.int64(-1), self.owners)
        alive = self.owners >= 0
        dead = len(alive) - int(alive.sum())
        if dead > max(_LEAST_SPARE, len(alive) // 4):
            self.vectors = self.vectors[: len(self.owners)][alive]
            self.owners = self.owners[alive]


class VectorCache:
    """Matrices of the sources searched last, at most ``limit_bytes`` together (and always the one in use)."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._lock = threading.Lock()
        self._matrices: OrderedDict[tuple[int, str], _Matrix] = OrderedDict()

    def view(
        self, connection: sqlite3.Connection, source: Source, generation: int, dims: int, log: Log
    ) -> View:
        """The vectors of ``source`` exactly as the connection's snapshot holds them.

        Raises SnapshotTooOldError when another thread has read on since the snapshot was taken.
        """
        key = (generation, source.token)
        with self._lock:
            matrix = self._matrices.setdefault(key, _Matrix(dims))
            self._matrices.move_to_end(key)
        with matrix.lock:
            if matrix.position > log.newest:
                raise SnapshotTooOldError
            if matrix.position < log.newest:
                try:
                    self._follow(connection, matrix, source, generation, log)
                except BaseException:
                    matrix.position = -1
                    raise
            view = matrix.view()
        self._evict(generation)
        return view

    def load(self, connection: sqlite3.Connection, source: Source, generation: int, dims: int) -> View:
        """The same straight from the file."""
        matrix = _Matrix(dims)
        _append(connection, matrix, source, generation, None)
        return matrix.view()

    @staticmethod
    def _follow(
        connection: sqlite3.Connection, matrix: _Matrix, source: Source, generation: int, log: Log
    ) -> None:
        if matrix.position < 0 or matrix.position + 1 < log.oldest:
            matrix.clear()
            _append(connection, matrix, source, generation, None)
        else:
            changed = [
                number
                for (number,) in connection.execute(
                    "SELECT DISTINCT document FROM vector_changes WHERE scope = ? AND seq > ?",
                    (source.token, matrix.position),
                )
            ]
            if changed:
                matrix.remove(np.array(changed, np.int64))
                _append(connection, matrix, source, generation, changed)
        matrix.position = log.newest

    def _evict(self, generation: int) -> None:
        with self._lock:
            # Only a reader of an older snapshot asks for a generation that is no more; it loads anew.
            for key in [key for key in self._matrices if key[0] < generation]:
                del self._matrices[key]
            total = sum(matrix.vectors.nbytes for matrix in self._matrices.values())
            while total > self._limit and len(self._matrices) > 1:
                total -= self._matrices.popitem(last=False)[1].vectors.nbytes


def _append(
    connection: sqlite3.Connection,
    matrix: _Matrix,
    source: Source,
    generation: int,
    only: list[int] | None,
) -> None:
    condition, values = source.condition
    if only is not None:
        condition += " AND d.document IN (SELECT value FROM json_each(?))"
        values = [*values, json.dumps(only)]
    cursor = connection.execute(
        f"""
        SELECT d.document, v.chunks FROM documents AS d
        JOIN vectors AS v ON v.document = d.document AND v.generation = ?
        WHERE {condition} ORDER BY d.document
        """,  # noqa: S608
        (generation, *values),
    )
    while rows := cursor.fetchmany(_FETCH):
        numbers, blobs = zip(*rows, strict=True)
        block = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(-1, matrix.dims)
        counts = [len(blob) // (4 * matrix.dims) for blob in blobs]
        matrix.append(block, np.repeat(np.array(numbers, np.int64), counts))


def held_vectors(
    connection: sqlite3.Connection, generation: int, dims: int, ids: Sequence[str]
) -> dict[str, Vectors]:
    """By id of a memory: the rows (n, dims) that a generation holds for it; those without are missing."""
    rows = connection.execute(
        """
        SELECT d.id, v.chunks FROM documents AS d
        JOIN vectors AS v ON v.document = d.document AND v.generation = ?
        WHERE d.record = 'memory' AND d.id IN (SELECT value FROM json_each(?))
        """,
        (generation, json.dumps(list(ids))),
    )
    return {one: np.frombuffer(blob, dtype="<f4").reshape(-1, dims) for one, blob in rows}


def _cosines(vectors: Vectors, query: Vectors) -> Vectors:
    """The best dot product of each row with any row of ``query``.

    Row by row: a matrix product of this shape is bound by memory either way, and the BLAS behind it would start
    threads that, in a server busy with other queries, wait for each other (8 ms instead of 1 at 20,000 rows).
    """
    best: Vectors = np.vecdot(vectors, query[0])
    for row in query[1:]:
        np.maximum(best, np.vecdot(vectors, row), out=best)
    return best


class Ranking:
    """Cosines of every chunk in some views to the query's vectors, best over the query's rows.

    Rounded to six decimals: the same text has the same score wherever its row lies, so that ties are ties.
    """

    def __init__(self, views: list[View], query: Vectors) -> None:
        """``query``: (m, dims), L2-normalised."""
        self._owners = np.concatenate([view.owners for view in views])
        cosines = np.concatenate([_cosines(view.vectors, query) for view in views])
        self._scores: NDArray[Any] = np.where(self._owners >= 0, np.round(cosines, 6), -np.inf)

    def top(self, count: int) -> tuple[dict[int, float], bool]:
        """The documents of the best ``count`` rows and of all that tie with the last; whether these are all."""
        total = len(self._scores)
        if total <= count:
            return self._best(np.arange(total)), True
        edge = np.partition(self._scores, total - count)[total - count]
        return self._best(np.flatnonzero(self._scores >= edge)), bool(edge == -np.inf)

    def of(self, documents: list[int]) -> dict[int, float]:
        """The exact score of these documents; those without vectors are missing."""
        wanted = np.array(documents, np.int64)
        return self._best(np.flatnonzero(np.isin(self._owners, wanted)))

    def _best(self, rows: NDArray[np.intp]) -> dict[int, float]:
        best: dict[int, float] = {}
        for owner, score in zip(self._owners[rows].tolist(), self._scores[rows].tolist(), strict=True):
            if owner >= 0 and score > best.get(owner, -np.inf):
                best[owner] = score
        return best
