"""Nearness: which of a user's episodes may be like another one at all, told in bulk before any text is read closely."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rearview.domain.consolidation import Pair
from rearview.domain.tokens import tokenise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
    Flags = NDArray[np.bool_]

#: Rows of cosines that are computed at once.
BLOCK: Final = 512
#: Buckets that terms are counted in; two terms in one bucket only let more through.
_BUCKETS: Final = 2048
#: Share of the shorter text's terms that the other one must hold, by how many it has: linear in between.
_SIZES, _SHARES = (10.0, 60.0), (0.3, 0.75)
#: And the share of the longer one's: no like is four times as long in other words.
_LEAST = 0.2
#: Share of the shorter text's terms from which on two are near whatever their vectors say.
_SAME = 0.5


def stacked(found: Sequence[Matrix]) -> Matrix:
    """One row a text (n, dims): the mean of its chunks, L2-normalised."""
    import numpy as np

    vectors = np.stack([np.asarray(rows, np.float32).mean(axis=0) for rows in found])
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    normalised: Matrix = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return normalised


def spread(vectors: Matrix) -> tuple[float, float]:
    """Mean and deviation of cosines between unrelated texts, where the model's were not measured: median and MAD (as a
    deviation, × 1.4826) of this user's own, most of which have nothing to do with each other."""
    import numpy as np

    some = vectors[:400]
    cosines = (some @ some.T)[np.triu_indices(len(some), 1)]
    if len(cosines) < 100:
        return 0.5, 0.05
    middle = float(np.median(cosines))
    return middle, max(0.02, 1.4826 * float(np.median(np.abs(cosines - middle))))


def bags(texts: Sequence[str]) -> Matrix:
    """Which terms each text holds (n, buckets), 0 or 1."""
    import numpy as np

    found: Matrix = np.zeros((len(texts), _BUCKETS), np.float32)
    for row, text in zip(found, texts, strict=True):
        for term in set(tokenise(text)):
            row[int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest()) % _BUCKETS] = 1.0
    return found


def close(vectors: Matrix, floor: float, words: Matrix) -> Flags:
    """Which rows have another one that is near, and shares many of its words."""
    import numpy as np

    found = np.zeros(len(vectors), bool)
    for start in range(0, len(vectors), BLOCK):
        some = slice(start, start + BLOCK)
        both = _near(vectors[some], vectors, floor, words[some], words) & _share(words[some], words)
        both[np.arange(len(both)), start + np.arange(len(both))] = False
        found[some] = both.any(axis=1)
    return found


def touching(words: Matrix, others: Matrix) -> Flags:
    """Which rows share many words with one of ``others``."""
    found: Flags = _share(words, others).any(axis=1)
    return found


def _share(some: Matrix, others: Matrix) -> Flags:
    import numpy as np

    ours, theirs = some.sum(axis=1)[:, None], others.sum(axis=1)[None, :]
    shorter, longer = np.minimum(ours, theirs), np.maximum(ours, theirs)
    shared = some @ others.T
    enough: Flags = (shared >= np.interp(shorter, _SIZES, _SHARES) * shorter) & (shared >= _LEAST * longer)
    return enough


def _near(some: Matrix, vectors: Matrix, floor: float, words: Matrix, all_words: Matrix) -> Flags:
    """Near by the vectors, or by so many of the same words that the vectors can only differ by the day and the speaker,
    which they hold as well."""
    import numpy as np

    shorter = np.minimum(words.sum(axis=1)[:, None], all_words.sum(axis=1)[None, :])
    near: Flags = (some @ vectors.T >= floor) | (words @ all_words.T >= _SAME * shorter)
    return near


def pairs(vectors: Matrix, words: Matrix, ids: Sequence[str], floor: float) -> Iterator[Pair]:
    """All pairs of rows that are near, once each, with their cosines."""
    for start in range(0, len(ids), BLOCK):
        some = slice(start, start + BLOCK)
        cosines = vectors[some] @ vectors.T
        near = _near(vectors[some], vectors, floor, words[some], words)
        for i, row in enumerate(near, start):
            for j in row.nonzero()[0]:
                if j > i:
                    yield ids[i], ids[int(j)], float(cosines[i - start, j])
