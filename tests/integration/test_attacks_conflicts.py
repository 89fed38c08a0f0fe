"""Attacks on conflicts: three sides, undo in every order, sides that are forgotten, edited, expire or come back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import permutations
from pathlib import Path

import pytest

from rearview.domain.scope import Scope
from rearview.errors import Conflicting, Gone
from rearview.usecases.fields import read
from rearview.usecases.moot import conflicts_with
from rearview.usecases.questions import ListConflicts
from tests.house import House, house

PARTITION = Scope("default", "u").partition
PAIRS = [(0, 1), (0, 2), (1, 2)]
WHERE = "where do I live"


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def statuses(h: House, *ids: str) -> list[str]:
    return [h.get(item)["status"] for item in ids]


def two(h: House) -> tuple[str, str, str]:
    """Two memories and the conflict between them."""
    first, second = h.write("I live in Ghent"), h.write("I live in Bruges")
    return first["id"], second["id"], second["conflicts"][0]["id"]


def three(h: House) -> tuple[list[str], dict[tuple[int, ...], str]]:
    """Three memories of one slot and, by the numbers of its sides, the conflict between each two of them."""
    ids = [h.write(f"I live in {city}")["id"] for city in ("Ghent", "Bruges", "Namur")]
    found = {
        item.id: item
        for memory_id in ids
        for item in conflicts_with(h.app.services.store, PARTITION, memory_id)
    }
    return ids, {tuple(sorted(map(ids.index, item.memory_ids))): item.id for item in found.values()}


def test_a_side_that_lost_leaves_no_question_open_about_itself(h: House) -> None:
    ids, between = three(h)
    h.resolve(between[0, 1], keep=ids[1])
    assert h.get(ids[0])["conflicts"] == []
    assert h.get(ids[2])["conflicts"] == [between[1, 2]]
    h.resolve(between[1, 2], keep=ids[2])
    h.drain()
    assert statuses(h, *ids) == ["superseded", "superseded", "active"]
    assert h.contents(WHERE) == ["I live in Namur"]


def test_answers_that_go_round_in_a_circle_never_leave_nothing(h: House) -> None:
    ids, between = three(h)
    h.resolve(between[0, 1], keep=ids[1])
    with pytest.raises(Conflicting):
        h.resolve(between[0, 2], keep=ids[0])
    h.resolve(between[1, 2], keep=ids[2])
    assert statuses(h, *ids) == ["superseded", "superseded", "active"]


@pytest.mark.parametrize("order", list(permutations(PAIRS)))
def test_three_sided_conflicts_can_be_settled_and_undone_in_every_order(
    h: House, order: tuple[tuple[int, int], ...]
) -> None:
    ids, between = three(h)

    def state() -> list[dict[str, object]]:
        names = ("status", "valid_to", "superseded_by")
        return [
            {name: h.get(item)[name] for name in names} | {"open": len(h.get(item)["conflicts"])}
            for item in ids
        ]

    before = state()
    for undo in permutations(PAIRS):
        for pair in order:
            # What lost against the third one already cannot be kept any more.
            with suppress(Conflicting):
                h.resolve(between[pair], keep=ids[max(pair)])
        assert statuses(h, *ids) == ["superseded", "superseded", "active"]
        for pair in undo:
            # A question that fell away with another one's answer has nothing of its own to take back.
            with suppress(Conflicting):
                h.app.settler.undo(h.principal, between[pair])
        assert state() == before
    h.drain()
    assert h.audit()["ok"]


def test_a_resolution_cannot_be_undone_while_the_loser_is_forgotten(h: House) -> None:
    first, second, conflict = two(h)
    h.resolve(conflict, keep=second)
    h.delete(first)
    with pytest.raises(Conflicting, match="restore"):
        h.app.settler.undo(h.principal, conflict)
    assert statuses(h, second) == ["active"]
    h.restore(first)
    h.app.settler.undo(h.principal, conflict)
    assert statuses(h, first, second) == ["disputed", "disputed"]


def test_undo_after_the_winner_was_forgotten_brings_the_loser_back_alone(h: House) -> None:
    first, second, conflict = two(h)
    h.resolve(conflict, keep=second)
    h.delete(second)
    assert h.app.settler.undo(h.principal, conflict).state == "resolved"
    h.drain()
    assert statuses(h, first) == ["active"]
    assert h.recall(WHERE).conflicts == []
    h.restore(second)
    h.drain()
    assert statuses(h, first, second) == ["disputed", "disputed"]
    assert h.audit()["ok"]


def test_undo_does_not_bring_back_a_second_copy_of_what_was_written_again(h: House) -> None:
    _, second, conflict = two(h)
    h.resolve(conflict, keep=second)
    again = h.write("I live in Ghent")["id"]
    with pytest.raises(Conflicting, match=again):
        h.app.settler.undo(h.principal, conflict)
    assert [item["id"] for item in h.memories() if "Ghent" in item["content"]] == [again]


def test_a_restored_side_brings_its_question_back(h: House) -> None:
    first, second, conflict = two(h)
    h.delete(first)
    h.delete(second)
    h.restore(second)
    assert statuses(h, second) == ["active"]
    h.restore(first)
    h.drain()
    assert [item.id for item in h.recall(WHERE).conflicts] == [conflict]
    assert statuses(h, first, second) == ["disputed", "disputed"]
    assert h.audit()["ok"]


def test_an_expired_side_cannot_be_kept(h: House) -> None:
    first = h.write("I live in Ghent", ttl_seconds=3600)["id"]
    second = h.write("I live in Bruges")
    h.clock.advance(hours=2)
    with pytest.raises(Conflicting, match="no longer stands"):
        h.resolve(second["conflicts"][0]["id"], keep=first)
    h.app.sweeper.sweep()
    h.drain()
    assert h.contents(WHERE) == ["I live in Bruges"]
    assert h.recall(WHERE).conflicts == []


@pytest.mark.parametrize("by", ["repeat", "patch"])
def test_what_changes_before_it_is_enriched_is_still_held_against_the_others(h: House, by: str) -> None:
    h.write("我住在杭州")
    new = h.write("我住在苏州", wait=False)["id"]
    if by == "repeat":
        assert h.write("我住在苏州", wait=False)["id"] == new
    else:
        h.patch(new, importance=0.9)
    h.drain()
    assert len(h.get(new)["conflicts"]) == 1


def test_an_edit_that_contradicts_another_memory_opens_a_question(h: House) -> None:
    h.write("I live in Ghent")
    other = h.write("The plant needs water every Monday")["id"]
    h.patch(other, content="I live in Bruges")
    h.drain()
    assert len(h.recall(WHERE).conflicts) == 1


def test_an_edit_that_ends_a_contradiction_ends_its_question(h: House) -> None:
    first, second, conflict = two(h)
    h.patch(second, content="The plant needs water every Monday")
    h.drain()
    assert statuses(h, first, second) == ["active", "active"]
    assert h.recall(WHERE).conflicts == []
    with pytest.raises(Conflicting, match="something else"):
        h.app.settler.undo(h.principal, conflict)
    h.patch(second, content="I live in Namur")
    h.drain()
    assert len(h.recall(WHERE).conflicts) == 1
    assert h.audit()["ok"]


def test_no_end_of_validity_lies_before_its_beginning(h: House) -> None:
    planned = h.write("I live in Ghent", occurred_at="2030-01-01")["id"]
    now = h.write("I live in Bruges")
    h.resolve(now["conflicts"][0]["id"], keep=now["id"])
    assert h.get(planned)["valid_to"] == h.get(planned)["valid_from"]


def test_an_earlier_view_shows_the_questions_that_were_open_then(h: House) -> None:
    first, second, conflict = two(h)

    def later() -> str:
        h.clock.advance(hours=1)
        moment = h.clock.now().isoformat()
        h.clock.advance(hours=1)
        return moment

    disputed = later()
    h.resolve(conflict, keep=second)
    settled = later()
    h.app.settler.undo(h.principal, conflict)
    h.delete(first)
    h.drain()
    then = h.recall(WHERE, known_at=disputed)
    assert [(item.id, item.state, item.keep) for item in then.conflicts] == [(conflict, "open", None)]
    assert h.recall(WHERE, known_at=settled).conflicts == []


def test_what_is_purged_is_no_longer_quoted_by_its_conflicts_nor_restored(h: House) -> None:
    first, second, conflict = two(h)
    h.resolve(conflict, keep=second)
    h.delete(first)
    h.clock.advance(days=31)
    with pytest.raises(Gone):
        h.restore(first)
    h.app.sweeper.sweep()
    h.drain()
    with pytest.raises(Gone):
        h.get(first)
    with pytest.raises(Conflicting):
        h.app.settler.undo(h.principal, conflict)
    asked = read(ListConflicts, {"user_id": "u", "state": "all"})
    assert "Ghent" not in str(h.app.reader.conflicts(h.principal, asked))
    assert h.audit()["ok"]
