"""The console has words for what the service says: no term of a closed vocabulary is shown raw."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest

import rearview
from rearview.domain import types
from rearview.domain.graph import EdgeKind
from rearview.domain.records import FindingState
from rearview.usecases.questions import AuditCheck

WORDS = Path(__file__).resolve().parents[2] / "console" / "src" / "words"
RULES = Path(rearview.__file__).parent / "rules"
PACKAGE = Path(rearview.__file__).parent

VOCABULARIES = {
    "status": types.Status,
    "kind": types.Kind,
    "type": types.MemoryType,
    "origin": types.Origin,
    "audience": types.Audience,
    "archived": types.ArchivedBecause,
    "conflict": types.ConflictType,
    "result": types.OutcomeResult,
    "edge": EdgeKind,
    "proposal": FindingState,
    "check": AuditCheck,
}


def keys(language: str) -> set[str]:
    return set(re.findall(r'^  "([^"]+)":', (WORDS / f"{language}.ts").read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_console_has_a_word_for_every_term_of_the_closed_vocabularies(language: str) -> None:
    there = keys(language)
    wanted = {f"{group}.{name}" for group, found in VOCABULARIES.items() for name in get_args(found)}
    assert wanted - there == set()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_console_has_a_word_for_every_slot(language: str) -> None:
    rules = tomllib.loads((RULES / "slots.toml").read_text("utf-8"))
    wanted = {f"slot.{item['name']}" for item in (*rules["slot"], *rules["attribute"])}
    assert wanted - keys(language) == set()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_console_has_a_word_for_every_change_that_upkeep_and_histories_name(language: str) -> None:
    found: set[str] = set()
    for path in (PACKAGE / "usecases").rglob("*.py"):
        text = path.read_text("utf-8")
        for call in (
            r"book\.change\(\s*[^\"()]*(?:\([^()]*\))?[^\"()]*",
            r"\.note\(\s*",
            r"book\.record\(\s*",
        ):
            found |= set(re.findall(call + r'"([a-z_]+)"', text))
    assert {"updated", "merged", "proposed", "consolidated", "spared", "policy_changed"} <= found
    assert {f"change.{name}" for name in found} - keys(language) == set()
