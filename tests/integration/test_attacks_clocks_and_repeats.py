"""Attacks with clocks that jump, calls that stand still or die half-way, deletions between blame and its reversal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rearview.errors import IdempotencyInFlight
from rearview.usecases import idempotency
from rearview.usecases.commands import WriteBatch, WriteMemory, WriteTurns
from rearview.usecases.fields import read
from rearview.usecases.idempotency import Answer, Once, run_once
from rearview.usecases.sessions import Sessions
from tests.house import House, house


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def once(h: House, call: Callable[[Once | None], Answer]) -> tuple[int, dict[str, Any], bool]:
    return run_once(h.app.services, h.principal, None, "route", "key", {"body": 1}, call)


@pytest.mark.parametrize("kind", ["write", "batch"])
def test_a_call_that_stood_still_while_its_repeat_went_through_does_nothing_more(h: House, kind: str) -> None:
    item = {"user_id": "u", "content": "Parcel 7781 arrives at noon", "admission": "verbatim"}

    def work(guard: Once | None) -> Answer:
        if kind == "write":
            return h.app.writer.write(h.principal, read(WriteMemory, item), once=guard)
        return h.app.writer.batch(h.principal, read(WriteBatch, {"items": [item]}), once=guard)

    def slow(guard: Once | None) -> Answer:
        h.clock.advance(seconds=idempotency.CLAIM_SECONDS + 1)
        once(h, work)
        return work(guard)

    with pytest.raises(IdempotencyInFlight):
        once(h, slow)
    assert len(h.memories()) == 1
    assert once(h, work)[2], "the repeat's answer is kept, whatever became of the first call"
    h.drain()
    assert h.audit()["ok"]


def test_a_conversation_that_died_half_way_is_kept_once(h: House, monkeypatch: pytest.MonkeyPatch) -> None:
    said = [{"content": "My locker number is 4471."}, {"content": "I live in Ghent."}]
    request = read(WriteTurns, {"user_id": "u", "session_id": "s", "turns": said})

    def work(guard: Once | None) -> Answer:
        return h.app.sessions.turns(h.principal, request, once=guard)

    def dies(*_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as dying:
        dying.setattr(Sessions, "_place", dies)
        dying.setattr(idempotency, "_give_back", lambda *_: None)
        with pytest.raises(SystemExit):
            once(h, work)
    h.clock.advance(seconds=idempotency.CLAIM_SECONDS + 1)
    status, body, _ = once(h, work)
    assert status == 202
    assert [result["turn_id"] for result in body["results"]] == ["1", "2"]
    assert h.app.sessions.get(h.principal, "s", "u", None)["turns_count"] == 2
    h.drain()
    assert len(h.memories()) == 2


def test_a_turn_without_an_id_never_gets_that_of_another_turn(h: House) -> None:
    said = [{"content": "My locker number is 4471.", "turn_id": "2"}, {"content": "I live in Ghent."}]
    results = h.turns(said, session_id="s")["results"]
    assert len({result["turn_id"] for result in results}) == 2
    assert [len(result["memories"]) for result in results] == [1, 1]


def test_an_outcome_counts_although_the_clock_went_back_since_the_decision(h: House) -> None:
    h.clock.advance(days=2)
    decision = h.decide("deploy on a friday evening", "deploy")
    h.clock.advance(days=-2)
    h.outcome(decision["id"], "failure")
    h.drain()
    assert h.precedents("deploy on a friday evening")["actions"][0]["failures"] > 0


def test_a_session_can_be_ended_again_long_after_its_summary_expired(h: House) -> None:
    h.turns([{"content": "My sister Ana moved to Lisbon and works at a bakery there."}], session_id="s")
    first = h.end("s")
    assert first["memory"] is not None
    for _ in range(2):
        h.clock.advance(days=8)
        h.app.sweeper.sweep()
        h.drain()
    again = h.end("s")
    assert (again["ended_at"], again["memory"]) == (first["ended_at"], None)


def test_blame_taken_back_while_the_memory_was_forgotten_is_gone_after_its_restore(h: House) -> None:
    written = h.write("The staging server stands in hall 3 behind the tunnel")
    outcomes = [
        h.outcome(h.decide("deploy", "now", memory_ids=[written["id"]])["id"], "failure")["id"]
        for _ in range(3)
    ]
    assert h.get(written["id"])["status"] == "archived"
    h.delete(written["id"])
    for outcome in outcomes:
        h.app.tracer.revert(h.principal, outcome)
    assert h.get(written["id"])["status"] == "deleted"
    h.restore(written["id"])
    h.drain()
    restored = h.get(written["id"])
    assert restored["status"] == "active"
    assert restored["importance"] == pytest.approx(written["memory"]["importance"])
    assert h.contents("staging server hall") == ["The staging server stands in hall 3 behind the tunnel"]
    assert h.audit()["ok"]
