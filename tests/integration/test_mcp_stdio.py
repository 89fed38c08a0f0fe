"""MCP over stdin and stdout: a real process, spoken to by the real client and by hand."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from rearview.entrypoints.mcp.front import MAX_BODY

ROOT = Path(__file__).resolve().parents[2]

#: What `rearview mcp` does, with an embedder that needs no model.
PROGRAM = textwrap.dedent("""
    import sys
    from pathlib import Path
    print("a stray line before serving", file=sys.stderr)
    from rearview.bootstrap import opened
    from rearview.domain.principal import LOCAL
    from rearview.entrypoints.mcp.stdio import run_stdio
    from rearview.settings import Settings
    with opened(Settings(data=Path(sys.argv[1]), embedder="hashing")) as runtime:
        run_stdio(runtime.app, LOCAL)
""")

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


# On Python 3.11 the SDK's client leaves an end of its child's standard input to the garbage collector, whose warning
# would fall on whatever test comes next.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    yield
    gc.collect()


def command(folder: Path) -> list[str]:
    return [sys.executable, "-W", "error", "-c", PROGRAM, str(folder)]


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_the_real_client_writes_and_recalls_over_a_pipe(tmp_path: Path, era: str) -> None:
    async def run() -> tuple[list[str], Any, Any]:
        program, *arguments = command(tmp_path)
        server = StdioServerParameters(command=program, args=arguments, cwd=ROOT)
        async with Client(server, mode=era) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            await client.call_tool("write_memory", {"user_id": "u", "content": "我对花生过敏"})
            hits = await client.call_tool("read_memory", {"user_id": "u", "query": "花生"})
            refusal = await client.call_tool("write_memory", {"user_id": "u", "content": "", "foo": 1})
            return names, hits, refusal

    names, hits, refusal = anyio.run(run)
    assert len(names) == 9
    assert hits.structured_content["hits"][0]["content"] == "我对花生过敏"
    assert refusal.is_error
    assert {item["field"] for item in refusal.meta["rearview/problem"]["errors"]} == {"content", "foo"}


def speak(folder: Path, *lines: bytes) -> list[dict[str, Any]]:
    """Sends lines to a fresh process and gives back every line of its stdout."""
    greeting = [json.dumps(HELLO).encode(), json.dumps(READY).encode()]
    # The last answer tells that all before it are there: stdin ends only then.
    last = json.dumps({"jsonrpc": "2.0", "id": "last", "method": "ping"}).encode()
    with subprocess.Popen(
        command(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers: list[dict[str, Any]] = []

        def until(request_id: str | int) -> None:
            while not answers or answers[-1].get("id") != request_id:
                line = process.stdout.readline()  # type: ignore[union-attr]
                assert line, "the server ended"
                answers.append(json.loads(line))

        process.stdin.write(b"\n".join(greeting) + b"\n")
        process.stdin.flush()
        until(1)
        for number, line in enumerate(lines):
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            if f'"id": "{number}"'.encode() in line:
                until(str(number))
        process.stdin.write(last + b"\n")
        process.stdin.flush()
        until("last")
        process.stdin.close()
        rest = process.stdout.read()
        assert process.wait(20) == 0
    assert rest == b""
    return answers[1:-1]


def call(number: int, arguments: bytes) -> bytes:
    head = f'{{"jsonrpc": "2.0", "id": "{number}", "method": "tools/call", "params": {{"name": "write_memory", "arguments": '
    return head.encode() + arguments + b"}}"


def test_broken_lines_are_answered_and_the_server_goes_on(tmp_path: Path) -> None:
    answers = speak(
        tmp_path,
        call(0, b'{"user_id": "u", "content": "\\ud800"}'),
        call(1, b'{"user_id": "u", "content": "x is y", "content": "x is z"}'),
        call(2, b'{"user_id": "u", "metadata": ' + b"[" * 5000 + b"]" * 5000 + b"}"),
        call(3, b'{"user_id": "u", "content": "' + b"a" * (MAX_BODY + 1) + b'"}'),
        b"{no json",
        b"",
        b"\xff\xfe",
        b'[{"jsonrpc": "2.0", "id": 5, "method": "ping"}]',
        call(8, b'{"user_id": "u", "content": "My locker number is 4711"}'),
    )
    tools = [answer["result"] for answer in answers if "result" in answer]
    found = [result["_meta"]["rearview/problem"]["errors"][0]["rule"] for result in tools[:4]]
    assert found == ["no_lone_surrogate", "duplicate_key", "max_depth", "max_bytes"]
    assert tools[4]["structuredContent"]["verdict"] == "admit"
    errors = [answer["error"]["code"] for answer in answers if "error" in answer]
    assert errors == [-32700, -32700, -32600]
