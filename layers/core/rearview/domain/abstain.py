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
from rearview.domain.language import cjk_share

# The share of the query's telling terms that one hit must hold, if its meaning alone does not convince.
_ENOUGH_WORDS: Final = 0.5
# How many standard deviations above the cosine of unrelated texts a meaning convinces. An embedder of unknown
# noise is judged by its candidates, most of which are unrelated, less the best few, which may be answers.
_OUTSTANDING: Final = 2.6
# Across languages cosines are lower for right answers, too.
_OUTSTANDING_ACROSS: Final = 2.0
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
    query: str = "",
) -> tuple[bool, str | None]:
    """Whether no hit is good enough, and the reason as a snake_case code.

    ``noise``: mean and standard deviation of this embedder's cosines between unrelated texts, measured for
    that model and never carried over to another. ``best_coverage``: the greatest `coverage` among the first
    hits; when None, any keyword match counts as enough. ``query`` tells questions across languages.
    """
    if not ranked:
        return True, "nothing_stored"
    if _words_convince(candidates, best_coverage) or _meaning_convinces(candidates, noise, query):
        return False, None
    return True, "nothing_stands_out"


def _words_convince(candidates: Sequence[Candidate], best_coverage: float | None) -> bool:
    if any(item.pending and item.coverage >= _ENOUGH_WORDS for item in candidates):
        return True
    if best_coverage is not None:
        return best_coverage >= _ENOUGH_WORDS
    return any(item.keyword is not None and item.keyword > 0 for item in candidates)


def _meaning_convinces(
    candidates: Sequence[Candidate], noise: tuple[float, float] | None, query: str
) -> bool:
    known = [item for item in candidates if item.vector is not None and math.isfinite(item.vector)]
    if not known:
        return False
    cosines = sorted(item.vector for item in known if item.vector is not None)
    if noise is None:
        if len(cosines) < _ENOUGH_CANDIDATES:
            return False
        others = cosines[:-_LIKELY_ANSWERS]
        mean = math.fsum(others) / len(others)
        noise = mean, math.sqrt(math.fsum((value - mean) ** 2 for value in others) / len(others))
    asked = cjk_share(query) if query else None
    return any((item.vector or 0.0) > noise[0] + _bar(item, asked) * noise[1] for item in known)


def _bar(item: Candidate, asked: float | None) -> float:
    across = asked is not None and item.cjk_share is not None and abs(asked - item.cjk_share) > 0.5
    return _OUTSTANDING_ACROSS if across else _OUTSTANDING
