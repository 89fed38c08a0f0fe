"""What becomes of a consolidated memory: new evidence, lost evidence, kills, and others at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rearview.domain import keys
from rearview.errors import Unavailable
from rearview.usecases import cold
from rearview.usecases.maintenance.consolidate import ConsolidateTask
from tests.house import House
from tests.integration.consolidation_kit import (
    ORDER_LIST,
    SCOPE,
    abstractions,
    consolidate,
    job,
    opened,
    told,
    订单,
)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as found:
        yield found


# --- again and again ---


def test_run_twice_it_does_nothing(home: House) -> None:
    told(home, ORDER_LIST)
    consolidate(home)
    before = home.app.services.store.get(keys.head(SCOPE.partition))
    assert consolidate(home).counts == {}
    assert home.app.services.store.get(keys.head(SCOPE.partition)) == before


def test_new_like_episodes_join_and_the_text_says_so(home: House) -> None:
    told(home, ORDER_LIST)
    consolidate(home)
    home.clock.advance(days=7)
    (late,) = told(home, ["User asked for the order list again."], occurred_at="2026-05-30T10:00:00Z")
    result = consolidate(home)
    (made,) = abstractions(home)
    assert result.counts == {"joined": 1}
    assert made["metadata"]["consolidation"]["count"] == 5
    assert "5 times since 3 March 2026, last on 30 May 2026" in made["content"]
    assert home.get(late)["status"] == "archived"
    assert consolidate(home).counts == {}


def test_a_repetition_of_an_archived_episode_is_counted_by_the_next_run(home: House) -> None:
    told(
        home,
        ["浇了走廊的蕨类植物"] * 1 + ["又浇了走廊的蕨类植物", "浇了一次走廊的蕨类植物"],
        admission="force",
    )
    consolidate(home)
    (made,) = abstractions(home)
    home.clock.advance(days=7)
    home.write("浇了走廊的蕨类植物", memory_type="short_term", kind="event", admission="force")
    assert consolidate(home).counts == {"revised": 1}
    assert (
        abstractions(home)[0]["metadata"]["consolidation"]["count"]
        == made["metadata"]["consolidation"]["count"] + 1
    )


def test_evidence_that_is_deleted_counts_no_more_at_once(home: House) -> None:
    ids = told(home, ORDER_LIST)
    consolidate(home)
    home.delete(ids[3])
    (made,) = abstractions(home)
    assert made["metadata"]["consolidation"]["count"] == 3
    assert "last on 17 March 2026" in made["content"]
    home.restore(ids[3])
    assert abstractions(home)[0]["metadata"]["consolidation"]["count"] == 4
    assert home.get(ids[3])["status"] == "archived"


def test_with_the_archive_away_a_deletion_stands_and_the_next_run_does_the_rest(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise Unavailable("away")

    ids = told(home, ORDER_LIST)
    consolidate(home)
    home.app.services.texts.clear()
    with monkeypatch.context() as patch:
        patch.setattr(home.app.services.archive, "get", away)
        home.delete(ids[3])
        assert abstractions(home)[0]["metadata"]["consolidation"]["count"] == 4
    assert consolidate(home).counts == {"revised": 1}
    assert abstractions(home)[0]["metadata"]["consolidation"]["count"] == 3


def test_with_too_little_evidence_left_it_is_withdrawn_and_the_rest_comes_back(home: House) -> None:
    ids = told(home, ORDER_LIST)
    consolidate(home)
    (made,) = abstractions(home)
    home.forget(ids=ids[:2])
    home.drain()
    gone = home.get(made["id"])
    assert (gone["status"], gone["deleted_because"]) == ("deleted", "evidence_gone")
    assert [home.get(item)["status"] for item in ids] == ["deleted", "deleted", "active", "active"]
    assert home.get(ids[2])["archived_because"] is None
    assert {hit.id for hit in home.recall("order list").hits} == set(ids[2:])


def test_evidence_that_the_user_rewords_leaves_it(home: House) -> None:
    ids = told(home, ORDER_LIST)
    consolidate(home)
    home.patch(ids[0], content="Asked for the price list")
    home.drain()
    assert abstractions(home)[0]["metadata"]["consolidation"]["count"] == 3
    assert home.get(ids[0])["status"] == "active"


@pytest.mark.parametrize("change", [{"kind": "preference"}, {"kind": "instruction"}, {"ttl_seconds": 86_400}])
def test_evidence_that_becomes_what_is_no_episode_leaves_it_and_is_live_again(
    home: House, change: dict[str, Any]
) -> None:
    ids = told(home, 订单)
    consolidate(home)
    home.patch(ids[0], **change)
    home.drain()
    assert home.get(ids[0])["status"] == "active"
    assert abstractions(home)[0]["metadata"]["consolidation"]["count"] == 3
    consolidate(home)
    assert home.get(ids[0])["status"] == "active"


def test_deleting_it_brings_the_episodes_back_and_it_is_not_made_again(home: House) -> None:
    ids = told(home, 订单)
    consolidate(home)
    home.delete(abstractions(home)[0]["id"])
    home.drain()
    assert {home.get(item)["status"] for item in ids} == {"active"}
    assert consolidate(home).counts == {}
    home.clock.advance(days=7)
    told(home, 订单[:2], occurred_at="2026-05-30T10:00:00Z")
    assert consolidate(home).counts == {}, "two more are no new evidence where three make a group"
    told(home, 订单[:1], occurred_at="2026-05-31T10:00:00Z")
    assert consolidate(home).counts == {"consolidated": 1}
    assert abstractions(home)[0]["metadata"]["consolidation"]["count"] == 7


def test_restoring_it_takes_the_episodes_in_again(home: House) -> None:
    ids = told(home, ORDER_LIST)
    consolidate(home)
    (made,) = abstractions(home)
    home.delete(made["id"])
    home.drain()
    home.restore(made["id"])
    assert {home.get(item)["status"] for item in ids} == {"archived"}
    assert home.app.services.store.query(SCOPE.partition, keys.UNWANTED).items == []


def test_a_reworded_abstraction_keeps_its_users_words(home: House) -> None:
    ids = told(home, ORDER_LIST)
    consolidate(home)
    (made,) = abstractions(home)
    home.patch(made["id"], content="I like my orders by date")
    home.delete(ids[3])
    (now,) = abstractions(home)
    assert now["content"] == "I like my orders by date"
    assert now["metadata"]["consolidation"]["count"] == 3


# --- kills and company ---


def test_killed_between_the_memory_and_its_episodes_the_next_run_ends_it(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = told(home, ORDER_LIST)

    def die(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cold, "archive", die)
        with pytest.raises(KeyboardInterrupt):
            consolidate(home)
    home.drain()
    assert {home.get(item)["status"] for item in ids} == {"active"}
    consolidate(home)
    (made,) = abstractions(home)
    assert made["metadata"]["consolidation"]["count"] == 4
    assert {home.get(item)["status"] for item in ids} == {"archived"}


def test_killed_after_the_user_took_it_back_the_next_run_brings_the_episodes_back(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = told(home, ORDER_LIST)
    consolidate(home)
    with monkeypatch.context() as patch:
        patch.setattr(home.app.editor, "after", lambda *_: None)
        home.delete(abstractions(home)[0]["id"])
    home.drain()
    assert {home.get(item)["status"] for item in ids} == {"archived"}
    assert consolidate(home).counts == {"released": 1}
    assert {home.get(item)["status"] for item in ids} == {"active"}
    assert consolidate(home).counts == {}


def test_an_episode_that_is_deleted_while_its_group_is_formed_counts_no_more(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = told(home, ORDER_LIST)
    archive = cold.archive

    def meanwhile(*args: Any, **kwargs: Any) -> Any:
        home.delete(ids[0])
        return archive(*args, **kwargs)

    monkeypatch.setattr(cold, "archive", meanwhile)
    consolidate(home)
    monkeypatch.setattr(cold, "archive", archive)
    consolidate(home)
    (made,) = abstractions(home)
    assert made["metadata"]["consolidation"]["count"] == 3
    assert [home.get(item)["status"] for item in ids] == ["deleted", "archived", "archived", "archived"]


def test_two_runs_at_once_make_one_memory(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    told(home, ORDER_LIST)
    task = ConsolidateTask(home.app.services)
    other = ConsolidateTask(home.app.services)
    form = task._form

    def after_the_other(*args: Any) -> None:
        other.run(job(home), lambda: False)
        form(*args)

    monkeypatch.setattr(task, "_form", after_the_other)
    task.run(job(home), lambda: False)
    home.drain()
    assert len(abstractions(home)) == 1


def test_a_group_larger_than_a_transaction_is_archived_whole(home: House) -> None:
    ids = told(home, ["下班后去游泳馆游泳", "去游泳馆游泳"] * 20, days=1)
    consolidate(home)
    (made,) = abstractions(home)
    assert made["metadata"]["consolidation"]["count"] == 40
    assert {home.get(item)["status"] for item in ids} == {"archived"}
    home.delete(made["id"])
    home.drain()
    assert {home.get(item)["status"] for item in ids} == {"active"}


def test_asked_to_stop_it_goes_on_later(home: House) -> None:
    told(home, ORDER_LIST)
    task = ConsolidateTask(home.app.services)
    assert not task.run(job(home), lambda: True).done
    assert task.run(job(home), lambda: False).counts == {"consolidated": 1}


@pytest.mark.parametrize("looks", [0, 1, 2])
def test_stopped_at_any_look_at_the_time_what_is_to_join_does_so_at_the_next_turn(
    home: House, looks: int
) -> None:
    told(home, ORDER_LIST)
    consolidate(home)
    told(home, ["User asked for the order list again."])
    task, left = ConsolidateTask(home.app.services), iter(range(looks))
    if not task.run(job(home), lambda: next(left, None) is None).done:
        task.run(job(home), lambda: False)
    assert abstractions(home)[0]["metadata"]["consolidation"]["count"] == 5


def test_the_ledger_vouches_for_all_of_it(home: House) -> None:
    ids = told(home, ORDER_LIST)
    consolidate(home)
    home.delete(ids[0])
    home.delete(abstractions(home)[0]["id"])
    home.drain()
    assert [item for item in home.audit()["findings"] if item["severity"] == "error"] == []
