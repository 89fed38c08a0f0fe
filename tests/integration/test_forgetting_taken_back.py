"""A deletion that somebody takes back is an answer: what it was about is left alone for a while."""

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


def _forgotten(h: House) -> tuple[str, str]:
    """(memory, audit): one that was forgotten because nobody objected."""
    policy(h, mode="auto")
    ferry = passing(h, FERRY)
    h.clock.advance(days=200)
    run(h)
    h.clock.advance(days=7)
    run(h)
    assert h.get(ferry)["status"] == "deleted"
    return ferry, reports(h)[0]["id"]


def _days(h: House, number: int) -> None:
    for _ in range(number):
        h.clock.advance(days=1)
        run(h)


@pytest.mark.parametrize("by", ["undo", "restore"])
@pytest.mark.parametrize("weeks", [0, 3])
def test_what_was_taken_back_rests_for_ninety_days_however_and_however_late(
    h: House, by: str, weeks: int
) -> None:
    ferry, audit = _forgotten(h)
    # Nothing stands in the report any more: the weeks that follow look at others.
    _days(h, 7 * weeks)
    if by == "undo":
        decide(h, "undo", audit)
    else:
        h.restore(ferry)
    h.drain()
    _days(h, 89)
    assert h.get(ferry)["status"] == "active"
    assert [report["id"] for report in reports(h)] == [audit]
    _days(h, 8)
    assert states(reports(h)[0]) == {ferry: "proposed"}


def test_a_deletion_that_is_taken_back_while_a_proposal_stands_counts_as_opposition(h: House) -> None:
    policy(h, mode="auto")
    ferry = passing(h, FERRY)
    h.clock.advance(days=200)
    run(h)
    h.delete(ferry)
    h.restore(ferry)
    h.drain()
    _days(h, 8)
    (report,) = reports(h)
    assert states(report) == {ferry: "opposed"}
    assert "restored" in finding(report, ferry)["note"]
    assert h.get(ferry)["status"] == "active"
