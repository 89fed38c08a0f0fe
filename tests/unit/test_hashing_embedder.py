"""The embedder without a model: the same everywhere, never zero, near where words are shared."""

import numpy as np
import pytest

from rearview.adapters.models.hashing import HashingEmbedder
from rearview.ports import Embedder


def test_it_is_an_embedder() -> None:
    embedder: Embedder = HashingEmbedder()
    assert embedder.embed_queries(["tea"]).shape == (1, embedder.dims)
    assert embedder.fingerprint.startswith(embedder.name)


def test_equal_texts_have_equal_vectors_on_every_machine() -> None:
    vectors = HashingEmbedder().embed_passages(["green tea 绿茶", "green tea 绿茶"])
    assert np.array_equal(vectors[0], vectors[1])
    # Written down: a change here breaks the vectors that deployed tests stored.
    assert sorted(np.flatnonzero(HashingEmbedder().embed_queries(["tea"])[0])) == [241]


@pytest.mark.parametrize("text", ["", " ", "?!", "。", "\ud800", "x" * 100_000, "👍", "茶"])
def test_every_vector_has_length_one(text: str) -> None:
    vector = HashingEmbedder().embed_passages([text])[0]
    assert vector.dtype == np.float32
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)


def test_texts_that_share_words_are_nearer() -> None:
    near, far, query = HashingEmbedder().embed_passages(
        ["I drink green tea", "the server crashed", "green tea"]
    )
    assert float(query @ near) > float(query @ far)


def test_no_text_gives_no_rows() -> None:
    assert HashingEmbedder().embed_passages([]).shape == (0, 256)
