"""What wakes a cold memory, and what does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.usecases import cold
from rearview.usecases.packs import items_of
from tests.house import FakeClock, House, house
from tests.integration.cold_kit import EPISODES, SCOPE, held, in_index, statuses, told, upkeep, winter


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path, clock=FakeClock()) as one:
        yield one


def test_a_hit_wakes(home: House) -> None:
    ids = winter(home)
    home.recall("harbour hotel in Bergen", top_k=1)
    home.app.touches.flush()
    home.drain()

    assert statuses(home)[ids[0]] == "active"
    assert [home.history(ids[0])[-1][name] for name in ("change", "reason")] == ["woken", "recalled"]
    assert in_index(home) == {ids[0]}
    assert home.recall("harbour hotel in Bergen", top_k=1).hits[0].content == EPISODES[0]
    assert sum(status == "archived" for status in statuses(home).values()) == 3
    assert home.audit()["ok"]


def test_a_long_term_memory_wakes_with_its_text(home: House) -> None:
    (one,) = winter(home, EPISODES[1], memory_type="long_term")
    home.recall("杭州出差的高铁票", top_k=1)
    home.app.touches.flush()

    body = held(home, one)
    assert (body["status"], body["content"], body["text_archived"]) == ("active", EPISODES[1], False)


@pytest.mark.parametrize("how", [{"explain": True}, {"known_at": "now"}])
def test_looking_is_not_using(home: House, how: dict[str, Any]) -> None:
    winter(home)
    if "known_at" in how:
        how = {"known_at": home.clock.now().isoformat()}
    assert home.recall("harbour hotel in Bergen", include_archived=True, **how).hits
    home.app.touches.flush()

    assert set(statuses(home).values()) == {"archived"}


def test_a_context_wakes_what_it_shows(home: House) -> None:
    ids = winter(home)
    assert "harbour hotel" in home.context("harbour hotel in Bergen")
    home.app.touches.flush()

    assert statuses(home)[ids[0]] == "active"


def test_a_duplicate_lands_on_the_cold_one_and_wakes_it(home: House) -> None:
    ids = winter(home)

    answer = home.write(EPISODES[1], memory_type="short_term", kind="event", admission="force")

    assert (answer["verdict"], answer["duplicate_of"]) == ("duplicate", ids[1])
    assert statuses(home)[ids[1]] == "active"
    assert ids[1] in in_index(home)
    assert home.recall("杭州出差的高铁票", top_k=1).hits[0].id == ids[1]


def test_a_confirmation_wakes(home: House) -> None:
    ids = winter(home)
    home.patch(ids[2], confirmed=True)
    home.drain()

    assert statuses(home)[ids[2]] == "active"
    assert ids[2] in in_index(home)


def test_new_words_wake_and_are_found(home: House) -> None:
    ids = winter(home)
    home.patch(ids[2], content="The print shop delivered ninety green leaflets.")
    home.drain()

    assert home.recall("ninety green leaflets", top_k=1).hits[0].id == ids[2]
    assert (
        home.recall("forty blue posters", include_archived=True, explain=True, top_k=1).hits[0].content
        != EPISODES[2]
    )


def test_what_woke_for_whatever_reason_has_its_whole_time_again(home: House) -> None:
    ids = winter(home)
    home.patch(ids[2], content="The print shop delivered ninety green leaflets.")
    home.drain()
    home.clock.advance(days=89)
    upkeep(home)
    assert statuses(home)[ids[2]] == "active"

    home.clock.advance(days=2)
    upkeep(home)
    assert statuses(home)[ids[2]] == "archived"


def test_other_edits_leave_it_cold_and_findable(home: House) -> None:
    ids = winter(home)
    home.patch(ids[2], tags=["fair"])
    home.drain()

    assert statuses(home)[ids[2]] == "archived"
    assert in_index(home) == set()
    hits = home.recall("blue posters", include_archived=True, tags=["fair"], explain=True).hits
    assert [hit.id for hit in hits] == [ids[2]]


@pytest.mark.parametrize(("result", "status"), [("success", "active"), ("failure", "archived")])
def test_a_good_outcome_wakes_what_the_decision_rested_on(home: House, result: str, status: str) -> None:
    one = told(home, EPISODES[0])
    decision = home.decide("Where to stay in Bergen?", "book the harbour hotel", memory_ids=[one])
    home.clock.advance(days=91)
    upkeep(home)
    assert statuses(home)[one] == "archived"

    home.outcome(decision["id"], result)
    home.drain()

    assert statuses(home)[one] == status
    used = held(home, one)
    assert (used["last_used_at"] is not None) is (status == "active")


def test_a_good_outcome_counts_as_use_of_a_hot_one(home: House) -> None:
    one = told(home, EPISODES[0], importance=1.0)
    decision = home.decide("Where to stay in Bergen?", "book the harbour hotel", memory_ids=[one])
    home.clock.advance(days=80)
    home.outcome(decision["id"], "success")
    home.clock.advance(days=80)
    upkeep(home)

    assert statuses(home)[one] == "active"


def test_a_tentative_memory_wakes_as_one(home: House) -> None:
    ids = winter(home, EPISODES[0])
    services = home.app.services
    body = services.store.get(keys.memory(SCOPE.partition, ids[0]))
    assert body is not None
    first = keys.history(SCOPE.partition, ids[0], 1)
    row = services.store.get(first)
    assert row is not None
    row["memory"]["status"] = "tentative"
    services.store.transact(SCOPE.partition, lambda uow: uow.put(first, row))

    home.recall("harbour hotel in Bergen", top_k=1)
    home.app.touches.flush()

    assert statuses(home)[ids[0]] == "tentative"


def test_what_a_recall_shows_while_it_abstains_is_not_used(home: House) -> None:
    winter(home)

    answer = home.recall("Which violin strings did the luthier recommend?")
    assert answer.abstained
    home.app.touches.flush()

    assert set(statuses(home).values()) == {"archived"}


def test_a_hit_that_sleeps_is_not_left_for_later(home: House) -> None:
    """Where a process may be frozen after its answer, it must know that there is something to write first."""
    winter(home)
    hot = told(home, "The tram to the harbour was full.")
    home.recall("tram to the harbour", top_k=1)
    assert not home.app.touches.urgent
    assert statuses(home)[hot] == "active"

    home.recall("harbour hotel in Bergen", top_k=1, include_archived=True)
    assert home.app.touches.urgent
    home.app.touches.flush()
    assert not home.app.touches.urgent


def test_the_first_use_in_a_day_is_not_left_for_later(home: House) -> None:
    """An agent that asks once a day gets an environment of its own each time: what waited there would never be written,
    and what is in use every day would go cold."""
    tram = told(home, "开往港口的电车一路上都很挤。")
    ferry = told(home, "The ferry to the island ran late.")
    urgent: list[bool] = []
    for _ in range(95):
        home.clock.advance(days=1)
        home.recall("开往港口的电车", top_k=1)
        urgent.append(home.app.touches.urgent)
        home.app.touches.flush()
        # A second one of the same day adds nothing that upkeep would see.
        home.clock.advance(hours=1)
        home.recall("开往港口的电车", top_k=1)
        urgent.append(home.app.touches.urgent)
        home.app.touches.drop()
        home.clock.advance(hours=-1)
    assert urgent == [True, False] * 95
    upkeep(home)

    assert statuses(home) == {tram: "active", ferry: "archived"}


def test_woken_and_left_alone_it_goes_cold_again(home: House) -> None:
    ids = winter(home)
    home.recall("harbour hotel in Bergen", top_k=1)
    home.app.touches.flush()
    home.drain()
    home.clock.advance(days=91)
    upkeep(home)

    assert statuses(home)[ids[0]] == "archived"
    assert home.recall("harbour hotel in Bergen", include_archived=True, explain=True).hits[0].id == ids[0]
    held = [one for pack in items_of(home.app.services.store, SCOPE.partition) for one in pack.ids]
    assert sorted(held) == sorted(ids)


def test_the_text_of_a_woken_long_term_memory_comes_back_into_the_store(home: House) -> None:
    (one,) = winter(home, EPISODES[1], memory_type="long_term")
    home.patch(one, confirmed=True)
    home.drain()
    assert home.get(one)["content"] == EPISODES[1]

    assert upkeep(home).counts == {"packs_rewritten": 1, "texts_back": 1}
    body = held(home, one)
    assert body["content"] == EPISODES[1]
    assert home.audit()["ok"]


def test_what_was_consolidated_is_archived_the_same_way_and_does_not_wake(home: House) -> None:
    one = told(home, EPISODES[0])
    episode = decode(Memory, held(home, one))
    fields = {one: {"consolidated_into": "01X"}}
    done = cold.archive(home.app.services, [episode], because="consolidated", fields=fields)
    home.drain()
    assert done.ids == [one]
    assert in_index(home) == set()
    assert home.recall("harbour hotel in Bergen", include_archived=True).hits[0].id == one
    home.app.touches.flush()

    body = held(home, one)
    assert (body["status"], body["archived_because"], body["consolidated_into"]) == (
        "archived",
        "consolidated",
        "01X",
    )
