"""Cold memories are found: by search, by id, in lists, and in earlier views."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rearview.errors import Unavailable
from tests.house import FakeClock, House, house
from tests.integration.cold_kit import EPISODES, statuses, told, upkeep, winter


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path, clock=FakeClock()) as one:
        yield one


@pytest.mark.parametrize(
    ("query", "number"),
    [("harbour hotel in Bergen", 0), ("杭州出差的高铁票", 1), ("blue posters", 2), ("薄荷换土", 3)],
)
def test_include_archived_finds_the_cold_with_their_texts(home: House, query: str, number: int) -> None:
    ids = winter(home)

    answer = home.recall(query, include_archived=True, explain=True)

    assert answer.hits[0].id == ids[number]
    assert answer.hits[0].content == EPISODES[number]
    assert answer.hits[0].status == "archived"
    assert not answer.abstained


def test_a_recall_that_would_abstain_looks_in_the_archive_itself(home: House) -> None:
    ids = winter(home)

    assert home.recall("harbour hotel in Bergen").hits[0].id == ids[0]


def test_a_recall_that_finds_enough_does_not(home: House) -> None:
    winter(home)
    fresh = told(home, "The harbour hotel in Bergen sent its invoice.")

    assert [hit.id for hit in home.recall("harbour hotel in Bergen", top_k=1).hits] == [fresh]


def test_hot_and_cold_are_ranked_by_one_measure(home: House) -> None:
    ids = winter(home)
    for number in range(12):
        told(home, f"Posters of shop number {number} were mentioned in passing.")

    hits = home.recall("forty blue posters for the fair", include_archived=True, explain=True).hits

    assert hits[0].id == ids[2]
    assert all(hit.parts["keyword"] <= hits[0].parts["keyword"] for hit in hits)


def test_filters_hold_for_the_cold(home: House) -> None:
    tagged = told(home, EPISODES[0], tags=["travel"])
    winter(home, EPISODES[1])

    hits = home.recall("harbour hotel 高铁票", include_archived=True, tags=["travel"], explain=True).hits

    assert [hit.id for hit in hits] == [tagged]


def test_another_user_finds_nothing_of_it(home: House) -> None:
    winter(home)

    assert home.recall("harbour hotel in Bergen", "other", include_archived=True).hits == []


def test_by_id_a_cold_memory_always_answers(home: House) -> None:
    ids = winter(home)

    assert [home.get(one)["content"] for one in ids] == EPISODES


def test_lists_and_histories_show_the_texts_of_the_cold(home: House) -> None:
    ids = winter(home)

    assert [item["content"] for item in home.memories(status=["archived"])] == EPISODES
    assert [row["memory"]["content"] for row in home.history(ids[1])] == [EPISODES[1]] * 2


def test_what_was_known_while_it_was_hot_is_known_at_that_time(home: House) -> None:
    ids = [told(home, content) for content in EPISODES]
    then = home.clock.now()
    home.clock.advance(days=91)
    upkeep(home)
    cold_since = home.clock.now()

    early = home.recall("harbour hotel in Bergen", known_at=then.isoformat())
    late = home.recall("harbour hotel in Bergen", known_at=cold_since.isoformat())

    assert (early.hits[0].id, early.hits[0].content) == (ids[0], EPISODES[0])
    assert (late.hits[0].id, late.hits[0].content) == (ids[0], EPISODES[0])
    assert early.degraded == late.degraded == []
    assert statuses(home)[ids[0]] == "archived"


def test_what_was_true_at_a_time_is_found_among_the_cold(home: House) -> None:
    ids = winter(home)

    hits = home.recall("harbour hotel in Bergen", valid_at=home.clock.now().isoformat(), explain=True).hits

    assert hits[0].id == ids[0]


def test_with_the_archive_away_recall_says_so_and_answers_the_rest(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    winter(home)
    fresh = told(home, "The harbour hotel in Bergen sent its invoice.")
    home.app.services.packs.clear()
    home.app.services.texts.clear()

    def away(_key: str) -> bytes:
        raise Unavailable("the archive is away")

    monkeypatch.setattr(home.app.services.archive, "get", away)
    answer = home.recall("harbour hotel in Bergen", include_archived=True)

    assert answer.degraded == ["archive"]
    assert [hit.id for hit in answer.hits] == [fresh]
