"""Proposals to forget: decided by people or carried out when nobody objects, and taken back by one call."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from rearview.domain.principal import Principal
from rearview.errors import Conflicting, Forbidden, Gone, InvalidInput, NotFound
from rearview.usecases.fields import read
from rearview.usecases.forgetting import NOBODY, Decide
from tests.house import House, house
from tests.integration.forgetting_kit import (
    FERRY,
    UMBRELLA,
    decide,
    everything,
    finding,
    passing,
    policy,
    reports,
    run,
    states,
)

NEVER = "01JWB5A8ZK3V9Q6M2T4X7C1D0E"


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


@pytest.fixture
def proposed(h: House) -> tuple[str, str, str]:
    """(audit, ferry, umbrella): two memories that are proposed to be forgotten."""
    ferry, umbrella = passing(h, FERRY), passing(h, UMBRELLA)
    h.clock.advance(days=200)
    run(h)
    (report,) = reports(h)
    return report["id"], ferry, umbrella


# --- people decide ---


def test_approval_forgets_softly_with_the_reason_and_a_second_one_changes_nothing(
    h: House, proposed: tuple[str, str, str]
) -> None:
    audit, ferry, umbrella = proposed
    report = decide(h, "approve", audit)
    assert states(report) == {ferry: "done", umbrella: "done"}
    assert report["counts"]["done"] == 2
    memory = h.get(ferry)
    assert (memory["status"], memory["deleted_by"]) == ("deleted", "local")
    assert memory["deleted_because"].startswith("forgotten: worth 0.")
    assert h.contents("ferry island") == []
    before = everything(h)
    assert decide(h, "approve", audit) == report
    assert everything(h) == before


def test_only_what_is_named_is_approved(h: House, proposed: tuple[str, str, str]) -> None:
    audit, ferry, umbrella = proposed
    assert states(decide(h, "approve", audit, ferry)) == {ferry: "done", umbrella: "proposed"}
    assert h.get(umbrella)["status"] == "active"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"confirmed": True}, "confirmed"),
        ({"content": "他问过一次去岛上的渡轮。"}, "corrected"),
        ({"importance": 0.8}, "important"),
        ({"confidence": 0.75}, "confidence"),
    ],
)
def test_what_the_user_stood_by_meanwhile_is_not_forgotten_and_the_report_says_so(
    h: House, proposed: tuple[str, str, str], change: dict[str, Any], word: str
) -> None:
    audit, ferry, umbrella = proposed
    h.patch(ferry, **change)
    report = decide(h, "approve", audit)
    assert states(report) == {ferry: "opposed", umbrella: "done"}
    assert word in finding(report, ferry)["note"]
    assert h.get(ferry)["status"] == "active"


def test_an_importance_that_is_taken_back_protects_no_longer(
    h: House, proposed: tuple[str, str, str]
) -> None:
    audit, ferry, _ = proposed
    h.patch(ferry, importance=0.9)
    h.patch(ferry, importance=0.2)
    assert finding(decide(h, "approve", audit), ferry)["state"] == "done"


def test_what_was_said_again_or_called_important_at_the_write_is_never_proposed(h: House) -> None:
    passing(h, FERRY)
    passing(h, FERRY)
    passing(h, UMBRELLA, importance=0.8, origin="user")
    agents = passing(h, "他提过一次码头的灯塔。", importance=0.8)
    h.clock.advance(days=4000)
    run(h)
    assert [list(states(report)) for report in reports(h)] == [[agents]]


def test_both_sides_of_a_conflict_that_the_user_let_stand_are_confirmed(h: House) -> None:
    one = passing(h, "My favourite colour is blue.", kind="fact")
    two = h.write("My favourite colour is red.", confidence=0.5, importance=0.3, admission="force")
    conflict = two["conflicts"][0]["id"]
    h.resolve(conflict, keep_both=True)
    assert [h.get(item)["confirmations"] for item in (one, two["id"])] == [1, 1]
    h.patch(one, confirmed=True)
    h.app.settler.undo(h.principal, conflict)
    assert [h.get(item)["confirmations"] for item in (one, two["id"])] == [1, 0]


def test_undo_restores_all_of_a_report_by_one_call(h: House, proposed: tuple[str, str, str]) -> None:
    audit, ferry, umbrella = proposed
    decide(h, "approve", audit)
    report = decide(h, "undo", audit)
    assert states(report) == {ferry: "undone", umbrella: "undone"}
    assert {h.get(item)["status"] for item in (ferry, umbrella)} == {"active"}
    before = everything(h)
    assert decide(h, "undo", audit) == report
    assert everything(h) == before
    h.drain()
    assert h.contents("ferry island")[0] == FERRY


def test_undo_leaves_alone_what_a_person_forgot_for_another_reason(
    h: House, proposed: tuple[str, str, str]
) -> None:
    audit, ferry, umbrella = proposed
    decide(h, "approve", audit)
    h.restore(ferry)
    h.delete(ferry, "wrong person")
    report = decide(h, "undo", audit)
    assert states(report) == {ferry: "moot", umbrella: "undone"}
    assert h.get(ferry)["status"] == "deleted"


def test_undo_after_the_purge_says_that_it_is_too_late(h: House, proposed: tuple[str, str, str]) -> None:
    audit, ferry, umbrella = proposed
    decide(h, "approve", audit, ferry)
    h.clock.advance(days=20)
    decide(h, "approve", audit, umbrella)
    h.clock.advance(days=11)
    h.app.sweeper.sweep()
    report = decide(h, "undo", audit)
    assert states(report) == {ferry: "done", umbrella: "undone"}
    assert "purged" in finding(report, ferry)["note"]
    with pytest.raises(Gone, match="purged"):
        decide(h, "undo", audit)
    with pytest.raises(Gone):
        decide(h, "undo", audit, ferry)


def test_undo_of_what_was_written_again_names_the_new_one(h: House, proposed: tuple[str, str, str]) -> None:
    audit, ferry, _ = proposed
    decide(h, "approve", audit)
    again = passing(h, FERRY)
    with pytest.raises(Conflicting, match=again):
        decide(h, "undo", audit, ferry)


def test_opposing_what_is_forgotten_already_is_refused_and_approval_may_follow_on_opposition(
    h: House, proposed: tuple[str, str, str]
) -> None:
    audit, ferry, umbrella = proposed
    decide(h, "oppose", audit)
    assert states(decide(h, "approve", audit)) == {ferry: "opposed", umbrella: "opposed"}
    assert states(decide(h, "approve", audit, ferry)) == {ferry: "done", umbrella: "opposed"}
    with pytest.raises(Conflicting):
        decide(h, "oppose", audit, ferry)


def test_what_was_deleted_or_merged_meanwhile_is_settled(h: House, proposed: tuple[str, str, str]) -> None:
    audit, ferry, umbrella = proposed
    h.delete(ferry)
    report = decide(h, "approve", audit)
    assert states(report) == {ferry: "moot", umbrella: "done"}
    assert h.get(ferry)["deleted_because"] == "asked"


def test_a_report_of_checks_proposes_nothing_and_a_stranger_is_no_member(
    h: House, proposed: tuple[str, str, str]
) -> None:
    with pytest.raises(Conflicting):
        decide(h, "approve", h.audit()["id"])
    with pytest.raises(InvalidInput) as refused:
        decide(h, "approve", proposed[0], NEVER)
    assert refused.value.errors[0].field == "memory_ids[0]"
    with pytest.raises(NotFound):
        decide(h, "approve", NEVER)


def test_deciding_takes_the_permissions_to_audit_and_to_write(
    h: House, proposed: tuple[str, str, str]
) -> None:
    for permissions in ({"audit", "read"}, {"write", "read"}):
        some = Principal("key:1", frozenset({"default"}), frozenset(permissions))  # type: ignore[arg-type]
        with pytest.raises(Forbidden):
            h.app.forgetter.approve(some, proposed[0], read(Decide, {}))
    foreign = Principal("key:2", frozenset({"other"}))
    with pytest.raises(NotFound):
        h.app.forgetter.undo(foreign, proposed[0], read(Decide, {}))


# --- nobody objects ---


def test_auto_carries_out_after_seven_days_unopposed(h: House) -> None:
    policy(h, mode="auto")
    ferry, umbrella = passing(h, FERRY), passing(h, UMBRELLA)
    h.clock.advance(days=200)
    run(h)
    audit = reports(h)[0]["id"]
    decide(h, "oppose", audit, umbrella)
    h.clock.advance(days=6)
    run(h)
    assert h.get(ferry)["status"] == "active"
    h.clock.advance(days=1)
    result = run(h)
    assert result.counts == {"forgotten": 1}
    assert result.changes[0].undo == f"POST /v1/audits/{audit}/undo"
    assert (h.get(ferry)["status"], h.get(ferry)["deleted_by"]) == ("deleted", NOBODY)
    assert h.get(umbrella)["status"] == "active"
    before = everything(h)
    assert run(h).counts == {}
    assert everything(h) == before
    decide(h, "undo", audit)
    assert h.get(ferry)["status"] == "active"


def test_auto_spares_what_was_confirmed_or_used_since(h: House) -> None:
    policy(h, mode="auto")
    ferry, umbrella = passing(h, FERRY), passing(h, UMBRELLA)
    h.clock.advance(days=200)
    run(h)
    h.patch(ferry, confirmed=True)
    h.drain()
    h.recall("旧雨伞", top_k=1)
    h.app.touches.flush()
    h.clock.advance(days=8)
    assert run(h).counts == {"spared": 2}
    report = reports(h)[-1]
    assert states(report) == {ferry: "opposed", umbrella: "moot"}
    assert "worth" in finding(report, umbrella)["note"]
    assert h.get(umbrella)["status"] == "active"


def test_auto_forgets_nothing_for_a_cover_that_is_gone(h: House) -> None:
    policy(h, mode="auto")
    text = "港口的渡轮从北边的码头出发"
    one = passing(h, text, importance=0.4, admission="verbatim")
    cover = passing(h, text, importance=0.75, admission="verbatim")
    h.clock.advance(days=60)
    run(h)
    assert list(states(reports(h)[0])) == [one]
    h.delete(cover)
    h.clock.advance(days=8)
    assert run(h).counts == {"spared": 1}
    assert h.get(one)["status"] == "active"


def test_a_run_as_of_some_past_day_does_not_shorten_the_days_to_object(h: House) -> None:
    policy(h, mode="auto")
    ferry = passing(h, FERRY)
    h.clock.advance(days=200)
    run(h, as_of=h.clock.at - timedelta(days=8))
    assert states(reports(h)[0]) == {ferry: "proposed"}
    run(h)
    assert h.get(ferry)["status"] == "active"
