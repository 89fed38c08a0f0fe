"""What every index promises of the vectors that it gives back, for memories that leave it for the archive."""

from __future__ import annotations

import numpy as np
import pytest
from index_kit import Make, OpenIndex

from rearview.ports import VectorIndex


def test_vectors_come_back_chunk_by_chunk(index: VectorIndex, make_document: Make) -> None:
    documents = [
        make_document(0, "one chunk", vector=[3, 4, 0, 0]),
        make_document(1, "两段", vector=[[0, 0, 1, 0], [0, 1, 1, 0]]),
    ]
    index.upsert(documents)

    held = index.vectors([document.id for document in documents])

    assert held.keys() == {document.id for document in documents}
    for document in documents:
        assert held[document.id].dtype == np.float32
        np.testing.assert_allclose(held[document.id], document.vectors, atol=1e-6)


def test_what_has_no_vectors_is_missing(index: VectorIndex, make_document: Make) -> None:
    worded, unknown = make_document(0, "by its words"), make_document(1, "never written", vector=[1, 0])
    assert index.vectors([worded.id]) == {}
    index.upsert([worded, make_document(2, "other", vector=[1, 0])])

    assert index.vectors([worded.id, unknown.id]) == {}
    assert index.vectors([]) == {}


def test_a_decision_is_no_memory(index: VectorIndex, make_document: Make) -> None:
    decision = make_document(0, "where to stay", vector=[1, 0], record="decision")
    index.upsert([decision])

    assert index.vectors([decision.id]) == {}


def test_what_was_deleted_or_reworded_has_other_vectors(index: VectorIndex, make_document: Make) -> None:
    gone, reworded = make_document(0, "old", vector=[1, 0]), make_document(1, "old", vector=[1, 0])
    index.upsert([gone, reworded])
    index.delete([gone.id])
    index.upsert([make_document(1, "new", vector=[0, 1], version=2)])

    held = index.vectors([gone.id, reworded.id])

    assert held.keys() == {reworded.id}
    np.testing.assert_allclose(held[reworded.id], [[0, 1]], atol=1e-6)


def test_they_are_of_the_generation_that_answers(open_index: OpenIndex, make_document: Make) -> None:
    index = open_index("model-a")
    one = make_document(0, "text", vector=[1, 0])
    index.upsert([one])
    handle = index.begin_rebuild("model-b")
    handle.upsert([make_document(0, "text", vector=[0, 1, 0])])
    assert index.vectors([one.id])[one.id].tolist() == [pytest.approx([1, 0])]
    handle.commit()

    assert open_index("model-b").vectors([one.id])[one.id].tolist() == [pytest.approx([0, 1, 0])]
