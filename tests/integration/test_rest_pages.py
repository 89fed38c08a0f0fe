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
    for path in ("/v1/memories", "/v1/conflicts", "/v1/ledger"):
        assert a.get(path, params={"user_id": "nobody"}) == {"items": [], "next_cursor": None}


@pytest.mark.parametrize("cursor", ["garbage", "", "%00", "a" * 3000, "会"])
def test_a_cursor_that_was_never_given_out_is_refused(a: Api, cursor: str) -> None:
    assert a.broken("GET", f"/v1/memories?user_id=u&cursor={cursor}")[0][0] == "cursor"


def test_a_cursor_of_another_list_or_user_is_refused(a: Api) -> None:
    for number in range(2):
        a.write(f"Ticket {number}", admission="verbatim")
    cursor = a.get("/v1/memories?user_id=u&limit=1")["next_cursor"]
    for path, user in (("/v1/ledger", "u"), ("/v1/memories", "v")):
        query = {"user_id": user, "cursor": cursor}
        assert a.broken("GET", path, params=query) == [("cursor", "token")]
