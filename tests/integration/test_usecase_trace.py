"""Decisions, outcomes, precedents, blame and replay; sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rearview.domain import keys
from rearview.domain.principal import Principal
from rearview.domain.scope import Scope
from rearview.errors import InvalidInput, NotFound
from rearview.ports import UnitOfWork
from tests.house import House, house


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


@pytest.mark.parametrize(
    ("context", "again", "other"),
    [
        (
            "Customer asks for a refund after 40 days",
            "A customer asks for a refund after 45 days",
            "Deploy failed",
        ),
        ("顾客四十天后要求退款", "有顾客四十五天后要求退款", "部署失败了"),
    ],
)
def test_precedents_tell_what_was_done_in_such_a_case_and_whether_it_worked(
    h: House, context: str, again: str, other: str
) -> None:
    for result in ("success", "success", "failure"):
        h.outcome(h.decide(context, "voucher")["id"], result)
    h.outcome(h.decide(context, " refuse ")["id"], "failure")
    h.outcome(h.decide(other, "roll back")["id"], "success")
    answer = h.precedents(again)
    by_action = {item["action"]: item for item in answer["actions"]}
    assert set(by_action) == {"voucher", "refuse"}
    assert (by_action["voucher"]["cases"], by_action["refuse"]["cases"]) == (3, 1)
    assert by_action["voucher"]["rate"] == pytest.approx(2 / 3, abs=0.01)
    assert "refuse" in answer["warning"]
    assert answer["precedents"][0]["decision"]["action"] == "voucher"
    assert not answer["abstained"]


def test_precedents_abstain_when_nothing_like_it_was_decided(h: House) -> None:
    h.decide("Deploy failed", "roll back")
    answer = h.precedents("Which wine goes with fish?")
    assert answer["abstained"]
    assert answer["precedents"] == []


def test_a_decision_just_acknowledged_counts_and_another_users_does_not(h: House) -> None:
    h.decide("Deploy failed on staging", "roll back")
    h.decide("Deploy failed on staging", "retry", user="v")
    assert [item["action"] for item in h.precedents("Deploy failed on staging")["actions"]] == ["roll back"]


def test_a_decision_rests_on_what_was_recalled_and_replay_shows_it_as_it_was(h: House) -> None:
    memory = h.write("The refund period is 30 days")
    recalled = h.recall("refund period")
    decision = h.decide("Refund after 40 days?", "refuse", recall_id=recalled.recall_id)
    assert decision["memory_ids"] == [memory["id"]]
    h.patch(memory["id"], content="The refund period is 60 days")
    replay = h.app.replayer.replay(h.principal, decision["id"])
    assert replay["memories"][0]["then"]["content"] == "The refund period is 30 days"
    assert replay["memories"][0]["changed"] is True
    assert replay["memories"][0]["now"]["version"] == 2


def test_a_forged_recall_id_an_unknown_memory_and_a_foreign_parent_are_refused(h: House) -> None:
    h.write("The refund period is 30 days")
    token = h.recall("refund").recall_id
    with pytest.raises(InvalidInput, match="recall_id"):
        h.decide("x", "y", recall_id=token[:-6] + "AAAAAA")
    with pytest.raises(InvalidInput, match=r"memory_ids\[0\]"):
        h.decide("x", "y", memory_ids=["01ARZ3NDEKTSV4RRFFQ69G5FAV"])
    parent = h.decide("x", "y", user="v")["id"]
    with pytest.raises(InvalidInput, match="parent_id"):
        h.decide("x", "y", parent_id=parent)


def test_a_decision_rests_on_no_other_users_memories_but_on_lessons(h: House) -> None:
    secret = h.write("My phone number is 555-0100", user="bo")["id"]
    lesson = h.write("Call before ten", user="bo", audience="namespace", admission="force")["id"]
    with pytest.raises(InvalidInput, match="recall_id"):
        h.decide("Call back?", "ring", user="ann", recall_id=h.recall("phone number", user="bo").recall_id)
    with pytest.raises(InvalidInput, match=r"memory_ids\[1\]"):
        h.decide("Call back?", "ring", user="ann", memory_ids=[lesson, secret])
    assert h.decide("Call back?", "ring", user="ann", memory_ids=[lesson])["memory_ids"] == [lesson]
    recalled = h.recall("call before ten", user="ann").recall_id
    assert h.decide("Call back?", "ring", user="ann", recall_id=recalled)["memory_ids"] == [lesson]


def test_a_decision_that_names_another_users_memories_does_not_show_them(h: House) -> None:
    lesson = h.write("My phone number is 555-0100", user="bo", audience="namespace")["id"]
    of_bo = h.recall("phone number", user="bo").recall_id
    decision = h.decide("Call back?", "ring", user="ann", memory_ids=[lesson], recall_id=of_bo)["id"]
    assert [item.id for item in h.decision(decision).memories or []] == [lesson]
    at = keys.memory(Scope("default", "bo").partition, lesson)

    def keep(uow: UnitOfWork) -> None:
        # As an earlier release let it be.
        uow.put(at, {**(uow.get(at) or {}), "audience": "user"})

    h.app.services.store.transact(at.partition, keep)
    assert not h.decision(decision).memories
    replay = h.app.replayer.replay(h.principal, decision)
    assert [item["then"] for item in replay["memories"]] == [None]


def test_the_chain_of_a_decision_is_its_parents_and_its_children(h: House) -> None:
    first = h.decide("Deploy failed", "roll back")
    second = h.decide("Rollback failed", "restore backup", parent_id=first["id"])
    third = h.decide("Backup restored", "post-mortem", parent_id=second["id"])
    assert [item.id for item in h.decision(second["id"]).chain] == [first["id"], third["id"]]


def test_a_failure_lowers_importance_three_in_a_row_archive_and_a_revert_takes_it_back(h: House) -> None:
    memory = h.write("Restarting the pod fixes it", importance=0.8, admission="force")
    decision = h.decide("Pod hangs", "restart", memory_ids=[memory["id"]])
    outcomes = [h.outcome(decision["id"], "failure") for _ in range(3)]
    archived = h.get(memory["id"])
    assert (archived["status"], archived["archived_because"]) == ("archived", "blame")
    assert archived["importance"] < 0.8 * 0.86
    h.drain()
    assert h.recall("restarting the pod").hits == []
    for outcome in reversed(outcomes):
        h.app.tracer.revert(h.principal, outcome["id"])
    restored = h.get(memory["id"])
    assert restored["status"] == "active"
    assert restored["importance"] == pytest.approx(0.8)
    assert h.audit()["ok"]


def test_a_success_in_between_starts_the_count_of_failures_anew(h: House) -> None:
    memory = h.write("Restarting the pod fixes it", importance=0.5, admission="force")
    decision = h.decide("Pod hangs", "restart", memory_ids=[memory["id"]])
    for result in ("failure", "failure", "success", "failure", "failure"):
        h.outcome(decision["id"], result)
    assert h.get(memory["id"])["status"] == "active"


def test_a_reverted_outcome_no_longer_counts_for_precedents(h: House) -> None:
    decision = h.decide("Pod hangs", "restart")
    outcome = h.outcome(decision["id"], "failure")
    h.app.tracer.revert(h.principal, outcome["id"])
    assert h.precedents("Pod hangs")["actions"][0]["n"] == 0


def test_decisions_of_a_foreign_namespace_are_not_there(h: House) -> None:
    decision = h.decide("Pod hangs", "restart", namespace="blue")
    stranger = House(h.runtime, h.clock, Principal("key:9", frozenset({"red"}), default_namespace="red"))
    with pytest.raises(NotFound):
        stranger.decision(decision["id"])
    with pytest.raises(NotFound):
        stranger.outcome(decision["id"], "success")


def test_turns_leave_memories_with_their_source_and_drops_with_their_reason(h: House) -> None:
    answer = h.turns(
        [
            {"turn_id": "a", "content": "Hi there!"},
            {"turn_id": "b", "content": "I moved to Ghent in May and I am allergic to peanuts."},
            {"turn_id": "c", "role": "assistant", "content": "好的，请问还有什么可以帮您？"},
        ],
        session_id="s/1",
    )
    hi, moved, offer = answer["results"]
    assert (hi["memories"], hi["dropped"][0]["reason"]) == ([], "greeting")
    assert moved["memories"]
    assert moved["memories"][0]["memory"]["source"]["turn_id"] == "b"
    assert offer["memories"] == []
    session = h.app.sessions.get(h.principal, "s/1", "u", None)
    assert [turn["turn_id"] for turn in session["turns"]] == ["a", "b", "c"]


def test_ending_a_session_clears_working_memory_and_leaves_one_summary(h: House) -> None:
    h.turns(
        [{"content": f"Pump {n} in hall {n} was serviced by team {n}."} for n in range(12)], session_id="s"
    )
    working = h.write("currently looking at pump 3", memory_type="working", session_id="s", admission="force")
    ended = h.end("s")
    assert ended["cleared"] == 1
    assert h.get(working["id"])["status"] == "deleted"
    summaries = h.memories(kind="summary")
    assert len(summaries) == 1
    assert summaries[0]["memory_type"] == "short_term"
    assert summaries[0]["expires_at"] is not None
    assert h.end("s")["memory"]["id"] == summaries[0]["id"]


def test_working_memory_of_two_sessions_with_the_same_words_stays_apart(h: House) -> None:
    ids = {
        h.write("looking at pump 3", memory_type="working", session_id=name, admission="force")["id"]
        for name in "ab"
    }
    assert len(ids) == 2
