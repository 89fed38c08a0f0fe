"""The index over OpenSearch when the node is away, slow or busy, and what it tells: against a scripted node on loopback."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from botocore.credentials import Credentials

from rearview.adapters.aws.opensearch import OpenSearchIndex
from rearview.adapters.aws.opensearch_client import make_client
from rearview.adapters.aws.opensearch_mapping import Options
from rearview.errors import Unavailable
from tests.house import house
from tests.integration.scripted_node_kit import (
    READY,
    ScriptedNode,
    Time,
    bulk_bodies,
    document,
    index_at,
    query,
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
