"""Proposals about memories that go cold before anybody decides: the question stays the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house import House, house
from tests.integration.forgetting_kit import FERRY, decide, finding, passing, policy, reports, run, states


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def _cold(h: House) -> tuple[str, str]:
    """(memory, audit): proposed on the day before it went cold."""
    ferry = passing(h, FERRY, importance=0.2)
    h.clock.advance(days=89)
    run(h)
    h.clock.advance(days=1)
    run(h, "cold")
    h.drain()
    assert h.get(ferry)["archived_because"] == "cold"
    (report,) = reports(h)
    assert states(report) == {ferry: "proposed"}
    return ferry, report["id"]


def test_an_approval_reaches_what_went_cold_meanwhile_and_undo_puts_it_back_there(h: House) -> None:
    ferry, audit = _cold(h)
    assert states(decide(h, "approve", audit)) == {ferry: "done"}
    h.drain()
    assert h.get(ferry)["status"] == "deleted"
    assert h.contents("ferry island", include_archived=True) == []
    assert states(decide(h, "undo", audit)) == {ferry: "undone"}
    h.drain()
    memory = h.get(ferry)
    assert (memory["status"], memory["archived_because"]) == ("archived", "cold")
    assert h.contents("ferry island", include_archived=True, include_content=True) == [FERRY]


def test_what_nobody_opposed_is_carried_out_though_it_went_cold_within_the_days(h: House) -> None:
    policy(h, mode="auto")
    ferry, _ = _cold(h)
    h.clock.advance(days=6)
    assert run(h).counts == {"forgotten": 1}
    assert h.get(ferry)["status"] == "deleted"


def test_a_cold_one_that_the_user_confirmed_or_that_woke_by_use_is_spared(h: House) -> None:
    policy(h, mode="auto")
    ferry, audit = _cold(h)
    h.recall("ferry island", include_archived=True)
    h.app.touches.flush()
    h.drain()
    h.clock.advance(days=6)
    assert run(h).counts == {"spared": 1}
    assert "worth" in finding(reports(h)[-1], ferry)["note"]
    assert h.get(ferry)["status"] == "active"
    assert states(decide(h, "approve", audit)) == {ferry: "moot"}


def test_a_cold_one_that_is_worth_more_by_a_looser_policy_is_spared(h: House) -> None:
    policy(h, mode="auto")
    ferry, _ = _cold(h)
    policy(h, below=0.01)
    h.clock.advance(days=6)
    assert run(h).counts == {"spared": 1}
    assert h.get(ferry)["status"] == "archived"
