"""What holds for every request, whatever its route."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rearview.entrypoints.rest.wire import BODY_LIMIT
from tests.integration.rest_kit import Api, api

JSON = {"content-type": "application/json"}


@pytest.fixture
def a(tmp_path: Path) -> Iterator[Api]:
    with api(tmp_path) as one:
        yield one


def test_an_unknown_route_is_a_problem(a: Api) -> None:
    for path in (
        "/",
        "/v1",
        "/v1/quarantine",
        "/v1/grants",
        "/v1/memories/",
        "//v1/memories",
        "/v1//memories",
        "/%00",
    ):
        a.refused(404, "GET", path)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/memories", "GET, HEAD, POST"),
        ("GET", "/v1/recall", "POST"),
        ("POST", "/v1/memories/01JWB5A8ZK3V9Q6M2T4X7C1D0E", "DELETE, GET, HEAD, PATCH"),
        ("DELETE", "/health", "GET, HEAD"),
        ("OPTIONS", "/v1/turns", "POST"),
    ],
)
def test_an_unknown_method_names_those_that_are_known(a: Api, method: str, path: str, allowed: str) -> None:
    a.refused(405, method, path)
    assert a.call(method, path).headers["allow"] == allowed


@pytest.mark.parametrize(
    "kind",
    [
        None,
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonx",
        "application/json; charset=gbk",
    ],
)
def test_another_media_type_is_refused(a: Api, kind: str | None) -> None:
    headers = {} if kind is None else {"content-type": kind}
    a.refused(415, "POST", "/v1/memories", content=b'{"user_id":"u","content":"likes tea"}', headers=headers)


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON;charset=UTF-8", "application/vnd.api+json"]
)
def test_json_by_any_of_its_names_is_read(a: Api, kind: str) -> None:
    body = b'{"user_id":"u","content":"I like tea"}'
    a.post("/v1/memories", content=body, headers={"content-type": kind})


@pytest.mark.parametrize("path", ["/v1/memories", "/nowhere", "/health"])
def test_a_body_over_the_limit_is_refused_on_every_route(a: Api, path: str) -> None:
    a.refused(413, "POST", path, content=b"x" * (BODY_LIMIT + 1), headers=JSON)


def test_a_body_at_the_limit_is_read(a: Api) -> None:
    raw = b'{"user_id":"u","content":"I like tea"}'
    a.post("/v1/memories", content=raw + b" " * (BODY_LIMIT - len(raw)), headers=JSON)


def test_an_oversized_body_is_read_to_its_end_and_not_kept(a: Api) -> None:
    chunk, asked, sent = b"x" * 100_000, 0, []

    async def receive() -> dict[str, Any]:
        nonlocal asked
        asked += 1
        return {"type": "http.request", "body": chunk, "more_body": asked < 40}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/memories",
        "raw_path": b"/v1/memories",
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
    }
    asyncio.run(a.app(scope, receive, send))
    assert asked == 40
    assert sent[0]["status"] == 413


def test_a_client_that_leaves_in_the_middle_of_its_body_gets_nothing_and_stores_nothing(a: Api) -> None:
    messages = iter([{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}])

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        pytest.fail(f"nobody is there: {message}")

    scope = {"type": "http", "method": "POST", "path": "/v1/memories", "query_string": b"", "headers": []}
    asyncio.run(a.app(scope, receive, send))


def test_a_sane_request_id_is_kept_and_another_replaced(a: Api) -> None:
    assert a.call("GET", "/health", headers={"x-request-id": "job-7/2"}).headers["x-request-id"] == "job-7/2"
    for odd in ("", "a b", "x" * 129, "<script>"):
        given = a.call("GET", "/health", headers={"x-request-id": odd}).headers["x-request-id"]
        assert len(given) == 32
    assert a.refused(404, "GET", "/nowhere", headers={"x-request-id": "job-7"})["request_id"] == "job-7"


def test_every_answer_carries_the_headers_that_keep_browsers_in_check(a: Api) -> None:
    for path in ("/health", "/v1/memories?user_id=u", "/nowhere", "/docs"):
        headers = a.call("GET", path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "default-src 'none'" in headers["content-security-policy"]


def test_a_fault_of_ours_tells_nothing_of_the_inside(
    a: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def burst(*_: Any, **__: Any) -> Any:
        raise RuntimeError(f"the secret {4700 + 11}")

    monkeypatch.setattr(type(a.house.app.recaller), "recall", burst)
    problem = a.refused(
        500, "POST", "/v1/recall", {"user_id": "u", "query": "tea"}, headers={"x-request-id": "r-1"}
    )
    assert "4711" not in str(problem)
    assert "RuntimeError" not in str(problem)
    assert "r-1" in caplog.text
    assert "4711" not in caplog.text


def test_a_log_line_has_the_route_and_no_id_or_content(a: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "rearview.rest"):
        a.refused(404, "GET", "/v1/sessions/sec-ret?user_id=sec-ret")
        a.call("GET", "/sec-ret")
    assert "/v1/sessions/{session_id}" in caplog.text
    assert "404" in caplog.text
    logged = [record.getMessage() for record in caplog.records if record.name == "rearview.rest"]
    assert not [line for line in logged if "sec-ret" in line]


def test_without_keys_a_foreign_page_or_a_rebound_name_gets_nothing(tmp_path: Path) -> None:
    with api(tmp_path, hosts={"127.0.0.1", "localhost", "::1"}) as one:
        for host in ("evil.example", "evil.example:8787", "", "127.0.0.1.evil.example", "["):
            one.refused(421, "GET", "/v1/memories?user_id=u", headers={"host": host})
        for host in ("127.0.0.1:8787", "localhost", "[::1]:8787", "LOCALHOST"):
            one.get("/v1/memories?user_id=u", headers={"host": host})
        here = {"host": "127.0.0.1:8787"}
        for origin in ("https://evil.example", "null", ""):
            one.refused(403, "GET", "/v1/memories?user_id=u", headers={**here, "origin": origin})
        one.get("/v1/memories?user_id=u", headers={**here, "origin": "http://localhost:3000"})
