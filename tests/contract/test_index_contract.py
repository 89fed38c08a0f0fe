"""What every index promises of words, of meaning and of changes."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from index_kit import Make, ask, by_score, numbers

from rearview.ports import VectorIndex

# --- words


def test_words_find_in_both_languages(index: VectorIndex, make_document: Make) -> None:
    texts = ["她搬到了杭州西湖边", "The payment service was migrated to Go", "他喜欢喝茶", "Lunch at noon"]
    assert index.upsert([make_document(number, text) for number, text in enumerate(texts)]) == []
    assert numbers(ask(index, "杭州")) == {0}
    assert numbers(ask(index, "migrating payments")) == {1}
    assert numbers(ask(index, "茶")) == {2}
    assert ask(index, "nothing of the sort 没") == []


def test_keyword_scores_are_positive_and_higher_is_better(index: VectorIndex, make_document: Make) -> None:
    index.upsert([make_document(n, f"filler text number{n}") for n in range(2, 30)])
    index.upsert(
        [make_document(0, "red bicycle"), make_document(1, "red house with a long garden behind it")]
    )
    found = ask(index, "red bicycle")
    assert by_score(found, "keyword") == [0, 1]
    assert all(one.keyword is not None and one.keyword > 0 for one in found)
    assert all(one.vector is None for one in found)


@pytest.mark.parametrize(
    "query",
    [
        'say "hi',
        "foo AND bar",
        "(python",
        "*",
        "。",
        "🏮",
        "scope : x",
        "NEAR(a b)",
        "a OR",
        "-x ^y",
        "terms:a",
        "{a b}",
        "'; DROP",
        "\\",
    ],
)
def test_a_query_is_text_never_syntax(index: VectorIndex, make_document: Make, query: str) -> None:
    index.upsert([make_document(0, "plain"), make_document(1, query + " plain")])
    ask(index, query)
    terms = [query, query + "*", '"', '""', "x\0y", "\ud800", ""]
    ask(index, query, terms=terms)
    assert numbers(ask(index, terms=[*terms, "plain"])) >= {0, 1}


def test_a_query_as_long_as_a_document_is_answered(index: VectorIndex, make_document: Make) -> None:
    text = " ".join(f"word{number}" for number in range(6000)) + "".join(chr(0x4E00 + n) for n in range(3000))
    index.upsert([make_document(0, text), make_document(1, "other")])
    assert numbers(ask(index, text)) == {0}


# --- meaning


def test_vector_scores_are_exact_cosines_of_the_best_chunk(index: VectorIndex, make_document: Make) -> None:
    index.upsert(
        [
            make_document(0, "near", vector=[1, 0.1, 0, 0]),
            make_document(1, "two chunks", vector=[[0, 0, 1, 0], [1, 1, 0, 0]]),
            make_document(2, "opposite", vector=[-1, 0, 0, 0]),
            make_document(3, "without"),
        ]
    )
    found = {int(one.id): one.vector for one in ask(index, vector=[1, 0, 0, 0])}
    assert found == {
        0: pytest.approx(1 / np.sqrt(1.01), abs=1e-5),
        1: pytest.approx(1 / np.sqrt(2), abs=1e-5),
        2: pytest.approx(-1, abs=1e-5),
    }


def test_equal_scores_go_to_the_newer(index: VectorIndex, make_document: Make) -> None:
    order = list(range(40))
    random.Random(4).shuffle(order)
    index.upsert([make_document(number, "the same words", vector=[1, 2, 3, 4]) for number in order])
    assert numbers(ask(index, vector=[1, 2, 2, 4], limit=5)) == {35, 36, 37, 38, 39}
    assert numbers(ask(index, "same words", limit=5)) == {35, 36, 37, 38, 39}
    assert numbers(ask(index, recent=5, limit=0)) == {35, 36, 37, 38, 39}


def test_the_arms_are_united_and_missing_cosines_filled_in(index: VectorIndex, make_document: Make) -> None:
    index.upsert([make_document(n, f"text{n}", vector=[1, n, 0, 0]) for n in range(10)])
    index.upsert([make_document(20, "lantern", vector=[0, 0, 0, 1]), make_document(21, "lantern")])
    found = {int(one.id): one for one in ask(index, "lantern", vector=[1, 0, 0, 0], limit=2, recent=3)}
    assert set(found) == {0, 1, 20, 21, 9}
    assert (found[0].vector, found[0].keyword) == (pytest.approx(1), None)
    assert found[20].vector == pytest.approx(0)
    assert found[20].keyword is not None
    assert found[21].vector is None
    assert found[21].keyword is not None
    assert found[9].vector == pytest.approx(1 / np.sqrt(82), abs=1e-5)
    assert found[9].keyword is None


def test_without_a_question_there_is_no_answer(index: VectorIndex, make_document: Make) -> None:
    index.upsert([make_document(0, "text", vector=[1, 0])])
    assert ask(index) == []
    assert ask(index, "text", vector=[1, 0], limit=0) == []
    assert ask(index, "text", vector=[1, 0], recent=5, partitions=[], namespaces=[]) == []


def test_unusable_vectors_fail_their_document_only(index: VectorIndex, make_document: Make) -> None:
    good = make_document(0, "good", vector=[1, 0, 0, 0])
    index.upsert([good])
    bad = [
        make_document(1, "bad one", vector=[1, 0, 0]),
        replace(make_document(2, "bad two"), vectors=np.array([[1, 0, np.nan, 0]], np.float32)),
        replace(make_document(3, "bad three"), vectors=np.empty((0, 4), np.float32)),
        make_document(4, "fine", vector=[0, 1, 0, 0]),
    ]
    assert sorted(index.upsert(bad)) == [one.id for one in bad[:3]]
    assert numbers(ask(index, vector=[1, 1, 0, 0])) == {0, 4}


# --- changes


def test_a_write_replaces_and_an_older_one_is_ignored(index: VectorIndex, make_document: Make) -> None:
    index.upsert([make_document(0, "tea in the morning", vector=[1, 0], version=2)])
    index.upsert([make_document(0, "coffee at night", vector=[0, 1], version=1)])
    assert [one.vector for one in ask(index, "tea", vector=[1, 0])] == [pytest.approx(1)]
    assert index.versions("anna") == {f"{0:026d}": 2}
    index.upsert([make_document(0, "coffee at night", vector=[0, 1], version=3, status="tentative")])
    assert [one.vector for one in ask(index, "coffee", vector=[0, 1], statuses=["tentative"])] == [
        pytest.approx(1)
    ]
    assert [one.keyword for one in ask(index, "tea", vector=[0, 1])] == [None]
    assert index.versions("anna") == {f"{0:026d}": 3}
    assert index.versions("ben") == {}


def test_a_repeated_write_changes_nothing(index: VectorIndex, make_document: Make) -> None:
    documents = [make_document(n, f"text {n}", vector=[1, n]) for n in range(5)]
    index.upsert(documents)
    before = ask(index, "text", vector=[1, 2])
    index.upsert(documents)
    after = ask(index, "text", vector=[1, 2])
    # Raw keyword scores are the engine's own: its statistics may count what was replaced until it is merged away.
    assert [replace(one, keyword=None) for one in after] == [replace(one, keyword=None) for one in before]
    assert by_score(after, "keyword") == by_score(before, "keyword")
    assert index.versions("anna") == {one.id: 1 for one in documents}


def test_fewer_chunks_leave_none_behind(index: VectorIndex, make_document: Make) -> None:
    index.upsert([make_document(0, "long", vector=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])])
    assert [one.vector for one in ask(index, vector=[0, 0, 1])] == [pytest.approx(1)]
    index.upsert([make_document(0, "short", vector=[1, 0, 0], version=2)])
    assert [one.vector for one in ask(index, vector=[0, 0, 1])] == [pytest.approx(0)]


def test_vectors_stay_with_their_text_when_only_fields_change(
    index: VectorIndex, make_document: Make
) -> None:
    index.upsert([make_document(0, "text", vector=[1, 0])])
    index.upsert([make_document(0, "text", version=2, importance=0.9)])
    assert numbers(ask(index, vector=[1, 0], min_importance=0.8)) == {0}
    index.upsert([make_document(0, "another text", version=3)])
    assert ask(index, vector=[1, 0]) == []
    assert numbers(ask(index, "another", vector=[1, 0])) == {0}


def test_what_is_deleted_is_gone(index: VectorIndex, make_document: Make) -> None:
    index.upsert([make_document(n, "text", vector=[1, n]) for n in range(4)])
    assert numbers(ask(index, vector=[1, 0])) == {0, 1, 2, 3}
    index.delete([f"{1:026d}", f"{3:026d}", "unknown"])
    index.delete([])
    assert numbers(ask(index, "text", vector=[1, 0], recent=9)) == {0, 2}
    assert set(index.versions("anna")) == {f"{0:026d}", f"{2:026d}"}


def test_many_changes_between_searches_are_followed(index: VectorIndex, make_document: Make) -> None:
    draw = random.Random(2)
    held: dict[int, list[float]] = {}
    version = 0
    for _ in range(25):
        for _ in range(draw.randrange(1, 30)):
            version += 1
            number = draw.randrange(120)
            if draw.random() < 0.3:
                index.delete([f"{number:026d}"])
                held.pop(number, None)
            else:
                held[number] = [draw.gauss(0, 1) for _ in range(4)]
                index.upsert([make_document(number, "text", vector=held[number], version=version)])
        query = np.array([draw.gauss(0, 1) for _ in range(4)])
        query /= np.linalg.norm(query)
        expected = {n: float(np.dot(query, v) / np.linalg.norm(v)) for n, v in held.items()}
        found = {int(one.id): one.vector for one in ask(index, vector=query.tolist(), limit=200)}
        assert found == {n: pytest.approx(score, abs=1e-5) for n, score in expected.items()}
