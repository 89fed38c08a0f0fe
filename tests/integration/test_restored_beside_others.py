"""What comes back from a deletion meets what was said meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house import House, house

SAYINGS = pytest.mark.parametrize(
    ("before", "after"),
    [("I live in Leeds.", "I live in York."), ("我住在杭州。", "我住在北京。")],
    ids=["en", "zh"],
)


def _restored(h: House, before: str, after: str) -> tuple[str, str]:
    old = h.write(before)["id"]
    h.delete(old)
    h.clock.advance(hours=1)
    new = h.write(after)["id"]
    h.restore(old)
    h.drain()
    return old, new


@SAYINGS
def test_a_restored_memory_is_asked_about_beside_what_contradicts_it(
    tmp_path: Path, before: str, after: str
) -> None:
    with house(tmp_path) as h:
        old, new = _restored(h, before, after)
        assert (h.get(old)["status"], h.get(new)["status"]) == ("disputed", "disputed")
        assert len(h.recall(before).conflicts) == 1


@SAYINGS
def test_under_latest_what_was_said_meanwhile_wins_over_what_is_restored(
    tmp_path: Path, before: str, after: str
) -> None:
    with house(tmp_path, conflict_policy="latest") as h:
        old, new = _restored(h, before, after)
        assert (h.get(old)["status"], h.get(new)["status"]) == ("superseded", "active")


@SAYINGS
def test_a_pair_that_was_settled_is_not_asked_about_again_after_a_restore(
    tmp_path: Path, before: str, after: str
) -> None:
    with house(tmp_path) as h:
        old = h.write(before)["id"]
        answer = h.write(after)
        h.resolve(answer["conflicts"][0]["id"], keep_both=True)
        h.delete(old)
        h.restore(old)
        h.drain()
        assert (h.get(old)["status"], h.get(answer["id"])["status"]) == ("active", "active")
