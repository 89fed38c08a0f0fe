"""What the ranker is given of a memory, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Candidate:
    """What the ranker knows of one memory.

    ``vector``: raw cosine to the query, None when there is none (no embedder, or not embedded yet).
    ``keyword``: raw BM25 of the engine, None when no query term matched. Raw scores are compared within
    one call only. ``pending``: not enriched yet; ``coverage``, the share (0..1) of query terms its text
    holds, then stands for both. ``importance`` and ``confidence`` lie in 0..1. ``cjk_share``: of the
    content (`language.cjk_share`), None when unknown.
    """

    id: str
    vector: float | None
    keyword: float | None
    valid_from: datetime
    last_confirmed_at: datetime | None = None
    importance: float = 0.5
    confidence: float = 1.0
    origin: str = "user"
    status: str = "active"
    in_conflict: bool = False
    pending: bool = False
    coverage: float = 0.0
    speaker: str | None = None
    cjk_share: float | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """A hit: ``score`` in 0..1, and ``parts``, what it was made of (parts, raw scores, factors)."""

    id: str
    score: float
    parts: dict[str, float]
