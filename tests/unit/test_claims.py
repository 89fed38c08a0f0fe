"""What a text claims: subject, slot and value, in both languages and every notation."""

import time
import tomllib
from functools import cache
from pathlib import Path

import pytest

import rearview
from rearview.domain.claims import Claim, SlotRules, compile_slots, find_claims
from rearview.domain.claims_numbers import number_of
from rearview.domain.claims_reading import read
from rearview.domain.claims_rules import fold


@cache
def rules() -> SlotRules:
    folder = Path(rearview.__file__).parent / "rules"
    raw: dict[str, object] = {}
    for name in ("slots", "negation", "concepts"):
        table = tomllib.loads((folder / f"{name}.toml").read_text("utf-8"))
        assert not raw.keys() & table.keys()
        raw |= table
    return compile_slots(raw)


def claims(text: str) -> list[Claim]:
    return find_claims(text, rules())


def only(text: str) -> Claim:
    found = claims(text)
    assert len(found) == 1, found
    return found[0]


def values(text: str) -> set[tuple[str, str]]:
    return {
        (v.dimension, v.value) for c in read(text, rules()).clauses for vs in c.values.values() for v in vs
    }


@pytest.mark.parametrize(
    ("text", "subject", "slot", "value"),
    [
        ("I live in Ghent now.", "user", "residence", "ghent"),
        ("User relocated to Oslo", "user", "residence", "oslo"),
        ("我搬到厦门了", "user", "residence", "厦 门"),
        ("用户住在厦门", "user", "residence", "厦 门"),
        ("my brother lives in Lyon", "my brother", "residence", "lyon"),
        ("My phone number is 0161 496 0000", "user", "phone", "=n:01614960000"),
        ("R is now assigned to project nine", "r", "assignment", "project =n:9"),
        ("小吴现在负责结算模块", "小 吴", "assignment", "结 算 模 块"),
        ("The deadline is May 2nd", "user", "deadline", "=date:?-5-2"),
        ("截止日期改到5月2号", "user", "deadline", "=date:?-5-2"),
        ("我的工号是 B7731", "user", "工 号", "=id:b7731"),
        ("my locker number is 41", "user", "locker number", "=n:41"),
        ("the billing server port is 7070", "bill server", "port", "=n:7070"),
        ("My favourite colour is teal", "user", "favourite colour", "teal"),
        ("我最喜欢的颜色是绿色", "user", "favourite colour", "green"),
        ("我老婆叫苏文", "my wife", "name", "苏 文"),
        ("User's wife is Ines Duarte.", "my wife", "name", "ine duart"),
    ],
)
def test_a_statement_yields_its_subject_slot_and_value(
    text: str, subject: str, slot: str, value: str
) -> None:
    claim = only(text)
    assert (claim.subject, claim.slot, claim.value) == (subject, slot, value)
    assert claim.polarity
    assert claim.single


def test_likings_and_allergies_may_be_many_and_may_be_denied() -> None:
    assert [(c.slot, c.value, c.polarity, c.single) for c in claims("I love oysters")] == [
        ("likes", "oyster", True, False)
    ]
    assert [(c.value, c.polarity) for c in claims("I can't stand oysters")] == [("oyster", False)]
    assert [(c.slot, c.value, c.polarity) for c in claims("我对桃子过敏")] == [("allergy", "桃 子", True)]
    assert [(c.slot, c.value, c.polarity) for c in claims("我对桃子不过敏")] == [("allergy", "桃 子", False)]


@pytest.mark.parametrize(
    "text", ["Where do I live?", "我住在哪里？", "Do you know my phone number?", "", "🙂", "。。。"]
)
def test_questions_and_empty_texts_claim_nothing(text: str) -> None:
    assert claims(text) == []


def test_a_past_residence_is_marked_as_past() -> None:
    assert only("I used to live in Porto").mode == "past"
    assert only("以前我住在大理").mode == "past"
    assert only("I live in Porto").mode == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("120 seconds", "2 minutes"),
        ("90 seconds", "1.5 minutes"),
        ("一个半小时", "90 minutes"),
        ("半个小时", "30 minutes"),
        ("0.25 g", "250 mg"),
        ("三千五", "3500"),
        ("一百零五", "105"),
        ("二十六", "twenty-six"),
        ("15k", "一万五"),
        ("$40", "40 dollars"),
        ("9:15 pm", "21:15"),
        ("晚上九点一刻", "21:15"),
        ("quarter to ten at night", "21:45"),
        ("Nov 7th", "7 November"),
        ("11月7号", "November 7"),
        ("UTC+05:00", "gmt+5"),
        ("Thursday", "周四"),
        ("１２３４", "1234"),
    ],
)
def test_one_value_in_two_notations_reads_the_same(one: str, other: str) -> None:
    assert values(f"x {one}") == values(f"x {other}") != set()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("30 ms", "30 s"),
        ("30秒", "30毫秒"),
        ("7 am", "7 pm"),
        ("UTC+3", "UTC-3"),
        ("$9", "£9"),
        ("5 mg", "5 g"),
    ],
)
def test_units_and_signs_tell_values_apart(one: str, other: str) -> None:
    assert values(f"x {one}") != values(f"x {other}")


@pytest.mark.parametrize(
    "text", ["万一下雨", "一直在等", "统一一下", "十分感谢", "no one came", "the second one"]
)
def test_numerals_inside_other_words_are_no_numbers(text: str) -> None:
    assert not {v for v in values(text) if v[0] == "n"}


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("两千五", 2500),
        ("一万二", 12000),
        ("三百零六", 306),
        ("twelve grand", 12000),
        ("forty-two", 42),
        ("半", 0.5),
        ("1,250.5", 1250.5),
    ],
)
def test_numerals_of_both_languages_are_read(word: str, number: float) -> None:
    assert number_of(word) == number


def test_folding_keeps_offsets_and_unites_scripts_and_widths() -> None:
    script = rules().script
    assert fold("體驗ＡＢＣ", script) == "体验abc"
    assert len(fold("İstanbul", script)) == len("İstanbul")


def test_a_slot_is_added_as_data_alone() -> None:
    raw = {"slot": [{"name": "plays", "patterns": [r"(?P<s>\w+) plays the (?P<v>.+)"]}]}
    (claim,) = find_claims("ana plays the oboe", compile_slots(raw))
    assert (claim.subject, claim.slot, claim.value) == ("ana", "plays", "obo")


def test_an_attribute_is_added_as_data_alone() -> None:
    folder = Path(rearview.__file__).parent / "rules"
    raw = tomllib.loads((folder / "slots.toml").read_text("utf-8"))
    raw["attribute"].append({"name": "shell", "en": ["login shell"], "zh": ["登录终端"]})
    extended = compile_slots(raw)
    assert [(c.slot, c.raw_value) for c in find_claims("the login shell is fish", extended)] == [
        ("shell", "fish")
    ]
    assert [(c.slot, c.raw_value) for c in find_claims("登录终端是fish", extended)] == [("shell", "fish")]


def test_a_label_before_a_message_is_no_part_of_it() -> None:
    (clause,) = read("[SMS to Bo] I am home", rules()).clauses
    assert "sms" not in clause.heavy
    assert clause.mode == "event"


@pytest.mark.parametrize(
    "unit", ["a", "0", "1-", "王", "从", "not ", ",", ".", "[", "一", "a@", "\u202e", "́", "😀", "we dropped "]
)
def test_long_texts_of_anything_are_read_in_linear_time(unit: str) -> None:
    text = unit * (16_384 // len(unit.encode()))
    start = time.perf_counter()
    claims(text)
    assert time.perf_counter() - start < 3
