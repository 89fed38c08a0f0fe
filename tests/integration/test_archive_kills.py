"""Killed at any call of the store or the archive, upkeep ends where an undisturbed one ends."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from rearview.usecases.maintenance import archive
from tests.house import FakeClock, House, house
from tests.integration.archive_kit import EN, SCOPE, ZH, Killed, month_later, objects, short, upkeep

OTHER = "今天彩排了第二乐章，中提琴在第四十小节总是进早，指挥让我们把那一段慢速过了五遍，周末再合一次，地点改到河边的小礼堂。"


class Counted:
    """A port that ends the process at call number ``last`` of those that it shares the count with."""

    def __init__(self, real: Any, count: list[int], last: int) -> None:
        self._real, self._count, self._last = real, count, last

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._real, name)

        def counted(*args: Any, **more: Any) -> Any:
            if self._count[0] >= self._last:
                raise Killed
            self._count[0] += 1
            return real(*args, **more)

        return counted


def live(folder: Path) -> None:
    """Memories with histories, and a session of which some turns lie in the archive already."""
    with house(folder) as h:
        h.turns([{"turn_id": "a", "role": "user", "content": "Call me about the damp wall."}], session_id="s")
        month_later(h)
        edited = short(h, ZH)
        h.patch(edited, content=EN)
        h.patch(edited, tags=["cottage"])
        short(h, OTHER)
        h.turns(
            [{"turn_id": f"t{n}", "role": "user", "content": f"第{n}步 step {n}"} for n in range(8)],
            session_id="s",
        )
        h.drain()


def state(h: House) -> tuple[Any, dict[str, bytes]]:
    """Everything that the store and the archive hold of the user."""
    return h.app.services.store.query(SCOPE.partition, "", limit=10_000).items, objects(h)


def later(folder: Path) -> FakeClock:
    clock = FakeClock()
    clock.advance(days=70)
    return clock


def test_the_end_is_the_same_wherever_it_was_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "CHUNK", 3)
    monkeypatch.setattr(archive, "PORTION", 1)
    live(tmp_path / "lived")
    shutil.copytree(tmp_path / "lived", tmp_path / "calm")
    with house(tmp_path / "calm", clock=later(tmp_path)) as h:
        counts = upkeep(h).counts
        assert counts == {"summary_only": 2, "turns_archived": 1}
        wanted = state(h)
    kills = 0
    for last in range(200):
        folder = tmp_path / str(last)
        shutil.copytree(tmp_path / "lived", folder)
        with house(folder, clock=later(tmp_path)) as h:
            services = h.app.services
            real, count = (services.store, services.archive), [0]
            services.store, services.archive = (Counted(port, count, last) for port in real)
            try:
                upkeep(h)
                break
            except Killed:
                kills += 1
            finally:
                services.store, services.archive = real
            upkeep(h)
            assert state(h) == wanted, last
            assert upkeep(h).counts == {}
        shutil.rmtree(folder)
    assert kills > 10
