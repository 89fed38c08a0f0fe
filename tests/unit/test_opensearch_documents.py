"""What OpenSearch is given to hold: documents, bulk bodies, the layout of an index."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from index_requests_kit import NOW, OPTIONS, document

from rearview.adapters.aws import opensearch_documents as documents
from rearview.adapters.aws.opensearch_mapping import (
    OPEN,
    Options,
    definition,
    vector_field,
    vector_mapping,
    writing,
)

ROOT = Path(__file__).resolve().parents[2]


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
