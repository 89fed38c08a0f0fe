"""What an ended session leaves: one abstract, which says nothing new about what it abstracts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house import House, house

EVERY = ["active", "disputed", "superseded", "merged", "deleted"]
SAYINGS = pytest.mark.parametrize(
    ("before", "after"),
    [("I live in Leeds.", "I live in York."), ("我住在杭州。", "我住在北京。")],
    ids=["en", "zh"],
)


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def _say(h: House, text: str) -> None:
    h.turns([{"role": "user", "content": text}], session_id="s")


@SAYINGS
def test_a_summary_does_not_ask_again_what_the_user_has_settled(h: House, before: str, after: str) -> None:
    _say(h, before)
    answer = h.write(after)
    h.resolve(answer["conflicts"][0]["id"], keep=answer["id"])
    ended = h.end("s")
    h.drain()
    assert h.get(answer["id"])["status"] == "active"
    assert h.get(ended["memory"]["id"])["conflicts"] == []


@SAYINGS
def test_under_latest_a_summary_does_not_bring_back_an_older_value(
    tmp_path: Path, before: str, after: str
) -> None:
    with house(tmp_path, conflict_policy="latest") as h:
        _say(h, before)
        h.clock.advance(hours=1)
        answer = h.write(after)
        h.end("s")
        h.drain()
        assert h.get(answer["id"])["status"] == "active"


@SAYINGS
def test_a_summary_neither_confirms_what_it_repeats_nor_is_merged_into_it(
    h: House, before: str, after: str
) -> None:
    _say(h, before)
    told = h.memories()[0]
    ended = h.end("s")
    h.drain()
    now = h.get(told["id"])
    assert (now["confidence"], now["confirmations"]) == (told["confidence"], 0)
    summary = h.get(ended["memory"]["id"])
    assert (summary["status"], summary["memory_type"], summary["kind"]) == ("active", "short_term", "summary")


def test_a_session_that_is_taken_up_again_leaves_one_summary(h: House) -> None:
    _say(h, "My locker number is 4711.")
    first = h.end("s")["memory"]["id"]
    _say(h, "My wife is allergic to peanuts and my flight leaves on Friday.")
    second = h.end("s")["memory"]["id"]
    h.drain()
    left = [item["id"] for item in h.memories(status=EVERY) if item["kind"] == "summary"]
    assert left == [first, second]
    assert (h.get(first)["status"], h.get(second)["status"]) == ("deleted", "active")


def test_a_summary_that_the_user_reworded_stays_when_the_session_ends_again(h: House) -> None:
    _say(h, "My locker number is 4711.")
    first = h.end("s")["memory"]["id"]
    h.patch(first, content="We spoke about the locker.")
    _say(h, "My wife is allergic to peanuts and my flight leaves on Friday.")
    h.end("s")
    assert h.get(first)["status"] == "active"
