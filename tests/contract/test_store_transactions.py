"""What every store promises of transactions, and of what its sweeps find."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from store_kit import NOW, fill, put, sorts

from rearview.domain.keys import Key
from rearview.ports import AlreadyThere, Filter, MemoryStore, UnitOfWork

# --- transactions


def test_a_transaction_reads_its_own_writes(store: MemoryStore) -> None:
    fill(store, "a", "M#1", "M#2")

    def work(unit: UnitOfWork) -> list[str]:
        unit.put(Key("a", "M#3"), {"new": True})
        unit.delete(Key("a", "M#1"))
        assert unit.get(Key("a", "M#1")) is None
        assert unit.get_many([Key("a", "M#3"), Key("a", "M#1")]) == {Key("a", "M#3"): {"new": True}}
        return [key.sort for key, _ in unit.query("a", "M#").items]

    assert store.transact("a", work) == ["M#2", "M#3"]


def test_pages_inside_a_transaction_hold_its_own_writes_in_their_places(store: MemoryStore) -> None:
    fill(store, "a", *[f"M#{number:02d}" for number in range(0, 20, 2)])

    def work(unit: UnitOfWork) -> None:
        for number in (1, 5, 19, 21):
            unit.put(Key("a", f"M#{number:02d}"), {"mine": True})
        unit.put(Key("a", "M#04"), {"mine": True})
        unit.put(Key("a", "M"), {"mine": True})
        unit.delete(Key("a", "M#00"))
        unit.delete(Key("a", "M#18"))
        expected = [1, 2, 4, 5, 6, 8, 10, 12, 14, 16, 19, 21]
        for reverse in (False, True):
            for limit in (1, 2, 3, 5, 12, 50):
                seen: list[int] = []
                last = None
                while True:
                    page = unit.query("a", "M#", after=last, limit=limit, reverse=reverse)
                    seen += [int(key.sort[2:]) for key, _ in page.items]
                    last = page.last
                    if last is None:
                        break
                    assert len(page.items) == limit
                assert seen == sorted(expected, reverse=reverse)
        mine = unit.query("a", "M#", limit=3, where=[Filter("mine", "eq", True)])
        assert [key.sort for key, _ in mine.items] == ["M#01", "M#04", "M#05"]

    store.transact("a", work)


def test_others_see_nothing_of_a_transaction_before_it_commits(store: MemoryStore) -> None:
    def work(unit: UnitOfWork) -> None:
        unit.put(Key("a", "M#1"), {})
        assert store.get(Key("a", "M#1")) is None

    store.transact("a", work)
    assert store.get(Key("a", "M#1")) == {}


def test_an_exception_undoes_everything(store: MemoryStore) -> None:
    fill(store, "a", "M#1")

    def work(unit: UnitOfWork) -> None:
        unit.put(Key("a", "M#2"), {})
        unit.put(Key("b", "M#2"), {})
        unit.delete(Key("a", "M#1"))
        raise LookupError("stop")

    with pytest.raises(LookupError, match="stop"):
        store.transact("a", work)
    assert sorts(store, "a", "") == ["M#1"]
    assert sorts(store, "b", "") == []


def test_a_put_replaces_and_a_delete_of_nothing_is_no_error(store: MemoryStore) -> None:
    put(store, (Key("a", "M#1"), {"v": 1}))
    put(store, (Key("a", "M#1"), {"v": 2}))
    store.transact("a", lambda unit: unit.delete(Key("a", "M#9")))
    assert store.get(Key("a", "M#1")) == {"v": 2}


def test_absent_fails_the_transaction_on_an_existing_key(store: MemoryStore) -> None:
    put(store, (Key("b", "X#1"), {"v": 1}))

    def work(unit: UnitOfWork) -> None:
        unit.put(Key("a", "M#1"), {})
        unit.put(Key("b", "X#1"), {"v": 2}, absent=True)

    with pytest.raises(AlreadyThere) as caught:
        store.transact("a", work)
    assert caught.value.key == Key("b", "X#1")
    assert store.get(Key("a", "M#1")) is None
    assert store.get(Key("b", "X#1")) == {"v": 1}


def test_work_cannot_swallow_an_existing_key(store: MemoryStore) -> None:
    fill(store, "a", "X#1")

    def work(unit: UnitOfWork) -> None:
        try:
            unit.put(Key("a", "X#1"), {"v": 2}, absent=True)
        except AlreadyThere:
            unit.put(Key("a", "M#1"), {})

    with pytest.raises(AlreadyThere):
        store.transact("a", work)
    assert sorts(store, "a", "") == ["X#1"]


def test_absent_writes_where_there_is_nothing(store: MemoryStore) -> None:
    put(store, (Key("a", "X#1"), {"v": 1}), absent=True)
    assert store.get(Key("a", "X#1")) == {"v": 1}


def test_sixteen_threads_on_one_partition_lose_no_increment(store: MemoryStore) -> None:
    head = Key("a", "HEAD")

    def increment(unit: UnitOfWork) -> int:
        count = (unit.get(head) or {"count": 0})["count"] + 1
        unit.put(head, {"count": count})
        unit.put(Key("a", f"L#{count:06d}"), {"by": threading.get_ident()}, absent=True)
        return int(count)

    with ThreadPoolExecutor(16) as pool:
        numbers = list(pool.map(lambda _: store.transact("a", increment), range(160)))
    assert sorted(numbers) == list(range(1, 161))
    assert store.get(head) == {"count": 160}
    assert len(store.query("a", "L#").items) == 160


def test_of_many_that_want_a_key_first_one_gets_it(store: MemoryStore) -> None:
    key = Key("a", "X#same")
    together = threading.Barrier(8)

    def claim(name: int) -> bool:
        together.wait()
        try:
            put(store, (key, {"name": name}), absent=True)
        except AlreadyThere:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(claim, range(8)))
    assert won.count(True) == 1
    assert store.get(key) == {"name": won.index(True)}


# --- sweeps


def test_pending_partitions_come_longest_waiting_first(store: MemoryStore) -> None:
    fill(store, "late-name", "P#000000000009", "M#1")
    fill(store, "a", "P#000000000001", "P#000000000002")
    fill(store, "idle", "M#1", "O#1", "Q#1")
    fill(store, "b", "P#000000000005")
    put(store, (Key("late-name", "P#000000000009"), {"attempts": 1}))
    assert store.pending_partitions() == ["late-name", "a", "b"]
    assert store.pending_partitions(limit=2) == ["late-name", "a"]
    store.transact("late-name", lambda unit: unit.delete(Key("late-name", "P#000000000009")))
    assert store.pending_partitions() == ["a", "b"]


def test_due_names_what_has_expired_oldest_first(store: MemoryStore) -> None:
    for name, hours in (("M#2", -1), ("M#1", -2), ("M#0", 0), ("M#3", 1)):
        put(store, (Key("a", name), {}), expires_at=NOW + timedelta(hours=hours))
    fill(store, "a", "M#never")
    assert [key.sort for key in store.due(NOW)] == ["M#1", "M#2", "M#0"]
    assert [key.sort for key in store.due(NOW, limit=1)] == ["M#1"]
    put(store, (Key("a", "M#1"), {}))
    assert [key.sort for key in store.due(NOW)] == ["M#2", "M#0"]


def test_an_expired_item_is_still_read_until_it_is_swept(store: MemoryStore) -> None:
    put(store, (Key("a", "M#1"), {"v": 1}), expires_at=NOW - timedelta(days=30))
    store.due(NOW)
    assert store.get(Key("a", "M#1")) == {"v": 1}


def test_ttl_takes_nothing_before_its_seven_days(store: MemoryStore) -> None:
    put(store, (Key("a", "M#1"), {}), expires_at=NOW - timedelta(days=6, hours=23), ttl=True)
    assert [key.sort for key in store.due(NOW)] == ["M#1"]
    assert store.get(Key("a", "M#1")) == {}


def test_partitions_lists_each_once(store: MemoryStore) -> None:
    names = [f"user{number:03d}" for number in range(20)]
    for name in names:
        fill(store, name, "M#1", "M#2")
    assert sorted(store.partitions()) == names
