"""The one file: opening it, sharing it, running into its limits."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from rearview.adapters.embedded import schema
from rearview.adapters.embedded.database import FILE, Database
from rearview.adapters.turnstile import Turnstile
from rearview.errors import TooManyWrites, Unavailable


def count(database: Database) -> int:
    with database.read() as connection:
        (found,) = connection.execute("SELECT count(*) FROM items").fetchone()
    return int(found)


def add(database: Database, sort: str, body: str = "{}") -> None:
    with database.write() as connection:
        connection.execute(
            "INSERT INTO items (partition, sort, body, ttl) VALUES ('a', ?, ?, 0)", (sort, body)
        )


# --- opening


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


# --- transactions


def test_a_transaction_inside_a_transaction_is_a_mistake_that_is_told(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        with (
            pytest.raises(RuntimeError, match="inside a write transaction"),
            database.write(),
            database.write(),
        ):
            pass
        add(database, "M#1")
        assert count(database) == 1


def test_a_reader_sees_one_state_however_long_it_reads(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        add(database, "M#1")
        with database.read() as connection:
            statement = "SELECT count(*) FROM items"
            assert connection.execute(statement).fetchone() == (1,)
            add(database, "M#2")
            assert connection.execute(statement).fetchone() == (1,)
        assert count(database) == 2


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    with (
        Database(tmp_path) as database,
        pytest.raises(Unavailable, match="read-only"),
        database.read() as connection,
    ):
        connection.execute("DELETE FROM items")


def test_a_writer_gives_up_when_another_process_holds_the_file(tmp_path: Path) -> None:
    with Database(tmp_path, busy_seconds=0.1) as database:
        other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(TooManyWrites):
            add(database, "M#1")
        assert count(database) == 0
        other.execute("ROLLBACK")
        other.close()
        add(database, "M#1")
        assert count(database) == 1


def test_a_writer_gives_up_when_another_thread_holds_the_turn(tmp_path: Path) -> None:
    with Database(tmp_path, busy_seconds=0.05) as database, ThreadPoolExecutor(1) as pool:
        with database.write(), pytest.raises(TooManyWrites):
            pool.submit(add, database, "M#1").result()
        add(database, "M#1")
        assert count(database) == 1


def test_a_full_disk_undoes_the_transaction_and_says_so(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        add(database, "M#1")
        with database.write() as connection:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            # SQLite's own bound gives the same error as a disk that is full.
            connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(Unavailable, match="disk is full"):
            add(database, "M#2", '"' + "x" * 100_000 + '"')
        assert count(database) == 1
        with database.write() as connection:
            connection.execute("PRAGMA max_page_count = 1000000")
        add(database, "M#2")
        assert count(database) == 2


def test_a_closed_database_says_so(tmp_path: Path) -> None:
    database = Database(tmp_path)
    database.close()
    database.close()
    with pytest.raises(Unavailable, match="closed"):
        add(database, "M#1")
    with pytest.raises(Unavailable, match="closed"):
        count(database)


def test_closing_waits_for_the_transaction_under_way(tmp_path: Path) -> None:
    database = Database(tmp_path)
    inside, go_on = threading.Event(), threading.Event()

    def write() -> None:
        with database.write() as connection:
            connection.execute("INSERT INTO items (partition, sort, body, ttl) VALUES ('a', 'M#1', '{}', 0)")
            inside.set()
            go_on.wait(5)

    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(write)
        assert inside.wait(5)
        closing = pool.submit(database.close)
        go_on.set()
        writing.result()
        closing.result()
    with Database(tmp_path) as again:
        assert count(again) == 1


# --- the write-ahead log


def test_the_log_stays_bounded_while_readers_overlap_without_a_gap(tmp_path: Path) -> None:
    limit = 400_000
    with Database(tmp_path, wal_limit_bytes=limit) as database:
        wal = tmp_path / f"{FILE}-wal"
        stop, reading = threading.Event(), threading.Event()

        def read() -> None:
            last: ExitStack | None = None
            while not stop.is_set():
                following = ExitStack()
                following.enter_context(database.read()).execute("SELECT count(*) FROM items").fetchone()
                if last is not None:
                    last.close()
                last = following
                reading.set()
                stop.wait(0.1)
            if last is not None:
                last.close()

        with ThreadPoolExecutor(1) as pool:
            reader = pool.submit(read)
            assert reading.wait(5)
            sizes = [0]
            until = time.monotonic() + 10
            while not (max(sizes) > limit and sizes[-1] < limit) and time.monotonic() < until:
                with database.write(durable=False) as connection:
                    connection.execute(
                        "INSERT INTO items (partition, sort, body, ttl) VALUES ('a', hex(randomblob(8)), ?, 0)",
                        ("x" * 20_000,),
                    )
                sizes.append(wal.stat().st_size)
            stop.set()
            reader.result()
        assert max(sizes) > limit > sizes[-1]
        add(database, "last")
        assert database.checkpoint()
        assert wal.stat().st_size == 0


def test_a_checkpoint_gives_up_on_a_reader_that_stays(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        add(database, "M#1")
        with database.read() as connection:
            connection.execute("SELECT count(*) FROM items").fetchone()
            add(database, "M#2")
            assert not database.checkpoint(seconds=0.05)
        assert database.checkpoint()


# --- whose turn it is


def test_turns_come_in_the_order_of_asking() -> None:
    turnstile = Turnstile()
    order: list[int] = []
    assert turnstile.acquire(1)

    def take(number: int) -> None:
        assert turnstile.acquire(5)
        order.append(number)
        turnstile.release()

    threads = []
    for number in range(8):
        thread = threading.Thread(target=take, args=(number,))
        thread.start()
        threads.append(thread)
        while len(turnstile._waiting) <= number:
            time.sleep(0)
    turnstile.release()
    for thread in threads:
        thread.join()
    assert order == list(range(8))


def test_who_gives_up_waiting_blocks_nobody() -> None:
    turnstile = Turnstile()
    assert turnstile.acquire(1)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(turnstile.acquire, 0.01).result() is False
        waiting = pool.submit(turnstile.acquire, 5)
        while not turnstile._waiting:
            time.sleep(0)
        turnstile.release()
        assert waiting.result() is True
