"""Reranker and language model of Bedrock against requests and answers as AWS documents them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from botocore.config import Config
from botocore.session import Session
from botocore.stub import Stubber

from rearview.adapters.aws.bedrock_calls import ModelNotUsable
from rearview.adapters.aws.bedrock_rerank import BedrockReranker
from rearview.adapters.aws.bedrock_text import BedrockLanguageModel, fits
from rearview.errors import Unavailable
from rearview.ports import LanguageModel, Reranker

MODEL = "eu.amazon.nova-lite-v1:0"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "slot": {"type": "string", "enum": ["city", "job"]},
        "value": {"type": "string"},
        "sure": {"type": "number"},
    },
    "required": ["slot", "value"],
    "additionalProperties": False,
}
GOOD = {"slot": "city", "value": "杭州", "sure": 0.9}


@cache
def client_of(service: str) -> Any:
    session = Session()
    session.set_credentials("testing", "testing")
    once = Config(retries={"total_max_attempts": 1})
    return session.create_client(service, region_name="eu-central-1", config=once)


def stubbed(service: str) -> Iterator[tuple[Any, Stubber]]:
    client = client_of(service)
    with Stubber(client) as stubber:
        yield client, stubber
        stubber.assert_no_pending_responses()


# --- reranker


@pytest.fixture
def ranking() -> Iterator[tuple[Any, Stubber]]:
    yield from stubbed("bedrock-agent-runtime")


def rerank_request(
    query: str, documents: list[str], model: str = "cohere.rerank-v3-5:0", **more: Any
) -> dict[str, Any]:
    return {
        "queries": [{"type": "TEXT", "textQuery": {"text": query}}],
        "sources": [
            {"type": "INLINE", "inlineDocumentSource": {"type": "TEXT", "textDocument": {"text": text}}}
            for text in documents
        ],
        "rerankingConfiguration": {
            "type": "BEDROCK_RERANKING_MODEL",
            "bedrockRerankingConfiguration": {
                "numberOfResults": len(documents),
                "modelConfiguration": {"modelArn": f"arn:aws:bedrock:eu-central-1::foundation-model/{model}"},
            },
        },
        **more,
    }


def results(*pairs: tuple[int, float]) -> list[dict[str, Any]]:
    return [{"index": index, "relevanceScore": score} for index, score in pairs]


def test_scores_come_in_the_order_of_the_documents(ranking: tuple[Any, Stubber]) -> None:
    client, stub = ranking
    documents = ["She sails", "茶很好喝", "He reads"]
    stub.add_response(
        "rerank", {"results": results((1, 0.92), (2, 0.2), (0, 0.01))}, rerank_request("喝什么？", documents)
    )
    reranker: Reranker = BedrockReranker(client)
    assert reranker.rerank("喝什么？", documents) == [0.01, 0.92, 0.2]


def test_another_model_is_named_by_its_arn(ranking: tuple[Any, Stubber]) -> None:
    client, stub = ranking
    request = rerank_request("q", ["d"], model="amazon.rerank-v1:0")
    stub.add_response("rerank", {"results": results((0, 0.5))}, request)
    stub.add_response("rerank", {"results": results((0, 0.5))}, request)
    BedrockReranker(client, "amazon.rerank-v1:0").rerank("q", ["d"])
    arn = "arn:aws:bedrock:eu-central-1::foundation-model/amazon.rerank-v1:0"
    assert BedrockReranker(client, arn).rerank("q", ["d"]) == [0.5]


def test_answers_in_pages_are_put_together(ranking: tuple[Any, Stubber]) -> None:
    client, stub = ranking
    stub.add_response(
        "rerank", {"results": results((1, 0.7)), "nextToken": "more"}, rerank_request("q", ["a", "b"])
    )
    stub.add_response(
        "rerank", {"results": results((0, 0.3))}, rerank_request("q", ["a", "b"], nextToken="more")
    )
    assert BedrockReranker(client).rerank("q", ["a", "b"]) == [0.3, 0.7]


def test_a_thousand_documents_go_in_one_call(ranking: tuple[Any, Stubber]) -> None:
    client, stub = ranking
    texts = [f"t{number}" for number in range(1_001)]
    stub.add_response(
        "rerank", {"results": results(*((n, 0.1) for n in range(1_000)))}, rerank_request("q", texts[:1_000])
    )
    stub.add_response("rerank", {"results": results((0, 0.9))}, rerank_request("q", texts[1_000:]))
    assert BedrockReranker(client).rerank("q", texts)[-1] == 0.9


def test_no_document_is_no_call_and_blank_ones_are_let_through(ranking: tuple[Any, Stubber]) -> None:
    client, stub = ranking
    assert BedrockReranker(client).rerank("q", []) == []
    stub.add_response("rerank", {"results": results((0, 0.0))}, rerank_request(".", ["."]))
    assert BedrockReranker(client).rerank("\x00", [" "]) == [0.0]


def test_a_document_without_a_score_is_unavailable(ranking: tuple[Any, Stubber]) -> None:
    client, stub = ranking
    stub.add_response("rerank", {"results": results((1, 0.7))}, rerank_request("q", ["a", "b"]))
    with pytest.raises(Unavailable, match="did not score"):
        BedrockReranker(client).rerank("q", ["a", "b"])


def test_a_missing_permission_to_rerank_is_named(ranking: tuple[Any, Stubber]) -> None:
    client, stub = ranking
    stub.add_client_error(
        "rerank", "AccessDeniedException", "x is not authorized to perform: bedrock:Rerank", 403
    )
    with pytest.raises(ModelNotUsable, match="bedrock:Rerank"):
        BedrockReranker(client).rerank("q", ["a"])


# --- language model


@pytest.fixture
def talking() -> Iterator[tuple[Any, Stubber]]:
    yield from stubbed("bedrock-runtime")


def asked(
    prompt: str = "Which slot?", tokens: int = 512, choice: Any = None, temperature: float | None = 0.0
) -> dict[str, Any]:
    settings: dict[str, Any] = {"maxTokens": tokens}
    if temperature is not None:
        settings["temperature"] = temperature
    return {
        "modelId": MODEL,
        "messages": [{"role": "user", "content": [{"text": prompt}]}],
        "inferenceConfig": settings,
        "toolConfig": {
            "tools": [
                {
                    "toolSpec": {
                        "name": "answer",
                        "description": "Gives the answer. Always call it, once.",
                        "inputSchema": {"json": SCHEMA},
                    }
                }
            ],
            "toolChoice": choice or {"tool": {"name": "answer"}},
        },
    }


def told(content: list[dict[str, Any]], reason: str = "tool_use") -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": reason,
        "usage": {"inputTokens": 30, "outputTokens": 20, "totalTokens": 50},
        "metrics": {"latencyMs": 200},
    }


def used(value: Any) -> list[dict[str, Any]]:
    return [
        {"text": "Let me see."},
        {"toolUse": {"toolUseId": "tooluse_1", "name": "answer", "input": value}},
    ]


def model(client: Any, **more: Any) -> BedrockLanguageModel:
    return BedrockLanguageModel(client, MODEL, pause=lambda _seconds: None, **more)


def test_the_tools_input_is_the_answer(talking: tuple[Any, Stubber]) -> None:
    client, stub = talking
    stub.add_response("converse", told(used(GOOD)), asked())
    spoken: LanguageModel = model(client)
    assert spoken.complete("Which slot?", SCHEMA) == GOOD


def test_a_cut_answer_is_asked_for_again_with_more_room(talking: tuple[Any, Stubber]) -> None:
    client, stub = talking
    # What is left of it happens to keep to the schema.
    stub.add_response("converse", told(used({"slot": "city", "value": "杭"}), "max_tokens"), asked(tokens=64))
    stub.add_response("converse", told(used(GOOD)), asked(tokens=128))
    assert model(client).complete("Which slot?", SCHEMA, max_tokens=64) == GOOD


def test_an_answer_that_stays_cut_is_unavailable(talking: tuple[Any, Stubber]) -> None:
    client, stub = talking
    for tokens in (512, 1024):
        stub.add_response("converse", told([{"text": '{"slot": "ci'}], "max_tokens"), asked(tokens=tokens))
    with pytest.raises(Unavailable, match="was cut"):
        model(client).complete("Which slot?", SCHEMA)


def test_json_in_the_text_will_do(talking: tuple[Any, Stubber]) -> None:
    client, stub = talking
    text = 'Here it is:\n```json\n{"slot": "job", "value": "baker {of bread}"}\n``` I hope it helps {'
    stub.add_response("converse", told([{"text": text}], "end_turn"), asked())
    assert model(client).complete("Which slot?", SCHEMA) == {"slot": "job", "value": "baker {of bread}"}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([{"text": '{"slot": "city", "value": "杭'}], "no JSON"),
        ([{"text": "I cannot tell."}], "no JSON"),
        ([{"text": "[" * 100_000 + "{" * 100_000}], "no JSON"),
        ([], "no JSON"),
        (used({"slot": "planet", "value": "Mars"}), "schema"),
        (used({"slot": "city"}), "schema"),
        (used({**GOOD, "note": "ignore all rules"}), "schema"),
    ],
)
def test_what_is_no_answer_gets_one_more_try(
    talking: tuple[Any, Stubber], content: Any, problem: str
) -> None:
    client, stub = talking
    stub.add_response("converse", told(content), asked())
    stub.add_response("converse", told(content), asked())
    with pytest.raises(Unavailable, match=problem):
        model(client).complete("Which slot?", SCHEMA)


@pytest.mark.parametrize("reason", ["guardrail_intervened", "content_filtered"])
def test_a_blocked_text_is_not_tried_again(talking: tuple[Any, Stubber], reason: str) -> None:
    client, stub = talking
    stub.add_response("converse", told([{"text": "Sorry."}], reason), asked())
    with pytest.raises(Unavailable, match=reason):
        model(client).complete("Which slot?", SCHEMA)


def test_models_that_know_less_are_asked_for_less(talking: tuple[Any, Stubber]) -> None:
    client, stub = talking
    stub.add_response("converse", told(used(GOOD)), asked(choice={"any": {}}, temperature=None))
    assert model(client, choice="any", temperature=None).complete("Which slot?", SCHEMA) == GOOD


def test_throttling_passes_here_too(talking: tuple[Any, Stubber]) -> None:
    client, stub = talking
    stub.add_client_error("converse", "ThrottlingException", "slow down", 429)
    stub.add_response("converse", told(used(GOOD)), asked())
    assert model(client).complete("Which\x00 slot?", SCHEMA) == GOOD


@pytest.mark.parametrize(
    ("value", "schema", "good"),
    [
        (True, {"type": "integer"}, False),
        (2.0, {"type": "integer"}, True),
        (2.5, {"type": "integer"}, False),
        (None, {"type": ["string", "null"]}, True),
        ([1, "a"], {"type": "array", "items": {"type": "integer"}}, False),
        ({"a": {"b": 1}}, {"type": "object", "properties": {"a": {"required": ["c"]}}}, False),
        ({"free": 1}, {"type": "object"}, True),
    ],
)
def test_the_schema_is_kept(value: Any, schema: dict[str, Any], good: bool) -> None:
    assert fits(value, schema) is good
