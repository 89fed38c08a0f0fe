"""An OpenSearch node on loopback that answers by a script, and what it is asked and answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from rearview.adapters.aws.opensearch import OpenSearchIndex
from rearview.adapters.aws.opensearch_client import make_client
from rearview.adapters.aws.opensearch_mapping import Options
from rearview.ports import IndexDocument, IndexQuery

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
    """A monotonic clock that moves when told; seconds."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def scripted() -> Iterator[ScriptedNode]:
    """A scripted node until the end of the block."""
    node = ScriptedNode()
    try:
        yield node
    finally:
        node.close()


@contextmanager
def index_at(node: ScriptedNode, time: Time) -> Iterator[OpenSearchIndex]:
    """The index at that node, by that time."""
    client = make_client(node.url)
    try:
        yield OpenSearchIndex(
            client, "model-a", Options(alias="memories", search_seconds=5.0), monotonic=time
        )
    finally:
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


def items(*results: dict[str, Any]) -> Reply:
    return 200, {"items": [{"index": result} for result in results]}


def bulk_bodies(node: ScriptedNode) -> list[str]:
    return [body for line, body in node.requests if line.startswith("POST /_bulk")]
