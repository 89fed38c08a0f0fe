"""A deterministic embedder without a model: signed feature hashing of the service's own tokens.

For unit tests and deployed tests, where vectors must be the same everywhere and cost nothing. Texts that
share words are near each other; that is all it understands. After Weinberger et al., "Feature Hashing for
Large Scale Multitask Learning" (2009).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rearview.domain.chunks import TEXT_FORM
from rearview.domain.tokens import tokenise

Vectors = NDArray[np.float32]

DIMS: Final = 256


class HashingEmbedder:
    """Embeds texts as L2-normalised rows of 256 float32 numbers; queries and passages alike."""

    name: str = "hashing-256"
    dims: int = DIMS
    max_weight: int = 4_096
    # Unrelated texts of a sentence or two meet in a bucket now and then.
    noise: tuple[float, float] = (0.0, 0.09)

    @property
    def fingerprint(self) -> str:
        """Names everything vectors depend on: equal fingerprints may be compared, others may not."""
        return f"{self.name}/blake2b/{DIMS}/{TEXT_FORM}"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One row per text: shape (len(texts), 256)."""
        return self._embed(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """One row per text: shape (len(texts), 256)."""
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        vectors: Vectors = np.zeros((len(texts), DIMS), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for token in tokenise(text):
                digest = hashlib.blake2b(token.encode(), digest_size=3).digest()
                row[int.from_bytes(digest[:2]) % DIMS] += 1.0 if digest[2] & 1 else -1.0
            norm = float(np.linalg.norm(row))
            if norm > 0:
                np.divide(row, norm, out=row)
            else:  # no token, or tokens that cancel out: engines refuse a zero vector
                row[0] = 1.0
        return vectors
