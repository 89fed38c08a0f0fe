"""What is sent to OpenSearch: filters, arms, documents, the layout of an index."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rearview.adapters.aws import opensearch_documents as documents
from rearview.adapters.aws import opensearch_queries as queries
from rearview.adapters.aws.opensearch_mapping import (
    OPEN,
    Options,
    definition,
    micros,
    vector_field,
    vector_mapping,
    writing,
)
from rearview.domain.tokens import tokenise
from rearview.ports import IndexDocument, IndexQuery

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 5, 1, tzinfo=UTC)
OPTIONS = Options(alias="memories")


def query(**fields: Any) -> IndexQuery:
    values: dict[str, Any] = {
        "partitions": ["anna"],
        "namespaces": [],
        "record": "memory",
        "limit": 10,
        "now": NOW,
    }
    return IndexQuery(**{**values, **fields})


def document(number: int = 1, **fields: Any) -> IndexDocument:
    values: dict[str, Any] = {
        "id": f"{number:026d}",
        "partition": "anna",
        "namespace": "shop",
        "record": "memory",
        "version": 1,
        "text": "她喜欢乌龙茶",
        "terms": tokenise("她喜欢乌龙茶"),
        "vectors": np.array([[0.6, 0.8]], np.float32),
        "status": "active",
        "memory_type": "long_term",
        "kind": "fact",
        "origin": "user",
        "audience": "user",
        "importance": 0.6,
        "created_at": NOW,
        "valid_from": NOW,
    }
    return IndexDocument(**{**values, **fields})


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


# --- documents


def test_what_is_open_is_written_as_an_end_that_never_comes() -> None:
    (row,), _ = documents.prepare_all([document()])
    source = documents.source_of(row, row.chunks, "model")
    assert (source["valid_to"], source["expires_at"]) == (OPEN, OPEN)
    assert source["chunks"] == [{vector_field("model"): [pytest.approx(0.6), pytest.approx(0.8)]}]
    assert source["chunk_count"] == 1
    assert "agent_id" not in source


def test_vectors_lose_less_than_float32_does() -> None:
    vector = np.random.default_rng(1).normal(size=(1, 384)).astype(np.float32)
    vector /= np.linalg.norm(vector)
    (row,), _ = documents.prepare_all([document(vectors=vector)])
    assert row.chunks is not None
    assert np.abs(np.array(row.chunks) - vector).max() <= 5e-9


@pytest.mark.parametrize(
    "vectors",
    [np.empty((0, 2)), np.array([[np.inf, 0]]), np.array([1.0, 0.0]), np.array([[1.0, 0.0], [0.0, 0.0]])],
)
def test_unusable_vectors_fail_their_document(vectors: Any) -> None:
    rows, failed = documents.prepare_all([document(1, vectors=vectors), document(2)])
    assert [row.document.id for row in rows] == [document(2).id]
    assert failed == [document(1).id]


def test_of_several_writes_of_one_id_the_latest_counts_and_keeps_vectors_of_its_text() -> None:
    first, second = document(), document(version=2, vectors=None, importance=0.9)
    (row,), _ = documents.prepare_all([first, second])
    assert (row.document.version, row.dims) == (2, 2)
    (row,), _ = documents.prepare_all([second, first])
    assert (row.document.version, row.dims) == (2, None)
    (row,), _ = documents.prepare_all([first, document(version=2, vectors=None, text="别的")])
    assert (row.document.version, row.dims) == (2, None)


def test_held_vectors_serve_the_same_text_and_model_only() -> None:
    (row,), _ = documents.prepare_all([document(vectors=None)])
    held = {"text_digest": row.text_digest, "chunks": [{vector_field("a"): [1.0, 0.0]}]}
    assert documents.held_chunks(held, row, "a") == [[1.0, 0.0]]
    assert documents.held_chunks(held, row, "b") is None
    assert documents.held_chunks(held, row, None) is None
    assert documents.held_chunks({**held, "text_digest": "other"}, row, "a") is None


def test_lone_surrogates_are_replaced_and_all_other_characters_kept() -> None:
    (row,), _ = documents.prepare_all(
        [document(text="a\ud800b 🏮 \u202e", tags=["x\udfff"], session_id="s\ud834")]
    )
    operation = documents.index_operation("memories-1", row, row.chunks, "model")
    head, body = operation.lines().encode().splitlines()
    assert json.loads(head)["index"]["_index"] == writing("memories-1")
    source = json.loads(body)
    assert (source["text"], source["tags"], source["session_id"]) == (
        "a\ufffdb 🏮 \u202e",
        ["x\ufffd"],
        "s\ufffd",
    )


def test_writes_carry_external_versions_and_notes_do_not() -> None:
    (row,), _ = documents.prepare_all([document(version=7)])
    assert documents.index_operation("i", row, None, "m").header["version"] == 7
    assert documents.delete_operation("i", "1", 8).header["version_type"] == "external_gte"
    assert "version" not in documents.note_operation("i", "1").header


def test_bulk_bodies_are_cut_by_size_and_number() -> None:
    operations = [documents.unnote_operation("i", str(number)) for number in range(7)]
    cut: Callable[[int, int], list[int]] = lambda size, most: [  # noqa: E731
        len(batch) for batch, _ in documents.batches(operations, size, most)
    ]
    assert cut(10**6, 3) == [3, 3, 1]
    assert cut(1, 100) == [1] * 7
    assert cut(10**6, 100) == [7]
    (whole,) = documents.batches(operations, 10**6, 100)
    assert whole[1].count("\n") == 7
    assert list(documents.batches([], 1, 1)) == []


# --- the layout


def test_nothing_is_indexed_that_the_mapping_does_not_name() -> None:
    (row,), _ = documents.prepare_all(
        [document(agent_id="a", session_id="s", valid_to=NOW + timedelta(days=1))]
    )
    named = definition(OPTIONS)["mappings"]["properties"]
    assert set(documents.source_of(row, row.chunks, "m")) <= set(named)
    assert definition(OPTIONS)["mappings"]["dynamic"] == "strict"


def test_engine_and_space_are_stated_and_models_have_fields_of_their_own() -> None:
    (vector,) = vector_mapping("model-a", 384)["chunks"]["properties"].values()
    assert vector["method"] == {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
    assert vector_field("model-a") != vector_field("model-b")


def test_replicas_follow_the_number_of_nodes_unless_said() -> None:
    assert definition(OPTIONS)["settings"]["index"]["auto_expand_replicas"] == "0-1"
    index = definition(Options(replicas=2))["settings"]["index"]
    assert index["number_of_replicas"] == 2
    assert "auto_expand_replicas" not in index


def test_the_index_shown_in_infra_is_the_one_that_is_made() -> None:
    shown = json.loads((ROOT / "infra" / "opensearch" / "index.json").read_text())
    made = definition(Options(), meta={"generation": 1, "model": "example", "dims": 384})
    made["mappings"]["properties"] |= vector_mapping("example", 384)
    assert shown == made
