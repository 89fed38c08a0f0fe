"""Okapi BM25 over tokenised documents, in pure Python: the measured floor, and recall of past states.

Formula and constants are those of Lucene's ``BM25Similarity`` (k1 1.2, b 0.75,
idf = ln(1 + (N − n + 0.5) / (n + 0.5)), no (k1 + 1) in the numerator since Lucene 8), after
Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

K1: Final = 1.2
B: Final = 0.75


class Bm25:
    """An inverted index over ``docs``, each a sequence of terms from `tokens.tokenise`."""

    def __init__(self, docs: Sequence[Sequence[str]], *, k1: float = K1, b: float = B) -> None:
        self._count = len(docs)
        self._postings: dict[str, list[tuple[int, float]]] = {}
        average = sum(map(len, docs)) / self._count if self._count else 0.0
        for number, doc in enumerate(docs):
            # A corpus of empty documents has average 0; it has no postings either.
            norm = k1 * (1 - b + b * len(doc) / average) if average else k1
            for term, frequency in Counter(doc).items():
                self._postings.setdefault(term, []).append((number, frequency / (frequency + norm)))

    def __len__(self) -> int:
        return self._count

    def idf(self, term: str) -> float:
        """Inverse document frequency of ``term``; above 0 also for a term of every document."""
        found = len(self._postings.get(term, ()))
        return math.log1p((self._count - found + 0.5) / (found + 0.5))

    def scores(self, query_terms: Sequence[str]) -> list[float]:
        """One raw score per document, in their order; 0.0 where no term occurs. Repeated terms count once."""
        totals = [0.0] * self._count
        for term in dict.fromkeys(query_terms):
            postings = self._postings.get(term)
            if postings is None:
                continue
            weight = self.idf(term)
            for number, share in postings:
                totals[number] += weight * share
        return totals
