"""The raw turns of a session that is over lie in the archive, and the session answers as before."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from rearview.domain import keys
from rearview.errors import Unavailable
from tests.house import House, house
from tests.integration.archive_kit import (
    AT,
    Away,
    Dies,
    Killed,
    forget_fetched,
    month_later,
    objects,
    upkeep,
)

SAID = [
    {"turn_id": "1", "role": "user", "content": "上周末我把书房的窗帘换成了亚麻的，晚上看书舒服多了。🪟"},
    {
        "turn_id": "2",
        "role": "assistant",
        "content": "Linen curtains: noted. \u2028 Shall I look for a lamp?",
    },
    {"turn_id": "3", "role": "user", "content": "Yes, a warm one. My budget is 80 euros."},
]


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def session(h: House, session_id: str = "s") -> dict[str, Any]:
    return h.app.sessions.get(h.principal, session_id, "u", None)


def turn_items(h: House) -> int:
    return len(h.app.services.store.query(AT, keys.TURNS, limit=10_000).items)


def turn_objects(h: House) -> list[str]:
    return [key for key in objects(h) if "/turns/" in key]


def many(number: int, start: int = 0) -> list[dict[str, str]]:
    return [
        {"turn_id": f"t{n}", "role": "user", "content": f"Step {n} of the recipe 第{n}步"}
        for n in range(start, start + number)
    ]


def test_turns_of_an_old_session_come_out_of_the_archive_unnoticed(h: House) -> None:
    h.turns(SAID, session_id="s")
    before = session(h)
    assert len(before["turns"]) == 3
    assert month_later(h).counts["turns_archived"] == 1
    assert turn_items(h) == 0
    assert len(turn_objects(h)) == 1
    forget_fetched(h)
    assert session(h) == before
    assert "assistant: Linen curtains" in h.context("curtains", session_id="s")


def test_a_session_that_goes_on_is_left_alone_until_its_last_turn_is_old(h: House) -> None:
    h.turns(SAID[:1], session_id="s")
    h.clock.advance(days=29)
    h.turns(SAID[1:], session_id="s")
    h.clock.advance(days=2)
    assert "turns_archived" not in upkeep(h).counts
    h.clock.advance(days=29)
    assert upkeep(h).counts["turns_archived"] == 1


def test_ending_a_session_does_not_make_its_turns_younger(h: House) -> None:
    h.turns(SAID, session_id="s")
    h.clock.advance(days=29)
    h.end("s")
    h.clock.advance(days=2)
    assert upkeep(h).counts["turns_archived"] == 1


def test_the_policy_and_a_dry_run_are_obeyed(h: House) -> None:
    h.turns(SAID, session_id="s")
    h.clock.advance(days=100)
    assert "turns_archived" not in upkeep(h, turns_days=None).counts
    assert upkeep(h, dry_run=True).counts["turns_archived"] == 1
    assert turn_items(h) == 3


def test_a_session_taken_up_again_goes_on_behind_its_archived_turns(h: House) -> None:
    h.turns(many(25), session_id="s")
    month_later(h)
    forget_fetched(h)
    h.turns(many(3, start=25), session_id="s")
    shown = session(h)
    assert shown["turns_count"] == 28
    assert [turn["number"] for turn in shown["turns"]] == list(range(9, 29))
    assert turn_items(h) == 3
    summary = shown["summary"]
    assert month_later(h).counts["turns_archived"] == 1
    assert (turn_items(h), len(turn_objects(h))) == (0, 1)
    forget_fetched(h)
    assert [turn["number"] for turn in session(h)["turns"]] == list(range(9, 29))
    assert session(h)["summary"] == summary


def test_a_repeat_of_archived_turns_adds_none(h: House) -> None:
    h.turns(SAID, session_id="s")
    month_later(h)
    forget_fetched(h)
    h.turns(SAID, session_id="s")
    assert session(h)["turns_count"] == 3
    assert turn_items(h) == 0


def test_done_twice_it_does_nothing_twice(h: House) -> None:
    h.turns(SAID, session_id="s")
    month_later(h)
    before = objects(h)
    assert upkeep(h).counts == {}
    assert objects(h) == before


@pytest.mark.parametrize("transactions", [0, 1, 2, 3, 4])
def test_killed_between_any_two_transactions_the_turns_are_there_once(h: House, transactions: int) -> None:
    h.turns(many(75), session_id="s")
    h.turns(many(75, start=75), session_id="s")
    before = session(h)
    h.clock.advance(days=31)
    real = h.app.services.store
    h.app.services.store = Dies(real, "transact", transactions)
    try:
        upkeep(h)
    except Killed:
        assert transactions < 4
    h.app.services.store = real
    forget_fetched(h)
    assert session(h) == before
    upkeep(h)
    forget_fetched(h)
    assert session(h) == before
    assert (turn_items(h), len(turn_objects(h))) == (0, 1)


def test_killed_before_the_old_object_went_it_goes_the_next_time(h: House) -> None:
    h.turns(many(5), session_id="s")
    month_later(h)
    h.turns(many(5, start=5), session_id="s")
    h.clock.advance(days=31)
    real = h.app.services.archive
    h.app.services.archive = Dies(real, "delete", 0)
    with pytest.raises(Killed):
        upkeep(h)
    h.app.services.archive = real
    forget_fetched(h)
    assert len(session(h)["turns"]) == 10
    upkeep(h)
    assert (turn_items(h), len(turn_objects(h))) == (0, 1)
    forget_fetched(h)
    assert len(session(h)["turns"]) == 10


def test_without_the_archive_the_session_answers_with_what_the_store_holds(h: House) -> None:
    h.turns(SAID, session_id="s")
    month_later(h)
    h.turns(many(1), session_id="s")
    forget_fetched(h)
    h.app.services.archive = Away()
    shown = session(h)
    assert (len(shown["turns"]), shown["degraded"]) == (1, ["archive"])
    assert shown["summary"]
    # Whether these are new nobody can tell: better asked again than kept twice.
    with pytest.raises(Unavailable):
        h.turns(SAID, session_id="s")


def test_turns_that_were_tampered_with_are_told(h: House) -> None:
    h.turns(SAID, session_id="s")
    month_later(h)
    (key,) = turn_objects(h)
    h.app.services.archive.put(key, b'{"number": 1}')
    forget_fetched(h)
    assert session(h)["degraded"] == ["archive"]
    findings = h.audit("u", "archive")["findings"]
    assert [finding["refs"] for finding in findings] == [[keys.session(AT, "s").sort]]


def test_a_session_whose_turns_are_still_being_imported_waits(h: House) -> None:
    h.turns(SAID, session_id="s")
    store = h.app.services.store
    store.transact(AT, lambda uow: uow.delete(keys.turn(AT, "s", 2)))
    assert "turns_archived" not in month_later(h).counts
    assert turn_items(h) == 2


def test_a_turn_that_comes_between_look_and_move_stays(h: House) -> None:
    h.turns(SAID, session_id="s")
    h.clock.advance(days=31)
    real = h.app.services.archive

    class SaidMeanwhile:
        def __getattr__(self, name: str) -> object:
            return getattr(real, name)

        def put(self, key: str, body: bytes) -> None:
            real.put(key, body)
            if "/turns/" in key:
                h.app.services.archive = real
                h.turns(many(1), session_id="s")

    h.app.services.archive = SaidMeanwhile()  # type: ignore[assignment]
    upkeep(h, as_of=h.clock.now() + timedelta(days=1))
    assert [turn["number"] for turn in session(h)["turns"]] == [1, 2, 3, 4]
    h.clock.advance(days=31)
    upkeep(h)
    assert (turn_items(h), len(turn_objects(h))) == (0, 1)
