"""Short names for the index contract."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from rearview.domain.tokens import tokenise
from rearview.ports import IndexDocument, IndexQuery, Scored, VectorIndex

Make = Callable[..., IndexDocument]
OpenIndex = Callable[[str], VectorIndex]

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=30)


def ask(index: VectorIndex, text: str = "", vector: list[float] | None = None, **fields: Any) -> list[Scored]:
    unit = None
    if vector is not None:
        unit = np.array(vector, np.float32)
        unit /= np.linalg.norm(unit)
    values: dict[str, Any] = {
        "partitions": ["anna"],
        "namespaces": [],
        "record": "memory",
        "limit": 10,
        "now": NOW,
        "vector": unit,
        "text": text,
        "terms": tokenise(text),
    }
    answer = index.search(IndexQuery(**{**values, **fields}))
    assert answer.degraded == []
    return answer.candidates


def numbers(found: list[Scored]) -> set[int]:
    ids = [int(one.id) for one in found]
    assert len(ids) == len(set(ids))
    return set(ids)


def by_score(found: list[Scored], arm: str) -> list[int]:
    scored = [one for one in found if getattr(one, arm) is not None]
    return [int(one.id) for one in sorted(scored, key=lambda one: (getattr(one, arm), one.id), reverse=True)]
