"""Starting, finding again and stopping servers: exactly those that were started here, and nothing is left of them."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from infra.local.tools import ToolError

HOST: Final = "127.0.0.1"
_POLL_SECONDS: Final = 0.1
_PR_SET_PDEATHSIG: Final = 1
# Loopback needs no proxy, whatever the environment says.
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True)
class Server:
    """A server that was started: ``begun`` tells its process from a later one with the same number."""

    name: str
    pid: int
    begun: str
    url: str
    log: str

    def alive(self) -> bool:
        """Whether that very process runs."""
        if self.pid in _children and _children[self.pid].poll() is not None:
            # A child of ours that ended stays in the table of processes until somebody asks for it.
            return False
        return bool(self.begun) and began(self.pid) == self.begun

    def stop(self, seconds: float = 10.0) -> None:
        """SIGTERM, ``seconds`` to go in peace, then SIGKILL, for the process and what it started."""
        # A child of ours that ended by itself may have left children in its group, which nobody else can have taken.
        if self.alive() or self.pid in _children:
            self._signal(signal.SIGTERM)
            end = time.monotonic() + seconds
            while self.alive() and time.monotonic() < end:
                time.sleep(_POLL_SECONDS)
            # Its children share its group, which it alone leads: whoever is left has no business any more.
            self._signal(signal.SIGKILL)
            end = time.monotonic() + 5
            while self.alive() and time.monotonic() < end:
                time.sleep(_POLL_SECONDS)
        child = _children.pop(self.pid, None)
        if child is not None:
            child.wait(timeout=5)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def began(pid: int) -> str:
    """When a process began, in whatever unit the system counts; empty if there is none or it is a zombie."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]
    if Path("/proc/self/stat").exists():
        return ""
    answer = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return "" if answer.stdout.startswith("Z") else " ".join(answer.stdout.split()[1:])


def start(
    name: str,
    command: Sequence[str],
    *,
    url: str,
    log: Path,
    env: Mapping[str, str],
    ready: Callable[[str], bool],
    seconds: float,
    tied: bool = False,
) -> Server:
    """Starts a server and waits until it is ``ready``; ToolError with the end of its log if it is not in ``seconds``.

    It gets a session of its own, so that an interrupt at the terminal does not reach it. ``tied``: it ends with the
    thread that started it, even when that is killed (Linux).
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(env),
            cwd=log.parent,
            start_new_session=True,
            preexec_fn=_dies_with_parent() if tied else None,  # noqa: PLW1509 - one system call, nothing else
        )
    _children[process.pid] = process
    server = Server(name, process.pid, began(process.pid), url, str(log))
    try:
        end = time.monotonic() + seconds
        while not ready(url):
            if process.poll() is not None:
                raise ToolError(f"{name} ended with status {process.returncode}; its log ends:\n{_tail(log)}")
            if time.monotonic() > end:
                raise ToolError(f"{name} is not ready after {seconds:.0f} s; its log ends:\n{_tail(log)}")
            time.sleep(_POLL_SECONDS)
    except BaseException:
        server.stop()
        raise
    return server


def _dies_with_parent() -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    # Loaded here: between fork and exec as little as possible may happen. LocalStack may live on after SIGTERM.
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _tail(log: Path) -> str:
    return log.read_bytes()[-4000:].decode(errors="replace")


def answers(path: str, holds: Callable[[bytes], bool] = lambda _: True) -> Callable[[str], bool]:
    """A check that ``url + path`` answers 200 with a body that fits."""

    def check(url: str) -> bool:
        try:
            with _DIRECT.open(url + path, timeout=5) as answer:
                return bool(answer.status == 200 and holds(answer.read()))
        except (urllib.error.URLError, OSError):
            return False

    return check


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def taken(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((HOST, port)) == 0


def save(state: Path, servers: Sequence[Server]) -> None:
    """Writes down what runs, whole or not at all."""
    state.parent.mkdir(parents=True, exist_ok=True)
    partial = state.with_suffix(".partial")
    partial.write_text(json.dumps([asdict(server) for server in servers], indent=1))
    partial.replace(state)


def load(state: Path) -> list[Server]:
    """What was written down; an empty list if there is nothing."""
    with suppress(FileNotFoundError):
        return [Server(**entry) for entry in json.loads(state.read_text())]
    return []
