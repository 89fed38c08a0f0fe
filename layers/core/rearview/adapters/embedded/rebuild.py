"""A rebuild: a new generation of vectors from the store, while the old one goes on answering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from sqlite3 import Connection

from rearview.adapters.embedded.database import Database
from rearview.adapters.embedded.documents import prepare_all, remove, write
from rearview.adapters.embedded.generations import State, begin, discard, drop_unused, read_state, swap
from rearview.errors import Conflicting
from rearview.ports import IndexDocument


def start_rebuild(database: Database, fingerprint: str) -> SqliteRebuild:
    """Begins a generation for the model ``fingerprint``; vectors of abandoned ones are removed."""
    with database.write() as connection:
        generation = begin(connection, fingerprint)
    drop_unused(database)
    return SqliteRebuild(database, generation, fingerprint)


class SqliteRebuild:
    """Implements :class:`rearview.ports.RebuildHandle`.

    Fields and full text of a document are written in place. Its vectors go to the new generation; a worker that
    runs the new model writes there too, and one that still runs the old model cannot: what it changed meanwhile
    is listed by :meth:`missing`. What was deleted meanwhile stays deleted.
    """

    def __init__(self, database: Database, generation: int, fingerprint: str) -> None:
        self._database = database
        self._generation = generation
        self._fingerprint = fingerprint

    def _mine(self, connection: Connection) -> State:
        state = read_state(connection)
        if state.building != self._generation:
            raise Conflicting("another reindex has taken this one's place")
        return state

    def upsert(self, documents: Sequence[IndexDocument]) -> list[str]:
        """See the port; answers the ids of documents with unusable vectors. Raises Conflicting if superseded.

        Those are written without, so that words still find them.
        """
        rows, failed = prepare_all(documents)
        with self._database.write(durable=False) as connection:
            state = self._mine(connection)
            dims = state.building_dims or next((row.dims for row in rows if row.chunks is not None), 0)
            misfits = [row.document.id for row in rows if row.chunks is not None and row.dims != dims]
            failed += misfits
            without = [replace(one, vectors=None) for one in documents if one.id in set(failed)]
            for row in [row for row in rows if row.document.id not in misfits] + prepare_all(without)[0]:
                one = row.document.id
                if connection.execute("SELECT 1 FROM deleted_while_building WHERE id = ?", (one,)).fetchone():
                    continue
                write(connection, row, state, [self._generation], self._fingerprint, rebuilding=True)
        return failed

    def missing(self, limit: int = 1000) -> list[tuple[str, str]]:
        """(partition, id) of documents seen since the beginning that have no vectors in the new generation."""
        with self._database.read() as connection:
            return connection.execute(
                """
                SELECT partition, id FROM documents AS d WHERE generation = ?1 AND NOT EXISTS (
                    SELECT 1 FROM vectors WHERE document = d.document AND generation = ?1
                ) ORDER BY document LIMIT ?2
                """,
                (self._generation, limit),
            ).fetchall()

    def commit(self) -> None:
        """See the port. Documents that neither this rebuild nor a writer has touched since it began are not in the
        store any more, and go. Raises Conflicting if superseded."""
        with self._database.write() as connection:
            self._mine(connection)
            orphans = connection.execute(
                "SELECT document FROM documents WHERE generation < ?", (self._generation,)
            ).fetchall()
            remove(connection, "document", [number for (number,) in orphans])
            swap(connection)
        drop_unused(self._database)

    def abort(self) -> None:
        """Drops the new generation; nothing to do if another one has taken its place."""
        with self._database.write() as connection:
            if read_state(connection).building != self._generation:
                return
            discard(connection)
        drop_unused(self._database)
