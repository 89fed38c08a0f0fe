"""200 kills at random moments: nothing acknowledged is lost, nothing doubled, order per user kept, all found."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rearview.domain.scope import Scope
from rearview.usecases.fields import read
from rearview.usecases.questions import ListMemories
from tests.house import FakeClock, House, house

KILLS = 200
CHILD = Path(__file__).with_name("kill_child.py")


def _run_and_kill(folder: Path, start: int, seconds: float) -> list[str]:
    """Starts the child, lets it write for so long, kills it, and answers the lines it got out."""
    child = subprocess.Popen(
        [sys.executable, str(CHILD), str(folder), str(start)], stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    timer = threading.Timer(seconds, child.kill)
    timer.start()
    lines = [line for line in child.stdout if line.endswith("\n")]
    child.wait()
    child.stdout.close()
    timer.join()
    return lines


@pytest.mark.slow
def test_two_hundred_kills_lose_double_and_disorder_nothing(tmp_path: Path) -> None:
    chance = random.Random(7)
    acknowledged: dict[str, list[tuple[int, str]]] = defaultdict(list)
    tried: set[int] = set()
    for _ in range(KILLS):
        for line in _run_and_kill(tmp_path, max(tried, default=0) + 100, chance.uniform(0.01, 0.25)):
            verb, user, number, *rest = line.split()
            tried.add(int(number))
            if verb == "ack":
                acknowledged[user].append((int(number), rest[0]))
    total = sum(map(len, acknowledged.values()))
    assert total > KILLS
    with house(tmp_path, clock=FakeClock(_later())) as h:
        for user, acks in sorted(acknowledged.items()):
            _check(h, user, acks, tried)


def _later() -> datetime:
    # The leases of the killed have run out by then.
    return datetime.now(UTC) + timedelta(minutes=5)


def _check(h: House, user: str, acks: list[tuple[int, str]], tried: set[int]) -> None:
    while h.drain(user):
        pass
    held: list[dict[str, Any]] = []
    cursor = None
    while True:
        asked = read(ListMemories, {"user_id": user, "limit": 200, "cursor": cursor})
        page = h.app.reader.memories(h.principal, asked)
        held += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    refs = [item["metadata"]["ref"] for item in held]
    by_id = {item["id"]: item for item in held}
    assert len(refs) == len(set(refs)), "a write was applied twice"
    assert set(refs) <= tried
    assert all(by_id[one]["metadata"]["ref"] == ref for ref, one in acks), "an acknowledged write was lost"
    assert all(item["enrichment"] == "done" for item in held)
    place = {one["id"]: at for at, one in enumerate(held)}
    order = [place[one] for _, one in acks]
    assert order == sorted(order), "the order of acknowledgement was not kept"
    report = h.audit(user)
    assert report["ok"], report["findings"]
    assert h.app.services.index.versions(Scope("default", user).partition).keys() == by_id.keys()
    for ref, one in acks[:: max(1, len(acks) // 50)]:
        assert one in [hit.id for hit in h.recall(f"Ticket {ref:06d}", user=user).hits]
