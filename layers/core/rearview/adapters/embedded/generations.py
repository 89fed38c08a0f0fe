"""Which embedding model filled the vectors, and a new filling that grows beside the old one."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from rearview.adapters.embedded.database import Database

_BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class State:
    """The row of ``index_state``. ``fingerprint`` and ``dims`` are None while the generation holds no vectors."""

    active: int
    fingerprint: str | None
    dims: int | None
    building: int | None
    building_fingerprint: str | None
    building_dims: int | None

    @property
    def newest(self) -> int:
        """The generation whose rebuild a write of now takes part in."""
        return self.building or self.active

    def accepting(self, fingerprint: str) -> list[int]:
        """The generations into which vectors of this model may go: none means another model filled the index."""
        found = []
        if self.fingerprint in (None, fingerprint):
            found.append(self.active)
        if self.building is not None and self.building_fingerprint == fingerprint:
            found.append(self.building)
        return found

    def dims_of(self, generation: int) -> int | None:
        return self.dims if generation == self.active else self.building_dims


def read_state(connection: sqlite3.Connection) -> State:
    """The index's state as the connection's snapshot holds it: generations and the models that filled them."""
    row = connection.execute(
        "SELECT active, fingerprint, dims, building, building_fingerprint, building_dims FROM index_state"
    ).fetchone()
    return State(*row)


def stamp(connection: sqlite3.Connection, state: State, generation: int, fingerprint: str, dims: int) -> None:
    """Notes the model of a generation's first vectors."""
    if state.dims_of(generation) is not None:
        return
    if generation == state.active:
        connection.execute("UPDATE index_state SET fingerprint = ?, dims = ?", (fingerprint, dims))
    else:
        connection.execute("UPDATE index_state SET building_dims = ?", (dims,))


def begin(connection: sqlite3.Connection, fingerprint: str) -> int:
    """Opens a new generation in place of one that was left unfinished; its number."""
    (last,) = connection.execute("SELECT last FROM index_state").fetchone()
    generation = int(last) + 1
    connection.execute(
        "UPDATE index_state SET last = ?, building = ?, building_fingerprint = ?, building_dims = NULL",
        (generation, generation, fingerprint),
    )
    connection.execute("DELETE FROM deleted_while_building")
    return generation


def swap(connection: sqlite3.Connection) -> None:
    """The generation being built becomes the one that answers."""
    connection.execute(
        """
        UPDATE index_state SET active = building, dims = building_dims,
            fingerprint = CASE WHEN building_dims IS NULL THEN NULL ELSE building_fingerprint END
        """
    )
    discard(connection)


def discard(connection: sqlite3.Connection) -> None:
    """Forgets that anything is being built."""
    connection.execute(
        "UPDATE index_state SET building = NULL, building_fingerprint = NULL, building_dims = NULL"
    )
    connection.execute("DELETE FROM deleted_while_building")


def drop_unused(database: Database) -> None:
    """Removes vectors of generations that are neither answering nor being built, a few at a time.

    In one transaction it would hold up every writer and swell the log by the size of all vectors.
    """
    while True:
        with database.write(durable=False) as connection:
            state = read_state(connection)
            removed = connection.execute(
                """
                DELETE FROM vectors WHERE rowid IN (
                    SELECT rowid FROM vectors WHERE generation NOT IN (?, ?) LIMIT ?
                )
                """,
                (state.active, state.newest, _BATCH),
            ).rowcount
        if removed < _BATCH:
            return
