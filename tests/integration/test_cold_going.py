"""Who goes cold and when, and that being asked twice, or to stop, changes nothing of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from rearview.domain.policy import Policy
from rearview.usecases import cold
from rearview.usecases.maintenance.cold import ColdTask
from rearview.usecases.maintenance.task import Job
from rearview.usecases.packs import items_of
from tests.house import FakeClock, House, house
from tests.integration.cold_kit import EPISODES, SCOPE, held, in_index, statuses, told, upkeep, winter


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path, clock=FakeClock()) as one:
        yield one


def test_what_nobody_used_for_ninety_days_goes_cold(home: House) -> None:
    ids = winter(home)

    assert set(statuses(home).values()) == {"archived"}
    assert in_index(home) == set()
    body = held(home, ids[0])
    assert (body["content"], body["text_archived"], body["archived_because"]) == ("", True, "cold")
    assert home.history(ids[0])[-1]["change"] == "archived"


def test_a_day_before_its_time_nothing_goes(home: House) -> None:
    winter(home, days=89)

    assert set(statuses(home).values()) == {"active"}
    assert len(in_index(home)) == len(EPISODES)


@pytest.mark.parametrize(
    ("memory_type", "kind", "goes"),
    [
        ("short_term", "event", True),
        ("short_term", "conclusion", True),
        ("short_term", "preference", False),
        ("short_term", "fact", False),
        ("short_term", "correction", False),
        ("short_term", "instruction", False),
        ("long_term", "event", True),
        ("long_term", "summary", True),
        ("long_term", "conclusion", False),
        ("long_term", "fact", False),
        ("long_term", "preference", False),
    ],
)
def test_kind_and_layer_decide_who_may_go_cold(home: House, memory_type: str, kind: str, goes: bool) -> None:
    (one,) = winter(home, EPISODES[0], memory_type=memory_type, kind=kind)

    assert statuses(home)[one] == ("archived" if goes else "active")


def test_lessons_that_a_namespace_shares_stay_hot(home: House) -> None:
    (one,) = winter(home, EPISODES[0], audience="namespace")

    assert statuses(home)[one] == "active"


def test_use_resets_the_clock(home: House) -> None:
    recalled, idle = told(home, EPISODES[0]), told(home, EPISODES[3])
    home.clock.advance(days=60)
    assert home.recall("harbour hotel Bergen", top_k=1).hits[0].id == recalled
    home.app.touches.flush()
    home.clock.advance(days=60)
    upkeep(home)

    assert statuses(home) == {recalled: "active", idle: "archived"}


def test_a_dry_run_tells_and_changes_nothing(home: House) -> None:
    for content in EPISODES:
        told(home, content)
    home.clock.advance(days=91)

    result = upkeep(home, dry_run=True)

    assert result.counts == {"archived": 4}
    assert set(statuses(home).values()) == {"active"}
    assert items_of(home.app.services.store, SCOPE.partition) == []


def test_done_twice_it_does_nothing_twice(home: House) -> None:
    winter(home)
    before = {item["id"]: item["version"] for item in home.memories(status=["archived"])}
    packs = items_of(home.app.services.store, SCOPE.partition)

    assert upkeep(home).counts == {}
    assert {item["id"]: item["version"] for item in home.memories(status=["archived"])} == before
    assert items_of(home.app.services.store, SCOPE.partition) == packs


def test_a_pack_with_room_takes_the_next_ones_in(home: House) -> None:
    winter(home, *EPISODES[:2])
    winter(home, *EPISODES[2:])

    (pack,) = items_of(home.app.services.store, SCOPE.partition)
    assert len(pack.ids) == 4
    objects = list(home.app.services.archive.keys(f"{SCOPE.partition}/cold/"))
    assert objects == [f"{SCOPE.partition}/cold/{pack.id}"]


def test_what_is_used_while_it_is_going_stays(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    one = told(home, EPISODES[0])
    home.clock.advance(days=91)
    services = home.app.services
    real = services.archive.put

    def meanwhile(key: str, body: bytes) -> None:
        real(key, body)
        if "/cold/" in key:
            home.recall("harbour hotel in Bergen", top_k=1)
            home.app.touches.flush()

    monkeypatch.setattr(services.archive, "put", meanwhile)
    upkeep(home)

    assert statuses(home)[one] == "active"
    assert home.recall("harbour hotel in Bergen").hits[0].id == one


def test_asked_to_stop_it_goes_on_where_it_was(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold, "CHUNK", 1)
    for content in EPISODES:
        told(home, content)
    home.clock.advance(days=91)
    asked = iter([False, False, True])
    task = ColdTask(home.app.services)
    job = Job("run", SCOPE, home.clock.now(), Policy("default"))

    first = task.run(job, lambda: next(asked, True))
    second = task.run(job, lambda: False)

    assert (first.done, second.done) == (False, True)
    assert first.counts["archived"] + second.counts["archived"] == 4
    assert set(statuses(home).values()) == {"archived"}


def test_ages_are_taken_at_the_time_of_the_run(home: House) -> None:
    for content in EPISODES:
        told(home, content)
    task = ColdTask(home.app.services)
    later = home.clock.now() + timedelta(days=100)

    assert task.run(Job("run", SCOPE, later, Policy("default"), True), lambda: False).counts == {
        "archived": 4
    }


def test_texts_leave_the_store_with_those_of_earlier_versions(home: House) -> None:
    """Summaries stay; what they leave out is in the archive only."""
    first, second = EPISODES[0] * 3 + " Quillwort.", EPISODES[0] * 3 + " Bladderwort."
    one = told(home, first)
    home.patch(one, content=second)
    home.drain()
    home.clock.advance(days=91)
    upkeep(home)

    stored = str(home.app.services.store.query(SCOPE.partition, "").items)
    assert "Quillwort" not in stored
    assert "Bladderwort" not in stored
    assert [row["memory"]["content"] for row in home.history(one)] == [first, second, second]
