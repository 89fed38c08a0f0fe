"""Proposals to forget: what is proposed, when, with which value; and what a language model has to say."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from rearview.errors import Unavailable
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


# --- proposals ---


def test_what_was_noted_in_passing_and_never_used_is_proposed_with_its_value_and_why(h: House) -> None:
    ferry, umbrella = passing(h, FERRY), passing(h, UMBRELLA)
    kept = h.write("I am allergic to peanuts.", kind="fact")["id"]
    h.clock.advance(days=200)
    result = run(h)
    (report,) = reports(h)
    assert (report["kind"], report["user_id"], report["ok"]) == ("forgetting", "u", True)
    assert states(report) == {ferry: "proposed", umbrella: "proposed"}
    assert kept not in states(report)
    one = finding(report, ferry)
    assert one["value"] < 0.25
    assert set(one["parts"]) == {"importance", "confidence", "use", "outcomes", "age", "own"}
    assert "unused for 200 days" in one["detail"]
    assert "ferry" not in str(report), "a report holds no content"
    assert result.counts == {"proposed": 2}
    assert result.changes[0].undo == f"POST /v1/audits/{report['id']}/oppose"


def test_a_week_has_one_report_and_a_second_run_changes_nothing(h: House) -> None:
    passing(h, FERRY)
    h.clock.advance(days=200)
    run(h)
    before = everything(h)
    again = run(h)
    assert again.counts == {}
    assert everything(h) == before


def test_where_there_is_nothing_to_propose_there_is_no_report(h: House) -> None:
    h.write("I am allergic to peanuts.", kind="fact")
    h.clock.advance(days=200)
    assert run(h).counts == {}
    assert reports(h) == []


def test_a_dry_run_tells_and_writes_nothing(h: House) -> None:
    ferry = passing(h, FERRY)
    before = everything(h)
    result = run(h, as_of=h.clock.at + timedelta(days=200), dry_run=True)
    assert [change.refs for change in result.changes] == [(ferry,)]
    assert everything(h) == before


def test_what_is_proposed_and_undecided_is_not_proposed_again(
    h: House, proposed: tuple[str, str, str]
) -> None:
    h.clock.advance(days=7)
    third = passing(h, "他提过一次码头的灯塔。", importance=0.05)
    run(h)
    newest, oldest = reports(h)
    assert oldest["id"] == proposed[0]
    assert list(states(newest)) == [third]


def test_what_was_opposed_rests_for_ninety_days(h: House, proposed: tuple[str, str, str]) -> None:
    audit, ferry, umbrella = proposed
    decide(h, "oppose", audit)
    for _ in range(12):
        h.clock.advance(days=7)
        run(h)
    assert len(reports(h)) == 1
    h.clock.advance(days=7)
    run(h)
    assert set(states(reports(h)[0])) == {ferry, umbrella}
    assert len(reports(h)) == 2


def test_the_policy_off_proposes_nothing(h: House) -> None:
    policy(h, mode="off")
    passing(h, FERRY)
    h.clock.advance(days=200)
    assert run(h).counts == {}
    assert reports(h) == []


def test_a_use_keeps_a_memory_from_being_proposed(h: House) -> None:
    ferry = passing(h, FERRY, importance=0.4)
    h.clock.advance(days=170)
    assert h.recall("ferry island").hits[0].id == ferry
    h.app.touches.flush()
    h.clock.advance(days=3)
    run(h)
    assert reports(h) == []


def test_what_a_more_valuable_memory_says_too_is_worth_less(h: House) -> None:
    one = passing(h, "The harbour ferry leaves from the north pier", importance=0.4, admission="verbatim")
    passing(h, "The harbour ferry leaves from the north pier", importance=0.7, admission="verbatim")
    other = passing(h, "Der Bus 42 fährt sonntags nicht", importance=0.4, admission="verbatim")
    h.clock.advance(days=60)
    run(h)
    (report,) = reports(h)
    assert list(states(report)) == [one]
    assert "is said by" in finding(report, one)["detail"]
    assert other not in states(report)


def test_the_same_words_about_another_number_are_no_cover(h: House) -> None:
    passing(h, "The invoice A-4711 was paid late", importance=0.4, admission="verbatim")
    passing(h, "The invoice A-4712 was paid late", importance=0.7, admission="verbatim")
    h.clock.advance(days=60)
    run(h)
    assert reports(h) == []


def test_failures_count_and_outcomes_that_were_taken_back_do_not(h: House) -> None:
    ferry = passing(h, FERRY, importance=0.4)
    decided = h.decide("how to get there", "take the ferry", memory_ids=[ferry])
    outcomes = [h.outcome(decided["id"], "failure")["id"] for _ in range(2)]
    h.drain()
    h.clock.advance(days=60)
    would = run(h, dry_run=True)
    assert "went badly" in would.changes[0].reason
    for outcome in outcomes:
        h.app.tracer.revert(h.principal, outcome)
    h.drain()
    assert run(h).counts == {}


# --- a second opinion ---


class Model:
    """Would keep whatever its text names; or is away."""

    def __init__(self, keeps: str = "", error: Exception | None = None, answer: Any = None) -> None:
        self.keeps, self.error, self.answer = keeps, error, answer
        self.prompts: list[str] = []

    def complete(self, prompt: str, schema: Mapping[str, Any], *, max_tokens: int = 512) -> Mapping[str, Any]:
        self.prompts.append(prompt)
        if self.error is not None:
            raise self.error
        if self.answer is not None:
            return {"opinions": self.answer}
        lines: Sequence[Any] = json.loads(prompt[prompt.index("\n\n") :])
        return {
            "opinions": [
                {"number": item["number"], "opinion": "keep" if self.keeps in item["text"] else "forget"}
                for item in lines
            ]
        }


def test_a_model_that_would_keep_a_memory_takes_it_out_of_auto_and_leaves_it_to_people(h: House) -> None:
    h.app.services.language_model = Model("雨伞")
    policy(h, mode="auto")
    ferry, umbrella = passing(h, FERRY), passing(h, UMBRELLA)
    h.clock.advance(days=200)
    run(h)
    (report,) = reports(h)
    assert [finding(report, item)["opinion"] for item in (ferry, umbrella)] == ["forget", "keep"]
    assert states(report) == {ferry: "proposed", umbrella: "proposed"}, "it decides nothing by itself"
    h.clock.advance(days=8)
    run(h)
    assert [h.get(item)["status"] for item in (ferry, umbrella)] == ["deleted", "active"]
    assert finding(decide(h, "approve", report["id"]), umbrella)["state"] == "done"


@pytest.mark.parametrize(
    "model",
    [
        Model(error=Unavailable("away")),
        Model(answer="nonsense"),
        Model(
            answer=[{"number": 99, "opinion": "keep"}, {"number": True, "opinion": "keep"}, 7, {"number": 0}]
        ),
    ],
)
def test_a_model_that_fails_or_talks_nonsense_changes_nothing(h: House, model: Model) -> None:
    h.app.services.language_model = model
    ferry = passing(h, FERRY)
    h.clock.advance(days=200)
    assert run(h).counts == {"proposed": 1}
    assert finding(reports(h)[0], ferry)["opinion"] is None
