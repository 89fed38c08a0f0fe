"""The index over OpenSearch when the node answers or takes only a part: against a scripted node on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from rearview.adapters.aws.opensearch import OpenSearchIndex
from rearview.errors import Unavailable
from tests.integration.scripted_node_kit import (
    FAILED,
    GONE,
    READY,
    Reply,
    ScriptedNode,
    Time,
    bulk_bodies,
    document,
    hit,
    hits,
    index_at,
    items,
    query,
    script_search,
    scripted,
)


@pytest.fixture
def node() -> Iterator[ScriptedNode]:
    with scripted() as one:
        yield one


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def index(node: ScriptedNode, time: Time) -> Iterator[OpenSearchIndex]:
    with index_at(node, time) as one:
        yield one


# --- searches


def test_one_arm_that_fails_leaves_the_answer_of_the_other(
    node: ScriptedNode, index: OpenSearchIndex
) -> None:
    script_search(node, [FAILED, hits(hit(1, 3.0))])
    answer = index.search(query())
    assert answer.degraded == ["vector"]
    assert [(one.id, one.vector, one.keyword) for one in answer.candidates] == [("id-1", None, 3.0)]
    script_search(node, [hits(hit(2, 0.75)), FAILED])
    answer = index.search(query())
    assert answer.degraded == ["keyword"]
    assert [(one.id, one.vector, one.keyword) for one in answer.candidates] == [("id-2", 0.5, None)]


def test_only_when_no_arm_could_run_the_index_is_unavailable(
    node: ScriptedNode, index: OpenSearchIndex
) -> None:
    script_search(node, [FAILED, FAILED])
    with pytest.raises(Unavailable):
        index.search(query())


@pytest.mark.parametrize("flaw", [{"timed_out": True}, {"_shards": {"failed": 1}}])
def test_what_some_shards_found_is_used_and_called_degraded(
    node: ScriptedNode, index: OpenSearchIndex, flaw: dict[str, Any]
) -> None:
    script_search(node, [hits(hit(1, 1.0)), {**hits(hit(1, 2.0)), **flaw}])
    answer = index.search(query())
    assert answer.degraded == ["keyword"]
    assert [(one.vector, one.keyword) for one in answer.candidates] == [(1.0, 2.0)]


def test_missing_cosines_and_those_of_several_chunks_are_asked_for(
    node: ScriptedNode, index: OpenSearchIndex
) -> None:
    first = [hits(hit(1, 0.9), hit(2, 0.8, chunks=3)), hits(hit(3, 2.0), hit(4, 1.0, chunks=0))]
    script_search(node, first, [hits(hit(2, 0.85, chunks=3), hit(3, 0.5))])
    answer = index.search(query())
    assert answer.degraded == []
    assert {one.id: one.vector for one in answer.candidates} == {
        "id-1": 0.8,
        "id-2": 0.7,
        "id-3": 0.0,
        "id-4": None,
    }
    assert '["id-2", "id-3"]' in node.requests[-1][1].replace('","', '", "')


def test_without_the_second_round_the_cosines_are_called_degraded(
    node: ScriptedNode, index: OpenSearchIndex
) -> None:
    script_search(node, [hits(hit(1, 0.9)), hits(hit(3, 2.0))], [FAILED])
    answer = index.search(query())
    assert answer.degraded == ["vector"]
    assert {one.id: one.vector for one in answer.candidates} == {"id-1": 0.8, "id-3": None}


def test_an_index_that_is_not_there_yet_holds_nothing(node: ScriptedNode, index: OpenSearchIndex) -> None:
    node.script["GET /memories,"] = [(200, {})]
    script_search(node, [{"error": {"type": "index_not_found_exception"}, "status": 404}])
    answer = index.search(query())
    assert (answer.candidates, answer.degraded) == ([], [])
    assert index.fingerprint() is None


def test_a_swap_in_the_middle_of_a_search_is_survived(node: ScriptedNode, index: OpenSearchIndex) -> None:
    moved = {"error": {"type": "index_not_found_exception"}, "status": 404}
    script_search(node, [moved, moved], [hits(hit(1, 1.0)), hits(hit(1, 1.0))])
    assert [one.id for one in index.search(query()).candidates] == ["id-1"]
    script_search(node, [moved, moved])
    with pytest.raises(Unavailable):
        index.search(query())


# --- bulk requests, item by item


def test_a_document_the_engine_refuses_fails_alone(node: ScriptedNode, index: OpenSearchIndex) -> None:
    refused = {"status": 400, "error": {"type": "mapper_parsing_exception"}}
    node.script["POST /_bulk"] = [items({"status": 201}, refused, {"status": 200})]
    assert index.upsert([document(number) for number in range(3)]) == ["id-1"]
    assert "require_alias=true" in node.requests[-1][0]
    assert "refresh=true" in node.requests[-1][0]


def test_what_the_node_had_no_room_for_is_sent_again_alone(
    node: ScriptedNode, index: OpenSearchIndex
) -> None:
    busy = {"status": 429, "error": {"type": "rejected_execution_exception"}}
    node.script["POST /_bulk"] = [items({"status": 201}, busy), items({"status": 201})]
    assert index.upsert([document(1), document(2)]) == []
    first, second = bulk_bodies(node)
    assert '"id-1"' in first
    assert '"id-1"' not in second
    node.script["POST /_bulk"] = [items(busy)]
    with pytest.raises(Unavailable):
        index.upsert([document(1)])


def test_a_later_version_that_is_held_is_no_error(node: ScriptedNode, index: OpenSearchIndex) -> None:
    node.script["POST /_bulk"] = [
        items({"status": 409, "error": {"type": "version_conflict_engine_exception"}})
    ]
    node.script["POST /memories-1-w/_mget"] = [
        (200, {"docs": [{"_id": "id-1", "found": True, "_version": 9, "_source": {}}]})
    ]
    assert index.upsert([document(1)]) == []


def test_a_write_that_a_deletion_holds_off_is_to_be_tried_again(
    node: ScriptedNode, index: OpenSearchIndex
) -> None:
    node.script["POST /_bulk"] = [
        items({"status": 409, "error": {"type": "version_conflict_engine_exception"}})
    ]
    node.script["POST /memories-1-w/_mget"] = [(200, {"docs": [{"_id": "id-1", "found": False}]})]
    with pytest.raises(Unavailable, match="deleted a moment ago"):
        index.upsert([document(1)])


def test_a_write_to_an_index_that_was_swapped_away_goes_to_the_new_one(
    node: ScriptedNode, index: OpenSearchIndex
) -> None:
    after = {"memories-2": {**READY["memories-1"], "aliases": {"memories": {}, "memories-2-w": {}}}}
    node.script["GET /memories,"] = [(200, READY), (200, after)]
    node.script["POST /_bulk"] = [items(GONE), items({"status": 201})]
    assert index.upsert([document(1)]) == []
    first, second = bulk_bodies(node)
    assert "memories-1-w" in first
    assert "memories-2-w" in second


def test_a_deletion_that_a_newer_version_overtakes_is_done_again(
    node: ScriptedNode, index: OpenSearchIndex
) -> None:
    def held(version: int) -> Reply:
        return 200, {"docs": [{"_id": "id-1", "found": True, "_version": version}]}

    conflict = {"status": 409, "error": {"type": "version_conflict_engine_exception"}}
    node.script["POST /memories-1-w/_mget"] = [held(1), held(4)]
    node.script["POST /_bulk"] = [
        (200, {"items": [{"delete": conflict}]}),
        (200, {"items": [{"delete": {"status": 200}}]}),
    ]
    index.delete(["id-1"])
    assert [json.loads(body)["delete"]["version"] for body in bulk_bodies(node)] == [2, 5]
