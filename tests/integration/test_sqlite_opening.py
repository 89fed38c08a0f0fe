"""Opening the one file: new, old, shared, foreign and broken."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rearview.adapters.embedded import schema
from rearview.adapters.embedded.database import FILE, Database
from rearview.errors import Unavailable


def count(database: Database) -> int:
    with database.read() as connection:
        (found,) = connection.execute("SELECT count(*) FROM items").fetchone()
    return int(found)


def add(database: Database, sort: str, body: str = "{}") -> None:
    with database.write() as connection:
        connection.execute(
            "INSERT INTO items (partition, sort, body, ttl) VALUES ('a', ?, ?, 0)", (sort, body)
        )


def test_the_folder_is_made_and_is_for_its_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "数据"
    with Database(folder) as database:
        add(database, "M#1")
        files = sorted(path.name for path in folder.iterdir())
        assert files == [FILE, f"{FILE}-shm", f"{FILE}-wal"]
        assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in folder.iterdir()] == [FILE]


def test_what_was_written_is_there_after_opening_again(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        add(database, "M#1")
    with Database(tmp_path) as database:
        assert count(database) == 1


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    Database(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(Unavailable, match=r"version 99.*upgrade Rearview"):
        Database(tmp_path)


def test_an_older_file_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Database(tmp_path) as database:
        add(database, "M#1")
    newer = (*schema.MIGRATIONS, ("ALTER TABLE items ADD COLUMN colour TEXT DEFAULT 'red'",))
    monkeypatch.setattr(schema, "MIGRATIONS", newer)
    with Database(tmp_path) as database, database.read() as connection:
        assert connection.execute("SELECT sort, colour FROM items").fetchall() == [("M#1", "red")]
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Database(tmp_path) as database:
        add(database, "M#1")
    with monkeypatch.context() as patched:
        broken = (*schema.MIGRATIONS, ("ALTER TABLE items ADD COLUMN colour TEXT", "NO SQL AT ALL"))
        patched.setattr(schema, "MIGRATIONS", broken)
        with pytest.raises(sqlite3.OperationalError, match="syntax error"):
            Database(tmp_path)
    with Database(tmp_path) as database, database.read() as connection:
        assert [row[1] for row in connection.execute("PRAGMA table_info(items)")].count("colour") == 0


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    with pytest.raises(Unavailable, match="another program"):
        Database(tmp_path)


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"a letter to grandmother " * 500)
    with pytest.raises(Unavailable, match="not a database"):
        Database(tmp_path)
    assert (tmp_path / FILE).read_bytes() == b"a letter to grandmother " * 500


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    with pytest.raises(Unavailable, match=r"cannot use .*data as data folder"):
        Database(tmp_path / "data")
    with pytest.raises(Unavailable, match=r"cannot use .*below as data folder"):
        Database(tmp_path / "data" / "below")


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(Unavailable, match="cannot be opened"):
        Database(tmp_path)


OPEN = """
import sys
from pathlib import Path
from rearview.adapters.embedded.database import Database
sys.stdin.readline()
with Database(Path(sys.argv[1])) as database:
    with database.write() as connection:
        connection.execute("INSERT INTO items (partition, sort, body, ttl) VALUES ('a', ?, '{}', 0)", (sys.argv[2],))
"""


def test_processes_that_start_at_the_same_moment_share_the_new_file(tmp_path: Path) -> None:
    children = [
        subprocess.Popen([sys.executable, "-c", OPEN, str(tmp_path), str(number)], stdin=subprocess.PIPE)
        for number in range(4)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write(b"go\n")
        child.stdin.flush()
    for child in children:
        child.communicate(timeout=30)
    assert [child.returncode for child in children] == [0, 0, 0, 0]
    with Database(tmp_path) as database:
        assert count(database) == 4


def test_threads_that_open_the_same_new_file_all_get_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(lambda _: Database(tmp_path), range(8)))
    for number, database in enumerate(opened):
        add(database, str(number))
    assert count(opened[0]) == 8
    for database in opened:
        database.close()
