"""A clock that is set, and an embedder that embeds each text once: what a year in minutes needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from rearview.ports import Embedder

if TYPE_CHECKING:
    from rearview.ports import Vectors

_TICK = timedelta(microseconds=1)


class YearClock:
    """Stands where it was set; each look moves it by a microsecond, as a real one would."""

    def __init__(self, at: datetime) -> None:
        self.at = at
        self._lock = Lock()

    def now(self) -> datetime:
        """Aware UTC."""
        with self._lock:
            self.at += _TICK
            return self.at

    def set(self, at: datetime) -> None:
        """Moves it on (or back)."""
        with self._lock:
            self.at = at


class CachedEmbedder:
    """An embedder that remembers every text it was given, for all runs of one process."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._passages: dict[str, Vectors] = {}
        self._queries: dict[str, Vectors] = {}

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def fingerprint(self) -> str:
        return self._inner.fingerprint

    @property
    def dims(self) -> int:
        return self._inner.dims

    @property
    def max_weight(self) -> int:
        return self._inner.max_weight

    @property
    def noise(self) -> tuple[float, float] | None:
        return self._inner.noise

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """(n, dims), those seen before from memory."""
        return _through(self._passages, texts, self._inner.embed_passages)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """(n, dims), those seen before from memory."""
        return _through(self._queries, texts, self._inner.embed_queries)


def _through(
    held: dict[str, Vectors], texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors]
) -> Vectors:
    fresh = list(dict.fromkeys(text for text in texts if text not in held))
    if fresh:
        held.update(zip(fresh, embed(fresh), strict=True))
    return np.stack([held[text] for text in texts])
