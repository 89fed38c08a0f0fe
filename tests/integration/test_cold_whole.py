"""Cold memories meet what is new, survive kills, and leave nothing when they are purged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rearview.adapters.models.hashing import HashingEmbedder
from rearview.errors import Unavailable
from rearview.usecases import cold
from rearview.usecases.packs import from_bytes, items_of
from tests.house import FakeClock, House, house
from tests.integration.cold_kit import EPISODES, SCOPE, in_index, killed_after, statuses, told, upkeep, winter


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path, clock=FakeClock()) as one:
        yield one


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My landlord is Petra Voss.", "My landlord is Igor Lind."),
        ("我的房东是陈建国。", "我的房东是林晓东。"),
    ],
)
def test_what_contradicts_a_cold_memory_wakes_it_into_a_conflict(home: House, old: str, new: str) -> None:
    (one,) = winter(home, old)

    answer = home.write(new, memory_type="short_term", kind="event", admission="force")

    assert [set(item["memory_ids"]) for item in answer["conflicts"]] == [{one, answer["id"]}]
    assert statuses(home)[one] == "disputed"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我的房东是陈建国。", "我房东是陈建国"),
        ("My landlord is Petra Voss.", "The user's landlord is Petra Voss"),
    ],
)
def test_what_says_the_same_in_other_words_is_merged_into_the_cold_one(
    home: House, old: str, new: str
) -> None:
    (one,) = winter(home, old)

    answer = home.write(new, memory_type="short_term", kind="event", admission="force")

    assert (answer["verdict"], answer["duplicate_of"]) == ("duplicate", one)
    assert statuses(home)[one] == "active"


def test_relations_to_the_cold_wait_for_the_archive(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = winter(home, "My landlord is Petra Voss.")
    home.app.services.packs.clear()

    def away(_key: str) -> bytes:
        raise Unavailable("the archive is away")

    with monkeypatch.context() as patch:
        patch.setattr(home.app.services.archive, "get", away)
        told_now = home.write(
            "My landlord is Igor Lind.", wait=False, memory_type="short_term", kind="event", admission="force"
        )
        assert home.drain() == 0
    assert home.drain() > 0
    assert statuses(home) == {one: "disputed", told_now["id"]: "disputed"}


def test_the_audit_finds_all_well(home: House) -> None:
    winter(home)

    report = home.audit()

    assert report["ok"], report["findings"]
    assert report["counts"]["index_drift"] == 0


def test_a_deleted_cold_memory_comes_back_cold(home: House) -> None:
    ids = winter(home)
    home.delete(ids[0])
    home.drain()
    assert ids[0] not in [
        hit.id for hit in home.recall("harbour hotel in Bergen", include_archived=True, explain=True).hits
    ]
    home.restore(ids[0])
    home.drain()

    assert statuses(home)[ids[0]] == "archived"
    assert home.recall("harbour hotel in Bergen", include_archived=True, explain=True).hits[0].id == ids[0]


def test_after_a_purge_nothing_of_it_is_in_any_pack(home: House, tmp_path: Path) -> None:
    ids = winter(home)
    home.delete(ids[0])
    home.clock.advance(days=31)
    home.app.sweeper.sweep()

    archive = home.app.services.archive
    for key in archive.keys(SCOPE.partition):
        raw = archive.get(key)
        assert raw is not None
        if "/cold/" in key:
            pack = from_bytes("x", raw)
            assert ids[0] not in [entry.id for entry in pack.entries]
            assert not any("bergen" in term for term in pack.words.postings)
        assert b"Bergen" not in raw
    hits = home.recall("杭州出差的高铁票", include_archived=True, explain=True).hits
    assert hits[0].id == ids[1]


def test_a_pack_of_which_much_is_dead_is_rewritten(home: House) -> None:
    ids = winter(home)
    for one in ids[:2]:
        home.patch(one, confirmed=True)
    home.drain()

    assert upkeep(home).counts == {"packs_rewritten": 1}
    (pack,) = items_of(home.app.services.store, SCOPE.partition)
    assert set(pack.ids) == set(ids[2:])


def test_a_lost_pack_is_made_again_from_the_texts(home: House) -> None:
    ids = winter(home)
    services = home.app.services
    (pack,) = items_of(services.store, SCOPE.partition)
    services.archive.delete(f"{SCOPE.partition}/cold/{pack.id}")
    services.packs.clear()
    assert home.recall("harbour hotel in Bergen", include_archived=True, explain=True).degraded == ["archive"]
    assert home.recall("harbour hotel in Bergen", include_archived=True, explain=True).hits == []

    assert upkeep(home).counts == {"strays_packed": 4}
    assert home.recall("harbour hotel in Bergen", include_archived=True, explain=True).hits[0].id == ids[0]


@pytest.mark.parametrize("survived", range(16))
def test_killed_anywhere_and_run_again_the_end_is_the_same(
    home: House, monkeypatch: pytest.MonkeyPatch, survived: int
) -> None:
    """Dies before the write to store or archive after so many."""
    services = home.app.services
    monkeypatch.setattr(cold, "CHUNK", 1)
    first = winter(home, EPISODES[0])
    ids = first + [told(home, content) for content in EPISODES[1:]]
    home.clock.advance(days=91)
    with killed_after(home, monkeypatch, survived):
        upkeep(home)
    for number, one in enumerate(ids):
        assert home.get(one)["content"] == EPISODES[number]
    assert home.recall("高铁票", include_archived=True, explain=True, top_k=1).hits[0].id == ids[1]

    upkeep(home)
    home.drain()

    assert set(statuses(home).values()) == {"archived"}
    assert {home.get(one)["version"] for one in ids} == {2}
    assert in_index(home) == set()
    packs = items_of(services.store, SCOPE.partition)
    assert [pack.state for pack in packs] == ["done"] * len(packs)
    assert sorted(one for pack in packs for one in pack.ids) == sorted(ids)
    assert sorted(services.archive.keys(f"{SCOPE.partition}/cold/")) == sorted(
        f"{SCOPE.partition}/cold/{pack.id}" for pack in packs
    )
    assert upkeep(home).counts == {}
    assert home.audit()["ok"]


@pytest.mark.parametrize("survived", range(9))
def test_a_purge_killed_anywhere_and_done_again_leaves_nothing(
    home: House, monkeypatch: pytest.MonkeyPatch, survived: int
) -> None:
    services = home.app.services
    ids = winter(home)
    home.delete(ids[0])
    home.clock.advance(days=31)
    with killed_after(home, monkeypatch, survived):
        home.app.sweeper.sweep()
    hits = home.recall("杭州出差的高铁票", include_archived=True, explain=True).hits
    assert hits[0].id == ids[1]

    home.app.sweeper.sweep()
    upkeep(home)

    objects = list(services.archive.keys(f"{SCOPE.partition}/cold/"))
    (pack,) = items_of(services.store, SCOPE.partition)
    assert objects == [f"{SCOPE.partition}/cold/{pack.id}"]
    assert (pack.state, sorted(pack.ids)) == ("done", sorted(ids[1:]))
    assert home.audit()["ok"]


def test_a_new_embedding_model_reaches_the_packs(tmp_path: Path) -> None:
    class Other(HashingEmbedder):
        fingerprint = "other-model"

    clock = FakeClock()
    with house(tmp_path, clock=clock) as before:
        ids = winter(before)
        hot = told(before, "A hot one about the tram to the harbour.")
    with house(tmp_path, clock=clock, embedder=Other()) as after:
        assert (
            after.recall("harbour hotel in Bergen", include_archived=True, explain=True).hits[0].id == ids[0]
        )
        after.app.reindexer.reindex()
        (pack,) = items_of(after.app.services.store, SCOPE.partition)
        assert pack.fingerprint == "other-model"
        assert in_index(after) == {hot}
        hit = after.recall("harbour hotel in Bergen", include_archived=True, explain=True).hits[0]
        assert hit.id == ids[0]
        assert "raw_vector" in hit.parts
        assert statuses(after)[ids[0]] == "archived"
