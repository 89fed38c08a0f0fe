"""The deploy step works in one region from its first call to its last."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from infra.local.tools import ToolError

from infra import deploy


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Sequence[str], dict[str, str]]]:
    """What sam was started with."""
    calls: list[tuple[Sequence[str], dict[str, str]]] = []

    def sam(arguments: Sequence[str], env: dict[str, str], seconds: float) -> str:
        calls.append((arguments, env))
        return ""

    monkeypatch.setattr(deploy, "_sam", sam)
    return calls


@pytest.mark.parametrize(
    "env",
    [
        {"AWS_REGION": "eu-central-1"},
        {"AWS_DEFAULT_REGION": "eu-central-1"},
        {"AWS_REGION": "eu-central-1", "AWS_DEFAULT_REGION": "us-east-1"},
    ],
)
def test_a_stack_is_deleted_where_it_was_found_and_nowhere_else(
    env: dict[str, str], ran: list[tuple[Sequence[str], dict[str, str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    found = deploy.Deployed("rearview-prod", {}, dict(os.environ)).client("cloudformation")
    deploy.delete("rearview-prod")
    ((arguments, given),) = ran
    assert arguments[arguments.index("--region") + 1] == found.meta.region_name == "eu-central-1"
    assert given["AWS_DEFAULT_REGION"] == "eu-central-1"


def test_the_profiles_region_counts_where_no_variable_names_one(
    ran: list[tuple[Sequence[str], dict[str, str]]],
) -> None:
    Path(os.environ["AWS_CONFIG_FILE"]).write_text("[default]\nregion = ap-northeast-1\n")
    deploy.delete("rearview-prod")
    assert ran[0][0][-1] == "ap-northeast-1"


def test_without_a_region_nothing_is_deleted(ran: list[tuple[Sequence[str], dict[str, str]]]) -> None:
    with pytest.raises(ToolError, match="AWS_REGION"):
        deploy.delete("rearview-prod")
    assert ran == []
