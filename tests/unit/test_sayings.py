"""Sayings: what one memory says by slot; values in both languages and every notation."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from tests.unit.profile_kit import memory, rules

from rearview.domain.sayings import read_into, sayings, sayings_of


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("Sort my orders by date", "sort order: order", "date"),
        ("The user asked for the order list sorted by date ascending.", "sort order: order", "date"),
        ("I'd like my orders ordered by amount, please", "sort order: order", "amount"),
        ("Could you list my orders by date?", "sort order: order", "date"),
        ("In this session the user sorted the orders by total", "sort order: order", "amount"),
        ("SORT MY ORDERS BY DATE", "sort order: order", "date"),
        ("Sort files by name", "sort order: file", "name"),
        ("Sort by date", "sort order", "date"),
        ("订单按日期排序", "sort order: order", "date"),
        ("用户要求订单列表按日期升序排列。", "sort order: order", "date"),
        ("訂單按日期排序", "sort order: order", "date"),
        ("请按照金额从高到低列出我的订单", "sort order: order", "amount"),
        ("能按日期排一下订单吗？", "sort order: order", "date"),
        ("Send the report as PDF", "output format: report", "pdf"),
        ("报表请导出成ＰＤＦ格式", "output format: report", "pdf"),
        ("Reply in Chinese", "reply language", "chinese"),
        ("请用英文回复", "reply language", "english"),
        ("Notify me by SMS", "contact channel", "sms"),
        ("有更新请用短信通知我", "contact channel", "sms"),
        ("User paid for the order with Alipay", "payment method", "alipay"),
        ("这单用支付宝付款", "payment method", "alipay"),
        ("Show weights in kilos", "unit", "kilograms"),
        ("重量用公斤显示", "unit", "kilograms"),
        ("Keep answers short", "answer length", "short"),
        ("回答尽量简短", "answer length", "short"),
        ("Ship it by express", "delivery method", "express"),
        ("用户选择顺丰发货", "delivery method", "sf express"),
        ("Book a window seat", "seat", "window"),
        ("我要靠窗的座位", "seat", "window"),
    ],
)
def test_what_is_chosen_each_time_has_one_value_in_every_wording(text: str, slot: str, value: str) -> None:
    assert [(one.subject, one.slot, one.value, one.habit) for one in sayings(text, "fact", rules())] == [
        ("user", slot, value, True)
    ]


@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("Sort them by amount", "sort order"),
        ("Show them sorted by date", "sort order"),
        ("Sort everything by date", "sort order"),
        ("请把它们按金额排序", "sort order"),
        ("把这些按日期排序", "sort order"),
        ("Send it as PDF", "output format"),
        ("Export them to Excel", "output format"),
        ("把它导出成PDF", "output format"),
        ("Sort the items by date", "sort order: item"),
    ],
)
def test_a_choice_about_it_or_them_is_about_nothing_in_particular(text: str, slot: str) -> None:
    assert [one.slot for one in sayings(text, "fact", rules())] == [slot]


@pytest.mark.parametrize(
    "text",
    [
        "Get the report by Friday",
        "I used to sort my orders by date",
        "以前我订单按日期排序",
        "Do orders arrive by date?",
        "听说他们订单按日期排序",
        "See you by the window",
        "把文件发到我的邮箱",
    ],
)
def test_what_only_looks_like_a_choice_says_none(text: str) -> None:
    assert not [one for one in sayings(text, "fact", rules()) if one.habit]


@pytest.mark.parametrize(
    ("text", "slot", "polarity"),
    [
        ("Don't reply in English any more", "reply language", False),
        ("The user does not want replies in English", "reply language", False),
        ("Never sort my orders by date", "sort order: order", False),
        ("以后不要用英文回复我", "reply language", False),
        ("别用短信通知我", "contact channel", False),
        ("用户不想用英文回复", "reply language", False),
        ("不要按日期排序订单", "sort order: order", False),
        ("别的订单按金额排序", "sort order: order", True),
        ("Never mind, reply in English", "reply language", True),
    ],
)
def test_a_choice_that_is_refused_is_denied(text: str, slot: str, polarity: bool) -> None:
    said = [(one.slot, one.polarity) for one in sayings(text, "fact", rules()) if one.habit]
    assert said == [(slot, polarity)]


@pytest.mark.parametrize(
    "text", ["Don't forget to reply in English", "别忘了用英文回复", "I don't mind PDF reports"]
)
def test_what_only_sounds_like_a_refusal_denies_nothing(text: str) -> None:
    assert not [one for one in sayings(text, "fact", rules()) if one.habit]


@pytest.mark.parametrize(
    ("text", "switch"),
    [
        ("From now on, sort my orders by amount", True),
        ("Going forward the user wants orders sorted by amount", True),
        ("从现在起，订单按金额排序", True),
        ("以后都用英文回复我", True),
        ("订单排序改成按金额", True),
        ("从今天开始订单按金额排序", True),
        ("从明天起用英文回复我", True),
        ("即日起用英文回复", True),
        ("接下来订单都按金额排序", True),
        ("请以后用英文回复", True),
        ("用户希望以后用英文回复", True),
        ("From today reply in English", True),
        ("From tomorrow, reply in English", True),
        ("Reply in English from tomorrow on", True),
        ("Please reply in English starting today", True),
        ("今天用英文回复", False),
        ("Reply in English today", False),
        ("Sort my orders by amount now", False),
        ("现在按金额排序订单", False),
        ("这次改成按金额排序订单", False),
        ("查到结果以后按金额排序", False),
    ],
)
def test_only_words_for_the_time_to_come_are_a_switch(text: str, switch: bool) -> None:
    assert [one.switch for one in sayings(text, "fact", rules())] == [switch]


def test_a_value_is_shown_as_it_was_written() -> None:
    (said,) = sayings("I live in Aix-en-Provence", "fact", rules())
    assert (said.raw, said.value) == ("Aix-en-Provence", "aix en provenc")


def test_a_reading_stays_when_the_text_goes_and_is_made_anew_when_it_changes() -> None:
    read = read_into(memory(1, "Sort my orders by date"), "Sort my orders by date", rules())
    assert sayings_of(replace(read, content="", summary="…", text_archived=True), rules()) == read.said
    assert [one.value for one in sayings_of(replace(read, content="Sort my orders by amount"), rules())] == [
        "amount"
    ]


@pytest.mark.parametrize(
    "text",
    ["想要" * 30_000, "please " * 9_000, "sort my my order " * 3_800, "按日期" * 20_000, "use date to " * 5_400,
     "订单请都要" * 12_000, "\u202e🙂sort my orders by date\u0301" * 1_000, "x" * 65_000],
)  # fmt: skip
def test_no_text_takes_long(text: str) -> None:
    started = time.process_time()
    sayings(text, "preference", rules())
    assert time.process_time() - started < 5
