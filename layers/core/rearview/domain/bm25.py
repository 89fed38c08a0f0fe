"""Okapi BM25 over tokenised documents, in pure Python: the measured floor, recall of past states, and of cold ones.

Formula and constants are those of Lucene's ``BM25Similarity`` (k1 1.2, b 0.75,
idf = ln(1 + (N − n + 0.5) / (n + 0.5)), no (k1 + 1) in the numerator since Lucene 8), after
Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Words:
    """The words of some documents, counted once and for all.

    ``lengths``: terms of each document. ``postings``: by term ``[number, frequency, number, frequency, …]`` of the
    documents that hold it.
    """

    lengths: Sequence[int]
    postings: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, docs: Iterable[Mapping[str, int]]) -> Words:
        """Of documents whose terms are counted: term → frequency."""
        lengths: list[int] = []
        postings: dict[str, list[int]] = {}
        for number, doc in enumerate(docs):
            lengths.append(sum(doc.values()))
            for term, frequency in doc.items():
                postings.setdefault(term, []).extend((number, frequency))
        return cls(lengths, postings)

    def counts(self) -> list[dict[str, int]]:
        """The documents again, as :meth:`of` takes them."""
        docs: list[dict[str, int]] = [{} for _ in self.lengths]
        for term, pairs in self.postings.items():
            for number, frequency in zip(pairs[::2], pairs[1::2], strict=True):
                docs[number][term] = frequency
        return docs


def joint_scores(
    parts: Sequence[Words], query_terms: Sequence[str], *, k1: float = K1, b: float = B
) -> list[dict[int, float]]:
    """BM25 of several collections over one base of statistics, as if they were one: scores compare across them.

    Answers for each part document number → raw score, only of documents that hold a query term. Repeated terms count
    once. Equals :class:`Bm25` over all documents together.
    """
    count = sum(len(part.lengths) for part in parts)
    average = sum(sum(part.lengths) for part in parts) / count if count else 0.0
    out: list[dict[int, float]] = [{} for _ in parts]
    for term in dict.fromkeys(query_terms):
        found = [part.postings.get(term, ()) for part in parts]
        holders = sum(len(pairs) for pairs in found) // 2
        if not holders:
            continue
        weight = math.log1p((count - holders + 0.5) / (holders + 0.5))
        for part, pairs, scores in zip(parts, found, out, strict=True):
            for at in range(0, len(pairs), 2):
                number, frequency = pairs[at], pairs[at + 1]
                norm = k1 * (1 - b + b * part.lengths[number] / average) if average else k1
                scores[number] = scores.get(number, 0.0) + weight * frequency / (frequency + norm)
    return out
