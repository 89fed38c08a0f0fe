"""The Bedrock embedder in trouble: what is tried again, what waits, what is refused, and what an operator is told."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.stub import Stubber
from tests.unit.bedrock_kit import COHERE, TITAN, answer, cohere_answer, cohere_request, made, row, runtime

from rearview.adapters.aws.bedrock import BedrockEmbedder
from rearview.adapters.aws.bedrock_calls import ModelNotUsable, ModelRefused
from rearview.errors import Unavailable


@pytest.fixture
def client() -> Any:
    return runtime()


@pytest.fixture
def stub(client: Any) -> Iterator[Stubber]:
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def test_throttling_passes(client: Any, stub: Stubber) -> None:
    pauses: list[float] = []
    stub.add_client_error("invoke_model", "ThrottlingException", "Too many requests", 429)
    stub.add_client_error("invoke_model", "ModelNotReadyException", "The model is not ready", 429)
    answer(stub, COHERE, cohere_request(["a"], "search_document"), cohere_answer([row(256, 0)]))
    BedrockEmbedder(client, COHERE, dims=256, pause=pauses.append).embed_passages(["a"])
    assert len(pauses) == 2
    assert all(0 <= pause <= 5 for pause in pauses)


def test_throttling_that_does_not_pass_is_unavailable(client: Any, stub: Stubber) -> None:
    for _ in range(4):
        stub.add_client_error("invoke_model", "ThrottlingException", "Too many requests", 429)
    with pytest.raises(Unavailable) as caught:
        made(client).embed_passages(["a"])
    assert not isinstance(caught.value, ModelNotUsable)


def test_who_asks_does_not_wait_for_a_second_try(client: Any, stub: Stubber) -> None:
    stub.add_client_error("invoke_model", "ThrottlingException", "Too many requests", 429)
    with pytest.raises(Unavailable, match="ThrottlingException"):
        made(client).embed_queries(["a"])


@pytest.mark.parametrize(
    ("code", "said", "told"),
    [
        ("AccessDeniedException", "You don't have access to the model with the specified model ID.", "Model access"),
        ("AccessDeniedException", "User: arn:aws:sts::123456789012:assumed-role/w is not authorized to perform: bedrock:InvokeModel", "allow it in the role's policy"),
        ("ResourceNotFoundException", "Could not resolve the foundation model", "choose a region"),
        ("ValidationException", "The provided model identifier is invalid.", "choose a region"),
        ("ValidationException", "Invocation of model ID cohere.embed-v4:0 with on-demand throughput isn't supported. Retry with an inference profile", "inference\\s+profile"),
        ("ExpiredTokenException", "The security token included in the request is expired", "credentials"),
    ],
)  # fmt: skip
def test_what_an_operator_has_to_mend_is_said(
    client: Any, stub: Stubber, code: str, said: str, told: str
) -> None:
    stub.add_client_error("invoke_model", code, said, 400)
    with pytest.raises(ModelNotUsable, match=told) as caught:
        made(client).embed_passages(["a"])
    # Enrichment waits for it instead of giving items up.
    assert isinstance(caught.value, Unavailable)
    assert "123456789012" not in caught.value.detail


def test_a_text_that_the_model_refuses_is_not_an_outage_and_is_not_quoted(client: Any, stub: Stubber) -> None:
    stub.add_client_error("invoke_model", "ValidationException", "Malformed input: my secret diary", 400)
    with pytest.raises(ModelRefused) as caught:
        made(client).embed_passages(["my secret diary"])
    assert not isinstance(caught.value, Unavailable)
    assert "diary" not in caught.value.detail


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        {},
        {"embeddings": {"int8": [[1]]}},
        cohere_answer([row(256, 0), row(256, 1)]),
        cohere_answer([row(255, 0)]),
        cohere_answer([[0.0] * 256]),
        cohere_answer([[float("nan")] * 256]),
        cohere_answer([["x"] * 256]),  # type: ignore[list-item]
    ],
)
def test_an_answer_that_holds_no_usable_vectors_is_unavailable(client: Any, stub: Stubber, body: Any) -> None:
    answer(stub, COHERE, cohere_request(["a"], "search_document"), body)
    with pytest.raises(Unavailable):
        made(client).embed_passages(["a"])


# --- several calls at a time


class Meeting:
    """A client whose calls answer in the reverse order of their coming, once all of them are there."""

    def __init__(self, parties: int, fail: str | None = None) -> None:
        self.meta = SimpleNamespace(region_name="eu-west-1")
        self._barrier = threading.Barrier(parties)
        self._fail = fail

    def invoke_model(self, **request: Any) -> dict[str, Any]:
        text = json.loads(request["body"])["inputText"]
        self._barrier.wait(10)
        if text == self._fail:
            raise Unavailable("away")
        raw = json.dumps({"embedding": row(256, int(text))}).encode()
        return {"body": io.BytesIO(raw)}


def test_calls_run_side_by_side_and_keep_their_order() -> None:
    embedder = BedrockEmbedder(Meeting(4), TITAN, dims=256, concurrency=4)
    assert embedder.embed_passages(["3", "1", "0", "2"]).argmax(axis=1).tolist() == [3, 1, 0, 2]


def test_one_failure_among_several_calls_is_told() -> None:
    with pytest.raises(Unavailable, match="away"):
        BedrockEmbedder(Meeting(2, fail="1"), TITAN, dims=256, concurrency=2).embed_passages(["0", "1"])


def test_the_client_for_passages_is_made_once_and_by_passages_alone() -> None:
    made: list[Meeting] = []

    def make() -> Meeting:
        made.append(Meeting(1))
        return made[-1]

    embedder = BedrockEmbedder(Meeting(1), TITAN, dims=256, patient=make)
    embedder.embed_queries(["0"])
    assert made == []
    for text in ("1", "2"):
        embedder.embed_passages([text])
    assert len(made) == 1
