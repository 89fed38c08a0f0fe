"""Precedents: counts by similarity and age, the outcome that counts, and when to warn."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from rearview.domain.precedents import Outcome, PastCase, Result, final_outcome, warning, weigh

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def case(
    name: str,
    action: str,
    *results: Result,
    similarity: float = 1.0,
    days: float = 0,
    score: float | None = None,
) -> PastCase:
    at = NOW - timedelta(days=days)
    outcomes: Sequence[Outcome] = [
        Outcome(result, score, at + timedelta(minutes=n)) for n, result in enumerate(results)
    ]
    return PastCase(name, action, similarity, at, outcomes)


def test_three_of_four_worked() -> None:
    cases = [case(f"d{n}", "retry", "success") for n in range(3)] + [case("d3", "retry", "failure")]
    (stats,) = weigh(cases, now=NOW)
    assert (stats.cases, stats.n, stats.successes, stats.failures) == (4, 4, 3, 1)
    assert stats.rate == pytest.approx(0.75)
    assert stats.low is not None
    assert stats.high is not None
    assert 0 < stats.low < 0.75 < stats.high < 1
    assert stats.worst_example == "d3"
    assert stats.best_example in {"d0", "d1", "d2"}


def test_a_like_situation_counts_more_than_an_unlike_one() -> None:
    cases = [case("a", "回滚", "success", similarity=0.9), case("b", "回滚", "failure", similarity=0.1)]
    (stats,) = weigh(cases, now=NOW)
    assert stats.n == pytest.approx(1.0)
    assert stats.rate == pytest.approx(0.9)


def test_a_case_one_half_life_old_counts_half() -> None:
    (stats,) = weigh([case("a", "x", "success", days=30)], now=NOW, half_life_days=30)
    assert stats.successes == pytest.approx(0.5)


def test_a_case_from_the_future_counts_once_not_more() -> None:
    (stats,) = weigh([case("a", "x", "success", days=-300)], now=NOW)
    assert stats.n == pytest.approx(1.0)


def test_the_last_outcome_that_is_known_counts() -> None:
    (stats,) = weigh([case("a", "x", "success", "failure", "unknown")], now=NOW)
    assert (stats.successes, stats.failures) == (0, 1)


def test_outcomes_are_ordered_by_their_time_not_by_their_place() -> None:
    late, early = Outcome("success", None, NOW), Outcome("failure", None, NOW - timedelta(days=1))
    assert final_outcome([late, early]) is late
    assert final_outcome([Outcome("unknown", None, NOW)]) is None


def test_a_decision_without_known_outcome_is_a_case_but_no_evidence() -> None:
    (stats,) = weigh([case("a", "x"), case("b", "x", "unknown")], now=NOW)
    assert (stats.cases, stats.n, stats.rate, stats.low, stats.high) == (2, 0, None, None, None)
    assert stats.best_example is None
    assert stats.worst_example is None


def test_a_mixed_outcome_is_counted_apart_and_read_by_its_score() -> None:
    (plain,) = weigh([case("a", "x", "mixed")], now=NOW)
    (good,) = weigh([case("a", "x", "mixed", score=0.6)], now=NOW)
    assert (plain.mixed, plain.successes, plain.failures) == (1, 0, 0)
    assert plain.rate == pytest.approx(0.5)
    assert good.rate == pytest.approx(0.8)


def test_actions_are_equal_after_composition_and_trimming() -> None:
    cases = [
        case("a", "caf\u00e9 ", "success"),
        case("b", " cafe\u0301", "failure"),
        case("c", "Café", "success"),
    ]
    assert [(stats.action, stats.cases) for stats in weigh(cases, now=NOW)] == [("Café", 1), ("café", 2)]


def test_asked_actions_come_in_their_order_also_without_cases() -> None:
    stats = weigh(
        [case("a", "retry", "success"), case("b", "other", "success")], now=NOW, actions=["wait", "retry "]
    )
    assert [(item.action, item.cases, item.rate) for item in stats] == [("wait", 0, None), ("retry", 1, 1.0)]


def test_an_action_tried_often_is_listed_before_one_tried_once() -> None:
    cases = [case("a", "lucky", "success")] + [case(f"d{n}", "steady", "success") for n in range(8)]
    assert [stats.action for stats in weigh(cases, now=NOW)] == ["steady", "lucky"]


def test_the_interval_narrows_with_cases() -> None:
    few = weigh([case("a", "x", "success")], now=NOW)[0]
    many = weigh([case(f"d{n}", "x", "success") for n in range(20)], now=NOW)[0]
    assert few.low is not None
    assert many.low is not None
    assert many.low > few.low


@pytest.mark.parametrize("similarity", [0.0, -1.0, float("nan"), 1e-300])
def test_cases_that_weigh_nothing_give_no_rate(similarity: float) -> None:
    (stats,) = weigh([case("a", "x", "failure", similarity=similarity)], now=NOW)
    assert stats.rate is None
    assert warning([stats]) is None


def test_very_old_cases_do_not_break_the_interval() -> None:
    (stats,) = weigh([case("a", "x", "failure", days=400_000)], now=NOW)
    assert stats.rate is None


def test_a_failed_action_is_warned_of_with_its_example_and_the_better_one() -> None:
    cases = [
        case("f1", "全量发布", "failure"),
        case("f2", "全量发布", "failure"),
        case("s1", "灰度发布", "success"),
    ]
    text = warning(weigh(cases, now=NOW, actions=["全量发布", "灰度发布"]))
    assert text is not None
    assert "全量发布" in text
    assert "f2" in text
    assert "“灰度发布” went better" in text


def test_what_worked_or_is_far_from_the_situation_is_not_warned_of() -> None:
    worked = weigh([case("a", "x", "success"), case("b", "x", "success"), case("c", "x", "failure")], now=NOW)
    far = weigh([case("a", "x", "failure", similarity=0.2)], now=NOW)
    assert warning(worked) is None
    assert warning(far) is None
    assert warning([]) is None
