"""What the scenario runs against: ``rearview serve`` on a folder, and the stack as deployed on the stand-ins."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import httpx
import pytest
from infra.local import tools
from infra.local.stack import Stack, started

from infra import deploy

T = TypeVar("T")

#: Texts that hold it cannot be embedded while the fault is in.
MARK = "⚡drill⚡"
#: Seconds until what happens in the background has to be there.
PATIENCE = 60.0
OPENSEARCH = "3.6.0"
#: As it was when the tests were collected.
TOOLS = os.environ.get("REARVIEW_TOOLS")
#: Connections of all clients; closed at the end of the session.
OPEN: list[httpx.Client] = []


class Target(Protocol):
    """One running Rearview."""

    name: str
    url: str
    key: str

    def sweep(self) -> None:
        """What a schedule would do now."""
        ...

    def upkeep(self) -> None:
        """What the schedule of maintenance would do now."""
        ...

    def set_fault(self, mark: str) -> None:
        """Embedding fails on texts with that mark from now on; empty: on none."""
        ...


def eventually(ask: Callable[[], T | None], seconds: float = PATIENCE) -> T:
    """What ``ask`` answers, once it is true; the last answer in the failure otherwise."""
    deadline, pause = time.monotonic() + seconds, threading.Event()
    while True:
        found = ask()
        if found:
            return found
        assert time.monotonic() < deadline, f"after {seconds} s still {found!r}"
        pause.wait(0.1)


class Client:
    """A caller over HTTP. Remembers which routes it took."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.http = httpx.Client(base_url=target.url, headers={"x-api-key": target.key}, timeout=60)
        self.taken: list[tuple[str, str]] = []
        OPEN.append(self.http)

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """Any answer."""
        self.taken.append((method, path.split("?")[0]))
        if body is not None:
            more["json"] = body
        return self.http.request(method, path, **more)

    def ok(self, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        """A good answer's body."""
        answer = self.call(method, path, body, **more)
        assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.text}"
        found: dict[str, Any] = answer.json()
        return found

    def post(self, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        return self.ok("POST", path, body, **more)

    def get(self, path: str, **more: Any) -> dict[str, Any]:
        return self.ok("GET", path, **more)

    def write(self, user: str, content: str, *, wait: bool = True, **more: Any) -> dict[str, Any]:
        suffix = "?wait=true" if wait else ""
        return self.post(f"/v1/memories{suffix}", {"user_id": user, "content": content, **more})

    def memory(self, memory_id: str) -> dict[str, Any]:
        return self.get(f"/v1/memories/{memory_id}")

    def enriched(self, memory_id: str) -> dict[str, Any]:
        """The memory, once enrichment is through with it."""
        return eventually(lambda: found if not (found := self.memory(memory_id))["pending"] else None)


class Served:
    """``rearview serve`` in a process of its own."""

    name = "serve"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = ""
        self.url = ""
        self._process: subprocess.Popen[str] | None = None
        self.set_fault("")

    def sweep(self) -> None:
        """It sweeps by itself, every second here."""

    def upkeep(self) -> None:
        """It looks by itself whether upkeep is due, every second here."""

    def set_fault(self, mark: str) -> None:
        self.stop()
        environment = {
            **os.environ,
            "REARVIEW_EMBEDDER": "hashing",
            "REARVIEW_SWEEP_SECONDS": "1",
            "REARVIEW_MAINTAIN_SECONDS": "1",
            "REARVIEW_FAULT_MARK": mark,
            "PYTHONUNBUFFERED": "1",
        }
        command = [sys.executable, "-m", "rearview.entrypoints.cli.main", "serve", "--port", "0"]
        command += ["--data", str(self.folder)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if found := re.search(r"REST\s+(http://\S+)/v1", line):
                self.url = found[1]
            if found := re.search(r"(rv_\S+)", line):
                self.key = found[1]
            if "Try it" in line:
                break

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None


class OnAws:
    """The stack on ministack and a real OpenSearch node."""

    name = "deployed"

    def __init__(self, stack_name: str, opensearch_url: str, env: dict[str, str]) -> None:
        self.stack_name, self.opensearch_url = stack_name, opensearch_url
        with _tools():
            self.env = {**env, "REARVIEW_SAM": str(tools.program("sam", "sam"))}
        env = self.env
        self.built = deploy.build(Path(env["RV_E2E_BUILD"]), layers=f"core-{deploy.machine()}", env=env)
        self.deployed = self._deploy("")
        self.key = self.deployed.first_key() or self._further_key()
        self.url = self.deployed.url

    def _further_key(self) -> str:
        event = {"action": "create_key", "name": "e2e", "namespaces": ["default"]}
        permissions = ["write", "read", "trace", "audit", "admin"]
        return str(self.deployed.invoke("maintain", {**event, "permissions": permissions})["key"])

    def _deploy(self, mark: str) -> deploy.Deployed:
        overrides = {
            "Architecture": deploy.machine(),
            "OpenSearchUrl": self.opensearch_url,
            "FaultMark": mark,
            # The tests call it themselves; a schedule of its own would make them depend on the minute.
            "SweepEvery": "rate(1 hour)",
            "MaintainEvery": "rate(1 day)",
        }
        return deploy.deploy(
            self.built, config_env="ministack", stack_name=self.stack_name, overrides=overrides, env=self.env
        )

    def sweep(self) -> None:
        self.deployed.invoke("maintain", {"action": "sweep"})

    def upkeep(self) -> None:
        self.deployed.invoke("maintain", {"action": "maintain"})

    def set_fault(self, mark: str) -> None:
        self._deploy(mark)


@contextmanager
def _tools() -> Iterator[None]:
    """The house's tests take all REARVIEW_ variables out of the environment; where the tools are must be known here."""
    with pytest.MonkeyPatch.context() as patch:
        if TOOLS is not None:
            patch.setenv("REARVIEW_TOOLS", TOOLS)
        yield


@contextmanager
def on_aws(folder: Path) -> Iterator[OnAws]:
    """Starts the stand-ins and deploys, or uses those that RV_E2E_ENDPOINT and RV_E2E_OPENSEARCH name."""
    folder.mkdir(parents=True, exist_ok=True)
    endpoint = os.environ.get("RV_E2E_ENDPOINT")
    name = os.environ.get("RV_E2E_STACK") or f"rv-e2e-{os.getpid()}"
    if endpoint is not None:
        stack = Stack(folder)
        env = {
            **os.environ,
            **stack.env,
            "AWS_ENDPOINT_URL": endpoint,
            "RV_E2E_BUILD": str(folder / "build"),
        }
        yield OnAws(name, os.environ["RV_E2E_OPENSEARCH"], env)
        return
    with _tools(), started(folder, opensearch=[OPENSEARCH]) as stack:
        env = {**os.environ, **stack.env, "RV_E2E_BUILD": str(folder / "build")}
        assert stack.opensearch_url is not None
        yield OnAws(name, stack.opensearch_url, env)
