"""What OpenSearch is asked: times, filters, arms, terms and vectors."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from index_requests_kit import NOW, OPTIONS, query

from rearview.adapters.aws import opensearch_queries as queries
from rearview.adapters.aws.opensearch_mapping import (
    OPEN,
    micros,
    vector_field,
)

# --- times


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (datetime(1970, 1, 1, tzinfo=UTC), 0),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), -1),
        (datetime(2026, 5, 1, 0, 0, 0, 1, tzinfo=UTC), 1_777_593_600_000_001),
        (datetime(1, 1, 2, tzinfo=UTC), -62_135_510_400_000_000),
        (datetime(9999, 12, 30, 23, 59, 59, 999_999, tzinfo=UTC), 253_402_214_399_999_999),
        (None, OPEN),
    ],
)
def test_times_are_exact_to_the_microsecond_in_all_years(moment: datetime | None, expected: int) -> None:
    assert micros(moment) == expected


def test_an_open_end_lies_after_every_time_and_fits_a_long() -> None:
    assert micros(datetime.max.replace(tzinfo=UTC)) < OPEN < 2**63


# --- filters


def test_every_search_is_bound_to_its_record_its_partitions_and_what_has_not_expired() -> None:
    assert queries.filters_of(query(partitions=["anna", "work", "anna"])) == {
        "bool": {
            "filter": [
                {"term": {"record": "memory"}},
                {"terms": {"partition": ["anna", "work"]}},
                {"range": {"expires_at": {"gt": micros(NOW)}}},
            ]
        }
    }


def test_shared_memories_are_asked_for_beside_the_users_own() -> None:
    (_, scope, _) = queries.filters_of(query(namespaces=["shop"]))["bool"]["filter"]
    own, lessons = scope["bool"]["should"]
    assert scope["bool"]["minimum_should_match"] == 1
    assert own == {"terms": {"partition": ["anna"]}}
    assert lessons["bool"]["filter"] == [
        {"term": {"audience": "namespace"}},
        {"terms": {"namespace": ["shop"]}},
    ]


def test_every_tag_is_a_condition_of_its_own() -> None:
    where = queries.filters_of(query(tags=["茶", "x"]))["bool"]["filter"]
    assert where[-2:] == [{"term": {"tags": "茶"}}, {"term": {"tags": "x"}}]


def test_the_filters_stand_inside_knn() -> None:
    asked = query(statuses=["active"], exclude=["7"])
    body = queries.vector_arm(asked, [1.0, 0.0], "model", OPTIONS)
    nested = body["query"]["nested"]
    assert nested["score_mode"] == "max"
    knn = nested["query"]["knn"][f"chunks.{vector_field('model')}"]
    assert knn["filter"] == queries.filters_of(asked)
    assert knn["filter"]["bool"]["must_not"] == [{"terms": {"id": ["7"]}}]


@pytest.mark.parametrize(("limit", "k", "size"), [(1, 1000, 1), (300, 1200, 300), (50_000, 10_000, 10_000)])
def test_k_is_larger_than_the_limit_and_never_above_what_the_engine_takes(
    limit: int, k: int, size: int
) -> None:
    body = queries.vector_arm(query(limit=limit), [1.0], "model", OPTIONS)
    (knn,) = body["query"]["nested"]["query"]["knn"].values()
    assert (knn["k"], body["size"]) == (k, size)


def test_exact_scores_name_the_ids_and_leave_the_engine_no_choice() -> None:
    body = queries.exact_scores(["1", "2"], [1.0], "model", OPTIONS)
    (knn,) = body["query"]["nested"]["query"]["knn"].values()
    assert knn["k"] == 10_000
    assert knn["filter"] == {"bool": {"filter": [{"terms": {"id": ["1", "2"]}}]}}


def test_the_keyword_arm_searches_the_domains_terms_only() -> None:
    body = queries.keyword_arm(query(statuses=["active"]), ["乌龙", "tea"], OPTIONS)
    assert body["query"]["bool"]["must"] == [{"match": {"terms": {"query": "乌龙 tea"}}}]
    assert {"terms": {"status": ["active"]}} in body["query"]["bool"]["filter"]


def test_equal_scores_and_times_are_broken_by_the_newer_id() -> None:
    assert queries.keyword_arm(query(), ["a"], OPTIONS)["sort"] == [{"_score": "desc"}, {"id": "desc"}]
    assert queries.recent_arm(query(recent=3), OPTIONS)["sort"] == [{"valid_from": "desc"}, {"id": "desc"}]


# --- terms and vectors of a query


def test_a_term_counts_once_and_what_no_index_can_hold_is_left_out() -> None:
    assert queries.search_terms(["tea", "tea", "", '"', "*", "x\0y", "\ud800", "a b", "🏮", "茶"]) == [
        "tea",
        "xy",
        "a",
        "b",
        "🏮",
        "茶",
    ]


def test_of_too_many_terms_single_characters_go_first() -> None:
    terms = [chr(0x4E00 + number) for number in range(200)] + [f"word{number}" for number in range(200)]
    kept = queries.search_terms(terms)
    assert len(kept) == queries.MAX_TERMS
    assert kept[:200] == terms[200:]


@pytest.mark.parametrize(
    "vector",
    [None, np.zeros(2), np.array([1.0, np.nan]), np.ones(3), np.empty((0, 2)), np.array([[1, 0], [0, 0]])],
)
def test_an_unusable_vector_is_no_question(vector: Any) -> None:
    assert queries.query_rows(vector, 2) is None


def test_a_question_may_have_several_vectors() -> None:
    assert queries.query_rows(np.array([0.5, 0.5], np.float32), 2) == [[0.5, 0.5]]
    assert queries.query_rows(np.eye(2, dtype=np.float32), 2) == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("score", "expected"), [(1.0, 1.0), (0.5, 0.0), (0.0, -1.0), (1.0000001, 1.0), (0.75, 0.5)]
)
def test_engine_scores_become_cosines(score: float, expected: float) -> None:
    assert queries.cosine(score) == expected
