"""The index over OpenSearch when the node is away, slow, busy, or takes only a part: against a scripted node on loopback."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from botocore.credentials import Credentials

from rearview.adapters.aws.opensearch import OpenSearchIndex
from rearview.adapters.aws.opensearch_client import make_client
from rearview.adapters.aws.opensearch_mapping import Options
from rearview.errors import Unavailable
from rearview.ports import IndexDocument, IndexQuery
from tests.house import house

NOW = datetime(2026, 5, 1, tzinfo=UTC)
Reply = tuple[int, Any]
READY = {
    "memories-1": {
        "aliases": {"memories": {}, "memories-1-w": {}},
        "mappings": {"_meta": {"generation": 1, "model": "model-a", "dims": 2}},
    }
}
GONE = {"status": 404, "error": {"type": "index_not_found_exception"}}


class ScriptedNode:
    """Answers ``VERB /path`` by the longest known beginning of it; a list is used up reply by reply, its last stays."""

    def __init__(self) -> None:
        self.script: dict[str, list[Reply]] = {"GET /memories,": [(200, READY)]}
        self.requests: list[tuple[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.held = threading.Event()
        self.hold = False
        node = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                line = f"{self.command} {self.path}"
                node.requests.append((line, body))
                node.headers.append({name.lower(): value for name, value in self.headers.items()})
                if node.hold:
                    node.held.wait(10)
                status, reply = node.reply(line)
                data = json.dumps(reply).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def reply(self, line: str) -> Reply:
        for beginning in sorted(self.script, key=len, reverse=True):
            if line.startswith(beginning):
                replies = self.script[beginning]
                return replies.pop(0) if len(replies) > 1 else replies[0]
        return 500, {"error": {"type": "unscripted"}}

    def count(self, part: str) -> int:
        return sum(part in line for line, _ in self.requests)

    def close(self) -> None:
        self.held.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def node() -> Iterator[ScriptedNode]:
    scripted = ScriptedNode()
    yield scripted
    scripted.close()


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def index(node: ScriptedNode, time: Time) -> Iterator[OpenSearchIndex]:
    client = make_client(node.url)
    yield OpenSearchIndex(client, "model-a", Options(alias="memories", search_seconds=5.0), monotonic=time)
    client.close()


def query(**fields: Any) -> IndexQuery:
    values: dict[str, Any] = {
        "partitions": ["anna"],
        "namespaces": [],
        "record": "memory",
        "limit": 10,
        "now": NOW,
        "vector": np.array([1, 0], np.float32),
        "terms": ["tea"],
    }
    return IndexQuery(**{**values, **fields})


def document(number: int, **fields: Any) -> IndexDocument:
    values: dict[str, Any] = {
        "id": f"id-{number}",
        "partition": "anna",
        "namespace": "shop",
        "record": "memory",
        "version": 1,
        "text": "a private text",
        "terms": ["private"],
        "vectors": np.array([[1, 0]], np.float32),
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


def hit(number: int, score: float, chunks: int = 1) -> dict[str, Any]:
    return {
        "_score": score,
        "fields": {"id": [f"id-{number}"], "partition": ["anna"], "chunk_count": [chunks]},
    }


def hits(*found: dict[str, Any]) -> dict[str, Any]:
    return {"timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": list(found)}}


FAILED = {"error": {"type": "search_phase_execution_exception"}, "status": 500}


def script_search(node: ScriptedNode, *rounds: list[dict[str, Any]]) -> None:
    node.script["POST /_msearch"] = [(200, {"responses": responses}) for responses in rounds]


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


# --- away, slow, busy


def test_a_node_that_is_away_is_not_asked_again_for_a_while_then_by_one(
    node: ScriptedNode, index: OpenSearchIndex, time: Time
) -> None:
    node.script["GET /memories,"] = [(503, {}), (503, {}), (200, READY)]
    with pytest.raises(Unavailable):
        index.fingerprint()
    asked = len(node.requests)
    assert asked == 2
    for act in (index.fingerprint, lambda: index.search(query()), lambda: index.upsert([document(1)])):
        with pytest.raises(Unavailable, match="a moment ago"):
            act()
    assert len(node.requests) == asked
    time.now += 5.1
    assert index.fingerprint() == "model-a"
    assert index.fingerprint() == "model-a"


def test_while_one_tries_whether_the_node_is_back_the_others_go_on_without(
    node: ScriptedNode, index: OpenSearchIndex, time: Time, until: Callable[..., None]
) -> None:
    node.script["GET /memories,"] = [(503, {}), (503, {}), (200, READY)]
    with pytest.raises(Unavailable):
        index.fingerprint()
    time.now += 5.1
    node.hold = True
    found: list[str | None] = []
    trying = threading.Thread(target=lambda: found.append(index.fingerprint()))
    trying.start()
    until(lambda: len(node.requests) == 3)
    with pytest.raises(Unavailable, match="a moment ago"):
        index.search(query())
    node.held.set()
    trying.join()
    assert found == ["model-a"]


def test_nobody_listening_is_unavailable(time: Time) -> None:
    scripted = ScriptedNode()
    scripted.close()
    client = make_client(scripted.url)
    index = OpenSearchIndex(client, "model-a", Options(alias="memories"), monotonic=time)
    for act in (
        lambda: index.search(query()),
        lambda: index.upsert([document(1)]),
        lambda: index.delete(["1"]),
    ):
        time.now += 60
        with pytest.raises(Unavailable, match="cannot be reached"):
            act()
    assert index.warm_up() is False
    client.close()


def test_a_slow_node_costs_no_more_than_the_patience_of_two_tries(node: ScriptedNode, time: Time) -> None:
    client = make_client(node.url)
    index = OpenSearchIndex(client, "model-a", Options(alias="memories", search_seconds=0.1), monotonic=time)
    node.hold = True
    with pytest.raises(Unavailable, match="ConnectionTimeout"):
        index.search(query())
    assert len(node.requests) == 2
    client.close()


def test_a_busy_node_is_asked_again_at_once(node: ScriptedNode, index: OpenSearchIndex) -> None:
    node.script["GET /memories,"] = [(429, {}), (429, {}), (200, READY)]
    with pytest.raises(Unavailable, match="429"):
        index.fingerprint()
    assert index.fingerprint() == "model-a"


@pytest.mark.parametrize("status", [401, 403])
def test_a_node_that_refuses_the_service_says_where_to_look(
    node: ScriptedNode, index: OpenSearchIndex, status: int
) -> None:
    node.script["GET /memories,"] = [(status, {"error": "no"})]
    with pytest.raises(Unavailable, match="access policy"):
        index.fingerprint()


def test_warming_up_opens_the_way_and_never_raises(node: ScriptedNode, index: OpenSearchIndex) -> None:
    node.script["POST /memories/_search"] = [(200, {"hits": {"hits": []}})]
    assert index.warm_up() is True
    node.script["GET /memories,"] = [(500, {})]
    assert index.warm_up() is False


def test_recall_and_precedents_go_on_from_the_store_and_writes_wait_for_the_index(
    tmp_path: Path, time: Time
) -> None:
    scripted = ScriptedNode()
    scripted.close()
    client = make_client(scripted.url)
    with house(tmp_path) as h:
        before = h.app.services.index
        h.app.services.index = OpenSearchIndex(client, h.app.services.embedder.fingerprint, monotonic=time)
        h.write("The depot key hangs in 仓库", admission="force", wait=False)
        h.decide("a pallet arrived wet", "photograph it")
        h.drain()
        for query in ("depot key", "仓库"):
            answer = h.recall(query)
            assert [hit.summary for hit in answer.hits] == ["The depot key hangs in 仓库"]
            assert {"vector", "keyword"} <= set(answer.degraded)
        assert len(h.precedents("a pallet arrived wet")["precedents"]) == 1
        h.app.services.index = before
        h.drain()
        assert h.recall("depot key").degraded == []
    client.close()


# --- bulk requests, item by item


def items(*results: dict[str, Any]) -> Reply:
    return 200, {"items": [{"index": result} for result in results]}


def bulk_bodies(node: ScriptedNode) -> list[str]:
    return [body for line, body in node.requests if line.startswith("POST /_bulk")]


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


# --- who asks, and what is told


def test_nothing_of_a_request_gets_into_the_logs(
    node: ScriptedNode, index: OpenSearchIndex, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    node.script["POST /_bulk"] = [(400, {"error": {"type": "x"}})]
    with pytest.raises(Unavailable) as caught:
        index.upsert([document(1)])
    assert "private" in bulk_bodies(node)[0]
    assert "private" not in caplog.text + str(caught.value)


def test_requests_are_signed_for_the_service_and_region(node: ScriptedNode) -> None:
    credentials = Credentials("AKIDEXAMPLE", "secret", "session-token")
    client = make_client(node.url, auth="sigv4", credentials=credentials, region="eu-west-1", service="aoss")
    OpenSearchIndex(client, "model-a", Options(alias="memories")).fingerprint()
    authorization = node.headers[-1]["authorization"]
    assert authorization.startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/eu-west-1/aoss/aws4_request" in authorization
    assert node.headers[-1]["x-amz-security-token"] == "session-token"
    client.close()


def test_basic_authentication_wants_both_halves(node: ScriptedNode) -> None:
    client = make_client(node.url, auth="basic", username="anna", password="geheim")
    OpenSearchIndex(client, "model-a", Options(alias="memories")).fingerprint()
    assert node.headers[-1]["authorization"] == "Basic YW5uYTpnZWhlaW0="
    client.close()
    with pytest.raises(ValueError, match="password"):
        make_client(node.url, auth="basic", username="anna")
