"""The index over SQLite: FTS5 for words, exact cosine for meaning, one snapshot for both."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from rearview.adapters.embedded.database import Database
from rearview.adapters.embedded.documents import prepare_all, remove, write
from rearview.adapters.embedded.generations import State, read_state
from rearview.adapters.embedded.rebuild import SqliteRebuild, start_rebuild
from rearview.adapters.embedded.scopes import Source, any_of, filters_of, match_expression, sources_of
from rearview.adapters.embedded.vectors import (
    Ranking,
    SnapshotTooOldError,
    VectorCache,
    Vectors,
    held_vectors,
    read_log,
)
from rearview.errors import EmbedderMismatch, Unavailable
from rearview.ports import IndexAnswer, IndexDocument, IndexQuery, Scored

_ATTEMPTS: Final = 8
_CACHE_BYTES: Final = 256 << 20


@dataclass(slots=True)
class _Found:
    """A document on its way into the answer."""

    id: str
    partition: str
    vector: float | None = None
    keyword: float | None = None


@dataclass(slots=True)
class _Search:
    """What the arms share: one snapshot, the compiled filters, the union."""

    connection: sqlite3.Connection
    query: IndexQuery
    sources: list[Source]
    condition: str
    values: list[Any]
    found: dict[int, _Found] = field(default_factory=dict)
    ranking: Ranking | None = None

    def add(self, number: int, document_id: str, partition: str) -> _Found:
        return self.found.setdefault(number, _Found(document_id, partition))


class SqliteIndex:
    """Implements :class:`rearview.ports.VectorIndex`. Safe among threads and processes."""

    def __init__(
        self, database: Database, embedder_fingerprint: str, *, cache_bytes: int = _CACHE_BYTES
    ) -> None:
        """``embedder_fingerprint``: of the model whose vectors come in. ``cache_bytes`` bounds the matrices kept."""
        self._database = database
        self._fingerprint = embedder_fingerprint
        self._cache = VectorCache(cache_bytes)

    # --- writing

    def upsert(self, documents: Sequence[IndexDocument]) -> list[str]:
        """See the port. A document without vectors keeps those it has while its text is the same.

        Fails (by id) what has vectors of no or another size. Raises EmbedderMismatch, with nothing written, if
        there are vectors and neither the index nor a rebuild under way takes those of this model.
        """
        rows, failed = prepare_all(documents)
        if not rows:
            return failed
        with self._database.write(durable=False) as connection:
            state = read_state(connection)
            targets = state.accepting(self._fingerprint)
            if not targets and any(row.chunks is not None for row in rows):
                raise EmbedderMismatch(self._mismatch(state))
            dims = next((known for one in targets if (known := state.dims_of(one)) is not None), None)
            for row in rows:
                if row.chunks is not None:
                    dims = dims or row.dims
                    if row.dims != dims:
                        failed.append(row.document.id)
                        continue
                write(connection, row, state, targets, self._fingerprint)
                if state.building is not None:
                    connection.execute("DELETE FROM deleted_while_building WHERE id = ?", (row.document.id,))
        return failed

    def _mismatch(self, state: State) -> str:
        return (
            f"the index was filled by the embedding model {state.fingerprint}, and this service runs"
            f" {self._fingerprint}: run `rearview reindex`; keyword search goes on meanwhile"
        )

    def delete(self, ids: Sequence[str]) -> None:
        if not ids:
            return
        with self._database.write(durable=False) as connection:
            remove(connection, "id", ids)
            if read_state(connection).building is not None:
                connection.executemany(
                    "INSERT OR IGNORE INTO deleted_while_building (id) VALUES (?)", [(one,) for one in ids]
                )

    def scrub(self) -> None:
        """Makes what was deleted unreadable in the file too: full text, free pages, write-ahead log.

        FTS5 only notes a deletion beside the old postings until it merges them. Takes time in proportion to the
        whole full-text index; an erasure calls it once, after its last deletion.
        """
        with self._database.write() as connection:
            connection.execute("INSERT INTO document_terms (document_terms) VALUES ('optimize')")
        self._database.checkpoint()

    def begin_rebuild(self, fingerprint: str) -> SqliteRebuild:
        """See the port. One that was left unfinished, by whomever, is thrown away."""
        return start_rebuild(self._database, fingerprint)

    # --- reading

    def versions(self, partition: str) -> dict[str, int]:
        with self._database.read() as connection:
            return dict(
                connection.execute(
                    "SELECT id, version FROM documents WHERE partition = ?", (partition,)
                ).fetchall()
            )

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """See the port."""
        with self._database.read() as connection:
            state = read_state(connection)
            return {} if state.dims is None else held_vectors(connection, state.active, state.dims, ids)

    def fingerprint(self) -> str | None:
        with self._database.read() as connection:
            return read_state(connection).fingerprint

    def search(self, query: IndexQuery) -> IndexAnswer:
        """See the port. Candidates come arm by arm, best first; at equal scores the newer id first."""
        for attempt in range(_ATTEMPTS):
            with self._database.read() as connection:
                try:
                    return self._search(connection, query, cached=attempt < _ATTEMPTS - 1)
                except SnapshotTooOldError:
                    continue
        raise AssertionError("the last attempt uses no cache")

    def _search(self, connection: sqlite3.Connection, query: IndexQuery, *, cached: bool) -> IndexAnswer:
        condition, values = filters_of(query)
        search = _Search(connection, query, sources_of(query), condition, values)
        degraded: list[str] = []
        arms: list[tuple[str, Callable[[], None]]] = []
        if query.vector is not None:
            state = read_state(connection)
            if state.fingerprint not in (None, self._fingerprint):
                degraded.append("vector")
            elif state.dims is not None and search.sources:
                vectors = np.asarray(query.vector, np.float32)
                vectors = vectors.reshape(-1, vectors.shape[-1])
                if vectors.shape[1] == state.dims and np.isfinite(vectors).all():
                    generation = state.active
                    arms.append(("vector", lambda: self._vector_arm(search, generation, vectors, cached)))
                else:
                    degraded.append("vector")
        if query.terms:
            arms.append(("keyword", lambda: _keyword_arm(search)))
        if query.recent > 0:
            arms.append(("recent", lambda: _recent_arm(search)))
        failure: sqlite3.DatabaseError | None = None
        broken = 0
        for name, arm in arms:
            try:
                arm()
            except sqlite3.DatabaseError as error:
                failure = error
                broken += 1
                degraded.append(name)
        if failure is not None and broken == len(arms):
            raise Unavailable("the index cannot be read") from failure
        if search.ranking is not None:
            unscored = [number for number, one in search.found.items() if one.vector is None]
            for number, score in search.ranking.of(unscored).items():
                search.found[number].vector = score
        return IndexAnswer(
            [Scored(one.id, one.partition, one.vector, one.keyword) for one in search.found.values()],
            degraded,
        )

    def _vector_arm(self, search: _Search, generation: int, vectors: Vectors, cached: bool) -> None:
        connection, dims = search.connection, vectors.shape[1]
        log = read_log(connection)
        views = [
            self._cache.view(connection, source, generation, dims, log)
            if cached
            else self._cache.load(connection, source, generation, dims)
            for source in search.sources
        ]
        search.ranking = Ranking(views, vectors)
        _best_by_vector(search, search.ranking)


def _newest_first(scored: list[tuple[float, str, int, str]], limit: int) -> list[tuple[float, str, int, str]]:
    """The best ``limit`` of (score, id, number, partition); among equals the newer id."""
    return sorted(scored, reverse=True)[:limit]


def _passing(search: _Search, numbers: list[int] | None) -> list[tuple[int, str, str]]:
    """(number, id, partition) of the documents that pass every filter: among ``numbers``, or of all."""
    where, values = any_of(search.sources)
    hint = ""
    if numbers is not None:
        # Only the row numbers shall lead: an index of the source would lead through all of its documents.
        hint = "NOT INDEXED"
        where = f"d.document IN (SELECT value FROM json_each(?)) AND {where}"  # noqa: S608 - fixed texts
        values = [json.dumps(numbers), *values]
    text = f"SELECT d.document, d.id, d.partition FROM documents AS d {hint} WHERE {where} AND {search.condition}"  # noqa: S608
    return search.connection.execute(text, [*values, *search.values]).fetchall()


def _best_by_vector(search: _Search, ranking: Ranking) -> None:
    """The best rows first, and a look whether enough of them pass; only if not, all that pass are scored."""
    limit = search.query.limit
    if limit < 1:
        return
    scores, complete = ranking.top(max(64, 4 * limit))
    passing = _passing(search, list(scores))
    if len(passing) < limit and not complete:
        passing = _passing(search, None)
        scores = ranking.of([number for number, _, _ in passing])
    scored = [
        (scores[number], one, number, partition) for number, one, partition in passing if number in scores
    ]
    for score, one, number, partition in _newest_first(scored, limit):
        search.add(number, one, partition).vector = score


def _keyword_arm(search: _Search) -> None:
    expression = match_expression(search.sources, search.query.terms)
    if expression is None or search.query.limit < 1:
        return
    where, where_values = any_of(search.sources)
    rows = search.connection.execute(
        f"""
        SELECT d.document, d.id, d.partition, -t.rank AS score
        FROM document_terms AS t CROSS JOIN documents AS d ON d.document = t.rowid
        WHERE t.document_terms MATCH ? AND {where} AND {search.condition}
        ORDER BY score DESC, d.id DESC LIMIT ?
        """,  # noqa: S608
        [expression, *where_values, *search.values, search.query.limit],
    ).fetchall()
    for number, one, partition, score in rows:
        search.add(number, one, partition).keyword = score


def _recent_arm(search: _Search) -> None:
    """Each source has an index in the order of time; their heads are merged."""
    rows: dict[int, tuple[str, str, int, str]] = {}
    for source in search.sources:
        where, where_values = source.condition
        for number, one, partition, valid_from in search.connection.execute(
            f"""
            SELECT d.document, d.id, d.partition, d.valid_from FROM documents AS d
            WHERE {where} AND {search.condition} ORDER BY d.valid_from DESC, d.id DESC LIMIT ?
            """,  # noqa: S608
            [*where_values, *search.values, search.query.recent],
        ):
            rows[number] = (valid_from, one, number, partition)
    for _, one, number, partition in sorted(rows.values(), reverse=True)[: search.query.recent]:
        search.add(number, one, partition)
