"""Sharing the one file: transactions, its log, whose turn it is, and running into its limits."""

from __future__ import annotations

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

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
