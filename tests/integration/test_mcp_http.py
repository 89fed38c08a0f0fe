"""MCP over HTTP: who may call from where, what is no POST, and a real server on loopback."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from fastapi import FastAPI
from mcp import Client

from rearview.entrypoints.mcp.front import MAX_BODY
from rearview.entrypoints.mcp.server import asgi_app, mount
from rearview.usecases.commands import CreateKey
from tests.house import House, house
from tests.integration.mcp_kit import ERAS, MODERN, Connect, Mcp, callers

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.fixture(scope="module")
def h(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    # One for all: what is refused leaves nothing behind.
    with house(tmp_path_factory.mktemp("house")) as one:
        yield one


@pytest.fixture(scope="module")
def connect(h: House) -> Iterator[Connect]:
    with callers(h) as make:
        yield make


@pytest.fixture(scope="module")
def legacy(connect: Connect) -> Mcp:
    return connect("legacy")


def problem(response: httpx2.Response, status: int) -> dict[str, Any]:
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert body["status"] == status
    assert body["request_id"] == response.headers["x-request-id"]
    assert set(body) == {"type", "title", "status", "detail", "errors", "request_id"}
    return body


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"])
def test_only_post_is_served_and_nothing_hangs(legacy: Mcp, method: str) -> None:
    response = legacy.http(method, headers={"accept": "text/event-stream", "mcp-session-id": "x"})
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("host", ["127.0.0.1:8787", "127.0.0.1", "localhost:1", "LOCALHOST:80", "[::1]:9"])
def test_this_machines_names_are_answered_with_any_port(legacy: Mcp, host: str) -> None:
    assert legacy.post(PING, host=host).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8787", "localhost.evil.example", "10.0.0.1"]
)
def test_a_foreign_host_name_is_refused(legacy: Mcp, host: str) -> None:
    problem(legacy.post(PING, host=host), 421)


@pytest.mark.parametrize(
    "origin", ["http://localhost:3000", "http://127.0.0.1", "HTTP://LOCALHOST:80", "https://[::1]:1"]
)
def test_pages_of_this_machine_may_call(legacy: Mcp, origin: str) -> None:
    assert legacy.post(PING, origin=origin).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost.evil.example", "file://"]
)
def test_pages_of_elsewhere_may_not_call(legacy: Mcp, origin: str) -> None:
    problem(legacy.post(PING, origin=origin), 403)


def test_other_hosts_and_origins_can_be_allowed(h: House) -> None:
    front = asgi_app(
        h.app, auth=False, allowed_hosts=["memory.example"], allowed_origins=["https://chat.example"]
    )
    mcp = Mcp(h, "legacy", front=front)
    assert mcp.post(PING, host="memory.example").status_code == 200
    assert mcp.post(PING, host="memory.example", origin="https://chat.example").status_code == 200
    problem(mcp.post(PING, host="127.0.0.1:8787"), 421)


@pytest.mark.parametrize("era", ERAS)
def test_white_space_around_header_values_does_no_harm(connect: Connect, era: str) -> None:
    mcp = connect(era)
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    version = MODERN if era == MODERN else "2025-11-25"
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "query_string": b"",
        "headers": [
            (b"host", b" 127.0.0.1:8787 "),
            (b"content-type", b"application/json "),
            (b"accept", b" application/json, text/event-stream"),
            (b"mcp-protocol-version", version.encode() + b" "),
            (b"mcp-method", b"tools/list\t"),
        ],
    }  # fmt: skip
    body = json.dumps({**LIST, "params": {"_meta": meta} if era == MODERN else {}}).encode()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    anyio.run(mcp.app(), scope, receive, send)
    assert sent[0]["status"] == 200
    assert len(json.loads(sent[1]["body"])["result"]["tools"]) == 9


def test_a_body_over_the_limit_is_refused_after_it_was_read(legacy: Mcp) -> None:
    big = {**PING, "params": {"x": "a" * MAX_BODY}}
    assert problem(legacy.post(big), 413)["title"] == "Payload too large"


def test_a_body_that_is_not_announced_as_json_is_refused(legacy: Mcp) -> None:
    problem(legacy.post(PING, content_type="text/plain"), 415)


def test_an_answer_the_client_will_not_accept_is_refused(legacy: Mcp) -> None:
    assert legacy.post(PING, accept="text/html").status_code == 406


def test_subscriptions_are_not_served_and_do_not_hang(connect: Connect) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    listen = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {"_meta": meta}}
    response = connect().post(listen, mcp_method="subscriptions/listen", mcp_name="")
    assert response.status_code in (400, 404)
    assert "error" in response.json()


# --- credentials ---


def new_key(h: House) -> str:
    asked = CreateKey.model_validate({"name": "test", "namespaces": ["default"]})
    key: str = h.app.keyring.create(h.principal, asked)["key"]
    return key


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer rv_nobody_knows"},
        {"Authorization": "Bearer "},
        {"Authorization": "Basic dTpw"},
        {"Authorization": "Bearer ключ".encode()},
        {"X-API-Key": "x" * 5000},
        {"X-API-Key": ""},
    ],
)
@pytest.mark.parametrize("era", ERAS)
def test_without_a_known_key_nothing_is_served(connect: Connect, era: str, headers: dict[str, Any]) -> None:
    response = connect(era, auth=True, headers=headers).post(LIST)
    body = problem(response, 401)
    assert response.headers["www-authenticate"].startswith("Bearer")
    assert "nobody_knows" not in json.dumps(body)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("header", ["Authorization", "X-API-Key"])
def test_a_key_is_taken_in_either_header(h: House, connect: Connect, era: str, header: str) -> None:
    key = new_key(h)
    value = f"bearer  {key} " if header == "Authorization" else key
    mcp = connect(era, auth=True, headers={header: value})
    written = mcp.ok("write_memory", user_id="u", content="I like tea")
    assert written["memory"]["created_by"].startswith("key:")


def test_a_revoked_key_is_refused_at_once(h: House, connect: Connect) -> None:
    key = new_key(h)
    mcp = connect("legacy", auth=True, headers={"X-API-Key": key})
    assert mcp.post(PING).status_code == 200
    h.app.keyring.revoke(h.principal, key.split("_")[1])
    problem(mcp.post(PING), 401)


# --- a real server ---


@pytest.fixture
def served(h: House) -> Iterator[str]:
    app = FastAPI()
    mount(app, h.app, auth=False)

    @app.get("/health")
    def health() -> dict[str, str]:
        return {"status": "ok"}

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_many_clients_at_once_get_their_own_answers_from_a_real_server(served: str, era: str) -> None:
    found: dict[str, str] = {}

    async def one(user: str) -> None:
        async with Client(f"{served}/mcp", mode=era) as client:
            await client.call_tool("write_memory", {"user_id": user, "content": f"My desk number is {user}"})
            hits = await client.call_tool("read_memory", {"user_id": user, "query": "desk number"})
            found[user] = hits.structured_content["hits"][0]["content"]

    async def all_of_them() -> None:
        async with anyio.create_task_group() as group:
            for number in range(6):
                group.start_soon(one, str(4000 + number))

    anyio.run(all_of_them)
    assert found == {str(4000 + n): f"My desk number is {4000 + n}" for n in range(6)}


def test_a_slow_call_does_not_hold_up_the_rest(
    served: str, h: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, released = threading.Event(), threading.Event()
    recall = type(h.app.recaller).recall

    def slow(*args: Any) -> Any:
        begun.set()
        assert released.wait(20)
        return recall(*args)

    monkeypatch.setattr(type(h.app.recaller), "recall", slow)

    async def run() -> int:
        async with Client(f"{served}/mcp", mode="legacy") as client, anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "read_memory", {"user_id": "u", "query": "tea"})
            await anyio.to_thread.run_sync(begun.wait)
            async with httpx2.AsyncClient() as http:
                status = (await http.get(f"{served}/health")).status_code
            released.set()
            return status

    assert anyio.run(run) == 200


def test_the_mounted_path_answers_and_its_neighbours_are_untouched(served: str) -> None:
    with httpx2.Client() as http:
        assert http.get(f"{served}/mcp").status_code == 405
        assert http.get(f"{served}/mcp/else").status_code == 404
        assert http.get(f"{served}/health").json() == {"status": "ok"}
        assert "/mcp" not in http.get(f"{served}/openapi.json").json()["paths"]


def test_the_application_works_alone_and_twice_in_one_process_without_a_lifespan(h: House) -> None:
    # As under Mangum: an event loop per invocation, one application for all of them.
    front = asgi_app(h.app, auth=False)
    for _ in range(3):
        assert Mcp(h, "legacy", front=front).post(LIST).status_code == 200
