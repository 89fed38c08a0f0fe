"""From conversation turns to memories, in Chinese and English."""

import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rearview
from rearview.domain.admission import compile_admission
from rearview.domain.extraction import Dropped, Extracted, TurnText, compile_extraction, extract

_RULES = Path(rearview.__file__).parent / "rules"
ADMISSION = compile_admission(tomllib.loads((_RULES / "admission.toml").read_text("utf-8")))
RULES = compile_extraction(tomllib.loads((_RULES / "extraction.toml").read_text("utf-8")))
NOW = datetime(2026, 5, 13, 10, 0, tzinfo=UTC)


def talk(*lines: tuple[str, str]) -> tuple[list[Extracted], list[Dropped]]:
    turns = [TurnText(str(number), role, None, text, NOW) for number, (role, text) in enumerate(lines, 1)]
    return extract(turns, now=NOW, timezone=UTC, rules=RULES, admission=ADMISSION)


@pytest.mark.parametrize(
    ("question", "answer", "whole"),
    [
        ("What's your order number?", "PK-88213", "order number: PK-88213"),
        ("请提供一下您的手机号", "13900001111", "手机号：13900001111"),
        ("请问您的会员编号是多少？", "VIP-20931", "会员编号：VIP-20931"),
        ("Postgres or MySQL?", "the first one", "Postgres or MySQL: the first one"),
    ],
)
def test_a_bare_answer_is_filed_under_its_question(question: str, answer: str, whole: str) -> None:
    found, _ = talk(("user", "hello there"), ("assistant", question), ("user", answer))
    assert [(memory.turn_id, memory.text, memory.origin) for memory in found] == [("3", whole, "user")]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "My son Leo is allergic to milk, loves dinosaurs, and turns 6 on Tuesday",
            [
                ("fact", "My son Leo is allergic to milk"),
                ("preference", "My son Leo loves dinosaurs"),
                ("event", "My son Leo turns 6 on Tuesday"),
            ],
        ),
        (
            "我女儿对牛奶过敏，喜欢恐龙，下周二生日",
            [("fact", "我女儿对牛奶过敏"), ("preference", "我女儿喜欢恐龙"), ("event", "我女儿下周二生日")],
        ),
    ],
)
def test_clauses_of_different_kinds_part_and_keep_their_subject(
    text: str, parts: list[tuple[str, str]]
) -> None:
    found, _ = talk(("user", text))
    assert [(memory.kind, memory.text) for memory in found] == parts


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Your table is booked for Friday 19:30, confirmation LG-5521.", "LG-5521"),
        ("查到了，包裹已于昨天发出，单号 SF778812。", "SF778812"),
        ("The refund of 42.50 EUR has been approved, reference RF_9001-X.", "RF_9001-X"),
    ],
)
def test_an_assistants_result_is_kept_with_its_identifiers(text: str, key: str) -> None:
    [found], _ = talk(("assistant", text))
    assert key in found.text
    assert (found.origin, found.turn_id) == ("agent", "1")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Would you like me to draft the contract?", "question"),
        ("要不要我帮您起草合同？", "question"),
        ("Noted, I'll keep that in mind.", "no_result"),
        ("好的，记下了。", "no_result"),
        ("A warm bath may help you relax.", "no_result"),
    ],
)
def test_an_assistants_pleasantries_leave_nothing(text: str, reason: str) -> None:
    found, dropped = talk(("assistant", text))
    assert found == []
    assert [one.reason for one in dropped] == [reason]


@pytest.mark.parametrize(
    "text",
    ["thanks, you're the best", "谢啦，你真棒", "hmm", "write me a poem about rain", "帮我写一首关于雨的诗", "lol my dog ate my homework",
     "要是我中彩票就环游世界哈哈", "nice weather today", "今天天气真好", "👍"],
)  # fmt: skip
def test_talk_without_substance_is_dropped_with_a_reason(text: str) -> None:
    found, dropped = talk(("user", text))
    assert found == []
    assert dropped
    assert all(one.reason and one.turn_id == "1" for one in dropped)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I'd rather have the aisle seat", "preference"),
        ("我更喜欢靠走道的座位", "preference"),
        ("From now on keep your answers under five lines", "instruction"),
        ("以后回答别超过五行", "instruction"),
        ("we went with Terraform in the end", "conclusion"),
        ("定了，就用 Terraform", "conclusion"),
        ("No, it's 12, not 21", "correction"),
        ("我说的是十二，不是二十一", "correction"),
        ("I moved to Ghent last month", "event"),
        ("我昨天跟房东吵架了", "event"),
        ("The locker on floor 3 is number 118", "fact"),
        ("我们组一共九个人", "fact"),
    ],
)
def test_a_users_statement_becomes_a_memory_of_its_kind(text: str, kind: str) -> None:
    found, _ = talk(("user", text))
    assert [(memory.kind, memory.text) for memory in found] == [(kind, text)]


def test_identifiers_survive_letter_for_letter() -> None:
    text = "Ｍy instance is orca-main-07 in eu-north-1, call +46 70 000 11 22 or ops@example.org, cost 1,299.50 €"
    found, _ = talk(("user", text))
    kept = " ".join(memory.text for memory in found)
    for key in ("orca-main-07", "eu-north-1", "+46 70 000 11 22", "ops@example.org", "1,299.50 €"):
        assert key in kept


def test_a_tools_output_is_kept_as_the_tools() -> None:
    [found], _ = talk(("tool", "backup node eu-standby-03, last drill 2026-04-30, switch took 94 s"))
    assert (found.origin, found.text) == (
        "tool",
        "backup node eu-standby-03, last drill 2026-04-30, switch took 94 s",
    )


def test_every_turn_is_accounted_for_in_order() -> None:
    lines = [
        ("user", "hi"),
        ("assistant", "Hello! How can I help?"),
        ("user", "   "),
        ("user", "I live in Turin."),
    ]
    found, dropped = talk(*lines)
    assert {one.turn_id for one in (*found, *dropped)} == {"1", "2", "3", "4"}
    assert [int(one.turn_id) for one in dropped] == sorted(int(one.turn_id) for one in dropped)


def test_a_pasted_document_leaves_a_bounded_number_of_memories() -> None:
    for unit in ("我的第一套房子在厦门。", "My first flat was in Turin. "):
        found, _ = talk(("user", unit * 400))
        assert 0 < len(found) <= 40


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["user", "assistant", "tool", "someone"]), st.text(max_size=80)), max_size=5
    )
)
def test_any_conversation_can_be_read(lines: list[tuple[str, str]]) -> None:
    found, dropped = talk(*lines)
    assert {one.turn_id for one in (*found, *dropped)} == {str(number) for number in range(1, len(lines) + 1)}
    assert all(memory.importance >= 0.3 and memory.reasons for memory in found)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("好的，请问订单号？", "订单号：GH-7001"),
        ("Sure, what is your order number?", "order number: GH-7001"),
    ],
)
def test_a_bare_identifier_takes_just_the_topic_of_its_question(question: str, expected: str) -> None:
    found, _ = talk(("assistant", question), ("user", "GH-7001"))
    assert [(item.kind, item.text) for item in found] == [("fact", expected)]
