"""Generated logs of what users ask for, with known shares: the same on every machine.

Each log belongs to a user of its own: one session a day, in most of them one request about the slot, in some an earlier
one that the same session takes back, and other talk between.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from rearview.domain.times import to_text

#: Day of the first session of each log.
FIRST: Final = datetime(2025, 3, 3, 10, 0, tzinfo=UTC)
LANGUAGES: Final = ("en", "zh", "mixed")
#: Tasks by value, out of those that one log holds.
SHARES: Final[Mapping[str, tuple[int, ...]]] = {
    "8 of 10": (8, 2),
    "6 of 10": (6, 4),
    "5 of 10": (5, 5),
    "10 of 10": (10,),
    "7 of 10, 3 values": (7, 2, 1),
    "5 of 10, 3 values": (5, 3, 2),
    "13 of 16, last 10": (13, 3),
}


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot: its key in the profile, (canonical value, English, Chinese) of some values, and ways to say it in which
    ``{}`` stands for the value; ``switch`` are ways that say it is so from now on."""

    key: str
    values: tuple[tuple[str, str, str], ...]
    ways: Mapping[str, tuple[str, ...]]
    switch: Mapping[str, tuple[str, ...]]


SLOTS: Final = (
    Slot(
        "sort order: order",
        (("date", "date", "日期"), ("amount", "amount", "金额"), ("status", "status", "状态")),
        {
            "en": (
                "Sort my orders by {}",
                "The user asked for the order list sorted by {}.",
                "Please show my orders by {}",
                "I want the orders ordered by {}, please.",
                "User viewed the order list sorted by {}",
                "Could you list my orders by {}?",
            ),
            "zh": (
                "订单按{}排序",
                "用户要求订单列表按{}升序排列。",
                "请把我的订单按{}排一下",
                "我想按{}查看订单",
                "用户又按{}查看了订单列表",
                "能按{}排一下订单吗？",
            ),
        },
        {
            "en": ("From now on, sort my orders by {}.", "Going forward the user wants orders sorted by {}"),
            "zh": ("从现在起，订单都按{}排序。", "以后订单都按{}排序", "订单排序改成按{}排序"),
        },
    ),
    Slot(
        "output format: report",
        (("pdf", "PDF", "PDF"), ("excel", "Excel", "Excel"), ("csv", "CSV", "CSV")),
        {
            "en": (
                "Send the report as {}",
                "User asked for the monthly report in {} format",
                "Please export the report to {}",
                "I prefer {} reports",
            ),
            "zh": ("请把报表导出成{}", "用户要求月度报告导出为{}格式", "报告用{}格式发给我", "报表要{}格式"),
        },
        {
            "en": ("From now on send the report as {}", "In future, export reports to {}"),
            "zh": ("以后报表都改成{}", "从今天开始，报表导出为{}格式"),
        },
    ),
    Slot(
        "reply language",
        (("english", "English", "英文"), ("chinese", "Chinese", "中文"), ("french", "French", "法语")),
        {
            "en": ("Reply in {}", "User wants replies in {}", "Please answer me in {}", "Write to me in {}, please"),
            "zh": ("请用{}回复", "用户希望用{}回答", "回复请用{}", "用{}跟我交流吧"),
        },
        {"en": ("From now on reply in {}",), "zh": ("以后都用{}回复我", "从现在起用{}回答")},
    ),
    Slot(
        "contact channel",
        (("sms", "SMS", "短信"), ("email", "email", "邮件"), ("wechat", "WeChat", "微信")),
        {
            "en": ("Notify me by {}", "User wants to be contacted via {}", "Please remind me by {}", "Send updates by {}"),
            "zh": ("用{}通知我", "用户要求{}通知", "有更新请用{}提醒我", "通过{}联系我就好"),
        },
        {"en": ("From now on notify me by {}",), "zh": ("以后改用{}通知我", "今后用{}联系我")},
    ),
    Slot(
        "payment method",
        (("alipay", "Alipay", "支付宝"), ("wechat pay", "WeChat Pay", "微信支付"), ("credit card", "credit card", "信用卡")),
        {
            "en": ("Pay with {}", "User paid for the order with {}", "I'd like to pay by {}", "User pays using {}"),
            "zh": ("用{}付款", "用户这单用{}支付", "我要用{}结账", "付款选择{}"),
        },
        {"en": ("From now on pay with {}",), "zh": ("以后付款改用{}", "从现在起用{}付款")},
    ),
    Slot(
        "answer length",
        (("short", "short", "简短"), ("detailed", "detailed", "详细")),
        {
            "en": ("Keep answers {}", "User prefers {} answers", "I want {} replies", "Give me a {} summary"),
            "zh": ("回答尽量{}", "用户喜欢{}的回答", "请给出{}的解释", "回复{}一些"),
        },
        {"en": ("From now on keep answers {}",), "zh": ("以后回答都要{}一些", "从现在起，回答请{}一些")},
    ),
    Slot(
        "delivery method",
        (("express", "express", "加急"), ("pickup", "pickup", "自提"), ("standard", "standard", "普通快递")),
        {
            "en": ("Ship it by {}", "User chose {} shipping", "Deliver my order by {}", "Send the parcel via {}"),
            "zh": ("发{}", "用户选择{}", "这单走{}", "我要用{}"),
        },
        {"en": ("From now on ship by {}",), "zh": ("以后都走{}", "从现在起用{}")},
    ),
)  # fmt: skip

_TALK: Final[Mapping[str, tuple[str, ...]]] = {
    "en": ("The parcel {} arrived on Tuesday", "Invoice {} was paid twice", "The meeting about contract {} took an hour"),
    "zh": ("包裹{}周二到了", "发票{}重复付了一次", "关于合同{}的会开了一个小时"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Log:
    """One user's log: writes of the entrance, session by session, and the values that its sessions ended with."""

    user: str
    slot: Slot
    language: str
    sessions: tuple[tuple[dict[str, Any], ...], ...]
    values: tuple[str, ...]

    def share(self, window: int = 10) -> tuple[str, int, int]:
        """(most frequent value of the last sessions, how often, of how many)."""
        last = self.values[-window:]
        lead = max(last, key=lambda value: (last.count(value), _last(last, value)))
        return lead, last.count(lead), len(last)

    def writes(self) -> list[dict[str, Any]]:
        """All writes in order."""
        return [item for session in self.sessions for item in session]


def _last(values: Sequence[str], value: str) -> int:
    return len(values) - 1 - values[::-1].index(value)


class Maker:
    """Makes logs of one slot in one language; what it chooses depends on its name only."""

    def __init__(self, slot: Slot, language: str, name: str) -> None:
        self.slot, self.language = slot, language
        self.user = f"{slot.key}/{language}/{name}"
        self.random = random.Random(self.user)  # noqa: S311 - no secret
        self.day = 0

    def log(self, values: Sequence[int]) -> Log:
        """A session for each value (an index into the slot's), in that order."""
        sessions = tuple(self.session(value) for value in values)
        return Log(self.user, self.slot, self.language, sessions, tuple(self.name(value) for value in values))

    def shuffled(self, tasks: Sequence[int]) -> Log:
        """``tasks[i]`` sessions with value ``i``, in an order of chance."""
        values = [value for value, number in enumerate(tasks) for _ in range(number)]
        self.random.shuffle(values)
        return self.log(values)

    def name(self, value: int) -> str:
        """The canonical form of a value."""
        return self.slot.values[value][0]

    def session(self, value: int, *, switch: bool = False) -> tuple[dict[str, Any], ...]:
        """The writes of the next day's session."""
        writes = []
        if not switch and self.random.random() < 0.2:
            # Wanted first, then not: the session counts once, as what it ended with.
            other = self.random.randrange(len(self.slot.values))
            writes.append(self._write(self._say(other, self.slot.ways), 0))
        if self.random.random() < 0.5:
            tongue = self._tongue()
            talk = self.random.choice(_TALK[tongue]).format(f"{self.random.randrange(16**6):06X}")
            writes.append(self._write(talk, 10))
        writes.append(self._write(self._say(value, self.slot.switch if switch else self.slot.ways), 20))
        self.day += 1
        return tuple(writes)

    def _say(self, value: int, ways: Mapping[str, tuple[str, ...]]) -> str:
        tongue = self._tongue()
        word = self.slot.values[value][1 if tongue == "en" else 2]
        return self.random.choice(ways[tongue]).format(word)

    def _tongue(self) -> str:
        return self.random.choice(("en", "zh")) if self.language == "mixed" else self.language

    def _write(self, content: str, minutes: int) -> dict[str, Any]:
        at = FIRST + timedelta(days=self.day, minutes=minutes)
        return {
            "user_id": self.user,
            "content": content,
            "session_id": f"day {self.day}",
            "admission": "force",
            "occurred_at": to_text(at),
        }
