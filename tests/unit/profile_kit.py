"""Memories, logs of them, and the profile that follows, for tests of the domain."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from rearview.bootstrap import load_rules
from rearview.domain.claims_rules import SlotRules
from rearview.domain.memory import Memory
from rearview.domain.mentions import Topic, collect
from rearview.domain.policy import ProfileRules
from rearview.domain.profile import Entry, entry
from rearview.domain.records import Conflict
from rearview.domain.scope import Scope

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SCOPE = Scope("default", "u")
ORDERS = Topic("user", "sort order: order")


@cache
def rules() -> SlotRules:
    return load_rules().slots


def memory(number: int, content: str, **more: Any) -> Memory:
    at = START + timedelta(days=number)
    fields: dict[str, Any] = {
        "id": f"{number:026d}",
        "scope": SCOPE,
        "content": content,
        "summary": content[:50],
        "memory_type": "long_term",
        "kind": "fact",
        "importance": 0.6,
        "confidence": 0.8,
        "origin": "user",
        "status": "active",
        "version": 1,
        "seq": number,
        "created_at": at,
        "updated_at": at,
        "valid_from": at,
        "created_by": "x",
        "updated_by": "x",
        "content_hash": str(number),
        "session_id": f"s{number}",
    }
    return Memory(**{**fields, **more})


def log(*contents: str, **more: Any) -> list[Memory]:
    return [memory(number, content, **more) for number, content in enumerate(contents)]


def profile(
    memories: list[Memory],
    policy: ProfileRules | None = None,
    conflicts: tuple[Conflict, ...] = (),
    corrected: dict[str, datetime] | None = None,
) -> dict[str, Entry]:
    said = collect(memories, rules(), START + timedelta(days=1000), corrected)
    made = [entry(topic, one, policy or ProfileRules(), conflicts) for topic, one in said.items()]
    return {one.key: one for one in made if one is not None}


def orders(memories: list[Memory], **more: Any) -> tuple[str, int, int] | None:
    one = profile(memories, **more).get(ORDERS.key)
    return None if one is None else (one.canonical, one.count, one.total)
