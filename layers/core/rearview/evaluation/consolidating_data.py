"""Generated episodes: habits told in several ways, word for word at times, among look-alikes. The same for each seed.

A theme is one kind of event with several wordings; an object makes a group of it. Look-alikes of a group are other
objects of its theme, somebody else doing it, another number, and that it did not happen.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from rearview.domain.language import Language


@dataclass(frozen=True, slots=True)
class Theme:
    """``{x}``: the object. ``others``: somebody else's, with another number, or denied; singles by nature."""

    language: Language
    wordings: tuple[str, ...]
    objects: tuple[str, ...]
    others: tuple[str, ...]


THEMES: Final[tuple[Theme, ...]] = (
    Theme(
        "en",
        ("Asked for the {x}", "The user asked for the {x} again.", "Requested the {x}", "User wanted to see the {x}", "Asked to see the {x} once more."),
        ("order list", "invoice archive", "stock report", "shipping calendar", "price table", "supplier directory", "refund summary", "sales chart", "warranty terms"),
        ("My colleague asked for the {x}", "The user did not ask for the {x} this time", "Asked for the top 5 rows of the {x}", "Deleted the {x}"),
    ),
    Theme(
        "en",
        ("Went for a run {x}", "Ran {x} this morning", "Went running {x} again", "I ran {x}.", "Another run {x}"),
        ("along the canal", "in Riverside Park", "around the reservoir", "on the treadmill", "up Castle Hill", "through the vineyard"),
        ("My brother went for a run {x}", "Didn't run {x}, it rained", "Ran 12 km {x}", "Walked the dog {x}"),
    ),
    Theme(
        "en",
        ("Had {x} for lunch", "Ate {x} for lunch today", "{x} for lunch again", "I had {x} for lunch.", "Lunch was {x}"),
        ("lentil soup", "a tuna sandwich", "leftover curry", "sushi", "a Greek salad", "ramen", "pizza"),
        ("My daughter had {x} for lunch", "Skipped {x} for lunch", "Ate 3 portions of {x} for lunch", "Cooked {x} for dinner"),
    ),
    Theme(
        "en",
        ("Restarted the {x}", "Had to restart the {x} again", "The {x} was restarted", "Restarted the {x} after it hung", "Restarted the {x} tonight"),
        ("payment server", "print spooler", "mail gateway", "search cluster", "build agent", "VPN router", "billing worker"),
        ("The night shift restarted the {x}", "The {x} was never restarted", "Restarted 4 nodes of the {x}", "Upgraded the {x}"),
    ),
    Theme(
        "en",
        ("Called {x} about the invoice", "Phoned {x} about the invoice", "Rang {x} about the invoice again", "I called {x} about the invoice.", "Called {x} about the invoice yesterday"),
        ("Nordwind Ltd", "the landlord", "Dr Okafor", "the garage", "Helga Brandt", "the insurer"),
        ("My wife called {x} about the invoice", "Never called {x} about the invoice", "Called {x} about invoice 4471", "Called {x} about the lease"),
    ),
    Theme(
        "en",
        ("Took {x} to the vet", "Brought {x} to the vet", "Took {x} to the vet again", "I took {x} to the vet.", "Had to take {x} to the vet"),
        ("Biscuit", "the parrot", "the grey cat", "Luna", "the rabbit"),
        ("My neighbour took {x} to the vet", "Did not take {x} to the vet", "Took {x} and 2 kittens to the vet", "Took {x} to the groomer"),
    ),
    Theme(
        "en",
        ("Practised {x} for an hour", "Practised {x} for an hour today", "Spent an hour practising {x}", "An hour of {x} practice", "Practised {x} for an hour again."),
        ("the cello", "Portuguese", "calligraphy", "chess endgames", "juggling", "the trumpet"),
        ("My son practised {x} for an hour", "Did not practise {x} for an hour", "Practised {x} for 3 hours", "Gave up {x}"),
    ),
    Theme(
        "zh",
        ("用户要求查看{x}", "用户又要了一次{x}", "请求{x}", "要求{x}", "用户想看{x}", "用户再次要求{x}"),
        ("订单列表", "发票汇总", "库存报表", "物流日历", "价格表", "供应商名录", "退款明细", "销售图表", "保修条款"),
        ("同事要求查看{x}", "用户没有要求{x}", "用户要求查看{x}前5行", "用户删除了{x}"),
    ),
    Theme(
        "zh",
        ("去{x}跑步", "在{x}跑步了", "今天又去{x}跑步", "早上去{x}跑了步", "我去{x}跑步。"),
        ("滨江公园", "学校操场", "环湖绿道", "东山森林公园", "体育中心", "老城墙"),
        ("哥哥去{x}跑步", "没去{x}跑步", "去{x}跑了12公里", "去{x}遛狗"),
    ),
    Theme(
        "zh",
        ("中午吃了{x}", "午饭吃的{x}", "中午又吃了{x}", "今天中午吃{x}", "我中午吃了{x}。"),
        ("番茄牛腩饭", "兰州拉面", "麻辣烫", "饺子", "寿司", "沙县小吃", "米线"),
        ("女儿中午吃了{x}", "中午没吃{x}", "中午吃了3份{x}", "晚上做了{x}"),
    ),
    Theme(
        "zh",
        ("重启了{x}", "又重启了一次{x}", "{x}被重启了", "把{x}重启了", "今晚重启{x}"),
        ("支付服务器", "打印服务", "邮件网关", "搜索集群", "构建节点", "路由器", "计费进程"),
        ("夜班同事重启了{x}", "没有重启{x}", "重启了{x}的4个节点", "升级了{x}"),
    ),
    Theme(
        "zh",
        ("给{x}打电话催发票", "打电话给{x}催发票", "又给{x}打电话催发票", "我给{x}打电话催发票。", "昨天给{x}打电话催发票"),
        ("北风公司", "房东", "陈医生", "修车厂", "保险公司", "海格物流"),
        ("老婆给{x}打电话催发票", "没给{x}打电话催发票", "给{x}打电话催发票4471", "给{x}打电话谈租约"),
    ),
    Theme(
        "zh",
        ("带{x}去看兽医", "又带{x}去看兽医", "带{x}看了兽医", "我带{x}去看兽医。", "今天带{x}去看兽医"),
        ("豆豆", "鹦鹉", "灰猫", "露娜", "兔子"),
        ("邻居带{x}去看兽医", "没带{x}去看兽医", "带{x}和2只小猫去看兽医", "带{x}去洗澡"),
    ),
    Theme(
        "zh",
        ("练了一小时{x}", "练{x}一小时", "又练了一小时{x}", "今天练了一小时{x}", "我练了一小时{x}。"),
        ("大提琴", "葡萄牙语", "书法", "象棋残局", "抛球杂耍", "小号"),
        ("儿子练了一小时{x}", "没练一小时{x}", "练了3小时{x}", "放弃了{x}"),
    ),
)  # fmt: skip
#: How a list was wanted: the greater share by the first of two.
WAYS: Final[dict[Language, tuple[tuple[str, str], ...]]] = {
    "en": ((" by date ascending", " by amount"), (" sorted by name", " sorted by status")),
    "zh": (("，按日期升序", "，按金额排序"), ("（按名称排序）", "（按状态排序）")),
}


@dataclass(frozen=True, slots=True)
class Told:
    """One generated episode. ``group``: the number of the group it belongs to; None: a look-alike of one."""

    text: str
    at: datetime
    group: int | None


def generate(groups: int, seed: int = 7, per_user: int = 20) -> list[list[Told]]:
    """The episodes of several users, ``per_user`` groups each, in order of time; ``groups`` of 3 to 12 in all."""
    rng = random.Random(seed)  # noqa: S311  (examples, no secrets)
    users = []
    number = 0
    while number < groups:
        told: list[Told] = []
        spots = [(theme, thing) for theme in THEMES for thing in theme.objects]
        for theme, thing in rng.sample(spots, min(per_user, groups - number)):
            told += _group(theme, thing, number, rng)
            told += [Told(text, _moment(rng), None) for text in _lookalikes(theme, thing, rng)]
            number += 1
        users.append(sorted(told, key=lambda one: (one.at, one.text)))
    return users


def _group(theme: Theme, thing: str, number: int, rng: random.Random) -> Iterator[Told]:
    size = rng.randint(3, 12)
    ways = rng.choice(WAYS[theme.language]) if theme in _SORTED and rng.random() < 0.5 else None
    wordings: Sequence[str] = rng.sample(theme.wordings, rng.randint(1, len(theme.wordings)))
    texts = [rng.choice(wordings).replace("{x}", thing) for _ in range(size)]
    if rng.random() < 0.7 and len(set(texts)) == size:
        texts[-1] = texts[0]
    for place, text in enumerate(texts):
        at = _moment(rng)
        way = "" if ways is None else ways[0 if place % 4 or place == 0 else 1]
        whole = text.rstrip(".。") + way if way else text
        yield Told(_dated(whole, at, theme.language, rng), at, number)


_SORTED: Final = (THEMES[0], THEMES[7])


def _moment(rng: random.Random) -> datetime:
    return datetime(2026, 1, 5, 8, tzinfo=UTC) + timedelta(
        days=rng.randint(0, 300), minutes=rng.randint(0, 600)
    )


def _dated(text: str, at: datetime, language: Language, rng: random.Random) -> str:
    """At times with the day in front, as notes have it."""
    text = text[0].upper() + text[1:]
    if rng.random() > 0.15:
        return text
    return f"{at.year}年{at.month}月{at.day}日，{text}" if language == "zh" else f"{at:%Y-%m-%d}: {text}"


def _lookalikes(theme: Theme, thing: str, rng: random.Random) -> Iterator[str]:
    for other in rng.sample(theme.others, rng.randint(1, len(theme.others))):
        yield other.replace("{x}", thing)
