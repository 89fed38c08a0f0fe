"""Memories for the bench, made here: Chinese, English and mixed, no two the same, the same ones for the same seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

SEED: Final = 20260301

#: (memory, question about it). Fields are filled from the lists below.
_TEMPLATES: Final = (
    (
        "The review of {project} with {name} is on {month} {day}, room {number}, invitation {code}.",
        "When do I meet {name} about {project}?",
    ),
    (
        "Order {code}: {count} {thing} for the {place} office, paid by card.",
        "What did we order for {place}, {code}?",
    ),
    (
        "{name} prefers {thing} in the morning and never eats before {hour} o'clock; locker {code}.",
        "What does {name} like in the morning?",
    ),
    (
        "We decided to move {project} to {place} because latency fell to {number} ms (ticket {code}).",
        "Why did {project} move to {place}?",
    ),
    (
        "{name}'s flight to {place} leaves at {hour}:40 with booking code {code}.",
        "Which booking code has {name}'s flight?",
    ),
    (
        "{project} 的评审改到{month_zh}{day}日下午，{name_zh}负责记录，编号 {code}。",
        "{project} 的评审改到什么时候？",
    ),
    (
        "{name_zh}在{place_zh}订了{count}份{thing_zh}，订单号是 {code}。",
        "{name_zh}在{place_zh}订的东西订单号是多少？",
    ),
    ("{name_zh}早上只喝{thing_zh}，{hour}点之前不吃东西，门禁卡号 {code}。", "{name_zh}早上喜欢喝什么？"),
    (
        "因为延迟降到 {number} 毫秒，我们决定把 {project} 部署到{place_zh}，工单 {code}。",
        "为什么把 {project} 部署到{place_zh}？",
    ),
    (
        "{name_zh}{month_zh}{day}日去{place_zh}出差，航班订座码 {code}。",
        "{name_zh}去{place_zh}出差的订座码是什么？",
    ),
    (
        "下周 {name} 来{place_zh} onsite，主题是 {project}，需要 {count} 台 laptop，单号 {code}。",
        "{name} 的 onsite 是什么主题？",
    ),
)
_FIELDS: Final = {
    "name": ("Alma", "Bogdan", "Chidi", "Dagny", "Emre", "Farida", "Goran", "Hedda", "Ismail", "Jarmila"),
    "name_zh": ("韩牧", "苏岚", "卢川", "季青", "孟瑶", "温和", "邵野", "裴宁", "阮舟", "闻溪"),
    "place": ("Porto", "Tromsø", "Hanoi", "Quito", "Ghent", "Nairobi", "Perth", "Tartu"),
    "place_zh": ("泉州", "大理", "烟台", "桂林", "西宁", "珠海", "洛阳", "海口"),
    "thing": ("oat porridge", "green tea", "desk lamps", "rye bread", "notebooks", "cold brew", "headsets"),
    "thing_zh": ("豆浆", "乌龙茶", "台灯", "全麦面包", "笔记本", "冷萃咖啡", "耳机"),
    "project": ("Kestrel", "Marlin", "Juniper", "Basalt", "Orchid", "Tundra", "Lantern", "Cobalt", "Willow"),
    "month": ("January", "March", "April", "June", "July", "September", "October", "December"),
    "month_zh": ("1月", "3月", "4月", "6月", "7月", "9月", "10月", "12月"),
}
_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Sample:
    """A memory, whose it is, and a question that it answers."""

    user: str
    content: str
    question: str


def samples(count: int, users: int, *, seed: int = SEED) -> Sequence[Sample]:
    """``count`` memories dealt out to ``users`` users in turn; who gets them does not change what they say."""
    chance = random.Random(seed)  # noqa: S311 - repeatable data, no secret
    made = []
    for at in range(count):
        memory, question = _TEMPLATES[at % len(_TEMPLATES)]
        fields: dict[str, str | int] = {name: chance.choice(values) for name, values in _FIELDS.items()}
        fields |= {
            "code": code(chance, at),
            "number": chance.randrange(100, 1000),
            "count": chance.randrange(2, 60),
            "day": chance.randrange(1, 29),
            "hour": chance.randrange(6, 12),
        }
        made.append(Sample(f"user-{at % users}", memory.format(**fields), question.format(**fields)))
    return made


def code(chance: random.Random, number: int) -> str:
    """A booking code that no other ``number`` has."""
    return f"{''.join(chance.choices(_LETTERS, k=3))}-{10_000 + number}"
