"""What every index promises."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from rearview.domain.tokens import tokenise
from rearview.errors import Conflicting, EmbedderMismatch
from rearview.ports import IndexDocument, IndexQuery, Scored, VectorIndex

Make = Callable[..., IndexDocument]
OpenIndex = Callable[[str], VectorIndex]

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=30)


def ask(index: VectorIndex, text: str = "", vector: list[float] | None = None, **fields: Any) -> list[Scored]:
    unit = None
    if vector is not None:
        unit = np.array(vector, np.float32)
        unit /= np.linalg.norm(unit)
    values: dict[str, Any] = {
        "partitions": ["anna"],
        "namespaces": [],
        "record": "memory",
        "limit": 10,
        "now": NOW,
        "vector": unit,
        "text": text,
        "terms": tokenise(text),
    }
    answer = index.search(IndexQuery(**{**values, **fields}))
    assert answer.degraded == []
    return answer.candidates


def numbers(found: list[Scored]) -> set[int]:
    ids = [int(one.id) for one in found]
    assert len(ids) == len(set(ids))
    return set(ids)


def by_score(found: list[Scored], arm: str) -> list[int]:
    scored = [one for one in found if getattr(one, arm) is not None]
    return [int(one.id) for one in sorted(scored, key=lambda one: (getattr(one, arm), one.id), reverse=True)]


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


# --- who may see what


def test_a_search_keeps_to_its_partitions(index: VectorIndex, make_document: Make) -> None:
    index.upsert(
        [
            make_document(0, "secret plan", vector=[1, 0]),
            make_document(1, "secret plan", vector=[1, 0], partition="ben"),
            make_document(2, "secret plan", vector=[1, 0], partition="anna@work", namespace="work"),
        ]
    )
    for arms in ({"text": "secret"}, {"vector": [1.0, 0.0]}, {"recent": 9}):
        assert numbers(ask(index, **arms)) == {0}  # type: ignore[arg-type]
        assert numbers(ask(index, partitions=["anna", "anna@work"], **arms)) == {0, 2}  # type: ignore[arg-type]
        assert numbers(ask(index, partitions=["nobody"], **arms)) == set()  # type: ignore[arg-type]


def test_shared_memories_come_from_any_user_of_the_namespace(index: VectorIndex, make_document: Make) -> None:
    shared = {"audience": "namespace"}
    index.upsert(
        [
            make_document(0, "lesson", vector=[1, 0], **shared),
            make_document(1, "lesson", vector=[1, 0], partition="ben", **shared),
            make_document(2, "lesson", vector=[1, 0], partition="ben"),
            make_document(3, "lesson", vector=[1, 0], partition="eve", namespace="other", **shared),
        ]
    )
    for arms in ({"text": "lesson"}, {"vector": [1.0, 0.0]}, {"recent": 9}):
        assert numbers(ask(index, namespaces=["shop"], **arms)) == {0, 1}  # type: ignore[arg-type]
        assert numbers(ask(index, namespaces=[], **arms)) == {0}  # type: ignore[arg-type]
        assert numbers(ask(index, partitions=[], namespaces=["other"], **arms)) == {3}  # type: ignore[arg-type]


def test_a_memory_that_is_shared_no_more_is_found_no_more(index: VectorIndex, make_document: Make) -> None:
    document = make_document(0, "lesson", vector=[1, 0], partition="ben", audience="namespace")
    index.upsert([document])
    assert numbers(ask(index, "lesson", vector=[1, 0], namespaces=["shop"])) == {0}
    index.upsert([replace(document, version=2, audience="user")])
    assert ask(index, "lesson", vector=[1, 0], namespaces=["shop"], recent=5) == []
    index.upsert([replace(document, version=3)])
    assert numbers(ask(index, vector=[1, 0], namespaces=["shop"])) == {0}


def test_memories_and_decisions_do_not_mix(index: VectorIndex, make_document: Make) -> None:
    index.upsert(
        [
            make_document(0, "refund", vector=[1, 0]),
            make_document(1, "refund", vector=[1, 0], record="decision"),
        ]
    )
    assert numbers(ask(index, "refund", vector=[1, 0], recent=5)) == {0}
    assert numbers(ask(index, "refund", vector=[1, 0], recent=5, record="decision")) == {1}


# --- filters


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, {0, 1, 2, 3, 4, 5}),
        ({"statuses": ["active"]}, {0, 1, 3, 4, 5}),
        ({"statuses": ["disputed", "archived"]}, {2}),
        ({"memory_types": ["short_term", "working"]}, {1, 3}),
        ({"kinds": ["event"]}, {3}),
        ({"origins": ["agent", "tool"]}, {4, 5}),
        ({"tags": ["茶"]}, {0, 1}),
        ({"tags": ['x"y', "none"]}, set()),
        ({"tags": ['x"y', "茶"]}, {1}),
        ({"tags": ["none"]}, set()),
        ({"agent_id": "bot"}, {2}),
        ({"session_id": "s/1"}, {3}),
        ({"since": at(3)}, {3, 4, 5}),
        ({"until": at(3)}, {0, 1, 2, 3}),
        ({"since": at(2), "until": at(2)}, {2}),
        ({"valid_at": at(1)}, {0, 1}),
        ({"valid_at": at(100)}, {0, 1, 2, 3, 5}),
        ({"valid_at": at(49.9)}, {0, 1, 2, 3, 4, 5}),
        ({"min_importance": 0.6}, {0, 1, 2, 3, 4}),
        ({"exclude": [f"{n:026d}" for n in (0, 5, 77)]}, {1, 2, 3, 4}),
        ({"now": at(1000)}, {0, 1, 2, 3, 4, 5}),
        ({"now": at(999)}, {0, 1, 2, 3, 4, 5, 6}),
        ({"statuses": ["active"], "since": at(1), "tags": ["茶"]}, {1}),
    ],
)
def test_every_filter_holds_in_every_arm(
    index: VectorIndex, make_document: Make, filters: dict[str, Any], expected: set[int]
) -> None:
    fields: list[dict[str, Any]] = [
        {"tags": ["茶"]},
        {"tags": ['x"y', "茶"], "memory_type": "short_term"},
        {"status": "disputed", "agent_id": "bot"},
        {"memory_type": "working", "session_id": "s/1", "kind": "event"},
        {"valid_to": at(50), "origin": "agent"},
        {"origin": "tool", "importance": 0.599},
        {"expires_at": at(1000)},
    ]
    index.upsert([make_document(n, "同样的 words", vector=[1, n], **one) for n, one in enumerate(fields)])
    assert numbers(ask(index, "words", **filters)) == expected
    assert numbers(ask(index, vector=[1, 1], **filters)) == expected
    assert numbers(ask(index, recent=20, **filters)) == expected
    assert numbers(ask(index, "同样", vector=[1, 1], recent=2, limit=3, **filters)) <= expected


def test_results_are_those_of_going_through_everything(index: VectorIndex, make_document: Make) -> None:
    draw = random.Random(8)
    documents = [
        make_document(
            number,
            f"common word{draw.randrange(20)}",
            vector=[[draw.gauss(0, 1) for _ in range(8)] for _ in range(draw.choice([1, 1, 3]))],
            partition=draw.choice(["anna", "ben"]),
            status=draw.choice(["active", "active", "archived"]),
            kind=draw.choice(["fact"] * 30 + ["event"]),
            audience=draw.choice(["user"] * 4 + ["namespace"]),
        )
        for number in range(600)
    ]
    for begin in range(0, 600, 150):
        index.upsert(documents[begin : begin + 150])
    for limit in (1, 7, 50):
        for filters in (
            {},
            {"statuses": ["active"]},
            {"kinds": ["event"]},
            {"kinds": ["event"], "statuses": ["active"]},
        ):
            query = np.array([draw.gauss(0, 1) for _ in range(8)], np.float32)
            query /= np.linalg.norm(query)
            passing = [
                (float((one.vectors @ query).max()), one.id)  # type: ignore[operator]
                for one in documents
                if (one.partition == "anna" or one.audience == "namespace")
                and one.status in filters.get("statuses", [one.status])
                and one.kind in filters.get("kinds", [one.kind])
            ]
            best = sorted(passing, reverse=True)[:limit]
            found = ask(index, vector=query.tolist(), namespaces=["shop"], limit=limit, **filters)
            assert {one.id for one in found} == {one for _, one in best}
            assert {one.id: one.vector for one in found} == {
                one: pytest.approx(score, abs=1e-5) for score, one in best
            }


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
