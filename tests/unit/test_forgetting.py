"""What a memory is worth, and which ones forgetting never touches."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.forgetting import (
    at_least,
    candidate,
    last_used,
    protected,
    reason,
    stands,
    stated,
    total_of,
    value,
)
from rearview.domain.memory import Memory
from rearview.domain.scope import Scope

BORN = datetime(2026, 1, 5, tzinfo=UTC)


def memory(**more: Any) -> Memory:
    """Something in passing that an agent noted, a while ago."""
    fields: dict[str, Any] = {
        "id": "01JWB5A8ZK3V9Q6M2T4X7C1D0E",
        "scope": Scope("default", "mira"),
        "content": "She once asked about the ferry.",
        "summary": "She once asked about the ferry.",
        "memory_type": "long_term",
        "kind": "event",
        "importance": 0.3,
        "confidence": 0.5,
        "origin": "agent",
        "status": "active",
        "version": 1,
        "seq": 1,
        "created_at": BORN,
        "updated_at": BORN,
        "valid_from": BORN,
        "created_by": "local",
        "updated_by": "local",
        "content_hash": "",
        "enrichment": "done",
    }
    return Memory(**{**fields, **more})


def worth(days: float, covered: float = 0.0, good: int = 0, bad: int = 0, **more: Any) -> float:
    return value(memory(**more), BORN + timedelta(days=days), covered=covered, good=good, bad=bad).total


def test_what_is_used_once_in_passing_falls_below_the_usual_bound_in_a_season() -> None:
    assert worth(1) > worth(30) > 0.25 > worth(180)


def test_an_ordinary_fact_stays_above_it_for_a_year_unless_another_says_the_same() -> None:
    fact: dict[str, Any] = {"importance": 0.7, "confidence": 0.65, "kind": "fact"}
    assert worth(365, **fact) > 0.25 > worth(365, covered=0.95, **fact)


def test_a_use_of_any_kind_makes_it_worth_more() -> None:
    lately = BORN + timedelta(days=170)
    for field in ("last_recalled_at", "last_used_at", "last_confirmed_at"):
        used: dict[str, Any] = {field: lately}
        assert worth(180, **used) > worth(180)
        assert last_used(memory(**used)) == lately


def test_used_once_thirty_days_ago_it_is_as_likely_needed_as_not() -> None:
    assert value(memory(), BORN + timedelta(days=30)).parts["use"] == pytest.approx(0.5)


def test_good_outcomes_raise_and_failures_lower_the_value() -> None:
    assert worth(60, good=3) > worth(60) > worth(60, bad=1) > worth(60, bad=3)
    assert worth(60, failures_in_a_row=2) == worth(60, bad=2)


def test_a_factor_of_nought_is_made_up_for_by_nothing() -> None:
    assert worth(0, importance=0.0, confidence=1.0) == 0.0


def test_a_memory_from_a_day_to_come_counts_as_new() -> None:
    assert worth(-5) == worth(0)


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 4000),
    st.floats(0, 1),
    st.integers(0, 50),
    st.integers(0, 50),
)
def test_value_and_parts_lie_between_nought_and_one(
    importance: float, confidence: float, days: float, covered: float, good: int, bad: int
) -> None:
    one = memory(importance=importance, confidence=confidence)
    found = value(one, BORN + timedelta(days=days), covered=covered, good=good, bad=bad)
    assert 0 <= found.total <= 1
    assert all(0 <= part <= 1 for part in found.parts.values())
    assert total_of(found.parts) == found
    bare = value(one, BORN + timedelta(days=days), good=good, bad=bad)
    assert at_least(bare) - 1e-12 <= found.total <= bare.total + 1e-12


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 1))
def test_more_cover_never_makes_it_worth_more(less: float, more: float, importance: float) -> None:
    low, high = sorted((less, more))
    assert worth(50, covered=high, importance=importance) <= worth(50, covered=low, importance=importance)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"confirmations": 1}, "confirmed"),
        ({"corrected": True}, "corrected"),
        ({"importance_stated": True}, "important"),
        # Outcomes may have taken from it since; the user's word stands.
        ({"importance_stated": True, "importance": 0.2}, "important"),
        ({"confidence": 0.7}, "confidence"),
        ({"kind": "instruction"}, "instruction"),
        ({"kind": "correction"}, "correction"),
        ({"memory_type": "trace"}, "trace"),
        ({"memory_type": "working"}, "working"),
        ({"status": "disputed", "conflicts": ("01JWB5A8ZK3V9Q6M2T4X7C1D0F",)}, "conflict"),
        ({"status": "quarantined"}, "quarantine"),
        ({"evidence": ("01JWB5A8ZK3V9Q6M2T4X7C1D0F",)}, "joined"),
    ],
)
def test_what_is_protected_says_why(fields: dict[str, Any], word: str) -> None:
    one = memory(**fields)
    assert word in (protected(one) or "")
    assert not candidate(one, 0.7, BORN)


def test_the_rest_may_be_proposed_once_it_is_settled_and_as_long_as_it_stands() -> None:
    one = memory()
    assert protected(one) is None
    assert candidate(one, 0.7, BORN)
    assert not candidate(one, 0.5, BORN), "only what is less certain than the policy says"
    for fields in (
        {"enrichment": "pending"},
        {"status": "superseded"},
        {"status": "deleted"},
        {"expires_at": BORN},
    ):
        assert not candidate(replace(one, **fields), 0.7, BORN)


def test_what_failures_archived_may_go_and_what_went_cold_is_left_where_it_is() -> None:
    assert stands(memory(status="archived", archived_because="blame"))
    assert not stands(memory(status="archived", archived_because="cold"))


def test_a_person_calls_important_what_they_give_four_fifths() -> None:
    assert stated(0.8)
    assert not stated(0.79)
    assert not stated(None)


def test_the_reason_tells_figures_and_no_content() -> None:
    one = memory(content="她问过一次渡轮", summary="她问过一次渡轮")
    now = BORN + timedelta(days=200)
    found = value(one, now, covered=0.9, bad=2)
    told = reason(found, one, now, "01JWB5A8ZK3V9Q6M2T4X7C1D0F")
    assert told == (
        f"worth {found.total:.2f}: importance 0.30, confidence 0.50, unused for 200 days, "
        "decisions that rested on it went badly, 90% of it is said by 01JWB5A8ZK3V9Q6M2T4X7C1D0F"
    )
