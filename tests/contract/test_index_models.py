"""What every index promises when the embedding model changes: fingerprints and rebuilds."""

from __future__ import annotations

import numpy as np
import pytest
from index_kit import NOW, Make, OpenIndex, ask, by_score, numbers

from rearview.domain.tokens import tokenise
from rearview.errors import Conflicting, EmbedderMismatch
from rearview.ports import IndexQuery, VectorIndex

# --- the embedding model


def test_the_index_knows_which_model_filled_it(open_index: OpenIndex, make_document: Make) -> None:
    index = open_index("model-a")
    assert index.fingerprint() is None
    index.upsert([make_document(0, "text")])
    assert index.fingerprint() is None
    index.upsert([make_document(1, "text", vector=[1, 0])])
    assert index.fingerprint() == "model-a"
    assert open_index("model-b").fingerprint() == "model-a"


def test_another_model_searches_by_words_only_and_may_not_add_vectors(
    open_index: OpenIndex, make_document: Make
) -> None:
    open_index("model-a").upsert([make_document(0, "green tea", vector=[1, 0])])
    other = open_index("model-b")
    vector = np.array([1, 0], np.float32)
    query = IndexQuery(["anna"], [], "memory", 10, NOW, vector=vector, terms=tokenise("tea"))
    answer = other.search(query)
    assert answer.degraded == ["vector"]
    assert [(int(one.id), one.vector) for one in answer.candidates] == [(0, None)]
    with pytest.raises(EmbedderMismatch, match="rearview reindex"):
        other.upsert([make_document(1, "black tea"), make_document(2, "tea", vector=[1, 0])])
    assert len(other.search(query).candidates) == 1
    assert other.upsert([make_document(1, "black tea")]) == []
    assert len(other.search(query).candidates) == 2


def test_a_rebuild_answers_from_the_old_until_it_commits(open_index: OpenIndex, make_document: Make) -> None:
    old, new = open_index("model-a"), open_index("model-b")
    old.upsert([make_document(n, f"text{n}", vector=[1, n]) for n in range(3)])
    rebuild = new.begin_rebuild("model-b")
    rebuild.upsert([make_document(n, f"text{n}", vector=[n, 1, 0]) for n in range(2)])
    assert {int(one.id): one.vector for one in ask(old, vector=[1, 0])}[0] == pytest.approx(1)
    assert old.fingerprint() == "model-a"
    rebuild.upsert([make_document(2, "text2", vector=[2, 1, 0])])
    rebuild.commit()
    assert new.fingerprint() == "model-b"
    assert [one.vector for one in ask(new, vector=[0, 1, 0], limit=1)] == [pytest.approx(1)]
    assert numbers(ask(new, "text1", vector=[0, 1, 0])) == {0, 1, 2}
    assert old.search(IndexQuery(["anna"], [], "memory", 9, NOW, vector=np.ones(2, np.float32))).degraded == [
        "vector"
    ]


def test_writes_during_a_rebuild_reach_what_comes_after_it(
    open_index: OpenIndex, make_document: Make
) -> None:
    old, new = open_index("model-a"), open_index("model-b")
    old.upsert([make_document(n, f"text{n}", vector=[1, n]) for n in range(4)])
    rebuild = new.begin_rebuild("model-b")
    new.upsert(
        [
            make_document(1, "written by the new", vector=[0, 0, 1], version=2),
            make_document(9, "fresh", vector=[0, 0, 1]),
        ]
    )
    old.upsert([make_document(2, "written by the old", vector=[1, 5], version=2)])
    old.delete([f"{3:026d}"])
    rebuild.upsert([make_document(n, f"text{n}", vector=[1, n, 0]) for n in range(4)])
    rebuild.commit()
    found = {int(one.id): one.vector for one in ask(new, vector=[0, 0, 1])}
    assert found == {0: pytest.approx(0), 1: pytest.approx(1), 9: pytest.approx(1)}
    assert numbers(ask(new, "written")) == {1, 2}
    assert set(new.versions("anna")) == {f"{n:026d}" for n in (0, 1, 2, 9)}


def test_a_rebuild_drops_what_the_store_has_no_more_and_takes_its_word(
    index: VectorIndex, make_document: Make
) -> None:
    index.upsert(
        [make_document(0, "stays", vector=[1, 0], version=7), make_document(1, "orphan", vector=[1, 0])]
    )
    rebuild = index.begin_rebuild("model-a")
    rebuild.upsert([make_document(0, "older", vector=[1, 0], version=3)])
    rebuild.commit()
    assert index.versions("anna") == {f"{0:026d}": 3}
    assert numbers(ask(index, "older", vector=[1, 0])) == {0}
    assert ask(index, "orphan stays") == []


def test_a_rebuild_that_is_given_up_changes_no_answer(index: VectorIndex, make_document: Make) -> None:
    index.upsert([make_document(0, "text", vector=[1, 0])])
    before = ask(index, "text", vector=[1, 0])
    rebuild = index.begin_rebuild("model-b")
    rebuild.upsert([make_document(0, "text", vector=[0, 0, 1])])
    rebuild.abort()
    rebuild.abort()
    assert ask(index, "text", vector=[1, 0]) == before
    assert index.fingerprint() == "model-a"


def test_the_next_rebuild_takes_the_place_of_an_abandoned_one(
    index: VectorIndex, make_document: Make
) -> None:
    document = make_document(0, "text", vector=[1, 0])
    index.upsert([document])
    abandoned = index.begin_rebuild("model-b")
    abandoned.upsert([make_document(0, "text", vector=[1, 0, 0])])
    rebuild = index.begin_rebuild("model-a")
    with pytest.raises(Conflicting):
        abandoned.upsert([make_document(0, "text", vector=[1, 0, 0])])
    with pytest.raises(Conflicting):
        abandoned.commit()
    abandoned.abort()
    rebuild.upsert([document])
    rebuild.commit()
    assert [one.vector for one in ask(index, vector=[1, 0])] == [pytest.approx(1)]


def test_a_text_whose_vectors_failed_in_a_rebuild_is_still_found_by_words(
    index: VectorIndex, make_document: Make
) -> None:
    index.upsert([make_document(n, f"text{n}", vector=[1, n]) for n in range(2)])
    rebuild = index.begin_rebuild("model-a")
    assert rebuild.upsert(
        [make_document(0, "text0", vector=[1, 0]), make_document(1, "text1", vector=[1, 0, 0])]
    ) == [f"{1:026d}"]
    rebuild.commit()
    assert by_score(ask(index, "text1"), "keyword")[0] == 1
    assert numbers(ask(index, vector=[1, 0])) == {0}
