"""Held: a small cache of what was used last, bounded by number and by weight. Safe to share between threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Held(Generic[K, V]):
    """At most ``entries`` values that together weigh at most ``weight`` (in whatever unit :meth:`put` is given)."""

    def __init__(self, entries: int, weight: int) -> None:
        self._entries, self._weight = entries, weight
        self._held: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._sum = 0
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """The value, which counts as used now; None when it is not held."""
        with self._lock:
            found = self._held.get(key)
            if found is None:
                return None
            self._held.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V, weight: int = 1) -> None:
        """Holds a value; the longest unused ones make room. One that is heavier than everything is not held."""
        with self._lock:
            self._drop(key)
            if weight > self._weight:
                return
            self._held[key] = (value, weight)
            self._sum += weight
            while len(self._held) > self._entries or self._sum > self._weight:
                self._drop(next(iter(self._held)))

    def forget(self, key: K) -> None:
        """Holds it no longer."""
        with self._lock:
            self._drop(key)

    def clear(self) -> None:
        """Holds nothing."""
        with self._lock:
            self._held.clear()
            self._sum = 0

    def _drop(self, key: K) -> None:
        found = self._held.pop(key, None)
        if found is not None:
            self._sum -= found[1]
