"""The tables of the one SQLite file, and how older files are brought up to date.

Measured on 3,000 writes of 50 users (six puts each): `items` as a rowid table with a unique index takes half the
space and time of WITHOUT ROWID, because bodies over a quarter of a page spill there; and its row numbers, which
an upsert keeps, say for nothing how long a pending mark has waited.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from rearview.errors import Unavailable

#: Marks the file as ours ("RVVW"), so that somebody else's SQLite file is not taken over.
APPLICATION_ID: Final = 0x52565657

_FIRST: Final = (
    # --- the store
    """
    CREATE TABLE items (
        item INTEGER PRIMARY KEY,
        partition TEXT NOT NULL,
        sort TEXT NOT NULL,
        body TEXT NOT NULL,
        expires_at TEXT,
        ttl INTEGER NOT NULL,
        UNIQUE (partition, sort)
    )
    """,
    "CREATE INDEX items_due ON items (expires_at) WHERE expires_at IS NOT NULL",
    "CREATE INDEX items_pending ON items (partition) WHERE sort >= 'P#' AND sort < 'P$'",
    # --- the index
    """
    CREATE TABLE documents (
        document INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        record TEXT NOT NULL,
        partition TEXT NOT NULL,
        namespace TEXT NOT NULL,
        version INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        text_digest BLOB NOT NULL,
        terms_digest BLOB NOT NULL,
        status TEXT NOT NULL,
        memory_type TEXT NOT NULL,
        kind TEXT NOT NULL,
        origin TEXT NOT NULL,
        audience TEXT NOT NULL,
        importance REAL NOT NULL,
        created_at TEXT NOT NULL,
        valid_from TEXT NOT NULL,
        valid_to TEXT,
        expires_at TEXT,
        agent_id TEXT,
        session_id TEXT,
        tags TEXT NOT NULL,
        UNIQUE (id, record)
    )
    """,
    "CREATE INDEX documents_own ON documents (partition, record, valid_from, id)",
    """
    CREATE INDEX documents_shared ON documents (namespace, record, valid_from, id)
    WHERE audience = 'namespace'
    """,
    # "ascii" leaves every character from U+0080 upwards inside its token, as the domain's tokeniser wants.
    "CREATE VIRTUAL TABLE document_terms USING fts5 (scope, terms, tokenize = 'ascii')",
    "INSERT INTO document_terms (document_terms, rank) VALUES ('rank', 'bm25(0.0, 1.0)')",
    """
    CREATE TABLE vectors (
        document INTEGER NOT NULL REFERENCES documents (document) ON DELETE CASCADE,
        generation INTEGER NOT NULL,
        chunks BLOB NOT NULL,
        PRIMARY KEY (document, generation)
    )
    """,
    "CREATE TABLE vector_changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, document INTEGER NOT NULL)",
    "CREATE INDEX vector_changes_scope ON vector_changes (scope)",
    """
    CREATE TABLE index_state (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        active INTEGER NOT NULL,
        fingerprint TEXT,
        dims INTEGER,
        building INTEGER,
        building_fingerprint TEXT,
        building_dims INTEGER,
        last INTEGER NOT NULL
    )
    """,
    "INSERT INTO index_state (one, active, last) VALUES (1, 1, 1)",
    "CREATE TABLE deleted_while_building (id TEXT PRIMARY KEY) WITHOUT ROWID",
    # --- the queue
    """
    CREATE TABLE messages (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        group_id TEXT NOT NULL,
        body TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        hidden_until TEXT,
        receipt TEXT
    )
    """,
    "CREATE INDEX messages_hidden ON messages (hidden_until, group_id) WHERE hidden_until IS NOT NULL",
    """
    CREATE TABLE sent_messages (
        group_id TEXT NOT NULL,
        deduplication_id TEXT NOT NULL,
        sent_at TEXT NOT NULL,
        PRIMARY KEY (group_id, deduplication_id)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX sent_messages_age ON sent_messages (sent_at)",
    """
    CREATE TABLE dead_letters (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        group_id TEXT NOT NULL,
        body TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        died_at TEXT NOT NULL
    )
    """,
)

#: Statements that lead from version n to n + 1. Released ones are never edited.
MIGRATIONS: Final = (_FIRST,)


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether :func:`migrate` would have nothing to do and nothing to say."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    return bool(version == len(MIGRATIONS) and owner == APPLICATION_ID)


def migrate(connection: sqlite3.Connection) -> None:
    """Brings the file to the newest version. Runs inside the caller's write transaction.

    Raises Unavailable for a file of a newer Rearview, or of another program.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if owner != APPLICATION_ID and (owner or version or tables):
        raise Unavailable("the data file is an SQLite database of another program")
    if version > len(MIGRATIONS):
        raise Unavailable(
            f"the data file has version {version}; this Rearview reads up to {len(MIGRATIONS)}: upgrade Rearview"
        )
    if version == len(MIGRATIONS):
        return
    if not connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone():
        raise Unavailable("the SQLite of this Python lacks FTS5, without which there is no keyword search")
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
