"""The command line as its users start it: a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.house import house

HEAVY = ("numpy", "pydantic", "fastapi", "mcp", "rearview.usecases", "rearview.bootstrap")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REARVIEW_")}
    return {**kept, "REARVIEW_EMBEDDER": "hashing", "REARVIEW_DATA": str(tmp_path / "store")}


def start(environment: dict[str, str], *arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rearview.entrypoints.cli.main", *arguments]
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        command,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        **more,
    )


def test_help_loads_nothing_heavy(environment: dict[str, str]) -> None:
    code = (
        "import sys; sys.argv = ['rearview', '--help']\n"
        "from rearview.entrypoints.cli.main import run\n"
        "try: run()\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.rstrip().endswith("[]")


def test_two_processes_share_a_folder(environment: dict[str, str]) -> None:
    assert start(environment, "write", "我对花生过敏。").returncode == 0
    found = start(environment, "recall", "花生过敏", "--json")
    assert found.returncode == 0
    assert json.loads(found.stdout)["hits"][0]["content"] == "我对花生过敏。"


def test_a_usage_error_is_json_when_json_was_asked_for(environment: dict[str, str]) -> None:
    told = start(environment, "write", "--json", "x", "--importance", "much")
    assert (told.returncode, told.stdout) == (2, "")
    assert json.loads(told.stderr)["errors"][0] | {"message": ""} == {
        "field": "importance", "rule": "usage", "message": "",
    }  # fmt: skip
    plain = start(environment, "write")
    assert plain.returncode == 2
    assert "Usage" in plain.stderr


def test_an_argument_that_is_no_unicode_is_refused_by_name(environment: dict[str, str]) -> None:
    told = start(environment, "write", "caf\udce9", "--json")
    assert told.returncode == 2
    assert json.loads(told.stderr)["errors"][0]["rule"] == "no_lone_surrogate"


def test_a_file_that_is_no_database_is_told_without_a_traceback(environment: dict[str, str]) -> None:
    folder = Path(environment["REARVIEW_DATA"])
    folder.mkdir()
    (folder / "rearview.db").write_bytes(b"not a database, but long enough to be looked at" * 100)
    told = start(environment, "recall", "x")
    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    assert "not a database" in told.stderr


def test_output_under_an_ascii_locale_is_still_the_text(environment: dict[str, str]) -> None:
    ascii_only = environment | {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    with house(Path(environment["REARVIEW_DATA"])) as h:
        h.write("我对花生过敏。")
    found = start(ascii_only, "export")
    assert found.returncode == 0
    assert "我对花生过敏。" in found.stdout


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_a_reader_that_has_enough_is_no_error_on_screen(environment: dict[str, str]) -> None:
    # Far more than a pipe holds (64 KB): the writer is still at it when its reader has gone.
    items = [
        {"user_id": "u", "content": f"Shelf {n}. " + "x" * 4000, "admission": "verbatim"} for n in range(100)
    ]
    with house(Path(environment["REARVIEW_DATA"])) as h:
        h.batch(items, wait=False)
    command = f"{sys.executable} -m rearview.entrypoints.cli.main export | head -n 1"
    done = subprocess.run(
        ["/bin/sh", "-c", command], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr == ""
    assert "rearview_export" in done.stdout


def test_the_demo_ends_well_and_in_time(environment: dict[str, str]) -> None:
    real = {name: value for name, value in environment.items() if name != "REARVIEW_EMBEDDER"}
    started = time.monotonic()
    done = start(real, "demo", "--json")
    assert done.returncode == 0, done.stdout
    told = json.loads(done.stdout)
    assert (told["ok"], told["failed"]) == (True, [])
    assert time.monotonic() - started < 20
    assert done.stderr == ""


def test_the_demo_fails_when_what_it_shows_is_not_so(environment: dict[str, str]) -> None:
    # A hashing embedder knows no meaning: no Chinese question finds an English memory.
    done = start(environment, "demo")
    assert done.returncode == 1
    assert "NOT SO" in done.stdout


def test_mcp_speaks_the_protocol_and_nothing_else_on_stdout(environment: dict[str, str]) -> None:
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }  # fmt: skip
    done = start(environment, "mcp", input=json.dumps(hello) + "\n")
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1]
    assert "serverInfo" in answers[0]["result"]
