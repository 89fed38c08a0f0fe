"""Where two parts of a memory's life meet: a recall and the cold, a purge and a restore, a question and the archive."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.domain.policy import Archiving, Policy
from rearview.errors import Gone
from rearview.usecases import cold
from rearview.usecases.fields import read
from rearview.usecases.maintenance.cold import ColdTask
from rearview.usecases.maintenance.task import Job
from rearview.usecases.packs import items_of, load
from rearview.usecases.questions import ListConflicts
from tests.house import House, house
from tests.integration import archive_kit, consolidation_kit
from tests.integration.cold_kit import (
    EPISODES,
    SCOPE,
    Killed,
    held,
    in_index,
    killed_after,
    told,
    upkeep,
    winter,
)

AT = SCOPE.partition
LISBON, OSLO = "I live in Lisbon.", "I live in Oslo."


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def record(home: House, memory_id: str) -> Memory:
    return decode(Memory, held(home, memory_id))


def open_conflicts(home: House) -> list[set[str]]:
    items = home.app.reader.conflicts(home.principal, read(ListConflicts, {"user_id": "u"}))["items"]
    return [set(item["memory_ids"]) for item in items]


# --- recalls ---


def test_what_was_recalled_just_before_it_went_cold_wakes(home: House) -> None:
    one = told(home, EPISODES[0])
    home.clock.advance(days=91)
    home.recall("harbour hotel in Bergen")
    upkeep(home)
    assert record(home, one).status == "archived"
    home.app.touches.flush()
    home.drain()
    assert record(home, one).status == "active"
    assert one in in_index(home)


def test_a_recall_that_is_noted_late_does_not_turn_the_clock_of_use_back(home: House) -> None:
    one = told(home, EPISODES[0])
    early = home.clock.now()
    home.app.touches.note([record(home, one)], early + timedelta(hours=2))
    home.app.touches.flush()
    home.app.touches.note([record(home, one)], early)
    home.app.touches.flush()
    assert record(home, one).last_recalled_at == early + timedelta(hours=2)


# --- purges ---


def test_what_is_half_purged_cannot_be_restored_by_a_clock_that_is_behind(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = winter(home, EPISODES[0])[0]
    home.delete(one)
    home.drain()
    home.clock.advance(days=31)
    # The text is gone, the pack and the record are still there.
    with killed_after(home, monkeypatch, 2):
        home.app.sweeper.sweep()
    home.clock.advance(days=-2)
    with pytest.raises(Gone):
        home.restore(one)
    home.clock.advance(days=2)
    assert home.app.sweeper.sweep() == 1
    with pytest.raises(Gone, match="purged"):
        home.get(one)
    assert archive_kit.objects(home) == {}


@pytest.mark.parametrize("days", [8, 60])
def test_nothing_of_what_expired_stays_however_late_the_sweep_comes(home: House, days: int) -> None:
    one = home.write(archive_kit.EN, memory_type="working")["id"]
    home.clock.advance(days=days)
    assert home.app.sweeper.sweep() == 1
    home.drain()
    home.clock.advance(days=8)
    assert home.app.sweeper.sweep() == 1
    with pytest.raises(Gone, match="because: expired"):
        home.get(one)
    assert home.app.services.store.query(AT, keys.history_of(one)).items == []
    assert in_index(home) == set()


# --- kinds and questions ---


@pytest.mark.parametrize("kind", ["preference", "fact"])
def test_a_cold_memory_that_becomes_of_a_kind_that_never_goes_cold_wakes(home: House, kind: str) -> None:
    one, other = winter(home, *EPISODES[:2])
    home.patch(one, kind=kind)
    home.patch(other, kind="summary")
    assert [record(home, item).status for item in (one, other)] == ["active", "archived"]


def test_a_question_that_is_open_again_wakes_the_side_that_went_cold(home: House) -> None:
    lisbon, oslo = told(home, LISBON), told(home, OSLO)
    conflict = record(home, lisbon).conflicts[0]
    home.resolve(conflict, keep=oslo)
    home.drain()
    home.clock.advance(days=91)
    upkeep(home)
    assert record(home, oslo).status == "archived"
    assert home.app.settler.undo(home.principal, conflict).state == "open"
    home.drain()
    assert {record(home, item).status for item in (lisbon, oslo)} == {"disputed"}
    assert in_index(home) == {lisbon, oslo}
    assert home.audit()["ok"]


@pytest.mark.parametrize("both", [False, True])
def test_a_restored_memory_and_a_cold_one_that_contradict_each_other_are_asked_about(
    home: House, both: bool
) -> None:
    lisbon, oslo = told(home, LISBON), told(home, OSLO)
    home.delete(oslo)
    home.drain()
    home.clock.advance(days=29)
    assert upkeep_soon(home) == [lisbon]
    if both:
        home.delete(lisbon)
    home.restore(oslo)
    if both:
        assert open_conflicts(home) == []
        home.restore(lisbon)
    home.drain()
    assert open_conflicts(home) == [{lisbon, oslo}]
    assert {record(home, item).status for item in (lisbon, oslo)} == {"disputed"}
    assert in_index(home) == {lisbon, oslo}


def upkeep_soon(home: House) -> list[str]:
    """Upkeep by a policy that sends memories into the cold after four weeks."""
    policy = Policy("default", archiving=Archiving(cold_days=28))
    job = Job("run", SCOPE, home.clock.now(), policy)
    result = ColdTask(home.app.services).run(job, lambda: False)
    return [change.refs[0] for change in result.changes if change.action == "archived"]


# --- size ---


@pytest.mark.parametrize("moved", [True, False])
def test_packs_of_long_texts_stay_small(home: House, monkeypatch: pytest.MonkeyPatch, moved: bool) -> None:
    most = 100_000
    for module in ("portions", "shelf"):
        monkeypatch.setattr(f"rearview.usecases.{module}.PORTION_BYTES", most)
    long = "The survey of the meadow went on, stake by stake. " * 80
    ids = [told(home, f"Day {number}. {long}", admission="verbatim") for number in range(14)]
    home.clock.advance(days=91)
    if moved:
        archive_kit.upkeep(home)
        assert all(record(home, one).text_archived for one in ids)
    upkeep(home)
    ids += winter(home, f"Day 14. {long}", f"Day 15. {long}", EPISODES[0], admission="verbatim")
    items = items_of(home.app.services.store, AT)
    packs = [load(home.app.services, AT, item.id) for item in items]
    assert (
        max(sum(4 * len(entry.text) for entry in pack.entries) for pack in packs if pack is not None) <= most
    )
    assert sorted(one for item in items for one in item.ids) == sorted(ids)


def test_a_purge_takes_the_words_along_that_later_memories_of_the_session_are_found_by(home: House) -> None:
    first = told(home, "The notary is called Zebrowski.", session_id="s")
    then = told(home, "The appointment is on the third floor.", session_id="s")
    home.clock.advance(days=91)
    upkeep(home)
    assert [record(home, one).status for one in (first, then)] == ["archived", "archived"]

    def words() -> dict[str, set[str]]:
        packs = [load(home.app.services, AT, item.id) for item in items_of(home.app.services.store, AT)]
        entries = [one for pack in packs if pack is not None for one in pack.loose()]
        return {one.entry.id: set(one.words) for one in entries}

    assert "zebrowski" in {word.lower() for word in words()[then]}
    home.delete(first)
    home.drain()
    home.clock.advance(days=31)
    assert home.app.sweeper.sweep() == 1
    assert words().keys() == {then}
    assert "zebrowski" not in {word.lower() for word in words()[then]}
    assert home.recall("third floor", include_archived=True, explain=True).hits[0].id == then


def test_a_purge_leaves_packs_alone_that_know_nothing_of_it(home: House) -> None:
    first = told(home, "The notary is called Zebrowski.", session_id="s")
    home.delete(first)
    then = told(home, "The appointment is on the third floor.", session_id="s")
    home.clock.advance(days=20)
    then_too = told(home, "Bring the blue folder.")
    home.clock.advance(days=91)
    upkeep(home)
    before = [item.id for item in items_of(home.app.services.store, AT)]
    assert home.app.sweeper.sweep() == 1
    with pytest.raises(Gone, match="purged"):
        home.get(first)
    items = items_of(home.app.services.store, AT)
    assert [item.id for item in items] == before
    assert {one for item in items for one in item.ids} == {then, then_too}


# --- kills ---


def test_an_object_that_no_pack_tells_of_goes(home: House) -> None:
    one = winter(home, EPISODES[0])[0]
    kept = {key for key in archive_kit.objects(home) if "/cold/" in key}
    home.app.services.archive.put(f"{AT}/cold/01KJPWD6M0GQNXSJ14CS9D9EV2", b"of a process that died")
    upkeep(home)
    assert {key for key in archive_kit.objects(home) if "/cold/" in key} == kept
    assert home.recall("harbour hotel", include_archived=True, explain=True).hits[0].id == one


def test_episodes_do_not_follow_an_abstraction_that_was_taken_back_while_they_were_on_their_way(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = consolidation_kit.told(home, consolidation_kit.ORDER_LIST, days=1)

    def stop(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(cold, "_archive_some", stop)
        with pytest.raises(Killed):
            consolidation_kit.consolidate(home)
    made = consolidation_kit.abstractions(home)[0]["id"]
    home.app.editor.after = lambda *_: None
    home.delete(made)
    upkeep(home)
    assert {record(home, one).status for one in ids} == {"active"}
