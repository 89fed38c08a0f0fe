"""What failures had archived, and then the user says again, stands by or puts right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.house import House, house

PROFILE = "The staging server needs the old VPN profile."
PORT = "测试服务器要用旧的端口。"


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def _blamed(h: House, content: str) -> tuple[str, list[str]]:
    """(memory, outcomes): archived by three failures in a row."""
    memory_id = h.write(content, origin="agent", confidence=0.6, admission="force")["id"]
    outcomes = []
    for _ in range(3):
        decision = h.decide("connect to the staging server", "as noted", memory_ids=[memory_id])["id"]
        outcomes.append(h.outcome(decision, "failure")["id"])
    h.drain()
    assert h.get(memory_id)["archived_because"] == "blame"
    assert h.contents(content, include_archived=True) == []
    return memory_id, outcomes


@pytest.mark.parametrize("content", [PROFILE, PORT])
def test_what_the_user_says_again_is_not_swallowed_by_an_archived_twin(h: House, content: str) -> None:
    memory_id, outcomes = _blamed(h, content)
    answer = h.write(content, admission="force")
    assert (answer["verdict"], answer["duplicate_of"], answer["status"]) == ("duplicate", memory_id, "active")
    h.drain()
    assert h.contents(content, include_content=True) == [content]
    # One more failure is the first one in a row again.
    decision = h.decide("connect to the staging server", "as noted", memory_ids=[memory_id])["id"]
    h.outcome(decision, "failure")
    assert h.get(memory_id)["status"] == "active"
    # Taking an old one back changes its weight only.
    importance = h.get(memory_id)["importance"]
    h.app.tracer.revert(h.principal, outcomes[2])
    memory = h.get(memory_id)
    assert memory["status"] == "active"
    assert memory["importance"] > importance


def test_an_agent_that_repeats_itself_does_not_bring_back_what_failed(h: House) -> None:
    memory_id, _ = _blamed(h, PROFILE)
    h.write(PROFILE, origin="agent", admission="force")
    h.drain()
    assert h.get(memory_id)["archived_because"] == "blame"
    assert h.contents(PROFILE, include_archived=True) == []


@pytest.mark.parametrize(
    ("change", "content"),
    [({"confirmed": True}, PROFILE), ({"content": "The staging server needs the new VPN profile."}, "")],
)
def test_confirming_or_correcting_it_brings_it_back(h: House, change: dict[str, Any], content: str) -> None:
    memory_id, _ = _blamed(h, PROFILE)
    h.patch(memory_id, **change)
    h.drain()
    memory = h.get(memory_id)
    assert (memory["status"], memory["archived_because"]) == ("active", None)
    assert h.contents("staging server VPN profile", include_content=True) == [content or change["content"]]


def test_other_edits_leave_it_where_it_is(h: House) -> None:
    memory_id, _ = _blamed(h, PROFILE)
    h.patch(memory_id, tags=["vpn"], importance=0.9)
    assert h.get(memory_id)["archived_because"] == "blame"
