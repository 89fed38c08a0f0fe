"""Which memories may go cold, and what counts as use."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rearview.domain.lifecycle import goes_cold, last_use, may_go_cold, packed
from rearview.domain.memory import Memory
from rearview.domain.scope import Scope

BORN = datetime(2026, 1, 1, tzinfo=UTC)


def memory(**fields: Any) -> Memory:
    plain = Memory(
        id="01", scope=Scope("default", "u"), content="Watered the ferns.", summary="Watered the ferns.",
        memory_type="short_term", kind="event", importance=0.5, confidence=0.9, origin="user", status="active",
        version=1, seq=1, created_at=BORN, updated_at=BORN, valid_from=BORN, created_by="a", updated_by="a",
        content_hash="h", enrichment="done",
    )  # fmt: skip
    return replace(plain, **fields)


@pytest.mark.parametrize("name", ["last_recalled_at", "last_confirmed_at", "last_used_at"])
def test_any_use_resets_the_clock(name: str) -> None:
    used = memory(**{name: BORN + timedelta(days=50)})

    assert last_use(used) == BORN + timedelta(days=50)
    assert not goes_cold(used, BORN + timedelta(days=139), 90)
    assert goes_cold(used, BORN + timedelta(days=140), 90)


def test_when_it_happened_is_no_use() -> None:
    assert last_use(memory(valid_from=BORN - timedelta(days=900))) == BORN
    assert last_use(memory(updated_at=BORN + timedelta(days=80))) == BORN


@pytest.mark.parametrize("kind", ["preference", "fact", "instruction", "correction"])
@pytest.mark.parametrize("memory_type", ["short_term", "long_term"])
def test_some_kinds_stay_at_hand_for_ever(kind: str, memory_type: str) -> None:
    assert not may_go_cold(memory(kind=kind, memory_type=memory_type))


@pytest.mark.parametrize(
    ("fields", "may"),
    [
        ({}, True),
        ({"status": "tentative"}, True),
        ({"kind": "conclusion"}, True),
        ({"memory_type": "long_term"}, True),
        ({"memory_type": "long_term", "kind": "summary"}, True),
        ({"memory_type": "long_term", "kind": "conclusion"}, False),
        ({"memory_type": "working"}, False),
        ({"memory_type": "trace"}, False),
        ({"status": "disputed", "conflicts": ("c",)}, False),
        ({"status": "quarantined"}, False),
        ({"status": "superseded"}, False),
        ({"status": "archived"}, False),
        ({"enrichment": "pending"}, False),
        ({"enrichment": "failed"}, False),
        ({"audience": "namespace"}, False),
    ],
)
def test_who_may_go_cold(fields: dict[str, Any], may: bool) -> None:
    assert may_go_cold(memory(**fields)) is may


@pytest.mark.parametrize(
    ("status", "because", "lies"),
    [
        ("archived", "cold", True),
        ("archived", "consolidated", True),
        ("deleted", "cold", True),
        ("archived", "blame", False),
        ("active", None, False),
        ("deleted", None, False),
    ],
)
def test_who_lies_in_a_pack(status: str, because: str | None, lies: bool) -> None:
    assert packed(memory(status=status, archived_because=because)) is lies
