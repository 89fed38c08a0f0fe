"""What somebody takes back in the same breath, and what takes its place."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.test_claims import rules
from tests.unit.test_extraction import ADMISSION, RULES

from rearview.domain.claims import claims_of, put_right
from rearview.domain.extraction import TurnText, extract
from rearview.domain.relations import relate
from rearview.domain.self_correction import corrects, split_correction

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def kept(*turns: str) -> list[tuple[str, str]]:
    """(text, kind) of what the turns leave; those that begin with "A:" are the assistant's."""
    told = [
        TurnText(str(n), "assistant" if turn.startswith("A:") else "user", None, turn.removeprefix("A:"), NOW)
        for n, turn in enumerate(turns)
    ]
    found, _ = extract(told, now=NOW, timezone=UTC, rules=RULES, admission=ADMISSION)
    return [(item.text, item.kind) for item in found]


@pytest.mark.parametrize(
    "text",
    [
        "I live in Leeds. No wait, York.", "My birthday is May 4th. Wait, no, it's May 5th.",
        "My number is 555-0100. Sorry, 555-0101.", "我住杭州。不对，是苏州。", "我对花生过敏。说错了，是虾。",
    ],
)  # fmt: skip
def test_a_correction_stays_with_what_it_corrects(text: str) -> None:
    assert kept(text) == [(text, "correction")]


@pytest.mark.parametrize(
    ("first", "answer", "second", "whole"),
    [
        ("I live in Leeds.", "A:Noted.", "No wait, York.", "I live in Leeds. No wait, York."),
        ("我住杭州", "A:好的，记下了。", "不对，是苏州", "我住杭州，不对，是苏州"),
    ],
)
def test_a_correction_in_the_next_turn_says_what_it_corrects(
    first: str, answer: str, second: str, whole: str
) -> None:
    assert kept(first, answer, second)[-1] == (whole, "correction")


@pytest.mark.parametrize(
    "text",
    [
        "I mean, we eat it every week", "No, it's fine", "Sorry, I have to go", "Wait, no, what is that?", "不对，我不是这个意思",
        "No way, Jose", "错了", "不是吧", "Sorry for the delay", "那个方案不对，是预算的问题",
    ],
)  # fmt: skip
def test_words_that_put_nothing_in_its_place_are_left_alone(text: str) -> None:
    assert kept("I have a dog called Rex.", text)[0] == ("I have a dog called Rex.", "fact")
    assert all("Rex" not in one for one, _ in kept("I have a dog called Rex.", text)[1:])


@pytest.mark.parametrize(
    ("old", "new", "relation"),
    [
        ("I live in York.", "I live in Leeds. No wait, York.", "duplicate"),
        ("I live in Leeds.", "I live in Leeds. No wait, York.", "contradiction"),
        ("I live in Leeds, no wait, York.", "I live in York.", "duplicate"),
        ("我住苏州。", "我住杭州。不对，是苏州。", "duplicate"), ("我住杭州。", "我住杭州。不对，是苏州。", "contradiction"),
        ("我生日是5月4号", "我生日是5月4号，不对，是5月5号", "contradiction"),
        ("我的电话是13800001112", "我的电话是13800001111，哦不，是13800001112", "duplicate"),
    ],
)  # fmt: skip
def test_a_corrected_text_is_held_against_others_by_what_it_ends_with(
    old: str, new: str, relation: str
) -> None:
    assert relate(old, new, rules=rules()).relation == relation


def test_a_correction_of_something_that_no_slot_knows_changes_no_other_claim() -> None:
    text = "I live in Leeds. My dog is a funny one called Rex. No wait, Max."
    assert [claim.raw_value for claim in claims_of(text, rules()) if claim.slot == "residence"] == ["leeds"]


def test_a_name_takes_no_number_s_place() -> None:
    text = "My phone is 555-0100. Sorry, I meant York."
    assert put_right(text, rules()) == text


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=450))
def test_no_text_breaks_the_reader(text: str) -> None:
    for whole in (text, f"I live in Leeds. No wait, {text}", f"我住杭州。不对，{text}"):
        corrects(whole)
        split_correction(whole)
        claims_of(whole, rules())


@pytest.mark.parametrize("unit", ["no wait, ", "不对，", "sorry, ", "，", "- ", " "])
def test_long_texts_are_read_in_bounded_time(unit: str) -> None:
    text = unit * (65_536 // len(unit.encode()))
    begin = datetime.now(UTC)
    corrects(text)
    split_correction(text)
    assert (datetime.now(UTC) - begin).total_seconds() < 1
