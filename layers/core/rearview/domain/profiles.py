"""Scoring profiles: how the parts of a hit's score are weighed. Data, not code (design, section 7)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal

PARTS: Final = ("vector", "keyword", "recency", "importance", "confidence", "time", "speaker")
DEFAULT_PROFILE: Final = "assistant"


@dataclass(frozen=True, slots=True)
class Profile:
    """Weights of the parts (each part in 0..1) and the decay of recency.

    ``form`` "sum": score = Σ weight · part. "experience": (Σ weight · part over vector and keyword)
    · recency · importance; recency and importance then carry no weight.
    ``decay`` is λ in exp(−λ · age in hours).
    """

    name: str
    weights: Mapping[str, float] = field(hash=False)
    decay: float = 0.001
    form: Literal["sum", "experience"] = "sum"


def _profile(
    name: str, decay: float = 0.001, form: Literal["sum", "experience"] = "sum", **weights: float
) -> Profile:
    return Profile(name, MappingProxyType(weights), decay, form)


PROFILES: Final[Mapping[str, Profile]] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            # Tuned on the dev sets (LoCoMo en, LifeBench zh); the others are as the design gives them.
            _profile("assistant", 0.001, vector=0.4, keyword=0.4, recency=0.05, importance=0.1, speaker=0.05),
            _profile("hindsight", 0.01, vector=0.5, recency=0.3, importance=0.2),
            _profile("episodic", vector=0.5, keyword=0.3, time=0.2),
            _profile("support", 0.01, vector=0.4, keyword=0.3, recency=0.3),
            _profile("experience", 0.05 / 24, "experience", vector=0.7, keyword=0.3),
        )
    }
)


def get_profile(name: str) -> Profile:
    """The profile called ``name``; KeyError when there is none."""
    return PROFILES[name]


def with_weights(profile: Profile, weights: Mapping[str, float]) -> Profile:
    """``profile`` with a caller's ``weights`` in place of its own, normalised to sum 1.

    The result is a sum whatever form ``profile`` had, since only a sum knows all parts; its decay stays.
    ValueError for an unknown part, a weight that is negative or not finite, or weights that sum to 0.
    """
    for part, weight in weights.items():
        if part not in PARTS:
            raise ValueError(f"unknown part {part!r}; the parts are {', '.join(PARTS)}")
        if not math.isfinite(weight) or weight < 0:
            raise ValueError(f"the weight of {part} must be a finite number of at least 0")
    largest = max(weights.values(), default=0.0)
    if largest <= 0:
        raise ValueError("at least one weight must be above 0")
    # Dividing by the largest first keeps the sum of huge weights finite.
    total = sum(weight / largest for weight in weights.values())
    normalised = {part: weight / largest / total for part, weight in weights.items()}
    return replace(profile, weights=MappingProxyType(normalised), form="sum")
