"""What every store promises of reading."""

from __future__ import annotations

from typing import Any

from store_kit import fill, put, sorts

from rearview.domain.keys import Key
from rearview.ports import Filter, MemoryStore


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


def test_a_page_may_start_after_any_text(store: MemoryStore) -> None:
    fill(store, "a", "M#1", "M#3", "N#1")
    for after, forward, backward in (
        ("L#9", ["M#1", "M#3"], []),
        ("M#", ["M#1", "M#3"], []),
        ("M#1", ["M#3"], []),
        ("M#2", ["M#3"], ["M#1"]),
        ("M#3", [], ["M#1"]),
        ("N", [], ["M#3", "M#1"]),
    ):
        assert sorts(store, "a", "M#", after=after) == forward, after
        assert sorts(store, "a", "M#", after=after, reverse=True) == backward, after


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
