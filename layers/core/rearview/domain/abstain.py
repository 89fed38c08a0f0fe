"""Whether a recall found anything good enough, or had better say that it did not.

Measured on questions put to the memories of somebody else (abstaining is right) and of their own (wrong):
the share of the query's words found and the cosine, compared with the embedder's own noise, tell them apart;
how far the best cosine stands out among the candidates does not.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Final

from rearview.domain.candidate import Candidate, Ranked

# The share of the query's telling terms that one hit must hold, if its meaning alone does not convince.
_ENOUGH_WORDS: Final = 0.5
# How many standard deviations above the cosine of unrelated texts a meaning convinces. An embedder of unknown
# noise is judged by its candidates, most of which are unrelated, less the best few, which may be answers.
_OUTSTANDING: Final = 3.2
_ENOUGH_CANDIDATES: Final = 30
_LIKELY_ANSWERS: Final = 5


def coverage(query_terms: Sequence[str], text_terms: Collection[str]) -> float:
    """The share (0..1) of ``query_terms`` (see `tokens.query_terms`) among ``text_terms``."""
    wanted = set(query_terms)
    return len(wanted.intersection(text_terms)) / len(wanted) if wanted else 0.0


def should_abstain(
    ranked: Sequence[Ranked],
    candidates: Sequence[Candidate],
    *,
    noise: tuple[float, float] | None = None,
    best_coverage: float | None = None,
) -> tuple[bool, str | None]:
    """Whether no hit is good enough, and the reason as a snake_case code.

    ``noise``: mean and standard deviation of this embedder's cosines between unrelated texts, measured for
    that model and never carried over to another. ``best_coverage``: the greatest `coverage` among the first
    hits; when None, any keyword match counts as enough.
    """
    if not ranked:
        return True, "nothing_stored"
    if _words_convince(candidates, best_coverage) or _meaning_convinces(candidates, noise):
        return False, None
    return True, "nothing_stands_out"


def _words_convince(candidates: Sequence[Candidate], best_coverage: float | None) -> bool:
    if any(item.pending and item.coverage >= _ENOUGH_WORDS for item in candidates):
        return True
    if best_coverage is not None:
        return best_coverage >= _ENOUGH_WORDS
    return any(item.keyword is not None and item.keyword > 0 for item in candidates)


def _meaning_convinces(candidates: Sequence[Candidate], noise: tuple[float, float] | None) -> bool:
    cosines = sorted(
        item.vector for item in candidates if item.vector is not None and math.isfinite(item.vector)
    )
    if not cosines:
        return False
    if noise is None:
        if len(cosines) < _ENOUGH_CANDIDATES:
            return False
        others = cosines[:-_LIKELY_ANSWERS]
        mean = math.fsum(others) / len(others)
        noise = mean, math.sqrt(math.fsum((value - mean) ** 2 for value in others) / len(others))
    return cosines[-1] > noise[0] + _OUTSTANDING * noise[1]
