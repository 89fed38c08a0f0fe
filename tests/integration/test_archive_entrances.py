"""Archived texts and purged ids as callers of REST and MCP meet them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.archive_kit import EN, ZH, Away, forget_fetched, month_later, short
from tests.integration.mcp_kit import callers
from tests.integration.rest_kit import Api, api, caller


@pytest.fixture
def a(tmp_path: Path) -> Iterator[Api]:
    with api(tmp_path) as one:
        yield one


def test_rest_answers_in_full_and_503_while_the_archive_is_away(a: Api) -> None:
    memory_id = short(a.house, ZH)
    a.house.turns([{"role": "user", "content": "下周三下午三点复诊。"}], session_id="s")
    month_later(a.house)
    shown = a.get(f"/v1/memories/{memory_id}")
    assert (shown["content"], shown["text_archived"]) == (ZH, True)
    assert next(item["content"] for item in a.get("/v1/memories?user_id=u")["items"]) == ZH
    assert len(a.get("/v1/sessions/s?user_id=u")["turns"]) == 1
    forget_fetched(a.house)
    a.house.app.services.archive = Away()
    problem = a.refused(503, "GET", f"/v1/memories/{memory_id}")
    assert ZH[:6] not in str(problem)
    a.refused(503, "GET", f"/v1/memories/{memory_id}/history")
    assert a.get("/v1/sessions/s?user_id=u")["degraded"] == ["archive"]
    found = a.post("/v1/recall", {"user_id": "u", "query": "水槽靠窗", "include_content": True})
    assert (found["hits"][0]["content"], found["degraded"]) == (None, ["archive"])
    assert a.post("/v1/context", {"user_id": "u", "query": "水槽靠窗", "session_id": "s"})["text"]
    assert a.post("/v1/audits", {"user_id": "u", "checks": ["archive"]})["ok"] is False


def test_a_lost_text_is_a_problem_of_its_own(a: Api) -> None:
    memory_id = short(a.house, EN)
    month_later(a.house)
    archive = a.house.app.services.archive
    for key in list(archive.keys("")):
        archive.delete(key)
    assert a.refused(503, "GET", f"/v1/memories/{memory_id}")["type"].endswith("text-lost")


def test_a_purged_id_is_410_for_its_namespace_and_404_for_others(tmp_path: Path) -> None:
    with api(tmp_path, auth=True) as door:
        purged(caller(door, "default"), caller(door, "elsewhere"))


def purged(a: Api, stranger: Api) -> None:
    memory_id = short(a.house, EN)
    a.call("DELETE", f"/v1/memories/{memory_id}?reason=sold%20the%20cottage")
    a.house.clock.advance(days=31)
    a.house.app.sweeper.sweep()
    for method, path in (
        ("GET", ""),
        ("GET", "/history"),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/restore"),
    ):
        body = {"tags": ["x"]} if method == "PATCH" else None
        problem = a.refused(410, method, f"/v1/memories/{memory_id}{path}", body)
        assert "sold the cottage" in problem["detail"]
    stranger.refused(404, "GET", f"/v1/memories/{memory_id}")


def test_mcp_shows_archived_texts_and_says_what_is_gone(a: Api) -> None:
    h = a.house
    memory_id, other = short(h, EN), short(h, ZH)
    month_later(h)
    forget_fetched(h)
    h.delete(other)
    h.clock.advance(days=31)
    h.app.sweeper.sweep()
    with callers(h) as connect:
        mcp = connect()
        assert mcp.ok("get_memory", memory_id=memory_id)["memory"]["content"] == EN
        assert mcp.refused("get_memory", memory_id=other)["status"] == 410
        forget_fetched(h)
        h.app.services.archive = Away()
        assert mcp.refused("get_memory", memory_id=memory_id)["status"] == 503
        found = mcp.ok("read_memory", user_id="u", query="hairline crack in the downpipe")
        assert found["hits"][0]["id"] == memory_id
