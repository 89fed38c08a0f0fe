"""What all tests share: settings that come from the test alone, no way out of this machine, waiting without sleeping."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import Any

import pytest
from hypothesis import settings

# A deadline per example measures the neighbours of a busy machine, not the code.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

_connect = socket.socket.connect


def _is_here(address: Any) -> bool:
    if not isinstance(address, tuple):
        return True  # a Unix socket
    host = str(address[0])
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host in ("localhost", "")


def _connect_here(self: socket.socket, address: Any) -> None:
    if not _is_here(address):
        raise PermissionError(f"a test tried to reach {address!r}; tests stay on this machine")
    _connect(self, address)


@pytest.fixture(autouse=True, scope="session")
def _stay_on_this_machine() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", _connect_here)
        yield


@pytest.fixture(autouse=True)
def _settings_of_the_test_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("REARVIEW_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def until() -> Callable[..., None]:
    """`until(condition, seconds=10)` returns as soon as the condition holds and fails the test if it never does."""

    def wait(condition: Callable[[], object], seconds: float = 10.0) -> None:
        end, pause = time.monotonic() + seconds, threading.Event()
        while not condition():
            if time.monotonic() > end:
                pytest.fail(f"still waiting after {seconds} s")
            pause.wait(0.02)

    return wait
