"""The commands for installations: redrive, and the local stand-ins of AWS."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from rearview.adapters.models.hashing import HashingEmbedder
from rearview.entrypoints.cli.main import app
from tests.house import house


class Broken(HashingEmbedder):
    def embed_passages(self, texts: Any) -> Any:
        raise ValueError("broken")


def test_redrive_brings_back_what_enrichment_gave_up_on(tmp_path: Path) -> None:
    with house(tmp_path, embedder=Broken()) as h:
        assert h.write("I like tea")["memory"]["enrichment"] == "failed"
    answer = CliRunner().invoke(
        app, ["redrive", "--data", str(tmp_path), "--json"], env={"REARVIEW_EMBEDDER": "hashing"}
    )
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout)["redriven"] == 1
    with house(tmp_path) as h:
        h.drain()
        assert h.memories()[0]["enrichment"] == "done"


def test_redrive_without_a_store_says_so(tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, ["redrive", "--data", str(tmp_path / "none"), "--json"])
    assert answer.exit_code == 3


def test_local_aws_hands_its_arguments_to_the_checkouts_tools() -> None:
    answer = CliRunner().invoke(app, ["local-aws", "no-such-verb"])
    assert answer.exit_code == 2
