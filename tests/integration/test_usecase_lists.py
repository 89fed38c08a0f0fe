"""Lists of memories: filters before the limit, orders, and pages that are the whole list."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.principal import LOCAL
from rearview.errors import InvalidInput
from rearview.usecases import paging
from rearview.usecases.fields import read
from rearview.usecases.questions import ListMemories
from tests.house import House, house
from tests.integration.lists_kit import DAYS, ORIGINS, QUIET, Town, built, pages


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with built(tmp_path_factory.mktemp("town")) as one:
        yield one


def memories(h: House, **asked: Any) -> list[str]:
    return [
        item["content"]
        for item in pages(h.app.lister.memories, ListMemories, {"user_id": "u", "limit": 50, **asked})
    ]


def test_memories_are_filtered_by_origin_before_the_limit(h: House) -> None:
    for origin in ("user", "agent", "document", "agent"):
        h.write(f"From the {origin}", admission="verbatim", origin=origin)
    assert memories(h, origin=["agent"], limit=1) == ["From the agent", "From the agent"]
    assert memories(h, origin=["user", "document"]) == ["From the user", "From the document"]


@pytest.mark.parametrize("texts", [("spring", "summer", "autumn"), ("春天", "夏天", "秋天")])
def test_since_and_until_are_on_when_it_happened_and_a_date_as_until_means_its_end(
    h: House, texts: tuple[str, ...]
) -> None:
    for text, at in zip(texts, ("2025-03-31T23:59:00Z", "2025-07-01T12:00:00Z", "2025-10-01"), strict=True):
        h.write(text, admission="verbatim", occurred_at=at)
    assert memories(h, since="2025-07-01") == list(texts[1:])
    assert memories(h, until="2025-07-01") == list(texts[:2])
    assert memories(h, since="2025-07-01T12:00:00Z", until="2025-07-01T12:00:00Z") == [texts[1]]
    # Half past seven in Shanghai is still the evening before in Greenwich.
    assert memories(h, since="2025-04-01", timezone="Asia/Shanghai") == list(texts)


def test_memories_come_newest_first_or_by_importance(h: House) -> None:
    for text, importance in (("one", 0.5), ("two", 0.9), ("three", 0.5), ("four", 0.4)):
        h.write(text, admission="verbatim", importance=importance)
    assert memories(h, sort="-created_at") == ["four", "three", "two", "one"]
    assert memories(h, sort="-importance") == ["two", "three", "one", "four"]
    assert memories(h, sort="importance") == ["four", "one", "three", "two"]


def test_a_list_of_then_is_ordered_by_the_importance_of_then(h: House) -> None:
    one = h.write("one", admission="verbatim", importance=0.9)["id"]
    h.write("two", admission="verbatim", importance=0.5)
    then = h.clock.at.isoformat()
    h.clock.advance(hours=1)
    h.patch(one, importance=0.4)
    assert memories(h, sort="-importance", known_at=then) == ["one", "two"]
    assert memories(h, sort="-importance") == ["two", "one"]


def test_a_cursor_does_not_serve_another_order(h: House) -> None:
    for number in range(3):
        h.write(f"Ticket {number}", admission="verbatim")
    page = h.app.lister.memories(LOCAL, read(ListMemories, {"user_id": "u", "limit": 1}))
    for sort in ("-created_at", "importance", "-importance"):
        asked = {"user_id": "u", "cursor": page["next_cursor"], "sort": sort}
        with pytest.raises(InvalidInput) as refused:
            h.app.lister.memories(LOCAL, read(ListMemories, asked))
        assert [(item.field, item.rule) for item in refused.value.errors] == [("cursor", "token")]


def test_what_is_written_during_a_walk_by_importance_neither_repeats_nor_hides_the_rest(h: House) -> None:
    for number in range(4):
        h.write(f"Ticket {number}", admission="verbatim", importance=0.5)
    asked = {"user_id": "u", "limit": 2, "sort": "-importance"}
    first = h.app.lister.memories(LOCAL, read(ListMemories, asked))
    h.write("Ticket 4", admission="verbatim", importance=0.9)
    second = h.app.lister.memories(LOCAL, read(ListMemories, {**asked, "cursor": first["next_cursor"]}))
    assert [item["content"] for item in first["items"] + second["items"]] == [
        f"Ticket {number}" for number in (3, 2, 1, 0)
    ]


def test_a_page_ends_before_it_outweighs_what_a_function_may_answer(
    h: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "PAGE_BYTES", 20_000)
    texts = [f"{number} " + "长" * 4000 for number in range(5)]
    for text in texts:
        h.write(text, admission="verbatim")
    page = h.app.lister.memories(LOCAL, read(ListMemories, {"user_id": "u"}))
    assert [item["content"] for item in page["items"]] == texts[:1]
    assert memories(h) == texts
    assert memories(h, sort="-created_at") == texts[::-1]


ASKED = st.fixed_dictionaries(
    {
        "limit": st.integers(1, 70),
        "sort": st.sampled_from(["created_at", "-created_at", "importance", "-importance"]),
    },
    optional={
        "origin": st.lists(st.sampled_from(ORIGINS), max_size=3),
        "kind": st.sampled_from(["fact", "event"]),
        "tag": st.just("花园"),
        "since": st.sampled_from(DAYS),
        "until": st.sampled_from(DAYS),
        "status": st.sampled_from([["active"], ["active", "deleted"], ["deleted"]]),
    },
)


def expected(states: list[dict[str, Any]], asked: dict[str, Any]) -> list[str]:
    kept = [
        item
        for item in states
        if item["status"] in asked.get("status", ["active"])
        and item["origin"] in (asked.get("origin") or ORIGINS)
        and item["kind"] == asked.get("kind", item["kind"])
        and ("tag" not in asked or asked["tag"] in item["tags"])
        and asked.get("since", "") <= item["valid_from"][:10] <= asked.get("until", "9")
    ]
    field = asked["sort"].removeprefix("-")
    kept.sort(key=lambda item: (item["importance"] if field == "importance" else 0, item["id"]))
    return [item["id"] for item in (kept[::-1] if asked["sort"].startswith("-") else kept)]


@QUIET
@given(asked=ASKED, past=st.booleans())
def test_concatenated_pages_of_memories_are_the_whole_list(
    town: Town, asked: dict[str, Any], past: bool
) -> None:
    then = {"known_at": town.moment} if past else {}
    found = pages(town.h.app.lister.memories, ListMemories, {"user_id": "u", **asked, **then})
    assert [item["id"] for item in found] == expected(town.states[then.get("known_at")], asked)
