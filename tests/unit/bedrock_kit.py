"""Requests and answers of Bedrock's embedding models as AWS documents them."""

from __future__ import annotations

import io
import json
from functools import cache
from typing import Any

from botocore.config import Config
from botocore.response import StreamingBody
from botocore.session import Session
from botocore.stub import Stubber

from rearview.adapters.aws.bedrock import BedrockEmbedder

COHERE = "cohere.embed-v4:0"
TITAN = "amazon.titan-embed-text-v2:0"
NOVA = "amazon.nova-2-multimodal-embeddings-v1:0"


def made(client: Any, model: str = COHERE, dims: int = 256, **more: Any) -> BedrockEmbedder:
    return BedrockEmbedder(client, model, dims=dims, concurrency=1, pause=lambda _seconds: None, **more)


def row(dims: int, place: int, length: float = 1.0) -> list[float]:
    return [length if number == place else 0.0 for number in range(dims)]


def answer(stub: Stubber, model: str, request: dict[str, Any], body: dict[str, Any] | bytes) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    stub.add_response(
        "invoke_model",
        {"body": StreamingBody(io.BytesIO(raw), len(raw)), "contentType": "application/json"},
        {
            "modelId": model,
            "body": json.dumps(request, ensure_ascii=False).encode(),
            "contentType": "application/json",
            "accept": "application/json",
        },
    )


def cohere_request(texts: list[str], kind: str, dims: int = 256) -> dict[str, Any]:
    return {
        "texts": texts,
        "input_type": kind,
        "embedding_types": ["float"],
        "output_dimension": dims,
        "truncate": "RIGHT",
    }


def cohere_answer(rows: list[list[float]]) -> dict[str, Any]:
    return {
        "id": "0e1f4a52",
        "response_type": "embeddings_by_type",
        "embeddings": {"float": rows},
        "texts": [""] * len(rows),
    }


@cache
def runtime() -> Any:
    """A client of bedrock-runtime that sends nothing: a stubber stands before it."""
    session = Session()
    session.set_credentials("testing", "testing")
    once = Config(retries={"total_max_attempts": 1})
    return session.create_client("bedrock-runtime", region_name="eu-west-1", config=once)
