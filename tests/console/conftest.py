"""The console in a real browser: one store, two servers (with and without keys), one run of all scenarios asked for."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.console.store_kit import build

ROOT = Path(__file__).resolve().parents[2]
#: Where `npm ci` was run: the folder itself, or a copy of it that CI made.
CONSOLE = Path(os.environ.get("REARVIEW_CONSOLE", ROOT / "console"))
CHROMIUM = os.environ.get("REARVIEW_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
#: Where pictures for the README go; none are made without it.
PICTURES = os.environ.get("REARVIEW_PICTURES")
PATIENCE = 900


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test a scenario. Who does not run them need not wait for their list, or have node."""
    if "name" in metafunc.fixturenames:
        away = (
            "not console" in metafunc.config.getoption("markexpr") or not (CONSOLE / "node_modules").is_dir()
        )
        metafunc.parametrize("name", [] if away else named())


def named() -> list[str]:
    """The names of all scenarios, in their order, as `run.mjs` puts them together."""
    command = ["node", "tests/run.mjs", "--list"]
    listed = subprocess.run(command, cwd=CONSOLE, capture_output=True, text=True, check=True, timeout=60)
    return [line for line in listed.stdout.splitlines() if line]


@dataclass
class Results:
    """What each scenario came to, by its name."""

    wanted: list[str]
    folder: Path
    told: dict[str, dict[str, Any]] = field(default_factory=dict)
    trouble: str = ""

    def run(self) -> None:
        made = build(self.folder / "data")
        with _served(self.folder / "data", "--no-auth") as free, _served(self.folder / "data") as locked:
            config = {
                **asdict(made),
                "open": free,
                "locked": locked,
                "chromium": CHROMIUM,
                "scenarios": self.wanted,
                "pictures": PICTURES,
            }
            at = self.folder / "config.json"
            at.write_text(json.dumps(config), "utf-8")
            done = subprocess.run(
                ["node", "tests/run.mjs", str(at)],
                cwd=CONSOLE,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
        self.trouble = done.stderr[-4000:]
        for line in done.stdout.splitlines():
            told = json.loads(line)
            self.told[told["name"]] = told


@contextlib.contextmanager
def _served(data: Path, *flags: str) -> Iterator[str]:
    """`rearview serve` on a free port, its upkeep switched off: nothing changes that nobody asked for."""
    port = _free_port()
    log = data.parent / f"serve-{port}.log"
    code = "import sys; from rearview.entrypoints.cli.main import run; sys.exit(run())"
    command = [sys.executable, "-c", code, "serve", "--port", str(port), "--data", str(data), *flags]
    environment = {**os.environ, "REARVIEW_EMBEDDER": "hashing", "REARVIEW_MAINTAIN_SECONDS": "1000000"}
    environment["PYTHONPATH"] = str(ROOT / "layers" / "core")
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=environment, cwd=data.parent)
    base = f"http://127.0.0.1:{port}"
    try:
        _wait(base, process, log)
        yield base
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(base: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until, pause = time.monotonic() + 60, threading.Event()
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{base}/ready", timeout=5) as answer:
            if answer.status == 200:
                return
        pause.wait(0.1)
    pytest.fail(f"the server did not start:\n{log.read_text('utf-8', 'replace')[-3000:]}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="session")
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Runs the scenarios that this session selected, all in one browser."""
    for tool, there in (("node", shutil.which("node")), ("chromium", Path(CHROMIUM).exists())):
        if not there:
            pytest.fail(f"{tool} is not here; docs/console.md tells what the tests need")
    wanted = [
        item.callspec.params["name"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.module.__name__.startswith("tests.console")
        if hasattr(item, "callspec") and "name" in item.callspec.params
    ]
    made = Results(wanted, tmp_path_factory.mktemp("console"))
    made.run()
    return made
