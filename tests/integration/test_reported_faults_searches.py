"""Faults that users reported against other memory services, each with the outcome that ours must show:
D time, E search and limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rearview.errors import InvalidInput
from rearview.usecases.commands import WriteMemory
from rearview.usecases.fields import read
from rearview.usecases.questions import ListMemories, Recall
from tests.house import House, house


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


# --- D


@pytest.mark.parametrize(
    "field",
    [
        {"expires_at": 1767225600},
        {"valid_to": 1767225600},
        {"occurred_at": 1767225600},
        {"ttl_seconds": "60"},
    ],
)
def test_d29_an_expiry_of_unknown_type_is_refused_and_never_means_for_ever(field: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        read(WriteMemory, {"user_id": "u", "content": "x", **field})


def test_d31_expired_rows_are_filtered_before_the_limit(h: House) -> None:
    h.batch(
        [
            {"user_id": "u", "content": f"pump pump report {n}", "admission": "verbatim", "ttl_seconds": 60}
            for n in range(61)
        ]
    )
    h.write("pump of the mill", admission="force")
    h.write("pump of the well", admission="force")
    h.clock.advance(seconds=61)
    assert set(h.contents("pump report", top_k=2)) == {"pump of the mill", "pump of the well"}


def test_d33_a_date_as_upper_bound_holds_the_whole_day(h: House) -> None:
    h.clock.at = datetime(2026, 5, 3, 10, tzinfo=UTC)
    h.write("I like tea")
    assert h.contents("tea", known_at="2026-05-03") == ["I like tea"]
    assert h.contents("tea", until="2026-05-03") == ["I like tea"]
    assert len(h.memories(known_at="2026-05-03")) == 1


def test_d35_times_with_and_without_offset_compare(h: House) -> None:
    h.write("I like tea", occurred_at="2026-05-03T10:00:00+02:00", admission="force")
    assert h.contents("tea", since="2026-05-03T08:00:00") == ["I like tea"]
    assert h.contents("tea", since="2026-05-03T08:00:01") == []
    assert h.contents("tea", until="2026-05-03T16:00:00", timezone="Asia/Shanghai") == ["I like tea"]
    assert h.contents("tea", until="2026-05-03T15:59:59", timezone="Asia/Shanghai") == []


def test_d37_lists_and_recall_draw_the_day_at_the_same_place(h: House) -> None:
    h.clock.at = datetime(2026, 5, 3, 16, 30, tzinfo=UTC)
    h.write("I like tea")
    for zone, day in (("UTC", "2026-05-03"), ("Asia/Shanghai", "2026-05-04")):
        assert h.contents("tea", known_at=day, timezone=zone) == ["I like tea"]
        assert len(h.memories(known_at=day, timezone=zone)) == 1
    assert h.contents("tea", known_at="2026-05-03", timezone="Asia/Shanghai") == []
    assert h.memories(known_at="2026-05-03", timezone="Asia/Shanghai") == []


def test_d39_when_it_happened_is_kept_apart_from_when_it_was_written(h: House) -> None:
    one = h.write("I moved to Ghent", occurred_at="2019-04-01", admission="force")["memory"]
    assert one["valid_from"].startswith("2019-04-01")
    assert one["created_at"].startswith("2026")


# --- E


def test_e41_h5_chinese_without_spaces_is_found_by_its_words(h: House) -> None:
    h.write("混合检索的精排模型是哪个", admission="force")
    h.write("We use Go at GB", admission="force")
    for query in ("精排模型", "茶", "排"):
        parts = [hit.parts for hit in h.recall(query).hits if "精排" in (hit.content or "")]
        assert ("raw_keyword" in parts[0]) is (query != "茶")
    assert "raw_keyword" in h.recall("GB").hits[0].parts


@pytest.mark.parametrize(
    "query", ["OvertimeService", "overtimeservice", "overtime service", "overtime_service"]
)
def test_e43_one_tokeniser_on_both_sides(h: House, query: str) -> None:
    one = h.write("The OvertimeService fails at night", admission="force")
    hit = h.recall(query).hits[0]
    assert hit.id == one["id"]
    assert "raw_keyword" in hit.parts


@pytest.mark.parametrize(
    "name",
    [
        "my-group",
        "0f3e4a52-1b9c-4d3e-8f00-aa11bb22cc33",
        "a/b",
        "a\\b",
        "a|b",
        "名字 🥨",
        "%",
        "_",
        "'; --",
        '"',
    ],
)
def test_e45_whatever_validates_as_a_user_can_be_searched(h: House, name: str) -> None:
    h.write('She said: a/b | c\\d "quoted"', user=name, admission="force", session_id=name, agent_id=name)
    assert len(h.contents("quoted", user=name, session_id=name, agent_id=name)) == 1
    assert len(h.memories(user=name, session_id=name)) == 1


@pytest.mark.parametrize(
    ("tag", "other"), [("test", "latest"), ("100%", "100x"), ("a_b", "axb"), ("Tag", "tag")]
)
def test_e47_tags_match_exactly(h: House, tag: str, other: str) -> None:
    keep = h.write("Pump one", tags=[other], admission="force")["id"]
    gone = h.write("Pump two", tags=[tag], admission="force")["id"]
    assert [hit.id for hit in h.recall("pump", tags=[tag]).hits] == [gone]
    assert [item["id"] for item in h.memories(tag=tag)] == [gone]
    assert h.forget(tags=[tag])["ids"] == [gone]
    assert [item["id"] for item in h.memories()] == [keep]


@pytest.mark.parametrize("top_k", [0, -1, 51, 5000, True, "5", 2.5])
def test_e49_a_limit_out_of_bounds_is_refused_by_name(top_k: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(Recall, {"user_id": "u", "query": "x", "top_k": top_k})
    assert refused.value.errors[0].field == "top_k"


def test_e51_an_unknown_filter_is_refused_and_context_passes_its_filters_on(h: House) -> None:
    with pytest.raises(InvalidInput, match="min_confidence"):
        read(Recall, {"user_id": "u", "query": "x", "min_confidence": 0.5})
    h.write("Pump one leaks", tags=["a"], admission="force")
    h.write("Pump two leaks", tags=["b"], admission="force")
    block = h.context("pump leaks", tags=["a"])
    assert "one" in block
    assert "two" not in block


def test_e53_a_tag_filter_reaches_an_old_memory_behind_newer_ones(h: House) -> None:
    old = h.write("Pump report zero", tags=["old"], admission="force")["id"]
    for start in (0, 100):
        h.batch(
            [
                {"user_id": "u", "content": f"Pump report {start + n}", "admission": "verbatim"}
                for n in range(1, 101)
            ],
            wait=False,
        )
    h.drain()
    assert [hit.id for hit in h.recall("pump report", tags=["old"], top_k=1).hits] == [old]
    assert [item["id"] for item in h.memories(tag="old")] == [old]
    for bad in (float("nan"), float("inf")):
        with pytest.raises(InvalidInput):
            read(Recall, {"user_id": "u", "query": "x", "min_importance": bad})


def test_e55_pages_reach_everything_once(h: House) -> None:
    for start in range(0, 300, 100):
        h.batch(
            [
                {"user_id": "u", "content": f"Note {start + n}", "tags": ["t"], "admission": "verbatim"}
                for n in range(100)
            ],
            wait=False,
        )
    seen: list[str] = []
    cursor = None
    while True:
        page = h.app.reader.memories(
            h.principal, read(ListMemories, {"user_id": "u", "tag": "t", "limit": 70, "cursor": cursor})
        )
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 300


def test_e57_zero_is_a_value(h: House) -> None:
    one = h.write("I like tea", confidence=0.0, importance=0.0, metadata={"nested": {"confidence": 0.0}})[
        "memory"
    ]
    assert (one["confidence"], one["importance"], one["metadata"]) == (
        0.0,
        0.0,
        {"nested": {"confidence": 0.0}},
    )
