"""Precedents: how an agent's earlier decisions in like situations turned out, counted per action."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

Result = Literal["success", "failure", "mixed", "unknown"]

HALF_LIFE_DAYS: Final = 90.0
# An interval of 90 %: with three or four cases a wider one would say nothing.
_Z: Final = 1.645
# What a "mixed" outcome without a score is worth between failure (0) and success (1).
_MIXED_VALUE: Final = 0.5
# Cases so old or unlike that together they weigh less than this say nothing.
_NOTHING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a decision turned out. ``score`` lies in −1…1 or is None; ``at`` is aware."""

    result: Result
    score: float | None
    at: datetime


@dataclass(frozen=True, slots=True)
class PastCase:
    """An earlier decision: what was done, and how alike (0..1, calibrated) its situation is to the one asked."""

    decision_id: str
    action: str
    similarity: float
    at: datetime
    outcomes: Sequence[Outcome] = field(default=())


@dataclass(frozen=True, slots=True)
class ActionStats:
    """One action over its cases.

    ``cases``: plain number of decisions, those without a known outcome included. ``n``, ``successes``,
    ``failures``, ``mixed``: sums of similarity × recency over those with one. ``rate``: share of success,
    mixed counted by its score, None while n is 0; ``low`` and ``high`` bound it (Wilson, 90 %).
    ``best_example`` and ``worst_example``: decision ids, None where nothing went well or badly.
    """

    action: str
    cases: int
    n: float
    successes: float
    failures: float
    mixed: float
    rate: float | None
    low: float | None
    high: float | None
    best_example: str | None
    worst_example: str | None


def same_action(action: str) -> str:
    """The form in which two actions are compared: NFC, outer blanks removed."""
    return unicodedata.normalize("NFC", action).strip()


def final_outcome(outcomes: Iterable[Outcome]) -> Outcome | None:
    """The outcome that counts: the latest that is not unknown (of equal times the one given last)."""
    known = [outcome for outcome in outcomes if outcome.result != "unknown"]
    if not known:
        return None
    latest = max(outcome.at for outcome in known)
    return [outcome for outcome in known if outcome.at == latest][-1]


def weigh(
    cases: Sequence[PastCase],
    *,
    now: datetime,
    half_life_days: float = HALF_LIFE_DAYS,
    actions: Sequence[str] | None = None,
) -> list[ActionStats]:
    """Count ``cases`` per action, each by its similarity × 0.5^(age / ``half_life_days``).

    With ``actions`` the answer has exactly those, in their order, also without any case; otherwise every
    action that occurs, the one with the best lower bound first.
    """
    groups: dict[str, list[PastCase]] = {}
    for wanted in actions or ():
        groups.setdefault(same_action(wanted), [])
    for case in cases:
        key = same_action(case.action)
        if actions is None:
            groups.setdefault(key, []).append(case)
        elif key in groups:
            groups[key].append(case)
    stats = [_stats(action, group, now, half_life_days) for action, group in groups.items()]
    if actions is None:
        stats.sort(key=lambda item: item.action)
        stats.sort(key=lambda item: (item.low or 0.0, item.n), reverse=True)
    return stats


def warning(stats: Sequence[ActionStats]) -> str | None:
    """A sentence about the actions that mostly failed in like situations, or None.

    An action is named when what is known of it weighs at least half a case and its rate is below one half.
    A single failure is worth telling too: it is worded by its plain numbers, never as a rule.
    """
    failed = [item for item in stats if item.rate is not None and item.n >= 0.5 and item.rate < 0.5]
    if not failed:
        return None
    worst = sorted(failed, key=lambda item: (item.rate or 0.0, -item.n))
    told = "; ".join(
        f"“{item.action}” went badly before: {item.failures:.1f} of {item.n:.1f} weighted outcomes failed"
        f" ({item.cases} similar {'decision' if item.cases == 1 else 'decisions'},"
        f" see {item.worst_example})"
        for item in worst[:3]
    )
    better = max(
        (item for item in stats if item.rate is not None and item.rate > 0.5 and item.n >= 0.5),
        key=lambda item: item.low or 0.0,
        default=None,
    )
    return f"{told}. “{better.action}” went better." if better else f"{told}."


def _stats(action: str, cases: Sequence[PastCase], now: datetime, half_life_days: float) -> ActionStats:
    totals = {"success": 0.0, "failure": 0.0, "mixed": 0.0}
    value_sum = 0.0
    judged: list[tuple[float, float, PastCase]] = []
    for case in cases:
        outcome = final_outcome(case.outcomes)
        if outcome is None:
            continue
        weight = _similarity(case) * _recency(case.at, now, half_life_days)
        value = _value(outcome)
        totals[outcome.result] += weight
        value_sum += weight * value
        judged.append((value, weight, case))
    n = sum(totals.values())
    rate = value_sum / n if n > _NOTHING else None
    low, high = _wilson(rate, n) if rate is not None else (None, None)
    # The clearest case first; among equally clear ones the one that weighs most, then the newest.
    best = max(judged, key=lambda item: (item[0], item[1], item[2].decision_id), default=None)
    worst = max(judged, key=lambda item: (-item[0], item[1], item[2].decision_id), default=None)
    return ActionStats(
        action=action,
        cases=len(cases),
        n=n,
        successes=totals["success"],
        failures=totals["failure"],
        mixed=totals["mixed"],
        rate=rate,
        low=low,
        high=high,
        best_example=best[2].decision_id if best and best[0] > 0.5 else None,
        worst_example=worst[2].decision_id if worst and worst[0] < 0.5 else None,
    )


def _value(outcome: Outcome) -> float:
    """What an outcome is worth, 0 (failed) to 1 (worked); only a mixed one is read from its score."""
    if outcome.result == "mixed":
        score = outcome.score
        return _MIXED_VALUE if score is None else min(1.0, max(0.0, (score + 1.0) / 2.0))
    return 1.0 if outcome.result == "success" else 0.0


def _wilson(rate: float, n: float) -> tuple[float, float]:
    """Wilson score interval of a proportion ``rate`` over ``n`` (weighted) trials. Wilson (1927)."""
    square = _Z * _Z
    centre = (rate + square / (2 * n)) / (1 + square / n)
    half = _Z / (1 + square / n) * math.sqrt(rate * (1 - rate) / n + square / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def _similarity(case: PastCase) -> float:
    return min(1.0, max(0.0, case.similarity)) if math.isfinite(case.similarity) else 0.0


def _recency(at: datetime, now: datetime, half_life_days: float) -> float:
    age_days = max(0.0, (now - at).total_seconds() / 86_400.0)
    return math.pow(0.5, age_days / half_life_days)
