"""The ranker: candidates of all arms in, scored hits out. One for every back end (design, section 7)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from rearview.domain.abstain import coverage, should_abstain
from rearview.domain.candidate import Candidate, Ranked
from rearview.domain.language import cjk_share
from rearview.domain.profiles import Profile
from rearview.domain.tokens import tokenise

__all__ = ["Candidate", "Ranked", "coverage", "rank", "should_abstain"]

# What the agent inferred weighs 0.7 of what the user said.
ORIGIN_FACTORS: Final[Mapping[str, float]] = MappingProxyType({"agent": 0.7})
# Kept but ranked down; the states past "active" come only to those who ask for them.
STATUS_FACTORS: Final[Mapping[str, float]] = MappingProxyType(
    {"tentative": 0.7, "superseded": 0.8, "merged": 0.8}
)
CONFLICT_FACTOR: Final = 0.95

# Words of another language cannot match: what means the same there counts as if this share of it did.
CROSS_LANGUAGE_FACTOR: Final = 0.6
# How far two CJK shares must lie apart to be two languages.
_OTHER_LANGUAGE: Final = 0.5


def rank(
    candidates: Sequence[Candidate], *, profile: Profile, now: datetime, query: str = ""
) -> list[Ranked]:
    """Score ``candidates`` for one query by ``profile``; best first, of equals the greater id first.

    ``now`` is what ages run to: the clock, or ``known_at``. Vector and keyword scores are min-max
    normalised over the candidates; a constant becomes 1, or 0 where nothing is above zero (ADR 0011); a missing keyword
    score is 0.
    """
    scored = [item for item in candidates if not item.pending]
    context = _Context(
        profile=profile,
        now=now,
        vector=_min_max([_finite(item.vector) for item in scored], missing=None),
        keyword=_min_max([_finite(item.keyword) for item in scored], missing=0.0),
        has_vectors=any(item.pending or _finite(item.vector) is not None for item in candidates),
        named=_named_speakers(candidates, query),
        query_share=cjk_share(query) if query else None,
    )
    ranked = [_score(item, context) for item in candidates]
    ranked.sort(key=lambda hit: hit.id, reverse=True)
    ranked.sort(key=lambda hit: hit.score, reverse=True)
    return ranked


@dataclass(frozen=True, slots=True)
class _Context:
    """What all candidates of one query have in common."""

    profile: Profile
    now: datetime
    vector: Callable[[float | None], float]
    keyword: Callable[[float | None], float]
    has_vectors: bool
    named: frozenset[str]
    query_share: float | None

    def other_language(self, item: Candidate) -> bool:
        if self.query_share is None or item.cjk_share is None:
            return False
        return abs(self.query_share - item.cjk_share) > _OTHER_LANGUAGE


def _score(item: Candidate, context: _Context) -> Ranked:
    profile = context.profile
    parts = _parts(item, context)
    factors = {
        "origin_factor": ORIGIN_FACTORS.get(item.origin, 1.0),
        "status_factor": STATUS_FACTORS.get(item.status, 1.0),
        "conflict_factor": CONFLICT_FACTOR if item.in_conflict else 1.0,
    }
    # A signal that this query does not have must not lower every score: its weight goes to the others.
    present = {"vector": context.has_vectors, "speaker": bool(context.named)}
    weights = {part: value for part, value in profile.weights.items() if present.get(part, True)}
    total = sum(weights.values())
    base = sum(value * parts[part] for part, value in weights.items()) / total if total else 0.0
    if profile.form == "experience":
        base *= parts["recency"] * parts["importance"]
    score = _unit(base * math.prod(factors.values()))
    raw = {"raw_vector": _finite(item.vector), "raw_keyword": _finite(item.keyword)}
    known = {name: value for name, value in raw.items() if value is not None}
    return Ranked(item.id, score, parts | known | factors)


def _parts(item: Candidate, context: _Context) -> dict[str, float]:
    age_hours = _age_hours(item, context.now)
    if item.pending:
        vector = keyword = _unit(item.coverage)
    else:
        vector, keyword = context.vector(_finite(item.vector)), context.keyword(_finite(item.keyword))
    if context.other_language(item):
        keyword = max(keyword, CROSS_LANGUAGE_FACTOR * vector)
    return {
        "vector": vector,
        "keyword": keyword,
        "recency": math.exp(-context.profile.decay * age_hours),
        "importance": _unit(item.importance),
        "confidence": _unit(item.confidence),
        "time": 1.0 / (1.0 + age_hours / 24.0),
        "speaker": float(item.speaker is not None and item.speaker in context.named),
    }


def _min_max(values: Sequence[float | None], *, missing: float | None) -> Callable[[float | None], float]:
    """The min-max normalisation over ``values``, in which None counts as ``missing`` or not at all.

    None itself is normalised to 0. A constant becomes 1. Where nothing is above zero nothing fits, and all becomes 0: what
    a hash happens to put at zero beside something below it must not get full marks, and leave what has no vector yet
    and is found by its words alone behind it.
    """
    known = [value for value in values if value is not None]
    if not known:
        return lambda _: 0.0
    if missing is not None and len(known) < len(values):
        known.append(missing)
    low, high = min(known), max(known)
    if high <= 0:
        return lambda _: 0.0
    spread = high - low
    if spread <= 0:
        return lambda value: 0.0 if value is None else 1.0
    return lambda value: 0.0 if value is None else (value - low) / spread


def _named_speakers(candidates: Sequence[Candidate], query: str) -> frozenset[str]:
    """The speakers whom ``query`` names; none when it names all of them, which tells nothing.

    A name of several words counts as named by any of its words; one in Chinese by its characters in order.
    """
    speakers = {item.speaker for item in candidates if item.speaker}
    if not speakers or not query:
        return frozenset()
    folded = query.casefold()
    terms = set(tokenise(query))
    named = frozenset(
        speaker
        for speaker in speakers
        if (
            speaker.casefold() in folded if cjk_share(speaker) else not terms.isdisjoint(_name_terms(speaker))
        )
    )
    return named if len(named) < len(speakers) else frozenset()


def _name_terms(speaker: str) -> set[str]:
    return {term for term in tokenise(speaker) if len(term) > 1 and not term.isdigit()}


def _age_hours(item: Candidate, now: datetime) -> float:
    since = max(item.valid_from, item.last_confirmed_at or item.valid_from)
    return max(0.0, (now - since).total_seconds() / 3600.0)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0
