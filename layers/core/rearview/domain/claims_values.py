"""Typed values in a folded text: numbers, quantities, times, dates, zones, addresses and codes.

Both languages and both notations come out in one canonical form, so that "90 seconds", "1.5 minutes" and
"一分半" can be told equal and "30秒" and "30毫秒" different. Every pattern is bounded: time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rearview.domain.claims_numbers import (
    DIGITS,
    EN_NUMERAL,
    HAN_NUMERAL,
    WORD_NUMBER,
    Value,
    number_of,
    plain,
)
from rearview.domain.claims_rules import SlotRules
from rearview.domain.claims_times import MONTH, TIMES, YEARS, Builder

_ADDRESS = re.compile(
    r"(?<![\w.+-])(?:[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}|https?://[^\s，。<>\"]{1,500})", re.ASCII
)
_TERMINAL = re.compile(r"(?<![a-z\d])(?:t|terminal )(\d)(?!\w)|(\d)号?航站楼", re.ASCII)
_AGE = re.compile(rf"({DIGITS}|{HAN_NUMERAL})(?:多|出头)?岁|({DIGITS}|{EN_NUMERAL}) years? old", re.ASCII)
_ID = re.compile(
    r"(?<![\w])#?(?:[a-z]{1,12}[-_]?\d[a-z\d]{0,24}|\d{1,20}[a-z]{1,4}\d[a-z\d]{0,24}|(?<=#)\d{1,20})(?:-[a-z\d]{1,16}){0,4}(?![\w])|(?<![\w-])\d{1,6}-[a-z]?\d{1,12}(?![\w-])",
    re.ASCII,
)
_NUMBERED = re.compile(
    r"(?:(?<![a-z])(?:invoice|order|ticket|issue|case|bug|task|parcel|shipment|booking|request|incident|job|build|pr)"
    r"(?: (?:no|number|id))?[.:]? ?#?|(?:发票|订单|工单|单号|运单|编号)号?:? ?)(\d{2,20})(?![a-z\d.:/-])",
    re.ASCII,
)
# The number of a card, an account or a person: longer than any amount, and another one if a single digit is another.
_LONG = re.compile(r"(?<![\w.,-])\d{16,64}(?![\w.])", re.ASCII)
# Numbers written in groups: telephones, cards, accounts, ISBN, with the +86 that Chinese mobile numbers may do without;
# and versions and network addresses, which have more than one point.
_GROUPED = re.compile(
    r"(?<![\w.+-])(?:\+86[- ]?(?=1[3-9]\d[- \d]{8,10}(?![\w-])))?(?P<groups>\+?\d{1,4}(?:-\d{1,7}){2,5}|\+?\d{1,4}(?: \d{3,4}){2,5}"
    r"|1[3-9]\d{9})(?![\w-])",
    re.ASCII,
)
_GROUPED_DIGITS = range(9, 25)
_POINTED = re.compile(r"(?<![\w.])v?(\d{1,5}(?:\.\d{1,5}){2,4})(?!\w|\.\d)", re.ASCII)
_REGION = re.compile(
    r"(?<![a-z\d-])(?:af|ap|ca|cn|eu|il|me|sa|us)-(?:gov-)?[a-z]{4,9}-?\d(?![\w-])", re.ASCII
)
_ONE_COUNTS = re.compile(
    r"(?:(?<![a-z])(?:have|has|had|got|only|exactly|just|project|phase|team|group|number|option|plan|room|floor|level|version"
    r"|step|part|chapter|stage|tier|terminal|gate|platform|site|zone|unit|class|grade|type|round|sprint|line|building)) $"
)
_TWICE = re.compile(r"(?<![a-z])(once|twice|thrice)(?![a-z])", re.ASCII)
_MONEY = re.compile(
    rf"([$£€¥]|usd|eur|gbp|rmb|cny|hkd|jpy)\s?({DIGITS})\s?(k|w|m|万|千|grand)?(?![a-z\d])", re.ASCII
)
_NUMBER = re.compile(
    rf"(?P<approx>约|大概|大约|差不多|about |around |roughly |some |nearly )?(?P<sign>(?<![\w)])-)?(?:(?P<d>(?<![\d.]){DIGITS})(?P<scale>\s?[kw](?![a-z\d])|万|千|百|亿)?|(?P<h>半(?=个|小时|天|年|斤|片|公斤)|{HAN_NUMERAL})|(?P<e>(?<![a-z]){EN_NUMERAL}))"
    r"(?P<more>多|来|余|出头)?(?P<measure>[个位名只条台间份张件层把颗根届期章页家套辆匹])?",
    re.ASCII,
)
_CURRENCY = {"$": "usd", "£": "gbp", "€": "eur", "¥": "cny", "rmb": "cny"}
_AFTER_APPROX = re.compile(r"左右|上下|出头|多|or so|ish", re.ASCII)
# 一 and 万 also live in words that count nothing ("一直", "万一"): alone they need a unit or a measure.
_HAN_WORDS = re.compile(
    "一(?:直|般|起|样|些|点|下|定|旦|边|再|切|共|个人)|万一|千万|十分|一一|三番|七上|统一|唯一|第一|百度|一(?=[的地吃到看想上])"
)


def find_values(text: str, rules: SlotRules) -> list[Value]:
    """The values of a folded text, in order, never overlapping."""
    if not _MAY_HOLD_VALUES.search(text):
        return []
    taken = bytearray(len(text))
    found: list[Value] = []

    def take(value: Value) -> None:
        if value.end > value.start and not any(taken[value.start : value.end]):
            taken[value.start : value.end] = b"\x01" * (value.end - value.start)
            found.append(value)

    for pattern, build in _BUILDERS:
        for match in pattern.finditer(text):
            for value in build(match):
                take(value)
    for match in _NUMBER.finditer(text):
        if (number := _quantity(match, text, rules)) is not None:
            take(number)
    return sorted(found, key=lambda v: v.start)


_MAY_HOLD_VALUES = re.compile(
    rf"[\d零〇一二两俩仨三四五六七八九十百千万半周@]|星期|礼拜|(?<![a-z])(?:{WORD_NUMBER}|half|once|twice|noon|midnight|mon|tue|wed|thu|fri|sat|sun|{MONTH})|://"
)


def _quantity(match: re.Match[str], text: str, rules: SlotRules) -> Value | None:
    word = match["d"] or match["h"] or match["e"]
    number = number_of(word)
    if number is None:
        return None
    end = match.end()
    if match["scale"]:
        number *= {"k": 1e3, "w": 1e4, "万": 1e4, "千": 1e3, "百": 1e2, "亿": 1e8}[match["scale"].strip()]
    if match["sign"]:
        number = -number
    if match["measure"] and text[match.start("measure") : match.start("measure") + 2] == "个半":
        number += 0.5  # 一个半小时
        unit = rules.unit_pattern.match(text, match.start("measure") + 2)
    elif match["measure"]:  # "个月" and "个小时" are units of their own
        unit = rules.unit_pattern.match(text, match.start("measure"))
    else:
        unit = rules.unit_pattern.match(text, end + 1 if text[end : end + 1] in (" ", "-") else end)
    loose = bool(match["approx"] or match["more"] or _AFTER_APPROX.match(text, unit.end() if unit else end))
    if unit is not None:
        dimension, factor = rules.units[unit[0]]
        end = unit.end()
        half = 0.5 if text[end : end + 1] == "半" else 0.0
        return Value(dimension, plain((number + half) * factor), match.start(), end + (half > 0), loose)
    if match["h"] and match["measure"] is None and (len(word) == 1 or word in ("万一", "千万")):
        return None
    if match["h"] and _HAN_WORDS.match(text, match.start()):
        return None
    if word == "one" and not _ONE_COUNTS.search(text, max(0, match.start() - 12), match.start()):
        return None  # a pronoun or an article
    if match["e"] and word in ("half a", "half an", "a half"):
        return None
    return Value("n", plain(number), match.start(), end, loose)


def _grouped(m: re.Match[str]) -> Iterator[Value]:
    digits = "".join(c for c in m["groups"] if c.isdigit())
    if len(digits) in _GROUPED_DIGITS:
        yield Value("n", digits, m.start(), m.end())


def _money(m: re.Match[str]) -> Iterator[Value]:
    scale = {"k": 1e3, "w": 1e4, "m": 1e6, "万": 1e4, "千": 1e3, "grand": 1e3}.get(m[3] or "", 1.0)
    amount = (number_of(m[2]) or 0.0) * scale
    yield Value(f"money_{_CURRENCY.get(m[1], m[1])}", plain(amount), m.start(), m.end())


def _one(dimension: str, value: Callable[[re.Match[str]], str]) -> Builder:
    def build(m: re.Match[str]) -> Iterator[Value]:
        yield Value(dimension, value(m), m.start(), m.end())

    return build


_BUILDERS: tuple[tuple[re.Pattern[str], Builder], ...] = (
    (_ADDRESS, _one("address", lambda m: m[0])),
    (_AGE, _one("age", lambda m: plain(number_of(m[1] or m[2]) or 0))),
    *TIMES,
    (_GROUPED, _grouped),
    (_POINTED, _one("n", lambda m: m[1])),
    (_TERMINAL, _one("terminal", lambda m: m[1] or m[2])),
    (_MONEY, _money),
    (_REGION, _one("region", lambda m: m[0])),
    (_NUMBERED, lambda m: iter([Value("id", m[1], m.start(1), m.end(1))])),
    (_ID, _one("id", lambda m: m[0].lstrip("#"))),
    (_LONG, _one("n", lambda m: m[0])),
    YEARS,
    (_TWICE, _one("times", lambda m: {"once": "1", "twice": "2", "thrice": "3"}[m[1]])),
)
