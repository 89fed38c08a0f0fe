"""`serve` as a process: what it prints, how it ends, and that several share a folder."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rearview.entrypoints.local import serve
from rearview.entrypoints.rest.listen import bind, is_any, is_loopback
from rearview.settings import Settings
from tests.house import house

ROOT = Path(__file__).resolve().parents[2]
Until = Callable[..., None]


class Served:
    """A serving process and a way to talk to it."""

    def __init__(self, data: Path, *args: str, env: dict[str, str] | None = None) -> None:
        self.data = data
        self.log = data.parent / f"serve-{time.monotonic_ns()}.log"
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.integration.serve_child", str(data), *args],
                cwd=ROOT,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join([str(ROOT / "layers/core"), str(ROOT)]),
                    **(env or {}),
                },
            )

    @property
    def text(self) -> str:
        return self.log.read_text("utf-8")

    @property
    def port(self) -> int:
        found = re.search(r"http://[^:]+:(\d+)/v1$", self.text, re.MULTILINE)
        return int(found[1]) if found else 0

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)

    def call(
        self, method: str, path: str, body: Any = None, connection: Any = None, **headers: str
    ) -> tuple[int, Any]:
        one = connection or self.connect()
        sent = None if body is None else json.dumps(body).encode()
        one.request(method, path, sent, {"content-type": "application/json", **headers})
        answer = one.getresponse()
        found = answer.status, json.loads(answer.read() or b"null")
        if connection is None:
            one.close()
        return found

    def ready(self) -> bool:
        assert self.process.poll() is None, self.text
        try:
            return bool(self.port) and self.call("GET", "/ready")[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def wait(self, seconds: float = 30.0) -> None:
        """Returns as soon as it answers."""
        end, pause = time.monotonic() + seconds, threading.Event()
        while not self.ready():
            assert time.monotonic() < end, self.text
            pause.wait(0.02)

    def end(self, sig: int = signal.SIGTERM) -> tuple[int, float]:
        """(exit code, seconds it took)."""
        started = time.monotonic()
        self.process.send_signal(sig)
        return self.process.wait(20), time.monotonic() - started


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    running: list[Served] = []

    def go(*args: str, wait: bool = True, data: Path | None = None, **more: Any) -> Served:
        one = Served(data or tmp_path / "data", *args, **more)
        running.append(one)
        if wait:
            one.wait()
        return one

    yield go
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait(10)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for the tests that only talk to it, each as a user of its own; in a zone far from UTC."""
    one = Served(tmp_path_factory.mktemp("shared") / "data", "--no-auth", env={"TZ": "America/New_York"})
    one.wait()
    yield one
    one.process.kill()
    one.process.wait(10)


LISBON = {"user_id": "u", "content": "I live in Lisbon"}


def test_it_prints_where_things_are_and_a_key_that_works_once(
    start: Callable[..., Served], tmp_path: Path
) -> None:
    one = start()
    text = one.text
    assert str(tmp_path / "data") in text
    assert all(f":{one.port}{path}" in text for path in ("/v1", "/docs", "/mcp"))
    key = re.findall(r"rv_\S+", text)[0].rstrip("'")
    assert one.call("POST", "/v1/memories", LISBON)[0] == 401
    assert one.call("POST", "/v1/memories?wait=true", LISBON, **{"x-api-key": key})[0] == 201
    assert one.end()[0] == 0
    again = start()
    assert "rv_" not in again.text
    assert again.call("GET", "/v1/memories?user_id=u", authorization=f"Bearer {key}")[1]["items"]


def test_the_line_it_prints_to_try_it_does_what_it_says(shared: Served) -> None:
    line = next(line for line in shared.text.splitlines() if line.strip().startswith("curl"))
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, timeout=30, check=True)
    assert json.loads(done.stdout)["memory"]["content"] == "我对花生过敏"


def test_it_takes_mcp_from_its_first_request_on(shared: Served) -> None:
    asked = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    accept = "application/json, text/event-stream"
    status, answer = shared.call("POST", "/mcp", asked, accept=accept)
    assert (status, answer["result"]["serverInfo"]["name"]) == (200, "rearview")


@pytest.mark.parametrize(("sig", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_with_open_connections_within_two_seconds(
    start: Callable[..., Served], sig: int, code: int
) -> None:
    one = start("--no-auth")
    with closing(one.connect()) as idle, closing(one.connect()) as half:
        one.call("POST", "/v1/memories", LISBON, idle)
        half.putrequest("POST", "/v1/memories")
        half.putheader("content-length", "100")
        half.endheaders(b'{"user_id":')
        got, seconds = one.end(sig)
    assert got == code, one.text
    assert seconds < 2.0
    assert "Traceback" not in one.text


def test_the_end_in_the_middle_of_an_embedding_leaves_the_rest_pending(
    start: Callable[..., Served], until: Until
) -> None:
    one = start("--no-auth", "--slow-seconds", "5")
    tokens = [
        one.call("POST", "/v1/memories", {"user_id": f"u{number}", "content": f"Ticket {number} is open"})[1][
            "token"
        ]
        for number in range(5)
    ]
    waiting = one.connect()
    waiting.request(
        "POST", "/v1/memories?wait=true", json.dumps(LISBON).encode(), {"content-type": "application/json"}
    )
    until(lambda: len(one.call("GET", "/v1/memories?user_id=u")[1]["items"]) == 1)
    code, seconds = one.end()
    waiting.close()
    assert (code, seconds < 2.0) == (0, True), one.text
    again = start("--no-auth")
    until(lambda: all(again.call("GET", f"/v1/writes/{token}")[1]["state"] == "done" for token in tokens), 30)
    assert len(again.call("GET", "/v1/memories?user_id=u")[1]["items"]) == 1


def test_several_share_a_folder_and_see_each_others_writes_at_once(
    shared: Served, start: Callable[..., Served]
) -> None:
    two = start("--no-auth", data=shared.data)
    lisbon = {**LISBON, "user_id": "both"}
    written = shared.call("POST", "/v1/memories?wait=true", lisbon)[1]
    hits = two.call("POST", "/v1/recall", {"user_id": "both", "query": "Lisbon"})[1]["hits"]
    assert [hit["id"] for hit in hits] == [written["id"]]
    assert two.call("POST", "/v1/memories", lisbon)[1]["duplicate_of"] == written["id"]
    assert two.end()[0] == 0
    assert shared.call("POST", "/v1/memories", lisbon)[1]["duplicate_of"] == written["id"]


def test_a_key_revoked_next_door_is_refused_here_at_once(start: Callable[..., Served]) -> None:
    one = start()
    key = re.findall(r"rv_\S+", one.text)[0].rstrip("'")
    two = start()
    mine = {"x-api-key": key}
    bot = one.call("POST", "/v1/keys", {"name": "bot", "namespaces": ["default"]}, **mine)[1]
    assert two.call("GET", "/v1/memories?user_id=u", **{"x-api-key": bot["key"]})[0] == 200
    one.call("DELETE", f"/v1/keys/{bot['id']}", **mine)
    assert two.call("GET", "/v1/memories?user_id=u", **{"x-api-key": bot["key"]})[0] == 401


def test_a_port_in_use_is_told_and_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert serve(Settings(data=tmp_path / "data"), "127.0.0.1", port) == 1
    assert f"cannot listen on 127.0.0.1:{port}" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org"])
def test_no_auth_is_refused_where_others_can_reach_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], host: str
) -> None:
    assert serve(Settings(data=tmp_path / "data"), host, 0, auth=False) == 2
    assert "--no-auth" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_a_folder_that_cannot_be_used_is_told_and_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").write_text("a file")
    assert serve(Settings(data=tmp_path / "data"), "127.0.0.1", 0) == 1
    assert "data folder" in capsys.readouterr().err


def test_a_folder_of_another_embedder_is_told_and_keyword_search_goes_on(
    start: Callable[..., Served], tmp_path: Path
) -> None:
    from rearview.adapters.models.hashing import HashingEmbedder

    class Other(HashingEmbedder):
        fingerprint = "another/1"  # type: ignore[assignment]

    with house(tmp_path / "data", embedder=Other()) as other:
        other.write("I live in Lisbon")
    one = start("--no-auth")
    assert "rearview reindex" in one.text
    found = one.call("POST", "/v1/recall", {"user_id": "u", "query": "Lisbon"})[1]
    assert (len(found["hits"]), found["degraded"]) == (1, ["vector"])
    assert one.call("GET", "/ready")[1]["degraded"] == ["vector"]


def test_the_zone_of_the_machine_changes_no_time(shared: Served) -> None:
    body = {**LISBON, "user_id": "zone", "occurred_at": "2026-05-03T12:00:00", "ttl_seconds": 3600}
    memory = shared.call("POST", "/v1/memories?wait=true", body)[1]["memory"]
    assert memory["valid_from"] == "2026-05-03T12:00:00.000000Z"
    assert memory["created_at"].endswith("Z")
    until = "/v1/recall", {"user_id": "zone", "query": "Lisbon", "until": "2026-05-03"}
    assert len(shared.call("POST", *until)[1]["hits"]) == 1


def test_an_interrupted_start_leaves_no_trace_of_a_fault(start: Callable[..., Served], until: Until) -> None:
    one = start("--no-auth", wait=False)
    until(lambda: "http://" in one.text, 30)
    code, seconds = one.end()
    assert (code, seconds < 3.0) == (0, True), one.text


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("[::1]", True), ("LocalHost", True), ("0.0.0.0", False),
     ("::", False), ("10.0.0.1", False), ("localhost.evil.example", False), ("", False)],
)  # fmt: skip
def test_what_is_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
    assert not (is_any(host) and expected)


def test_a_listener_takes_connections_before_the_server_runs() -> None:
    with bind("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()) as client:
        assert client.getpeername() == listener.getsockname()
