"""An edit of the text, and the ends that were read out of the old one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house import House, house


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


@pytest.mark.parametrize(
    ("before", "after", "zone"),
    [
        ("The hall is closed until tomorrow.", "The hall is closed for good.", "America/New_York"),
        ("会议室占用到明天", "会议室改成了储藏间", "Asia/Shanghai"),
        ("I'm in a meeting", "I look after the meeting rooms", "UTC"),
        ("我在开会", "我在三楼的办公室开发新产品", "Asia/Tokyo"),
    ],
)
def test_what_the_user_corrects_does_not_expire_on_the_day_of_the_old_words(
    h: House, before: str, after: str, zone: str
) -> None:
    written = h.write(before, timezone=zone)["memory"]
    assert written["expires_at"] is not None
    edited = h.patch(written["id"], content=after)
    assert (edited["expires_at"], edited["valid_to"]) == (None, None)
    h.clock.advance(days=5)
    assert h.get(written["id"])["status"] == "active"


def test_an_end_in_the_new_words_takes_the_place_of_the_old_one(h: House) -> None:
    written = h.write("The hall is closed until tomorrow.")["memory"]
    h.clock.advance(hours=1)
    edited = h.patch(written["id"], content="The hall is closed until 5pm.")
    assert edited["expires_at"] == edited["valid_to"] == "2026-03-02T17:00:00.000000Z"


@pytest.mark.parametrize("given", [{"ttl_seconds": 7200}, {"valid_to": "2026-03-09"}])
def test_an_end_that_the_caller_set_stays(h: House, given: dict[str, object]) -> None:
    written = h.write("The gate code is 4471.", **given)["memory"]
    edited = h.patch(written["id"], content="The gate code is 4472.")
    assert (edited["expires_at"], edited["valid_to"]) == (written["expires_at"], written["valid_to"])


def test_an_end_given_with_the_new_words_wins(h: House) -> None:
    written = h.write("The hall is closed until tomorrow.")["memory"]
    edited = h.patch(written["id"], content="The hall is closed for good.", valid_to="2026-04-01")
    assert (edited["expires_at"], edited["valid_to"]) == (None, "2026-04-01T23:59:59.999999Z")


def test_the_shelf_life_of_a_layer_stays_when_the_words_change(h: House) -> None:
    written = h.write("Call the bank about 4471", memory_type="working", session_id="s")["memory"]
    edited = h.patch(written["id"], content="Call the bank about 4472")
    assert edited["expires_at"] == written["expires_at"]
