"""A store to look at: 5,000 memories of one user over half a year, in Chinese and English, the same every time.

Beside them stands what else the console shows: a conversation with its raw turns, conflicts, decisions with a chain and
outcomes, forgotten and superseded memories, a report; and a second user whose texts try to do harm.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rearview.domain.principal import LOCAL
from rearview.domain.runs import CADENCES
from rearview.usecases.commands import CreateKey
from rearview.usecases.fields import read
from rearview.usecases.policy_commands import ChangePolicy
from tests.house import FakeClock, House, house

START = datetime(2025, 9, 1, 8, 0, tzinfo=UTC)
DAYS = 180
USER = "mira"
STRANGER = "stranger"
MEMORIES = 5000
#: Of them those that the stories below leave, the forgotten one not counted.
STORIES = 19

#: Topic → (kind, its sentences). Each sentence takes a thing and a number.
TOPICS: dict[str, tuple[str, tuple[str, ...]]] = {
    "garden": ("event", ("Planted {n} {thing} in the back garden", "Watered the {thing}, {n} litres in all")),
    "cooking": ("event", ("Cooked {thing} for {n} guests", "The {thing} needs {n} minutes in the oven")),
    "travel": (
        "event",
        ("Took the night train with {n} stops to see the {thing}", "Booked {n} nights near the {thing}"),
    ),
    "work": ("fact", ("The {thing} project is due in {n} days", "Reviewed {n} pages of the {thing} report")),
    "reading": (
        "event",
        ("Read {n} pages about {thing}", "Lent the book on {thing} to a neighbour for {n} days"),
    ),
    "sports": ("event", ("Ran {n} kilometres past the {thing}", "Swam {n} lanes before the {thing} opened")),
    "music": (
        "preference",
        ("Practises the {thing} {n} minutes a day", "Tuned the {thing} for {n} minutes"),
    ),
    "orders": (
        "conclusion",
        ("The order list shows {n} open orders for {thing}", "Sorts the {thing} list by date"),
    ),
    "家庭": ("event", ("周末和家人一起做了{n}份{thing}", "给父母寄了{n}件{thing}")),
    "学习": ("event", ("今天背了{n}个关于{thing}的单词", "复习{thing}用了{n}分钟")),
    "饮食": ("fact", ("晚饭用了{n}克{thing}", "做{thing}时放{n}克盐就够了")),
    "出行": ("event", ("坐了{n}站地铁去看{thing}", "预订了{n}晚{thing}旁边的民宿")),
    "工作": ("fact", ("{thing}项目还有{n}天截止", "整理了{n}页{thing}的资料")),
    "健康": ("instruction", ("提醒我每天做{n}分钟{thing}", "每周记录{thing}{n}次")),
    "宠物": ("event", ("带猫打了第{n}针疫苗，路过{thing}", "狗今天吃了{n}块{thing}")),
}
THINGS_EN = (
    "lavender",
    "tomatoes",
    "harbour",
    "museum",
    "bridges",
    "walnut cake",
    "cello",
    "lighthouse",
    "maps",
    "tea",
)
THINGS_ZH = ("饺子", "博物馆", "拉伸", "地图", "豆腐", "书法", "茶叶", "灯塔", "月饼", "口琴")

MARKUP = (
    "<img src=x onerror=\"window.harmed=true;document.title='harmed'\"><script>window.harmed=true</script>"
)
BIDI = "abc \u202edrowssap\u202c \u2066left\u2069 \u200fשלום עולם \u202e never closed"
LONG = "W" * 60_000
TEMPLATE = "{{constructor.constructor('window.harmed=true')()}} javascript:window.harmed=true %3Cscript%3E"


@dataclass(frozen=True)
class Made:
    """What the tests need to know of the store."""

    key: str
    narrow: str
    ids: dict[str, str]


def build(folder: Path, memories: int = MEMORIES) -> Made:
    """Fills ``folder`` and answers two keys (all rights; reading only) and the ids of what stands out."""
    clock = FakeClock(START)
    with house(folder, clock=clock) as one:
        ids: dict[str, str] = {}
        # What is shown must not depend on how long ago that was when somebody looks.
        kept = dict.fromkeys(("summary_only_days", "cold_days", "turns_days"))
        still = {"archiving": {**kept, "purge_days": 36_500}, "consolidation": {"enabled": False}}
        one.app.policy_keeper.change(LOCAL, read(ChangePolicy, still))
        _many(one, clock, memories - STORIES)
        clock.at = START + timedelta(days=DAYS)
        ids |= _talk(one, clock)
        ids |= _decisions(one, clock)
        ids |= _fates(one, clock)
        _habit(one, clock)
        ids |= _harm(one, clock)
        one.drain(USER)
        ids["audit"] = one.audit(USER)["id"]
        _upkeep(one, clock)
        return Made(key=_key(one, "all rights"), narrow=_key(one, "reader", "read"), ids=ids)


def _key(one: House, name: str, *permissions: str) -> str:
    asked: dict[str, Any] = {"name": name, "namespaces": ["default"]}
    asked["permissions"] = list(permissions) or ["write", "read", "trace", "audit", "admin"]
    return str(one.app.keyring.create(LOCAL, read(CreateKey, asked))["key"])


def items(memories: int) -> Iterator[dict[str, Any]]:
    """The requests that make the memories, oldest first."""
    dice = random.Random(20_250_901)
    topics = list(TOPICS)
    for number in range(memories):
        topic = topics[min(int(dice.expovariate(0.22)), len(topics) - 1)]
        kind, sentences = TOPICS[topic]
        things = THINGS_EN if topic.isascii() else THINGS_ZH
        text = dice.choice(sentences).format(n=dice.randint(2, 90), thing=dice.choice(things))
        alone = dice.random() < 0.03
        item: dict[str, Any] = {
            "user_id": USER,
            "content": f"{text} (#{number})" if text.isascii() else f"{text}（第{number}条）",
            "kind": kind,
            "memory_type": dice.choice(("long_term", "long_term", "short_term")),
            "importance": round(dice.triangular(0.1, 0.95, 0.5), 2),
            "confidence": round(dice.triangular(0.4, 1, 0.8), 2),
            "origin": dice.choice(("user", "user", "user", "agent", "tool", "document")),
            "tags": [] if alone else [topic, f"{topic}-{number * 24 // max(memories, 1)}"],
            "admission": "verbatim",
        }
        if not alone and dice.random() < 0.3:
            item["session_id"] = f"day-{number // 20}"
        yield item


def _many(one: House, clock: FakeClock, memories: int) -> None:
    step = timedelta(days=DAYS) / max(1, memories // 100 + 1)
    batch: list[dict[str, Any]] = []
    for item in items(memories):
        batch.append(item)
        if len(batch) == 100:
            one.batch(batch, wait=False)
            batch = []
            clock.at += step
    if batch:
        one.batch(batch, wait=False)
    while one.drain(USER):
        pass


def _talk(one: House, clock: FakeClock) -> dict[str, str]:
    """A conversation that leaves conflicts, memories with turns behind them, and dropped small talk."""
    said = [
        {"turn_id": "t1", "role": "user", "content": "My phone number is 13800001111. I live in York."},
        {"turn_id": "t2", "role": "assistant", "content": "Noted. Anything else?"},
        {"turn_id": "t3", "role": "user", "content": "我对花生过敏，请记住。"},
    ]
    one.turns(said, user=USER, session_id="2026-02/1")
    clock.advance(days=1)
    again = [{"turn_id": "t1", "role": "user", "content": "My phone number is 13900002222."}]
    one.turns(again, user=USER, session_id="2026-02/2")
    clock.advance(hours=1)
    one.write("My locker code is 4417.", USER, kind="fact")
    clock.advance(hours=1)
    one.write("My locker code is 9021.", USER, kind="fact")
    clock.advance(hours=1)
    phone = next(item for item in one.memories(USER, status=["disputed"]) if "13800001111" in item["content"])
    nuts = next(item for item in one.memories(USER, session_id="2026-02/1") if "花生" in item["content"])
    return {"phone": phone["id"], "nuts": nuts["id"]}


def _decisions(one: House, clock: FakeClock) -> dict[str, str]:
    basis = one.write("Mira's parcels are often late in winter.", USER, origin="agent", kind="conclusion")
    first = one.decide(
        "The parcel is four days late and she asks for her money back",
        "refund",
        USER,
        options=["refund", "send again", "wait"],
        reasoning="late twice this month, and a loyal customer",
        memory_ids=[basis["id"]],
        tags=["parcel"],
    )
    clock.advance(days=1)
    one.outcome(first["id"], "success", score=0.8, note="she ordered again")
    second = one.decide(
        "Another late parcel, a larger amount",
        "send again",
        USER,
        options=["refund", "send again"],
        memory_ids=[basis["id"]],
        parent_id=first["id"],
        tags=["parcel"],
    )
    clock.advance(hours=3)
    one.outcome(second["id"], "failure", score=-0.5, note="lost again")
    due = (clock.at + timedelta(days=2)).isoformat()
    late = one.decide("包裹又晚了，客户要求退款", "部分退款", USER, outcome_due_at=due, tags=["parcel"])
    for number in range(20):
        clock.advance(hours=5)
        made = one.decide(
            f"Order {number} is late", "refund" if number % 3 else "wait", USER, tags=["parcel"]
        )
        one.outcome(made["id"], ("success", "mixed", "failure")[number % 3])
    return {"basis": basis["id"], "decision": first["id"], "child": second["id"], "late": late["id"]}


def _fates(one: House, clock: FakeClock) -> dict[str, str]:
    gone = one.write("The bakery closes at five on Sundays.", USER, kind="fact")
    one.delete(gone["id"], "no longer true")
    clock.advance(hours=1)
    plain = one.write(
        "Prefers the window seat on trains.", USER, kind="preference", tags=["window-seat"], importance=0.9
    )
    clock.advance(hours=1)
    one.patch(plain["id"], importance=0.95, reason="came up again")
    clock.advance(hours=1)
    whole = "Wishes to be called in the morning. " * 60
    long = one.write(whole.strip(), USER, kind="instruction", admission="verbatim")
    return {"gone": gone["id"], "plain": plain["id"], "long": long["id"]}


def _habit(one: House, clock: FakeClock) -> None:
    """Ten sessions with a preference that holds in eight of them."""
    for number in range(10):
        clock.advance(days=1)
        way = "amount" if number in (2, 5) else "date"
        one.write(
            f"I prefer the order list sorted by {way}.",
            USER,
            kind="preference",
            tags=["order list"],
            session_id=f"orders-{number}",
            admission="verbatim",
        )


def _upkeep(one: House, clock: FakeClock) -> None:
    """A day's and a week's maintenance, with its reports."""
    clock.advance(hours=1)
    for cadence in CADENCES:
        run = one.app.maintainer.start("default", cadence, by="schedule", as_of=clock.at)
        while not one.app.maintainer.advance(one.app.maintainer.read(run), lambda: False, inline=True):
            pass


def _harm(one: House, clock: FakeClock) -> dict[str, str]:
    ids = {}
    for name, text in (("markup", MARKUP), ("bidi", BIDI), ("wide", LONG), ("template", TEMPLATE)):
        clock.advance(minutes=1)
        made = one.write(text, STRANGER, kind="fact", admission="verbatim", tags=[text[:60]])
        ids[name] = made["id"]
    decision = one.decide(MARKUP, MARKUP, STRANGER, reasoning=BIDI, options=[MARKUP], tags=["<b>bold</b>"])
    one.outcome(decision["id"], "failure", note=MARKUP)
    ids["harm_decision"] = decision["id"]
    one.turns(
        [{"role": "user", "content": f"My name is Ann. {MARKUP}"}],
        user=STRANGER,
        session_id="<i>s</i>/\u202e1",
    )
    return ids
