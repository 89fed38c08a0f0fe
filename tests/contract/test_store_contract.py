"""What every store promises."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from rearview.domain.keys import Key
from rearview.ports import AlreadyThere, Filter, MemoryStore, UnitOfWork

NOW = datetime(2026, 3, 1, tzinfo=UTC)


#: A transaction of DynamoDB has a hundred items at most.
CHUNK = 90


def put(store: MemoryStore, *items: tuple[Key, dict[str, Any]], **options: Any) -> None:
    for start in range(0, len(items), CHUNK):

        def work(unit: UnitOfWork, some: Sequence[tuple[Key, dict[str, Any]]]) -> None:
            for key, body in some:
                unit.put(key, body, **options)

        store.transact(items[0][0].partition, partial(work, some=items[start : start + CHUNK]))


def fill(store: MemoryStore, partition: str, *sorts: str) -> None:
    put(store, *[(Key(partition, sort), {"sort": sort}) for sort in sorts])


def sorts(store: MemoryStore, partition: str, prefix: str, **options: Any) -> list[str]:
    return [key.sort for key, _ in store.query(partition, prefix, **options).items]


# --- reading


def test_a_body_comes_back_as_it_went_in(store: MemoryStore) -> None:
    body = {
        "text": '她住在杭州 🏮 e\u0301 שלום \\ " \n',
        "none": None,
        "yes": True,
        "zero": 0,
        "float": 0.1 + 0.2,
        "large": 2**60,
        "list": [1, "two", None, [3.5]],
        "map": {"ключ": {"a": []}},
    }
    put(store, (Key("a", "M#1"), body))
    found = store.get(Key("a", "M#1"))
    assert found == body
    assert list(found or {}) == list(body)


def test_a_missing_key_is_none(store: MemoryStore) -> None:
    fill(store, "a", "M#1")
    assert store.get(Key("a", "M#2")) is None
    assert store.get(Key("b", "M#1")) is None


def test_get_many_answers_those_that_exist(store: MemoryStore) -> None:
    fill(store, "a", "M#1", "M#2")
    fill(store, "b", "M#1")
    wanted = [Key("a", "M#1"), Key("b", "M#1"), Key("b", "M#9")]
    assert store.get_many(wanted) == {Key("a", "M#1"): {"sort": "M#1"}, Key("b", "M#1"): {"sort": "M#1"}}
    assert store.get_many([]) == {}


def test_a_query_keeps_to_its_partition_and_prefix(store: MemoryStore) -> None:
    fill(store, "a", "L#1", "M", "M#1", "M#2", "M$", "M%", "N#1")
    fill(store, "b", "M#3")
    assert sorts(store, "a", "M#") == ["M#1", "M#2"]
    assert sorts(store, "a", "") == ["L#1", "M", "M#1", "M#2", "M$", "M%", "N#1"]
    assert sorts(store, "a", "M%") == ["M%"]
    assert sorts(store, "c", "M#") == []


def test_a_prefix_may_end_in_any_character(store: MemoryStore) -> None:
    fill(store, "a", "\ud7ff1", "\ue0001", "z\U0010ffff2", "zz")
    assert sorts(store, "a", "\ud7ff") == ["\ud7ff1"]
    assert sorts(store, "a", "z\U0010ffff") == ["z\U0010ffff2"]


def test_pages_follow_each_other_without_gap_or_repeat(store: MemoryStore) -> None:
    names = [f"M#{number:02d}" for number in range(7)]
    fill(store, "a", *reversed(names))
    for reverse in (False, True):
        seen: list[str] = []
        last = None
        sizes = []
        while True:
            page = store.query("a", "M#", after=last, limit=3, reverse=reverse)
            seen += [key.sort for key, _ in page.items]
            sizes.append(len(page.items))
            last = page.last
            if last is None:
                break
        assert seen == sorted(names, reverse=reverse)
        assert sizes == [3, 3, 1]


def test_a_full_last_page_has_no_next(store: MemoryStore) -> None:
    fill(store, "a", "M#1", "M#2")
    assert store.query("a", "M#", limit=2).last is None


def test_filters_apply_before_the_limit(store: MemoryStore) -> None:
    put(store, *[(Key("a", f"M#{n:04d}"), {"n": n, "odd": n % 2, "of_nine": str(n % 9)}) for n in range(300)])
    for one in (Filter("of_nine", "eq", "8"), Filter("n", "in", tuple(range(8, 300, 9)))):
        page = store.query("a", "M#", limit=4, where=[one])
        assert [body["n"] for _, body in page.items] == [8, 17, 26, 35]
        rest = store.query("a", "M#", limit=100, after=page.last, where=[one, Filter("odd", "eq", 0)])
        assert [body["n"] for _, body in rest.items] == list(range(44, 300, 18))
        assert rest.last is None


BODIES: list[dict[str, Any]] = [
    {},
    {"x": None},
    {"x": ""},
    {"x": "a"},
    {"x": "b"},
    {"x": "é"},
    {"x": "丙"},
    {"x": '["a"]'},
    {"x": "1"},
    {"x": "true"},
    {"x": 'it\'s "quoted" %_'},
    {"x": True},
    {"x": False},
    {"x": 0},
    {"x": 0.0},
    {"x": 1},
    {"x": 1.0},
    {"x": 0.1 + 0.2},
    {"x": 2**70},
    {"x": []},
    {"x": ["a"]},
    {"x": ["a", None, True, 1, 0.5, ["b"]]},
    {"x": {"a": 1}},
    {"x": "2026-03-01T00:00:00.000000Z", "y": "other"},
]
EQUALS = [
    "",
    "a",
    "é",
    "丙",
    "1",
    '["a"]',
    "true",
    'it\'s "quoted" %_',
    None,
    True,
    False,
    0,
    0.0,
    1,
    0.3,
    0.1 + 0.2,
    2**70,
    ["a"],
    {"a": 1},
]
FILTERS = [
    *[Filter("x", "eq", value) for value in EQUALS],
    *[Filter("x", "has", value) for value in ["a", "b", "", None, True, False, 1, 0.5, ["b"]]],
    *[
        Filter("x", "in", value)
        for value in [(), ("a", "丙"), [None], ["a", None, False], (True, "b"), (0.0, 2**70)]
    ],
    Filter("missing", "eq", None),
    Filter("missing", "in", ["a", None]),
    Filter("no.such field\"'", "eq", None),
]
ORDERED = [
    Filter(name, op, value)  # type: ignore[arg-type]
    for name in ("x", "missing")
    for op in ("le", "ge", "lt", "gt", "open_or_gt")
    for value in ("", "a", "é", "丙", "2026-02-28T00:00:00.000000Z")
]


def test_filters_mean_in_the_engine_what_they_mean_in_python(store: MemoryStore) -> None:
    put(store, *[(Key("a", f"M#{number:02d}"), body) for number, body in enumerate(BODIES)])
    for one in FILTERS:
        expected = [body for body in BODIES if one.holds(body)]
        assert [body for _, body in store.query("a", "M#", where=[one]).items] == expected, one


def test_comparisons_are_of_texts_in_code_point_order(store: MemoryStore) -> None:
    texts = [body for body in BODIES if isinstance(body.get("x"), (str, type(None)))]
    put(store, *[(Key("a", f"M#{number:02d}"), body) for number, body in enumerate(texts)])
    for one in ORDERED:
        expected = [body for body in texts if one.holds(body)]
        assert [body for _, body in store.query("a", "M#", where=[one]).items] == expected, one


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
