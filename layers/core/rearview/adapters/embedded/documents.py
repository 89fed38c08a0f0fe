"""Index documents as rows: the writing half of the index."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rearview.adapters.embedded.generations import State, stamp
from rearview.adapters.embedded.scopes import Source
from rearview.domain.times import optional_text, to_text
from rearview.ports import IndexDocument

#: Changes that readers can still follow one by one; who is further behind loads anew.
CHANGES_KEPT: Final = 20_000

_COLUMNS: Final = (
    *("id", "record", "partition", "namespace", "version", "generation", "text_digest", "terms_digest"),
    *("status", "memory_type", "kind", "origin", "audience", "importance"),
    *("created_at", "valid_from", "valid_to", "expires_at", "agent_id", "session_id", "tags"),
)
_WRITE: Final = (
    f"INSERT INTO documents ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608
    f" ON CONFLICT (id, record) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _COLUMNS)}"
    " RETURNING document"
)
_HELD: Final = """
    SELECT document, version, text_digest, terms_digest, partition, namespace, audience, generation
    FROM documents WHERE id = ? AND record = ?
"""
_PUT_VECTORS: Final = """
    INSERT INTO vectors (document, generation, chunks) VALUES (?, ?, ?)
    ON CONFLICT (document, generation) DO UPDATE SET chunks = excluded.chunks
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A document made ready outside the write lock. ``chunks``: float32 rows, little-endian; None without vectors."""

    document: IndexDocument
    chunks: bytes | None
    dims: int
    text_digest: bytes
    terms_digest: bytes
    terms: str
    tokens: tuple[str, ...]


def _tokens(partition: str, namespace: str, audience: str, document: IndexDocument) -> tuple[str, ...]:
    own = Source("partition", partition, document.record).token
    if audience != "namespace":
        return (own,)
    return own, Source("namespace", namespace, document.record).token


def prepare(document: IndexDocument) -> Row | None:
    """The row of a document; None if its vectors are none: wrong shape, empty, or not finite."""
    chunks, dims = None, 0
    if document.vectors is not None:
        vectors = np.ascontiguousarray(document.vectors, dtype="<f4")
        if vectors.ndim != 2 or 0 in vectors.shape or not np.isfinite(vectors).all():
            return None
        chunks, dims = vectors.tobytes(), int(vectors.shape[1])
    tokens = _tokens(document.partition, document.namespace, document.audience, document)
    terms = " ".join(document.terms)
    return Row(
        document,
        chunks,
        dims,
        hashlib.blake2b(document.text.encode(), digest_size=16).digest(),
        hashlib.blake2b(f"{' '.join(tokens)}\n{terms}".encode(), digest_size=16).digest(),
        terms,
        tokens,
    )


def write(
    connection: sqlite3.Connection,
    row: Row,
    state: State,
    targets: Sequence[int],
    fingerprint: str,
    *,
    rebuilding: bool = False,
) -> None:
    """Writes one document, unless a later version is held. ``targets``: the generations its vectors go into.

    Vectors of an unchanged text stay where none are given, or none for that generation; those of a text that has
    changed go. ``rebuilding``: the store has the word, so a later version counts only if it came meanwhile.
    """
    document = row.document
    held = connection.execute(_HELD, (document.id, document.record)).fetchone()
    if held is not None and held[1] > document.version and not (rebuilding and held[7] < state.newest):
        return
    (number,) = connection.execute(_WRITE, _values(row, state)).fetchone()
    if held is None or held[3] != row.terms_digest:
        if held is not None:
            connection.execute("DELETE FROM document_terms WHERE rowid = ?", (number,))
        connection.execute(
            "INSERT INTO document_terms (rowid, scope, terms) VALUES (?, ?, ?)",
            (number, " ".join(row.tokens), row.terms),
        )
    changed = _write_vectors(
        connection,
        number,
        row,
        state,
        targets,
        fingerprint,
        text_changed=held is not None and held[2] != row.text_digest,
    )
    before = _tokens(held[4], held[5], held[6], document) if held is not None else row.tokens
    if changed or set(before) != set(row.tokens):
        log_changes(connection, number, {*before, *row.tokens})


def _values(row: Row, state: State) -> tuple[object, ...]:
    document = row.document
    return (
        document.id,
        document.record,
        document.partition,
        document.namespace,
        document.version,
        state.newest,
        row.text_digest,
        row.terms_digest,
        document.status,
        document.memory_type,
        document.kind,
        document.origin,
        document.audience,
        document.importance,
        to_text(document.created_at),
        to_text(document.valid_from),
        optional_text(document.valid_to),
        optional_text(document.expires_at),
        document.agent_id,
        document.session_id,
        json.dumps(list(document.tags), ensure_ascii=False),
    )


def _write_vectors(
    connection: sqlite3.Connection,
    number: int,
    row: Row,
    state: State,
    targets: Sequence[int],
    fingerprint: str,
    *,
    text_changed: bool,
) -> bool:
    """Whether the vectors that answer have changed."""
    held: dict[int, bytes] = dict(
        connection.execute("SELECT generation, chunks FROM vectors WHERE document = ?", (number,)).fetchall()
    )
    changed = False
    into = targets if row.chunks is not None else ()
    for generation in held:
        if text_changed and generation not in into:
            connection.execute(
                "DELETE FROM vectors WHERE document = ? AND generation = ?", (number, generation)
            )
            changed |= generation == state.active
    for generation in into:
        if held.get(generation) != row.chunks:
            stamp(connection, state, generation, fingerprint, row.dims)
            connection.execute(_PUT_VECTORS, (number, generation, row.chunks))
            changed |= generation == state.active
    return changed


def remove(connection: sqlite3.Connection, column: str, values: Iterable[object]) -> None:
    """Takes out the documents whose ``column`` (``id`` or ``document``) is one of ``values``."""
    for value in values:
        rows = connection.execute(
            f"SELECT document, partition, namespace, audience, record FROM documents WHERE {column} = ?",  # noqa: S608
            (value,),
        ).fetchall()
        for number, partition, namespace, audience, record in rows:
            connection.execute("DELETE FROM document_terms WHERE rowid = ?", (number,))
            connection.execute("DELETE FROM documents WHERE document = ?", (number,))
            tokens = [Source("partition", partition, record).token]
            if audience == "namespace":
                tokens.append(Source("namespace", namespace, record).token)
            log_changes(connection, number, tokens)


def log_changes(connection: sqlite3.Connection, number: int, tokens: Iterable[str]) -> None:
    """Tells every process that caches a matrix of these sources to look at the document again."""
    for token in sorted(tokens):
        seq = connection.execute(
            "INSERT INTO vector_changes (scope, document) VALUES (?, ?)", (token, number)
        ).lastrowid
        if seq is not None and seq % 1000 == 0:
            connection.execute("DELETE FROM vector_changes WHERE seq <= ?", (seq - CHANGES_KEPT,))


def prepare_all(documents: Iterable[IndexDocument]) -> tuple[list[Row], list[str]]:
    """The rows of the documents, and the ids of those whose vectors are unusable."""
    rows: list[Row] = []
    failed: list[str] = []
    for document in documents:
        row = prepare(document)
        if row is None:
            failed.append(document.id)
        else:
            rows.append(row)
    return rows, failed
