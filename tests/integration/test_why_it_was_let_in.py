"""A memory's history tells why it was let in, and why it was merged: somebody asks that years later."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house import house


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I prefer the aisle seat.", "preference"),
        ("我更喜欢靠窗的座位。", "preference"),
        ("My sister is called Ida.", "fact"),
        ("我妹妹叫小雨。", "fact"),
    ],
)
def test_the_first_version_bears_the_codes_of_its_verdict(tmp_path: Path, text: str, reason: str) -> None:
    with house(tmp_path) as one:
        made = one.write(text, "ann")
        assert made["reasons"] == [reason]
        assert one.history(made["id"])[0]["reason"] == reason


@pytest.mark.parametrize("admission", ["force", "verbatim"])
def test_what_was_stored_whatever_the_sieves_say_tells_so(tmp_path: Path, admission: str) -> None:
    with house(tmp_path) as one:
        made = one.write("ok", "ann", admission=admission)
        assert one.history(made["id"])[0]["reason"] == "forced"


def test_a_memory_out_of_a_conversation_tells_it_too(tmp_path: Path) -> None:
    with house(tmp_path) as one:
        said = [{"turn_id": "t1", "role": "user", "content": "记住，我对青霉素过敏。"}]
        made = one.turns(said, user="ann", session_id="s")["results"][0]["memories"][0]
        assert one.history(made["id"])[0]["reason"] == ", ".join(made["reasons"]) != ""
