"""Active forgetting: what a memory is still worth, which memories are never touched, and what is told of it. Pure.

A memory's value is a weighted product of six parts, each 0-1 (the weighted product model of multi-criteria decisions:
Miller and Starr, "Executive Decisions and Operations Research", 1969):

    value = importance^.5 · confidence^.2 · use^.4 · outcomes^.2 · age^.1 · own^.2

A product, because it follows the rational analysis of memory (Anderson and Schooler, "Reflections of the Environment in
Memory", 1991; in ACT-R pG - C): a trace is worth the chance that it is needed times what it gains when it is, so that
nothing makes up for a factor of nought.

``use``: the odds of being needed, ACT-R's base-level learning (Anderson et al., "An Integrated Theory of the Mind",
2004): with t the days since each known use (written, recalled, used, confirmed), A = Σ t^-.5 and use = A / (A + 30^-.5),
so that what was used once, thirty days ago, has even odds. ``age``: halves every 90 days, the exponential recency of
"Generative Agents" (Park et al., 2023), here a small part beside use. ``outcomes``: the mean of a beta distribution
(Laplace's rule of succession) over the outcomes of the decisions that rested on it. ``own``: what no other memory says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rearview.domain.memory import Memory

WEIGHTS: Final[Mapping[str, float]] = {
    "importance": 0.5,
    "confidence": 0.2,
    "use": 0.4,
    "outcomes": 0.2,
    "age": 0.1,
    "own": 0.2,
}
#: A memory at least this certain is never forgotten without being asked, whatever a policy says.
CERTAIN: Final = 0.7
#: Importance from which a person who gives it calls a memory important.
IMPORTANT: Final = 0.8
#: Days after which something used once is as likely needed as not, and in which ``age`` halves.
EVEN_DAYS: Final = 30.0
HALF_DAYS: Final = 90.0
#: The least that ``own`` becomes: a cover is never perfect.
OWN_FLOOR: Final = 0.05
#: Statuses of which a memory may be forgotten.
_FORGETTABLE: Final = frozenset({"active", "tentative"})
_KEPT_KINDS: Final = {
    "instruction": "it is an instruction",
    "correction": "it is a correction",
}


@dataclass(frozen=True, slots=True)
class Value:
    """What a memory is worth, 0-1, and the parts that it was made from, each 0-1."""

    total: float
    parts: Mapping[str, float]


def stated(importance: float | None) -> bool:
    """Whether an importance that a person gives calls the memory important."""
    return importance is not None and importance >= IMPORTANT


def value(memory: Memory, now: datetime, *, covered: float = 0.0, good: int = 0, bad: int = 0) -> Value:
    """The value of a memory at ``now``.

    ``covered``: how far a more valuable memory of the same user says the same, 0-1. ``good``, ``bad``: outcomes of
    decisions that rested on it.
    """
    bad = max(bad, memory.failures_in_a_row)
    parts = {
        "importance": memory.importance,
        "confidence": memory.confidence,
        "use": _use(memory, now),
        "outcomes": (good + 1) / (good + bad + 2),
        "age": 0.5 ** (_days(memory.created_at, now) / HALF_DAYS),
        "own": max(OWN_FLOOR, 1.0 - covered),
    }
    return total_of(parts)


def total_of(parts: Mapping[str, float]) -> Value:
    """The value of parts that are known already."""
    total = 1.0
    for name, weight in WEIGHTS.items():
        total *= math.pow(min(1.0, max(0.0, parts[name])), weight)
    return Value(total, dict(parts))


def at_least(bare: Value) -> float:
    """What would be left of the value of a memory that nothing covers if another one covered it wholly."""
    return bare.total * math.pow(OWN_FLOOR, WEIGHTS["own"])


def last_used(memory: Memory) -> datetime:
    """The last of its known uses, its writing included."""
    return max(_uses(memory))


def protected(memory: Memory) -> str | None:
    """Why a memory is never forgotten without being asked; None: it may be.

    What the user confirmed, corrected or called important stays so whatever outcomes did to it since.
    """
    if memory.confirmations > 0:
        return "it was confirmed"
    if memory.corrected:
        return "the user corrected it"
    if memory.importance_stated:
        return "the user called it important"
    if memory.confidence >= CERTAIN:
        return f"its confidence is {memory.confidence:.2f}"
    if memory.kind in _KEPT_KINDS:
        return _KEPT_KINDS[memory.kind]
    if memory.memory_type in ("trace", "working"):
        return f"it is of the layer {memory.memory_type}"
    if memory.conflicts or memory.status == "disputed":
        return "it is in an open conflict"
    if memory.evidence:
        return "other memories were joined into it"
    if memory.status == "quarantined":
        return "it is in quarantine"
    return None


def stands(memory: Memory) -> bool:
    """Whether there is something to forget: it is there, and in nobody else's hands. Archived for failures counts."""
    failed = memory.status == "archived" and memory.archived_because == "blame"
    return memory.status in _FORGETTABLE or failed


def candidate(memory: Memory, max_confidence: float, now: datetime) -> bool:
    """Whether a memory may be proposed: settled, standing, uncertain and not protected."""
    return (
        not memory.pending
        and not memory.expired(now)
        and stands(memory)
        and memory.confidence < max_confidence
        and protected(memory) is None
    )


def reason(found: Value, memory: Memory, now: datetime, covered_by: str | None = None) -> str:
    """The value in words, without a word of the memory's content."""
    parts = found.parts
    told = [
        f"importance {parts['importance']:.2f}",
        f"confidence {parts['confidence']:.2f}",
        f"unused for {_days(last_used(memory), now):.0f} days",
    ]
    if parts["outcomes"] < 0.5:
        told.append("decisions that rested on it went badly")
    if covered_by is not None:
        told.append(f"{1 - parts['own']:.0%} of it is said by {covered_by}")
    return f"worth {found.total:.2f}: {', '.join(told)}"


def _uses(memory: Memory) -> list[datetime]:
    known = (memory.created_at, memory.last_recalled_at, memory.last_used_at, memory.last_confirmed_at)
    return [moment for moment in known if moment is not None]


def _use(memory: Memory, now: datetime) -> float:
    # Under a day all is fresh: without a floor a use at this moment would weigh without bound.
    activation = sum(math.pow(max(1.0, _days(moment, now)), -0.5) for moment in _uses(memory))
    return activation / (activation + math.pow(EVEN_DAYS, -0.5))


def _days(since: datetime, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds() / 86_400)
