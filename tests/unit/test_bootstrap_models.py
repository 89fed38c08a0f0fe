"""Which models the settings bring in: none by default, Bedrock's where they are named."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from rearview.adapters.aws import clients
from rearview.adapters.aws.bedrock_rerank import BedrockReranker
from rearview.adapters.aws.bedrock_text import BedrockLanguageModel
from rearview.bootstrap import make_embedder, opened
from rearview.bootstrap_aws import Lazy, aws
from rearview.errors import Unavailable
from rearview.settings import AwsSettings, Settings


@pytest.fixture(autouse=True)
def _region(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.setenv(name, "eu-central-1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")


def test_without_settings_no_model_is_asked(tmp_path: Path) -> None:
    with opened(Settings(data=tmp_path, embedder="hashing")) as runtime:
        assert runtime.app.services.language_model is None
        assert runtime.app.services.reranker is None


def test_models_that_are_named_are_bedrocks(tmp_path: Path) -> None:
    settings = Settings(
        data=tmp_path,
        embedder="hashing",
        text_model="amazon.nova-lite-v1:0",
        reranker_model="amazon.rerank-v1:0",
    )
    with opened(settings) as runtime:
        assert isinstance(runtime.app.services.language_model, BedrockLanguageModel)
        assert isinstance(runtime.app.services.reranker, BedrockReranker)


def test_on_aws_a_named_model_is_made_when_it_is_first_asked() -> None:
    settings = AwsSettings(
        table="t", queue_url="https://q/1", dead_letters_url="https://q/2", bucket="b", embedder="hashing",
        text_model="amazon.nova-lite-v1:0", signing_key="ssm:never-read",
    )  # fmt: skip
    runtime = None
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("rearview.bootstrap_aws._signing_key", lambda reference: lambda: b"k" * 32)
        runtime = aws(settings)
    assert isinstance(runtime.app.services.language_model, Lazy)
    assert runtime.app.services.reranker is None


@pytest.fixture
def silent() -> Iterator[str]:
    """Where somebody listens and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_a_query_is_not_asked_with_the_patience_that_passages_have(
    silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", silent)
    monkeypatch.setattr(clients, "READ_SECONDS", 0.05)
    monkeypatch.setattr(clients, "ASKED_TRIES", 1)
    # With the patience of passages this would take a minute and a half, and the test's own limit would end it.
    with pytest.raises(Unavailable, match="ReadTimeout"):
        make_embedder(Settings(embedder="bedrock")).embed_queries(["茶 tea"])
