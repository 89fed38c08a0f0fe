"""The local AWS: servers are started, watched and stopped; nobody else's process is touched, nothing is left."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from infra.local import command, processes, tools
from infra.local.processes import Server
from infra.local.stack import Stack, environment

WEB = "import http.server, sys; http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + WEB
PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[2], sys.argv[1]])"


def start(
    folder: Path, code: str, *more: str, name: str = "web", seconds: float = 20, tied: bool = False
) -> Server:
    port = processes.free_port()
    return processes.start(
        name,
        [sys.executable, "-c", code, str(port), *more],
        url=f"http://127.0.0.1:{port}",
        log=folder / f"{name}.log",
        env=os.environ,
        ready=processes.answers("/"),
        seconds=seconds,
        tied=tied,
    )


def listens(server: Server) -> bool:
    return processes.taken(int(server.url.rpartition(":")[2]))


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    started: list[Server] = []
    yield started
    for server in started:
        server.stop(0)


def test_a_server_answers_when_start_returns_and_is_gone_when_stop_does(
    tmp_path: Path, servers: list[Server]
) -> None:
    server = start(tmp_path, WEB)
    servers.append(server)
    assert server.alive()
    assert listens(server)
    server.stop()
    assert not server.alive()
    assert not listens(server)
    server.stop()


def test_a_server_deaf_to_sigterm_is_killed(tmp_path: Path, servers: list[Server]) -> None:
    server = start(tmp_path, DEAF, tied=True)
    servers.append(server)
    server.stop(0.2)
    assert not server.alive()
    assert not listens(server)


def test_what_a_server_started_ends_with_it(
    tmp_path: Path, servers: list[Server], until: Callable[..., None]
) -> None:
    server = start(tmp_path, PARENT, WEB)
    servers.append(server)
    server.stop()
    # Nobody here is its parent: when the system has taken its socket away is seen, not told.
    until(lambda: not listens(server))


def test_a_server_that_ends_at_once_tells_the_end_of_its_log(tmp_path: Path) -> None:
    with pytest.raises(tools.ToolError, match=r"status 3.*\n.*no such thing"):
        start(tmp_path, "print('no such thing', flush=True); raise SystemExit(3)")


def test_a_server_that_never_gets_ready_is_stopped(tmp_path: Path) -> None:
    code = "import os, time; print('pid', os.getpid(), flush=True); time.sleep(60)"
    with pytest.raises(tools.ToolError, match="not ready after"):
        start(tmp_path, code, seconds=0.5)
    pid = int((tmp_path / "web.log").read_text().split()[1])
    assert processes.began(pid) == ""


def test_another_process_under_the_same_number_is_left_alone() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        stranger = Server("ministack", other.pid, "an earlier time", "http://127.0.0.1:1", "")
        assert not stranger.alive()
        stranger.stop(0)
        assert other.poll() is None
        other.communicate(b"\n")


def test_a_later_command_finds_what_runs_and_stops_exactly_that(
    tmp_path: Path, servers: list[Server]
) -> None:
    first, second = start(tmp_path, WEB, name="one"), start(tmp_path, WEB, name="two")
    servers += [first, second]
    gone = replace(first, name="gone", begun="an earlier time")
    processes.save(tmp_path / "state.json", [first, gone])

    stack = Stack.running(tmp_path)
    assert [server.name for server in stack.servers] == ["one"]
    assert stack.url("one") == first.url
    stack.stop()
    assert not first.alive()
    assert second.alive()
    assert Stack.running(tmp_path).servers == []


def test_a_port_in_use_is_named_instead_of_taken_for_ours(
    tmp_path: Path, servers: list[Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = start(tmp_path, WEB)
    servers.append(other)
    monkeypatch.setattr(tools, "environment", lambda tool: tmp_path)
    port = int(other.url.rpartition(":")[2])
    with pytest.raises(tools.ToolError, match=f"port {port} already"):
        Stack(tmp_path).start_ministack(port)


def test_nothing_running_is_said_and_shows_in_the_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REARVIEW_LOCAL_AWS", str(tmp_path))
    assert command.main(["status"]) == 3
    assert command.main(["env"]) == 3
    assert command.main(["down"]) == 0
    assert "nothing is running" in capsys.readouterr().out


def test_trouble_with_a_tool_is_a_message_and_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(tool: str) -> Path:
        raise tools.ToolError(f"no {tool} to be had")

    monkeypatch.setenv("REARVIEW_LOCAL_AWS", str(tmp_path))
    monkeypatch.setattr(tools, "environment", missing)
    assert command.main(["up", "--no-opensearch"]) == 1
    assert capsys.readouterr().err == "no ministack to be had\n"


def test_programs_are_pointed_at_the_stand_ins_and_never_at_a_real_account() -> None:
    env = environment("http://127.0.0.1:4566", "http://127.0.0.1:9200")
    assert env["AWS_ENDPOINT_URL"] == "http://127.0.0.1:4566"
    assert env["AWS_ACCESS_KEY_ID"] == env["AWS_SECRET_ACCESS_KEY"] == "test"
    assert env["AWS_DEFAULT_REGION"] == env["AWS_REGION"]
    assert "127.0.0.1" in env["NO_PROXY"]


def test_tools_lie_where_the_variable_says_else_in_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tools.folder() == tools.ROOT / "build" / "tools"
    monkeypatch.setenv("REARVIEW_TOOLS", str(tmp_path))
    assert tools.folder() == tmp_path


def test_a_tool_is_made_once_and_again_when_its_requirements_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = _made_up(tmp_path, monkeypatch)
    assert tools.environment("checkov") == tmp_path / "checkov"
    tools.environment("checkov")
    assert len(ran) == 2
    monkeypatch.setitem(tools.REQUIREMENTS, "checkov", ("checkov==5",))
    tools.environment("checkov")
    assert ran[2][-1] == "checkov==5"


def test_localstack_is_installed_as_locked_into_an_environment_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = _made_up(tmp_path, monkeypatch)
    lock = tmp_path / "uv.lock"
    monkeypatch.setattr(tools, "LOCK", lock)
    lock.write_text("one")
    assert tools.environment("localstack") == tmp_path / "localstack"
    assert {"sync", "--frozen", "--only-group", "localstack"} <= set(ran[1])
    assert ran[1][-1] == f"UV_PROJECT_ENVIRONMENT={tmp_path / 'localstack'}"
    tools.environment("localstack")
    assert len(ran) == 2
    lock.write_text("two")
    tools.environment("localstack")
    assert len(ran) == 3


def _made_up(tools_folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is run instead of uv: its words, and what was added to its environment."""
    ran: list[list[str]] = []

    def run(words: list[str], **env: str) -> None:
        ran.append([*words, *(f"{name}={value}" for name, value in env.items())])
        if "venv" in words:
            (Path(words[-1]) / "bin").mkdir(parents=True)
            (Path(words[-1]) / "bin" / "python").touch()

    monkeypatch.setenv("REARVIEW_TOOLS", str(tools_folder))
    monkeypatch.setattr(tools, "_run", run)
    monkeypatch.setattr(tools, "uv", lambda: ["uv"])
    monkeypatch.setattr(tools, "python", lambda: "3.13")
    return ran
