"""What only the SQLite adapter does: sweeping, scrubbing, caching, waking."""

from __future__ import annotations

import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from rearview.adapters.embedded import documents
from rearview.adapters.embedded.archive import FolderArchive
from rearview.adapters.embedded.database import Database
from rearview.adapters.embedded.index import SqliteIndex
from rearview.adapters.embedded.queue import SqliteQueue
from rearview.adapters.embedded.store import SqliteStore
from rearview.domain.keys import Key
from rearview.domain.tokens import tokenise
from rearview.errors import Unavailable
from rearview.ports import IndexDocument, IndexQuery, UnitOfWork

NOW = datetime(2026, 3, 1, tzinfo=UTC)


class Clock:
    def now(self) -> datetime:
        return NOW


def document(
    number: int, text: str = "text", vector: list[float] | None = None, **fields: object
) -> IndexDocument:
    unit = None
    if vector is not None:
        unit = np.array([vector], np.float32)
        unit /= np.linalg.norm(unit)
    values: dict[str, object] = {
        "id": f"{number:026d}",
        "partition": "anna",
        "namespace": "shop",
        "record": "memory",
        "version": 1,
        "text": text,
        "terms": tokenise(text),
        "vectors": unit,
        "status": "active",
        "kind": "fact",
        "memory_type": "long_term",
        "origin": "user",
        "audience": "user",
        "importance": 0.6,
        "created_at": NOW,
        "valid_from": NOW,
    }
    return IndexDocument(**{**values, **fields})  # type: ignore[arg-type]


def search(index: SqliteIndex, vector: list[float], partition: str = "anna") -> set[int]:
    query = IndexQuery([partition], [], "memory", 1000, NOW, vector=np.array(vector, np.float32))
    return {int(one.id) for one in index.search(query).candidates}


def read_files(folder: Path) -> bytes:
    """Read by another process: opened and closed in this one, the file would lose this one's locks."""
    return subprocess.run(["cat", *folder.iterdir()], capture_output=True, check=True).stdout


# --- store


def test_rubbish_past_its_ttl_is_swept_and_the_rest_is_not(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        store = SqliteStore(database)
        old = NOW - timedelta(days=7)

        def work(unit: UnitOfWork) -> None:
            unit.put(Key("a", "old"), {}, expires_at=old, ttl=True)
            unit.put(Key("a", "old without ttl"), {}, expires_at=old)
            unit.put(Key("a", "young"), {}, expires_at=old + timedelta(microseconds=1), ttl=True)

        store.transact("a", work)
        assert [key.sort for key in store.due(NOW)] == ["old without ttl", "young"]
        assert store.get(Key("a", "old")) is None


def test_a_unit_of_work_ends_with_its_transaction(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        store = SqliteStore(database)
        kept = store.transact("a", lambda unit: unit)
        with pytest.raises(RuntimeError, match="has ended"):
            kept.put(Key("a", "M#1"), {})


def test_transactions_do_not_nest(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        store = SqliteStore(database)
        with pytest.raises(RuntimeError, match="inside a write transaction"):
            store.transact("a", lambda _: store.transact("b", lambda unit: unit.put(Key("b", "M#1"), {})))
        assert list(store.partitions()) == []


def test_more_partitions_than_one_step_lists_are_all_listed(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        store = SqliteStore(database)
        names = [f"{number:05d}" for number in range(1203)]

        def work(unit: UnitOfWork) -> None:
            for name in names:
                unit.put(Key(name, "M#1"), {})

        store.transact("a", work)
        assert list(store.partitions()) == names


# --- index


def test_scrubbed_words_are_nowhere_in_the_files(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        index, store = SqliteIndex(database, "model"), SqliteStore(database)
        index.upsert(
            [document(1, "lantern words"), document(2, "zanzibarian 秘密地点 words", [0.123, 0.456])]
        )
        store.transact("a", lambda unit: unit.put(Key("a", "M#1"), {"content": "zanzibarian 秘密地点"}))
        database.checkpoint()
        needles = [b"zanzibarian", "秘密地点".encode(), "秘密".encode()]
        before = read_files(tmp_path)
        assert all(needle in before for needle in needles)
        index.delete([f"{2:026d}"])
        store.transact("a", lambda unit: unit.delete(Key("a", "M#1")))
        index.scrub()
        after = read_files(tmp_path)
        assert not any(needle in after for needle in needles)
        assert b"lantern" in after


def test_a_reader_too_far_behind_the_change_log_loads_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "CHANGES_KEPT", 10)
    with Database(tmp_path) as database:
        reader, writer = SqliteIndex(database, "model"), SqliteIndex(database, "model")
        writer.upsert([document(0, vector=[1, 0])])
        assert search(reader, [1, 0]) == {0}
        for begin in range(1, 1101, 100):
            writer.upsert([document(number, vector=[1, number]) for number in range(begin, begin + 100)])
        writer.delete([f"{0:026d}"])
        with database.read() as connection:
            (kept,) = connection.execute("SELECT count(*) FROM vector_changes").fetchone()
        assert kept < 200
        assert search(reader, [1, 0]) == set(range(101, 1101)) or len(search(reader, [1, 0])) == 1000
        assert 0 not in search(reader, [1, 0])


def test_a_small_cache_answers_as_a_large_one_does(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        index = SqliteIndex(database, "model", cache_bytes=1)
        users = [f"user{number}" for number in range(5)]
        index.upsert(
            [
                document(10 * u + n, vector=[1, n], partition=user)
                for u, user in enumerate(users)
                for n in range(4)
            ]
        )
        for _ in range(2):
            for u, user in enumerate(users):
                assert search(index, [1, 0], user) == {10 * u + n for n in range(4)}
        assert len(index._cache._matrices) == 1


def test_readers_beside_a_writer_never_miss_what_is_there(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        index = SqliteIndex(database, "model")
        index.upsert([document(number, vector=[1, number]) for number in range(100)])
        steady = set(range(0, 100, 2))
        stop = threading.Event()

        def read() -> int:
            rounds = 0
            while not stop.is_set():
                assert steady <= search(index, [1, 1])
                rounds += 1
            return rounds

        with ThreadPoolExecutor(3) as pool:
            readers = [pool.submit(read) for _ in range(3)]
            try:
                for version in range(2, 80):
                    # Every document gets new vectors again and again; the odd ones also go and come back.
                    numbers = [(7 * version + step) % 100 for step in range(5)]
                    index.delete([f"{number:026d}" for number in numbers if number % 2])
                    index.upsert(
                        [
                            document(number, vector=[1, number + version], version=version)
                            for number in numbers
                        ]
                    )
            finally:
                stop.set()
            assert all(reader.result() > 0 for reader in readers)


def test_a_damaged_full_text_index_leaves_the_other_arms(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        index = SqliteIndex(database, "model")
        index.upsert([document(1, "tea", [1, 0])])
        with database.write() as connection:
            connection.execute("DELETE FROM document_terms_data")
        query = IndexQuery(["anna"], [], "memory", 9, NOW, vector=np.array([1, 0], np.float32), terms=["tea"])
        answer = index.search(query)
        assert answer.degraded == ["keyword"]
        assert len(answer.candidates) == 1
        with pytest.raises(Unavailable):
            index.search(IndexQuery(["anna"], [], "memory", 9, NOW, terms=["tea"]))


def test_a_query_vector_of_another_size_degrades(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        index = SqliteIndex(database, "model")
        index.upsert([document(1, "tea", [1, 0])])
        query = IndexQuery(
            ["anna"], [], "memory", 9, NOW, vector=np.array([1, 0, 0], np.float32), terms=["tea"]
        )
        answer = index.search(query)
        assert answer.degraded == ["vector"]
        assert len(answer.candidates) == 1


def test_a_rebuild_lists_what_an_old_worker_changed_meanwhile(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        old, new = SqliteIndex(database, "model-a"), SqliteIndex(database, "model-b")
        old.upsert([document(number, f"text {number}", [1, number]) for number in range(3)])
        rebuild = new.begin_rebuild("model-b")
        rebuild.upsert([document(number, f"text {number}", [1, number, 0]) for number in range(3)])
        assert rebuild.missing() == []
        old.upsert([document(1, "changed", [1, 9], version=2)])
        assert rebuild.missing() == [("anna", f"{1:026d}")]
        rebuild.upsert([document(1, "changed", [1, 9, 0], version=2)])
        assert rebuild.missing() == []


# --- queue and archive


def test_a_send_wakes_the_worker_of_its_process(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        queue = SqliteQueue(database, Clock())
        with ThreadPoolExecutor(1) as pool:
            # Polling alone would not look again before a minute has passed.
            waiting = pool.submit(queue.wait, 60.0, poll_seconds=60.0)
            while queue._rung.is_set():
                pass
            queue.send("a", "1", {})
            assert waiting.result(timeout=10) is True


def test_dead_letters_can_be_read(tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        queue = SqliteQueue(database, Clock(), max_deliveries=1)
        queue.send("a", "1", {"seq": 7})
        queue.release(queue.receive()[0])
        (dead,) = queue.dead_letters()
        assert (dead.group, dead.body, dead.attempts) == ("a", {"seq": 7}, 1)


def test_an_object_that_could_not_be_written_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = FolderArchive(tmp_path / "archive")
    archive.put("a/b", b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(Unavailable, match="No space left"):
            archive.put("a/b", b"new")
    assert archive.get("a/b") == b"old"
    assert list((tmp_path / "archive" / ".partial").iterdir()) == []


def test_deleted_objects_leave_no_folder_names_behind(tmp_path: Path) -> None:
    archive = FolderArchive(tmp_path / "archive")
    archive.put("user/anna/1", b"x")
    archive.delete("user/anna/1")
    assert [path.name for path in (tmp_path / "archive").iterdir()] == [".partial"]
    archive.put("user/anna/1", b"y")
    assert archive.get("user/anna/1") == b"y"
