"""Conflicts: both sides stay visible until the user settles them, and every settlement can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rearview.domain import keys
from rearview.errors import Conflicting, InvalidInput
from rearview.ports import MemoryStore, UnitOfWork
from tests.house import House, house

PAIRS = [
    ("I live in Ghent", "I live in Bruges", "where do I live"),
    ("我住在杭州", "我住在苏州", "我住在哪里"),
    ("My phone number is 555-0100", "My phone number is 555-0199", "phone number"),
    ("我的手机号是13800000001", "我的手机号是13900000002", "手机号"),
    ("I am allergic to peanuts", "I am not allergic to peanuts", "allergic to peanuts"),
    ("The deadline is October 15th", "The deadline is October 16th", "deadline"),
]


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


@pytest.mark.parametrize(("old", "new", "query"), PAIRS)
def test_what_cannot_both_hold_stays_visible_with_the_question_to_ask(
    h: House, old: str, new: str, query: str
) -> None:
    first, second = h.write(old), h.write(new)
    assert [item["memory_ids"] for item in second["conflicts"]] == [[first["id"], second["id"]]]
    answer = h.recall(query)
    assert {hit.id for hit in answer.hits[:2]} == {first["id"], second["id"]}
    assert {hit.status for hit in answer.hits[:2]} == {"disputed"}
    assert answer.conflicts[0].question
    assert h.audit()["counts"]["open_conflicts"] == 1


@pytest.mark.parametrize(("old", "new", "query"), PAIRS[:2])
def test_resolving_supersedes_the_loser_from_the_moment_the_winner_began(
    h: House, old: str, new: str, query: str
) -> None:
    first = h.write(old, occurred_at="2025-01-01")
    second = h.write(new, occurred_at="2026-01-01")
    h.resolve(second["conflicts"][0]["id"], keep=second["id"])
    h.drain()
    assert h.contents(query) == [new]
    loser = h.get(first["id"])
    assert (loser["status"], loser["superseded_by"]) == ("superseded", second["id"])
    assert loser["valid_to"] == second["memory"]["valid_from"]
    assert h.contents(query, valid_at="2025-06-01") == [old]
    assert h.contents(query, include_superseded=True)[0] == new
    assert {item["content"] for item in h.memories(valid_at="2025-06-01")} == {old}


def test_undo_puts_both_back_and_opens_the_conflict_again(h: House) -> None:
    first, second = h.write("I live in Ghent"), h.write("I live in Bruges")
    conflict = second["conflicts"][0]["id"]
    before = [
        {key: h.get(item["id"])[key] for key in ("status", "valid_to", "conflicts")}
        for item in (first, second)
    ]
    h.resolve(conflict, keep=second["id"])
    h.app.settler.undo(h.principal, conflict)
    after = [
        {key: h.get(item["id"])[key] for key in ("status", "valid_to", "conflicts")}
        for item in (first, second)
    ]
    assert after == before
    assert h.recall("where do I live").conflicts[0].state == "open"
    assert h.audit()["ok"]


def test_a_resolution_is_final_until_it_is_undone_but_repeating_it_is_no_error(h: House) -> None:
    first, second = h.write("I live in Ghent"), h.write("I live in Bruges")
    conflict = second["conflicts"][0]["id"]
    h.resolve(conflict, keep=second["id"])
    assert h.resolve(conflict, keep=second["id"]).state == "resolved"
    with pytest.raises(Conflicting):
        h.resolve(conflict, keep=first["id"])
    with pytest.raises(InvalidInput):
        h.resolve(conflict, keep=conflict)


def test_keeping_both_leaves_both_active(h: House) -> None:
    first, second = h.write("I live in Ghent"), h.write("I live in Bruges")
    h.resolve(second["conflicts"][0]["id"], keep_both=True)
    assert [h.get(item["id"])["status"] for item in (first, second)] == ["active", "active"]


def test_forgetting_one_side_settles_the_conflict(h: House) -> None:
    first, second = h.write("I live in Ghent"), h.write("I live in Bruges")
    h.delete(first["id"])
    assert h.get(second["id"])["status"] == "active"
    assert h.recall("where do I live").conflicts == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("K is assigned to project one", "K is now assigned to project two"),
        ("My favourite colour is blue", "My favourite colour is green"),
        ("我最喜欢的颜色是蓝色", "我最喜欢的颜色是绿色"),
    ],
)
def test_under_the_policy_latest_the_new_value_supersedes_and_links_the_old(
    tmp_path: Path, old: str, new: str
) -> None:
    with house(tmp_path, conflict_policy="latest") as h:
        first = h.write(old)
        h.clock.advance(days=1)
        second = h.write(new)
        assert second["supersedes"] == [first["id"]]
        assert second["status"] == "active"
        assert h.get(first["id"])["superseded_by"] == second["id"]
        assert h.get(first["id"])["valid_to"] == second["memory"]["valid_from"]
        assert h.contents(new) == [new]
        conflict = h.app.services.store.query(
            __import__("rearview.domain.scope", fromlist=["Scope"]).Scope("default", "u").partition, "C#"
        ).items[0][1]
        h.app.settler.undo(h.principal, conflict["id"])
        assert h.get(first["id"])["status"] == "disputed"


def test_under_trusted_what_the_user_said_beats_what_the_agent_inferred(tmp_path: Path) -> None:
    with house(tmp_path, conflict_policy="trusted") as h:
        first = h.write("I live in Ghent")
        second = h.write("I live in Bruges", origin="agent")
        assert h.get(first["id"])["status"] == "active"
        assert h.get(second["id"])["superseded_by"] == first["id"]


def test_a_memory_of_another_user_never_conflicts(h: House) -> None:
    h.write("I live in Ghent", user="a")
    assert h.write("I live in Bruges", user="b")["conflicts"] == []


def test_three_values_of_one_slot_open_a_conflict_for_each_pair_and_settle_one_by_one(h: House) -> None:
    ids = [h.write(f"I live in {city}")["id"] for city in ("Ghent", "Bruges", "Namur")]
    third = h.get(ids[2])
    assert len(third["conflicts"]) == 2
    for conflict in list(third["conflicts"]):
        h.resolve(conflict, keep=ids[2])
    h.drain()
    assert [h.get(item)["status"] for item in ids] == ["superseded", "superseded", "active"]
    assert h.contents("where do I live") == ["I live in Namur"]
    assert h.audit()["ok"]


@pytest.mark.parametrize("policy", ["ask", "latest"])
def test_a_memory_that_contradicts_many_opens_all_their_conflicts_in_small_transactions(
    tmp_path: Path, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with house(tmp_path, conflict_policy="ask") as h:
        cities = ("Ghent", "Bruges", "Namur", "Liege", "Mons", "Leuven")
        old = [h.write(f"I live in {city}")["id"] for city in cities]
        h.app.services.conflict_policy = policy  # type: ignore[assignment]
        sizes: list[int] = []
        store = h.app.services.store
        transact = store.transact

        def counted(partition: str, work: Any, **more: Any) -> Any:
            def counting(uow: UnitOfWork) -> Any:
                seen: set[keys.Key] = set()
                put = uow.put

                def noted(key: keys.Key, *rest: Any, **options: Any) -> None:
                    seen.add(key)
                    put(key, *rest, **options)

                monkeypatch.setattr(
                    type(uow), "put", lambda _, key, *rest, **options: noted(key, *rest, **options)
                )
                try:
                    return work(uow)
                finally:
                    monkeypatch.undo()
                    sizes.append(len(seen))

            return transact(partition, counting, **more)

        h.app.services.store = _Counting(store, counted)  # type: ignore[assignment]
        new = h.write("I live in Antwerp")
        h.app.services.store = store
        assert max(sizes) < 100
        if policy == "ask":
            assert len(h.get(new["id"])["conflicts"]) == len(old)
        assert h.audit()["ok"]


class _Counting:
    def __init__(self, store: MemoryStore, transact: Any) -> None:
        self._store, self.transact = store, transact

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)
