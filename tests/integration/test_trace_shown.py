"""What decisions show of the memories behind them and of how they went: to whom, and until when."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rearview.domain.principal import Principal
from rearview.errors import Gone
from tests.house import House, house


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


@pytest.mark.parametrize("swept", [False, True])
def test_an_expired_text_is_in_no_history_decision_or_replay(h: House, swept: bool) -> None:
    door = h.write("门禁密码是 4711", ttl_seconds=60)["id"]
    kept = h.write("Parcels go to the back door")["id"]
    recalled = h.recall("门禁 parcels back door")
    decision = h.decide("parcel arrives", "open", memory_ids=[door, kept], recall_id=recalled.recall_id)["id"]
    assert len(h.decision(decision).memories) == 2
    h.clock.advance(seconds=60)
    if swept:
        h.app.sweeper.sweep()

    with pytest.raises(Gone):
        h.get(door)
    with pytest.raises(Gone):
        h.app.reader.history(h.principal, door)
    shown = h.decision(decision)
    assert shown.memory_ids == [door, kept]
    assert [memory.id for memory in shown.memories] == [kept]
    replay = h.app.replayer.replay(h.principal, decision)
    assert "4711" not in str(replay)
    by_id = {item["id"]: item for item in replay["memories"]}
    assert by_id[door] == {"id": door, "rested_on": True, "then": None, "now": None, "changed": True}
    assert by_id[kept]["then"]["content"] == "Parcels go to the back door"


def test_who_may_trace_but_not_read_gets_no_memory_by_way_of_a_decision(h: House) -> None:
    secret = h.write("My salary is 5,100 a month")["id"]
    clerk = House(h.runtime, h.clock, Principal("key:1", frozenset({"default"}), frozenset({"trace"})))
    decision = clerk.decide("asked for a loan", "grant", memory_ids=[secret])["id"]
    assert clerk.decision(decision).memories == []
    assert clerk.decision(decision).memory_ids == [secret]
    assert "5,100" not in str(clerk.app.replayer.replay(clerk.principal, decision))
    assert [memory.id for memory in h.decision(decision).memories] == [secret]


def _failed(h: House, memory_id: str, result: str = "failure") -> str:
    decision = h.decide("parcel arrived broken", "voucher", memory_ids=[memory_id])
    return str(h.outcome(decision["id"], result)["id"])


def _revert(h: House, outcome_id: str) -> None:
    h.app.tracer.revert(h.principal, outcome_id)


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("content", ["Customers want vouchers", "顾客想要代金券"])
def test_taking_back_any_of_three_failures_brings_the_memory_back(
    h: House, number: int, content: str
) -> None:
    memory = h.write(content, admission="force")
    outcomes = [_failed(h, memory["id"]) for _ in range(3)]
    assert (h.get(memory["id"])["status"], h.contents(content)) == ("archived", [])
    _revert(h, outcomes[number])
    back = h.get(memory["id"])
    assert (back["status"], back["archived_because"]) == ("active", None)
    assert h.contents(content) == [content]
    for outcome_id in outcomes:
        _revert(h, outcome_id)
    assert h.get(memory["id"])["importance"] == pytest.approx(memory["memory"]["importance"])
    # Two more are two in a row, not five.
    _failed(h, memory["id"])
    _failed(h, memory["id"])
    assert h.get(memory["id"])["status"] == "active"
    _failed(h, memory["id"])
    assert h.get(memory["id"])["status"] == "archived"
    assert h.audit()["ok"]


def test_a_failure_before_a_success_is_not_one_of_the_three_that_archived_it(h: House) -> None:
    memory_id = h.write("Customers want vouchers", admission="force")["id"]
    early = _failed(h, memory_id)
    _failed(h, memory_id, "success")
    late = [_failed(h, memory_id) for _ in range(3)]
    _revert(h, early)
    assert h.get(memory_id)["status"] == "archived"
    _revert(h, late[0])
    assert h.get(memory_id)["status"] == "active"


def test_a_success_that_is_taken_back_counts_the_failures_before_it_again(h: House) -> None:
    memory_id = h.write("Customers want vouchers", admission="force")["id"]
    early = _failed(h, memory_id)
    _revert(h, _failed(h, memory_id, "success"))
    _revert(h, early)
    _failed(h, memory_id)
    _failed(h, memory_id)
    assert h.get(memory_id)["status"] == "active"
