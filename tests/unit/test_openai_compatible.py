"""The HTTP embedder against a small server on loopback: order, prefixes, retries, and answers that make no sense."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from rearview.adapters.models.openai_compatible import OpenAICompatibleEmbedder
from rearview.errors import Unavailable
from rearview.ports import Embedder


class Server(ThreadingHTTPServer):
    """Answers the queued replies in turn, then well-formed vectors [length of the text, 1]."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies: list[tuple[int, bytes]] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1/"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        self.server.headers.append(dict(self.headers))
        vectors = [{"index": n, "embedding": [float(len(text)), 1.0]} for n, text in enumerate(body["input"])]
        good = json.dumps({"data": vectors[::-1]}).encode()
        status, reply = self.server.replies.pop(0) if self.server.replies else (200, good)
        self.send_response(status)
        self.send_header("Retry-After", "2")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def connect(server: Server, **more: Any) -> OpenAICompatibleEmbedder:
    more.setdefault("pause", lambda seconds: None)
    return OpenAICompatibleEmbedder(
        server.url, "m", dims=2, query_prefix="query: ", passage_prefix="passage: ", **more
    )


def test_rows_come_in_the_order_of_the_texts_and_have_length_one(server: Server) -> None:
    embedder: Embedder = connect(server)
    rows = embedder.embed_passages(["", "ab", "abcdef"])
    assert np.all(np.diff(rows[:, 0]) > 0)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)


def test_questions_and_passages_get_their_prefixes_and_odd_characters_go(server: Server) -> None:
    embedder = connect(server, api_key="secret-key")
    embedder.embed_queries(["喝\x00茶\ud800"])
    embedder.embed_passages(["喝茶"])
    assert [body["input"] for body in server.bodies] == [["query: 喝茶"], ["passage: 喝茶"]]
    assert server.headers[0]["Authorization"] == "Bearer secret-key"
    assert "secret-key" not in embedder.fingerprint


def test_many_texts_go_in_batches_and_none_in_no_request(server: Server) -> None:
    embedder = connect(server)
    assert embedder.embed_passages(["x" * n for n in range(150)]).shape == (150, 2)
    assert [len(body["input"]) for body in server.bodies] == [64, 64, 22]
    assert embedder.embed_queries([]).shape == (0, 2)
    assert len(server.bodies) == 3


def test_a_busy_endpoint_is_asked_again_after_the_time_it_names(server: Server) -> None:
    pauses: list[float] = []
    server.replies = [(429, b""), (503, b"")]
    assert connect(server, pause=pauses.append).embed_queries(["tea"]).shape == (1, 2)
    assert pauses == [2.0, 2.0]


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        ([(500, b"")] * 3, "answered 500"),
        ([(401, b"")], "answered 401"),
        ([(200, b"<html>")], "no JSON"),
        ([(200, b"{}")], "no vectors"),
        ([(200, b'{"data": [{"index": 0, "embedding": [1, 2, 3]}]}')], "shape"),
        ([(200, b'{"data": []}')], "shape"),
        ([(200, b'{"data": [{"index": 0, "embedding": [0, 0]}]}')], "zero"),
        ([(200, b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}')], "not finite"),
        ([(200, b'{"data": [{"index": 0, "embedding": "AAAA"}]}')], "no vectors"),
    ],
)
def test_whatever_else_it_answers_is_unavailable(
    server: Server, replies: list[tuple[int, bytes]], message: str
) -> None:
    server.replies = replies
    with pytest.raises(Unavailable, match=message):
        connect(server).embed_queries(["tea"])
    assert server.replies == []


def test_an_endpoint_that_is_down_is_unavailable() -> None:
    with Server() as unstarted:
        url = unstarted.url
    embedder = OpenAICompatibleEmbedder(url, "m", dims=2, pause=lambda seconds: None)
    with pytest.raises(Unavailable, match="cannot be reached"):
        embedder.embed_queries(["tea"])


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/v1", "host/v1", ""])
def test_only_http_urls_are_taken(url: str) -> None:
    with pytest.raises(ValueError, match="http"):
        OpenAICompatibleEmbedder(url, "m", dims=2)
