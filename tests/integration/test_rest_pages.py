"""Lists are pages: nothing twice, nothing left out, whatever comes meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.rest_kit import Api, api


@pytest.fixture
def a(tmp_path: Path) -> Iterator[Api]:
    with api(tmp_path) as one:
        yield one


def walk(a: Api, path: str, limit: int, **params: Any) -> list[Any]:
    items: list[Any] = []
    cursor = None
    while True:
        more = {} if cursor is None else {"cursor": cursor}
        page = a.get(path, params={"user_id": "u", "limit": limit, **params, **more})
        assert len(page["items"]) <= limit
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return items


def test_a_thousand_memories_are_walked_in_order_without_repeats(a: Api) -> None:
    ids: list[str] = []
    for start in range(0, 1000, 100):
        items = [
            {"user_id": "u", "content": f"Ticket {number}", "admission": "verbatim"}
            for number in range(start, start + 100)
        ]
        ids += [result["id"] for result in a.post("/v1/memories/batch", {"items": items})["results"]]
    assert [item["id"] for item in walk(a, "/v1/memories", 137)] == ids
    assert [item["seq"] for item in walk(a, "/v1/ledger", 200)] == list(range(1, 1001))


def test_what_is_written_during_a_walk_comes_at_its_end(a: Api) -> None:
    for number in range(3):
        a.write(f"Ticket {number}", admission="verbatim")
    first = a.get("/v1/memories?user_id=u&limit=2")
    a.write("Ticket 3", admission="verbatim")
    second = a.get("/v1/memories", params={"user_id": "u", "cursor": first["next_cursor"]})
    assert [item["content"] for item in second["items"]] == ["Ticket 2", "Ticket 3"]


def test_filters_apply_before_the_limit(a: Api) -> None:
    for number in range(6):
        a.write(f"Ticket {number}", admission="verbatim", tags=["odd"] if number % 2 else [])
    found = walk(a, "/v1/memories", 2, tag="odd")
    assert [item["content"] for item in found] == ["Ticket 1", "Ticket 3", "Ticket 5"]


def test_statuses_may_be_repeated_or_comma_separated(a: Api) -> None:
    kept = a.write("I live in Lisbon")["id"]
    gone = a.write("I like green tea")["id"]
    a.ok("DELETE", f"/v1/memories/{gone}")
    both = {kept, gone}
    for query in ("status=active&status=deleted", "status=active,deleted"):
        assert {item["id"] for item in a.get(f"/v1/memories?user_id=u&{query}")["items"]} == both


def test_an_unknown_user_has_empty_lists(a: Api) -> None:
    for path in ("/v1/memories", "/v1/decisions", "/v1/conflicts", "/v1/ledger", "/v1/audits"):
        assert a.get(path, params={"user_id": "nobody"}) == {"items": [], "next_cursor": None}


@pytest.mark.parametrize("cursor", ["garbage", "", "%00", "a" * 3000, "会"])
def test_a_cursor_that_was_never_given_out_is_refused(a: Api, cursor: str) -> None:
    assert a.broken("GET", f"/v1/memories?user_id=u&cursor={cursor}")[0][0] == "cursor"


def test_a_cursor_of_another_list_or_user_is_refused(a: Api) -> None:
    for number in range(2):
        a.write(f"Ticket {number}", admission="verbatim")
    cursor = a.get("/v1/memories?user_id=u&limit=1")["next_cursor"]
    for path, user in (("/v1/ledger", "u"), ("/v1/decisions", "u"), ("/v1/memories", "v")):
        query = {"user_id": user, "cursor": cursor}
        assert a.broken("GET", path, params=query) == [("cursor", "token")]


@pytest.mark.parametrize("sort", ["created_at", "-created_at", "importance", "-importance"])
def test_memories_are_walked_in_any_order_by_their_filters(a: Api, sort: str) -> None:
    for number in range(12):
        a.write(
            f"第{number}张票",
            admission="verbatim",
            importance=(3 + number % 3) / 10,
            origin="agent" if number % 4 else "user",
            occurred_at=f"2026-01-{number + 1:02}",
        )
    found = walk(a, "/v1/memories", 2, sort=sort, origin="agent,tool", since="2026-01-03", until="2026-01-10")
    kept = [number for number in range(2, 10) if number % 4]
    if "importance" in sort:
        kept.sort(key=lambda number: (number % 3, number))
    if sort.startswith("-"):
        kept.reverse()
    assert [item["content"] for item in found] == [f"第{number}张票" for number in kept]


def test_decisions_are_walked_with_their_outcomes(a: Api) -> None:
    ids = []
    for number in range(7):
        asked = {"user_id": "u", "context": f"第{number}件事", "action": "退款" if number % 2 else "wait"}
        ids.append(a.post("/v1/decisions", asked)["id"])
        a.post(f"/v1/decisions/{ids[-1]}/outcomes", {"result": "success"})
    found = walk(a, "/v1/decisions", 2, action="退款", sort="-created_at")
    assert [item["id"] for item in found] == ids[5::-2]
    assert [len(item["outcomes"]) for item in found] == [1, 1, 1]


def test_audits_are_walked_newest_first(a: Api) -> None:
    ids = []
    for _ in range(3):
        ids.append(a.post("/v1/audits", {"user_id": "u"})["id"])
        a.house.clock.advance(seconds=1)
    assert [item["id"] for item in walk(a, "/v1/audits", 1)] == ids[::-1]
    assert a.get(f"/v1/audits/{ids[0]}") == a.get("/v1/audits?sort=created_at&limit=1")["items"][0]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("memories?user_id=u&sort=score", "sort"),
        ("memories?user_id=u&origin=aunt", "origin[0]"),
        ("memories?user_id=u&since=yesterday", "since"),
        ("decisions?user_id=u&sort=importance", "sort"),
        ("decisions?action=x", "user_id"),
        ("audits?limit=0", "limit"),
        ("audits?status=active", "status"),
        ("graph?user_id=u&limit=6001", "limit"),
        ("graph?user_id=u&edges=same_mood", "edges[0]"),
        ("graph?user_id=u&decisions=maybe", "decisions"),
        ("graph?user_id=u&tag=%00", "tag"),
    ],
)
def test_what_a_list_or_the_graph_does_not_know_is_refused_by_name(a: Api, query: str, field: str) -> None:
    assert [broken[0] for broken in a.broken("GET", f"/v1/{query}")] == [field]


def test_the_graph_is_what_the_document_says(a: Api) -> None:
    memory = a.write("I live in Lisbon", tags=["家"])["id"]
    a.write("我妹妹也住在里斯本", tags=["家"])
    asked = {"user_id": "u", "context": "Where to send it?", "action": "home", "memory_ids": [memory]}
    decision = a.post("/v1/decisions", asked)["id"]
    found = a.get("/v1/graph?user_id=u&edges=rests_on,same_tag")
    assert {(edge["from"], edge["kind"]) for edge in found["edges"]} == {
        (decision, "rests_on"),
        (memory, "same_tag"),
    }
    assert {item["cluster"] for item in found["nodes"]} == {0}
