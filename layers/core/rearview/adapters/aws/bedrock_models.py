"""What each embedding model of Bedrock is asked, and how its answer reads (AWS documentation, November 2026)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rearview.errors import InvalidInput

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """One model: ``request(texts, dims, is_query)`` makes a body, ``rows(answer)`` reads the vectors in order.

    ``batch``: texts a call; ``max_chars``: characters a text, beyond which the model would refuse it.
    """

    id: str
    dims: tuple[int, ...]
    batch: int
    max_chars: int
    max_weight: int
    request: Callable[[Sequence[str], int, bool], Json]
    rows: Callable[[Mapping[str, Any]], list[Sequence[float]]]


def _cohere(texts: Sequence[str], dims: int, is_query: bool) -> Json:
    return {
        "texts": list(texts),
        "input_type": "search_query" if is_query else "search_document",
        "embedding_types": ["float"],
        "output_dimension": dims,
        "truncate": "RIGHT",
    }


def _cohere_rows(answer: Mapping[str, Any]) -> list[Sequence[float]]:
    """By type as it was asked for; a plain list where an endpoint answers as for version 3."""
    found = answer["embeddings"]
    return list(found["float"] if isinstance(found, Mapping) else found)


def _titan(texts: Sequence[str], dims: int, _is_query: bool) -> Json:
    return {"inputText": texts[0], "dimensions": dims, "normalize": True}


def _titan_rows(answer: Mapping[str, Any]) -> list[Sequence[float]]:
    return [answer["embedding"]]


def _nova(texts: Sequence[str], dims: int, is_query: bool) -> Json:
    return {
        "schemaVersion": "nova-multimodal-embed-v1",
        "taskType": "SINGLE_EMBEDDING",
        "singleEmbeddingParams": {
            "embeddingPurpose": "TEXT_RETRIEVAL" if is_query else "GENERIC_INDEX",
            "embeddingDimension": dims,
            "text": {"truncationMode": "END", "value": texts[0]},
        },
    }


def _nova_rows(answer: Mapping[str, Any]) -> list[Sequence[float]]:
    return [item["embedding"] for item in answer["embeddings"]]


#: All of them take thousands of tokens, but a vector of a whole page finds no single fact: chunks stay small.
_CHUNK: Final = 1_000

MODELS: Final = (
    EmbeddingModel("cohere.embed-v4:0", (256, 512, 1024, 1536), 96, 100_000, _CHUNK, _cohere, _cohere_rows),
    EmbeddingModel("amazon.titan-embed-text-v2:0", (256, 512, 1024), 1, 50_000, _CHUNK, _titan, _titan_rows),
    EmbeddingModel(
        "amazon.nova-2-multimodal-embeddings-v1:0",
        (256, 384, 1024, 3072),
        1,
        8_192,
        _CHUNK,
        _nova,
        _nova_rows,
    ),
)


def embedding_model(name: str, dims: int) -> EmbeddingModel:
    """The model of that id, with or without the prefix of an inference profile (``us.``, ``eu.``, ``global.`` …).

    Raises InvalidInput if it is not known here, or does not give ``dims`` numbers.
    """
    for model in MODELS:
        if name == model.id or name.endswith((f".{model.id}", f"/{model.id}")):
            if dims not in model.dims:
                numbers = ", ".join(map(str, model.dims))
                raise InvalidInput.of(
                    "REARVIEW_BEDROCK_DIMS", "one_of", f"{model.id} gives {numbers} dimensions, not {dims}"
                )
            return model
    known = ", ".join(model.id for model in MODELS)
    raise InvalidInput.of(
        "REARVIEW_BEDROCK_MODEL", "one_of", f"must be one of {known} (a profile goes into BEDROCK_PROFILE)"
    )
