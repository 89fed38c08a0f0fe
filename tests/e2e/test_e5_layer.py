"""One smoke test of the deployed stack with the layer of the weights: the model runs, and meaning finds what words do
not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from infra import deploy
from tests.e2e.targets import Client, OnAws

pytestmark = [
    pytest.mark.aws,
    pytest.mark.slow,
    pytest.mark.skipif(deploy.machine() != "x86_64", reason="the weights' layer is built for x86_64 alone"),
]


@dataclass
class WithWeights:
    """A stack of its own beside the other one, on the same stand-ins."""

    deployed: deploy.Deployed
    url: str
    key: str
    name: str = "e5"

    def sweep(self) -> None:
        self.deployed.invoke("maintain", {"action": "sweep"})

    def upkeep(self) -> None:
        self.deployed.invoke("maintain", {"action": "maintain"})

    def set_fault(self, mark: str) -> None:
        raise NotImplementedError


@pytest.fixture
def with_weights(deployed: OnAws, tmp_path: Path) -> Iterator[WithWeights]:
    name = f"{deployed.stack_name}-e5"
    template = deploy.build(tmp_path / "build", layers="core-x86_64,model-x86_64", env=deployed.env)
    overrides = {
        "Architecture": "x86_64",
        "OpenSearchUrl": deployed.opensearch_url,
        "Embedder": "e5",
        "ModelLayer": "true",
        # The index is named after it.
        "Stage": "e5",
        "SweepEvery": "rate(1 hour)",
        "MaintainEvery": "rate(1 day)",
    }
    stack = deploy.deploy(
        template, config_env="ministack", stack_name=name, overrides=overrides, env=deployed.env
    )
    key = stack.first_key()
    assert key is not None
    yield WithWeights(stack, stack.url, key)
    deploy.delete(name, env=deployed.env)


def test_with_the_weights_layer_meaning_is_found_across_words_and_languages(
    with_weights: WithWeights, user: str
) -> None:
    client = Client(with_weights)
    texts = {
        "dog": "My dog is called Rufus and sleeps on the sofa.",
        "bread": "He bakes sourdough every Saturday morning.",
        "sea": "我小时候住在海边的一个渔村。",
    }
    ids = {name: client.write(user, text, admission="force")["id"] for name, text in texts.items()}
    for written in ids.values():
        assert client.enriched(written)["enrichment"] == "done"
    for query, name in (
        ("What pet do I have?", "dog"),
        ("他周末烤什么？", "bread"),
        ("childhood by the ocean", "sea"),
    ):
        answer = client.post("/v1/recall", {"user_id": user, "query": query})
        assert answer["degraded"] == []
        assert answer["hits"][0]["id"] == ids[name], query
    assert client.post("/v1/audits", {"user_id": user})["ok"] is True
