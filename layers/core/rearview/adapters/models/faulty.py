"""Injected faults, for drills and deployed tests: texts that hold a mark cannot be embedded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rearview.ports import Embedder

if TYPE_CHECKING:
    from rearview.ports import Vectors


class InjectedFault(Exception):
    """What the drill asked for."""


class FaultyEmbedder:
    """Another embedder that fails on passages which hold ``mark``; queries are let through."""

    def __init__(self, embedder: Embedder, mark: str) -> None:
        self._embedder, self._mark = embedder, mark

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dims(self) -> int:
        return self._embedder.dims

    @property
    def max_weight(self) -> int:
        return self._embedder.max_weight

    @property
    def noise(self) -> tuple[float, float] | None:
        return self._embedder.noise

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """As the other one does; InjectedFault if a text holds the mark."""
        if any(self._mark in text for text in texts):
            raise InjectedFault("the drill's mark is in the text")
        return self._embedder.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """As the other one does."""
        return self._embedder.embed_queries(texts)
