"""The Bedrock embedder against requests and answers as AWS documents them: what is asked, and how answers are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from botocore.stub import Stubber
from tests.unit.bedrock_kit import (
    COHERE,
    NOVA,
    TITAN,
    answer,
    cohere_answer,
    cohere_request,
    made,
    row,
    runtime,
)

from rearview.errors import InvalidInput
from rearview.ports import Embedder
from rearview.settings import Settings


@pytest.fixture
def client() -> Any:
    return runtime()


@pytest.fixture
def stub(client: Any) -> Iterator[Stubber]:
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def test_it_is_an_embedder(client: Any) -> None:
    embedder: Embedder = made(client, dims=512)
    assert (embedder.name, embedder.dims, embedder.noise) == (COHERE, 512, None)
    assert embedder.max_weight > 0


def test_cohere_is_told_what_is_stored_and_what_is_asked(client: Any, stub: Stubber) -> None:
    answer(
        stub,
        COHERE,
        cohere_request(["我爱喝乌龙茶", "The tea is in the tin"], "search_document"),
        cohere_answer([row(256, 1), row(256, 2)]),
    )
    answer(stub, COHERE, cohere_request(["什么茶？"], "search_query"), cohere_answer([row(256, 3)]))
    embedder = made(client)
    passages = embedder.embed_passages(["我爱喝乌龙茶", "The tea is in the tin"])
    assert passages.dtype == np.float32
    assert passages.argmax(axis=1).tolist() == [1, 2]
    assert embedder.embed_queries(["什么茶？"]).argmax(axis=1).tolist() == [3]


def test_rows_come_back_with_length_one(client: Any, stub: Stubber) -> None:
    answer(stub, COHERE, cohere_request(["a"], "search_document"), cohere_answer([row(256, 5, length=7.5)]))
    assert np.linalg.norm(made(client).embed_passages(["a"])[0]) == pytest.approx(1.0)


def test_ninety_six_texts_go_in_one_call_and_the_rest_in_the_next(client: Any, stub: Stubber) -> None:
    texts = [f"text {number}" for number in range(100)]
    answer(
        stub,
        COHERE,
        cohere_request(texts[:96], "search_document"),
        cohere_answer([row(256, n) for n in range(96)]),
    )
    answer(
        stub,
        COHERE,
        cohere_request(texts[96:], "search_document"),
        cohere_answer([row(256, n) for n in range(96, 100)]),
    )
    assert made(client).embed_passages(texts).argmax(axis=1).tolist() == list(range(100))


def test_an_answer_in_the_plain_form_of_version_three_is_read(client: Any, stub: Stubber) -> None:
    plain = {"id": "1", "response_type": "embeddings_floats", "embeddings": [row(256, 9)], "texts": ["a"]}
    answer(stub, COHERE, cohere_request(["a"], "search_document"), plain)
    assert made(client).embed_passages(["a"])[0].argmax() == 9


def test_titan_takes_one_text_a_call(client: Any, stub: Stubber) -> None:
    for place, text in enumerate(["茶", "tea"]):
        answer(
            stub,
            TITAN,
            {"inputText": text, "dimensions": 512, "normalize": True},
            {
                "embedding": row(512, place),
                "inputTextTokenCount": 2,
                "embeddingsByType": {"float": row(512, place)},
            },
        )
    assert made(client, TITAN, 512).embed_passages(["茶", "tea"]).argmax(axis=1).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("verb", "purpose"), [("embed_passages", "GENERIC_INDEX"), ("embed_queries", "TEXT_RETRIEVAL")]
)
def test_nova_is_told_the_purpose(client: Any, stub: Stubber, verb: str, purpose: str) -> None:
    answer(
        stub,
        NOVA,
        {
            "schemaVersion": "nova-multimodal-embed-v1",
            "taskType": "SINGLE_EMBEDDING",
            "singleEmbeddingParams": {
                "embeddingPurpose": purpose,
                "embeddingDimension": 1024,
                "text": {"truncationMode": "END", "value": "茶在罐子里"},
            },
        },
        {"embeddings": [{"embeddingType": "TEXT", "embedding": row(1024, 4)}]},
    )
    assert getattr(made(client, NOVA, 1024), verb)(["茶在罐子里"])[0].argmax() == 4


def test_no_text_is_no_call(client: Any, stub: Stubber) -> None:
    assert made(client).embed_passages([]).shape == (0, 256)


def test_blank_text_and_what_json_cannot_hold_are_made_harmless(client: Any, stub: Stubber) -> None:
    clean = [".", ".", "ab", "e\u0301👩‍👩‍👧 مرحبا"]
    answer(
        stub, COHERE, cohere_request(clean, "search_document"), cohere_answer([row(256, n) for n in range(4)])
    )
    made(client).embed_passages(["", " \n\u3000", "a\x00\ud800b", "e\u0301👩‍👩‍👧 مرحبا"])


def test_a_text_beyond_the_models_limit_is_cut(client: Any, stub: Stubber) -> None:
    request = {"inputText": "字" * 50_000, "dimensions": 256, "normalize": True}
    answer(stub, TITAN, request, {"embedding": row(256, 0), "inputTextTokenCount": 1})
    made(client, TITAN).embed_passages(["字" * 50_001])


def test_a_profile_is_called_and_does_not_change_the_fingerprint(client: Any, stub: Stubber) -> None:
    answer(
        stub, "eu.cohere.embed-v4:0", cohere_request(["a"], "search_document"), cohere_answer([row(256, 0)])
    )
    through = made(client, profile="eu.cohere.embed-v4:0")
    through.embed_passages(["a"])
    assert through.fingerprint == made(client).fingerprint == made(client, "eu.cohere.embed-v4:0").fingerprint


def test_the_fingerprint_tells_models_and_dimensions_apart(client: Any) -> None:
    made_of = [made(client), made(client, dims=1024), made(client, TITAN), made(client, NOVA)]
    assert len({one.fingerprint for one in made_of}) == 4


@pytest.mark.parametrize(
    ("model", "dims", "field"),
    [
        (COHERE, 384, "REARVIEW_BEDROCK_DIMS"),
        (TITAN, 1536, "REARVIEW_BEDROCK_DIMS"),
        ("cohere.embed-english-v3", 1024, "REARVIEW_BEDROCK_MODEL"),
    ],
)
def test_a_model_or_size_that_does_not_exist_is_named(client: Any, model: str, dims: int, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        made(client, model, dims)
    assert caught.value.errors[0].field == field


def test_settings_make_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    from rearview.bootstrap import make_embedder

    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    chosen: Callable[..., Settings] = Settings
    embedder = make_embedder(chosen(embedder="bedrock", bedrock_region="eu-west-1", bedrock_dims=1536))
    assert embedder.fingerprint.startswith(f"{COHERE}/bedrock/1536/")
