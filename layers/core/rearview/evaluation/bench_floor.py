"""What the bench compares with: the least that could find the same memories, and nothing of what a service adds.

One FTS5 table with the same terms, one float32 matrix, dot product, min-max fusion. WAL and ``synchronous = FULL`` as
in the product; but no history, ledger, idempotency, queue, isolation of tenants, conflicts or second process.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]

WEIGHTS: Final = (0.5, 0.3)
CANDIDATES: Final = 100
FILE: Final = "bare.db"


class BareStore:
    """Memories of several users in one table and one matrix. Rows are numbered from 1 as they come."""

    def __init__(self, folder: Path, dims: int, capacity: int) -> None:
        self._connection = sqlite3.connect(folder / FILE, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute(
            "CREATE VIRTUAL TABLE texts USING fts5 (owner, terms, content UNINDEXED, tokenize = 'ascii')"
        )
        self._connection.execute("INSERT INTO texts (texts, rank) VALUES ('rank', 'bm25(0.0, 1.0)')")
        self._connection.execute("CREATE TABLE vectors (number INTEGER PRIMARY KEY, vector BLOB NOT NULL)")
        self._matrix: Vector = np.zeros((capacity + 1, dims), np.float32)
        self._own: dict[str, list[int]] = {}

    @property
    def matrix_bytes(self) -> int:
        """Size of the matrix in memory."""
        return self._matrix.nbytes

    def write(self, owner: str, content: str, terms: Sequence[str]) -> int:
        """Durable once it returns; found by its words. Answers the row's number."""
        cursor = self._connection.execute(
            "INSERT INTO texts (owner, terms, content) VALUES (?, ?, ?)",
            (_word(owner), " ".join(terms), content),
        )
        return int(cursor.lastrowid or 0)

    def embed(self, owner: str, numbers: Sequence[int], vectors: Vector) -> None:
        """Adds vectors, one row per number, L2-normalised: found by meaning from here on."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(
            "INSERT INTO vectors (number, vector) VALUES (?, ?)",
            [(number, row.tobytes()) for number, row in zip(numbers, vectors, strict=True)],
        )
        self._connection.execute("COMMIT")
        self._matrix[list(numbers)] = vectors
        self._own.setdefault(owner, []).extend(numbers)

    def search(self, owner: str, terms: Sequence[str], vector: Vector, k: int) -> list[tuple[float, str]]:
        """The best ``k`` of an owner as (score 0-1, content)."""
        own = np.asarray(self._own.get(owner, ()), np.int64)
        if not own.size:
            return []
        cosines = self._matrix[own] @ vector
        meaning = dict(zip(own.tolist(), cosines.tolist(), strict=True))
        words = self._words(owner, terms)
        nearest = own[np.argsort(-cosines)[:CANDIDATES]].tolist()
        union = [number for number in {*words, *nearest} if number in meaning]
        vectors = _spread([meaning[number] for number in union])
        keywords = _spread([words.get(number, 0.0) for number in union])
        scored = sorted(
            (
                (WEIGHTS[0] * one + WEIGHTS[1] * other, number)
                for one, other, number in zip(vectors, keywords, union, strict=True)
            ),
            reverse=True,
        )[:k]
        return [(score / sum(WEIGHTS), self._content(number)) for score, number in scored]

    def close(self) -> None:
        """Closes the file; the write-ahead log goes into it."""
        self._connection.close()

    def _words(self, owner: str, terms: Sequence[str]) -> dict[int, float]:
        if not terms:
            return {}
        wanted = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
        found: list[tuple[Any, ...]] = self._connection.execute(
            "SELECT rowid, -rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?",
            (f"owner : {_word(owner)} AND terms : ({wanted})", CANDIDATES),
        ).fetchall()
        return dict(found)

    def _content(self, number: int) -> str:
        row = self._connection.execute("SELECT content FROM texts WHERE rowid = ?", (number,)).fetchone()
        return str(row[0])


def _word(owner: str) -> str:
    """An owner as one FTS5 term."""
    return f"u{owner.encode().hex()}"


def _spread(values: Sequence[float]) -> list[float]:
    """Min-max; a constant becomes 1."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 1.0 for value in values]
