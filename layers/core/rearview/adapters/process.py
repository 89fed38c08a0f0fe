"""Who holds a lease: this process, and whether another one still runs on this machine."""

from __future__ import annotations

import os
import socket
import uuid
from pathlib import Path


def _started(pid: int) -> str | None:
    """The kernel's start time of a process, which tells it from a later one with the same number."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except (OSError, IndexError):
        return None


def owner() -> str:
    """A name for this process: host, pid, start time and a random part."""
    pid = os.getpid()
    return f"{socket.gethostname()}/{pid}/{_started(pid) or '-'}/{uuid.uuid4().hex[:8]}"


def alive(name: str) -> bool:
    """Whether the process of that name may still run. True when that cannot be known."""
    parts = name.split("/")
    if len(parts) != 4 or parts[0] != socket.gethostname() or not Path("/proc/self/stat").exists():
        return True
    started = _started(int(parts[1]))
    return started is not None and started == parts[2]
