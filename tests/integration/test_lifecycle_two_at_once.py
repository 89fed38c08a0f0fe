"""Two processes look after the same user at once: whatever one does between two writes of the other, both come out well."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rearview.usecases.packs import items_of
from tests.house import FakeClock, House, house
from tests.integration import archive_kit
from tests.integration.cold_kit import EPISODES, SCOPE, told, upkeep

AT = SCOPE.partition
KETTLE, REWORDED = "Bought a new kettle for the office.", "Quite another thing was said that day."
#: Before which write of one the other comes by: in the quick suite some, else all that there are.
SOME, ALL = range(1, 24, 6), range(40)


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _file: None)


class Between:
    """Comes by once, before the write to store or archive that follows so many."""

    def __init__(self, home: House, survived: int, act: Callable[[], Any]) -> None:
        self.left, self.act = survived, act
        services = home.app.services
        for port, names in ((services.store, ["transact"]), (services.archive, ["put", "delete", "keys"])):
            for name in names:
                setattr(port, name, self.counted(getattr(port, name)))

    def counted(self, real: Any) -> Any:
        def call(*args: Any, **more: Any) -> Any:
            self.left -= 1
            if self.left == -1:
                self.act()
            return real(*args, **more)

        return call


def wakes(other: House, ids: list[str]) -> None:
    other.patch(ids[0], confirmed=True)
    other.patch(ids[1], content=REWORDED)
    other.drain()


def half_gone(one: House, ids: list[str]) -> None:
    """Cold memories, one of them to be purged, and one that is to go cold."""
    upkeep(one)
    one.delete(ids[0])
    one.drain()
    one.clock.advance(days=31)
    told(one, KETTLE)
    one.clock.advance(days=91)


def acted(one: House, other: House, ids: list[str], scene: str, survived: int) -> Between:
    """Acts a scene out; answers whether the other came by at all."""
    one.clock.advance(days=91)
    if scene == "both go cold":
        between = Between(one, survived, lambda: upkeep(other))
        upkeep(one)
    elif scene == "one purges":
        half_gone(one, ids)
        between = Between(one, survived, other.app.sweeper.sweep)
        upkeep(one)
    elif scene == "one goes cold while the other purges":
        half_gone(one, ids)
        between = Between(one, survived, lambda: upkeep(other))
        one.app.sweeper.sweep()
    else:
        half_gone(one, [told(one, "A memory that is deleted.")])
        between = Between(one, survived, lambda: wakes(other, ids))
        upkeep(one)
    return between


def told_well(home: House, texts: dict[str, str]) -> None:
    """After upkeep: one place for each memory, and each is found there."""
    for _ in range(2):
        home.app.sweeper.sweep()
        upkeep(home)
        home.drain()
    items = items_of(home.app.services.store, AT)
    assert {item.state for item in items} <= {"done"}
    objects = {key for key in archive_kit.objects(home) if "/cold/" in key}
    assert objects == {f"{AT}/cold/{item.id}" for item in items}
    packed = [one for item in items for one in item.ids]
    assert len(packed) == len(set(packed))
    assert home.audit()["ok"]
    for item in home.memories(status=["active", "archived"]):
        assert item["content"] in (texts.get(item["id"], item["content"]), REWORDED)
        found = home.recall(item["content"], include_archived=True, explain=True, top_k=20)
        assert item["id"] in {hit.id for hit in found.hits}


SCENES = ["both go cold", "one purges", "one goes cold while the other purges", "one wakes"]


def play(folder: Path, scene: str, places: range) -> None:
    for survived in places:
        clock, at = FakeClock(), folder / str(survived)
        with house(at, clock=clock) as one, house(at, clock=clock) as other:
            texts = {told(one, text): text for text in EPISODES}
            between = acted(one, other, list(texts), scene, survived)
            for home in (one, other):
                home.app.services.packs.clear()
            told_well(other, texts)
            if between.left >= 0:
                return


@pytest.mark.parametrize("scene", SCENES)
def test_two_at_once_come_out_well(tmp_path: Path, scene: str) -> None:
    play(tmp_path, scene, SOME)


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES)
def test_two_at_once_come_out_well_wherever_they_meet(tmp_path: Path, scene: str) -> None:
    play(tmp_path, scene, ALL)
