"""Typed values in a folded text: numbers, quantities, times, dates, zones, addresses and codes.

Both languages and both notations come out in one canonical form, so that "90 seconds", "1.5 minutes" and
"一分半" can be told equal and "30秒" and "30毫秒" different. Every pattern is bounded: time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rearview.domain.claims_rules import SlotRules


@dataclass(frozen=True, slots=True)
class Value:
    """A value at [start, end) of the folded text.

    ``dimension``: n, duration (s), mass (mg), volume (ml), length (m), bytes, percent, money_XXX, times,
    time (minutes of the day), date (year-month-day, "?" where unsaid), weekday, year, zone (minutes), age,
    address (e-mail or URL), id. ``loose``: said roughly, or a clock time that does not say am or pm.
    """

    dimension: str
    value: str
    start: int
    end: int
    loose: bool = False


_MONTHS = {m: i for i, m in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_DAYS = {d: i for i, d in enumerate("mon tue wed thu fri sat sun".split(), 1)}
_HAN_DAYS = {c: i for i, c in enumerate("一二三四五六日", 1)} | {"天": 7} | {str(i): i for i in range(1, 8)}
_HAN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "俩": 2, "仨": 3}
_HAN_SCALE = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_WORD_NUMBERS = {w: i for i, w in enumerate(_ONES)} | {
    w: 10 * i for i, w in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_SCALES = {"hundred": 100, "thousand": 1000, "grand": 1000, "dozen": 12, "million": 1_000_000}

_W = "(?:" + "|".join(sorted([*_WORD_NUMBERS, *_SCALES], key=len, reverse=True)) + ")"
_DIGITS = r"\d{1,15}(?:,\d{3}){0,4}(?:\.\d{1,10})?"
_HAN = "[零〇一二两三四五六七八九十百千万亿]{1,16}"
_EN = rf"(?:an? (?:half|dozen|hundred|thousand)|half an?|{_W}(?:[ -](?:and )?{_W}){{0,5}})(?![a-z])"
_MONTH = "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_PART = "(凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|今晚|明晚|夜里|半夜|明早|今早|每晚|每早|早|晚)"
_HOUR = r"(\d{1,2}|[零一二两三四五六七八九十]{1,3})"
_MORNING = frozenset("凌晨 清晨 早上 早晨 上午 明早 今早 每早 早 半夜".split())

_ADDRESS = re.compile(r"(?<![\w.+-])(?:[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}|https?://[^\s，。<>\"]{1,500})", re.ASCII)
_ZONE = re.compile(r"(?:utc|gmt)\s?([+-])\s?(\d{1,2})(?::?(\d{2}))?(?!\d)|东([一二三四五六七八九十]{1,2})区", re.ASCII)
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", re.ASCII)
_HAN_DATE = re.compile(
    rf"(?:(\d{{4}})年)?(?<![\d个])(\d{{1,2}}|[一二三四五六七八九十]{{1,2}})月(?:份|底|初|中旬)?(?:(\d{{1,2}}|[一二三四五六七八九十]{{1,3}})[日号])?", re.ASCII)
_EN_DATE = re.compile(
    rf"(?<![a-z\d])(?:{_MONTH}\.? (?:the )?{_DAY}(?![\d:])|{_DAY} (?:of )?{_MONTH}(?![a-z]))(?:,? (\d{{4}}))?(?![\da-z])", re.ASCII)
_EN_MONTH = re.compile(rf"(?<=in |by |of )(?:early |late )?{_MONTH}(?![a-z])", re.ASCII)
_EN_DAY = re.compile(r"(?<![a-z\d])(?:the )?(\d{1,2})(?:st|nd|rd|th)(?![a-z\d])", re.ASCII)
_HAN_DAY = re.compile(r"(?<![\d路街道弄楼栋幢第巷])(\d{1,2})[号日](?![线楼院门])", re.ASCII)
_WEEKDAY = re.compile(r"(?<![a-z])(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:days?)?(?![a-z])", re.ASCII)
_HAN_WEEKDAY = re.compile(r"(?:周|星期|礼拜)([一二三四五六日天]{1,7})(?!年)", re.ASCII)
_YEAR = re.compile(r"(?<![\d.,])((?:19|20)\d\d)(?:年|(?!\w|[,.]\d))|(?<![\d])(\d\d)年(?=的|生|出生)|'(\d\d)(?!\d)", re.ASCII)
_CLOCK = re.compile(
    rf"{_PART}?(?<![\d.:])(\d{{1,2}})(?::(\d{{2}})(?::\d{{2}})?|\.(\d{{2}})(?=\s?[ap]\.?m|\sin the (?:morning|evening)))\s?([ap]\.?m\b\.?|in the (?:morning|afternoon|evening)|at night)?(?![\d:])", re.ASCII)
_OCLOCK = re.compile(
    rf"(?<![\w.:])(half past|half|quarter past|quarter to)?\s?(\d{{1,2}}|{_W}) ?(o'clock|[ap]\.?m\b\.?)?(?: (in the (?:morning|afternoon|evening)|at night))?(?![\w:])", re.ASCII)
_NAMED_TIME = re.compile(r"(?<![a-z])(noon|midnight)(?![a-z])|正午", re.ASCII)
_HAN_CLOCK = re.compile(rf"{_PART}?{_HOUR}点(?!儿|多|点)(?:钟|整|(半|一刻|三刻)|(\d{{1,2}}|[零一二三四五六七八九十]{{1,3}})分?)?", re.ASCII)
_NINE_TO_FIVE = re.compile("[朝早]([六七八九十])晚([四五六七八九十])")
_TERMINAL = re.compile(r"(?<![a-z\d])(?:t|terminal )(\d)(?!\w)|(\d)号?航站楼", re.ASCII)
_AGE = re.compile(rf"({_DIGITS}|{_HAN})(?:多|出头)?岁|({_DIGITS}|{_EN}) years? old", re.ASCII)
_ID = re.compile(r"(?<![\w])#?(?:[a-z]{1,12}[-_]?\d[a-z\d]{0,24}|\d{1,20}[a-z]{1,4}\d[a-z\d]{0,24}|(?<=#)\d{1,20})(?:-[a-z\d]{1,16}){0,4}(?![\w])|(?<![\w-])\d{1,6}-[a-z]?\d{1,12}(?![\w-])", re.ASCII)
_NUMBERED = re.compile(
    r"(?:(?<![a-z])(?:invoice|order|ticket|issue|case|bug|task|parcel|shipment|booking|request|incident|job|build|pr)"
    r"(?: (?:no|number|id))?[.:]? ?#?|(?:发票|订单|工单|单号|运单|编号)号?:? ?)(\d{2,20})(?![a-z\d.:/-])",
    re.ASCII,
)
_REGION = re.compile(r"(?<![a-z\d-])(?:af|ap|ca|cn|eu|il|me|sa|us)-(?:gov-)?[a-z]{4,9}-?\d(?![\w-])", re.ASCII)
_ONE_COUNTS = re.compile(
    r"(?:(?<![a-z])(?:have|has|had|got|only|exactly|just|project|phase|team|group|number|option|plan|room|floor|level|version"
    r"|step|part|chapter|stage|tier|terminal|gate|platform|site|zone|unit|class|grade|type|round|sprint|line|building)) $"
)
_TWICE = re.compile(r"(?<![a-z])(once|twice|thrice)(?![a-z])", re.ASCII)
_MONEY = re.compile(rf"([$£€¥]|usd|eur|gbp|rmb|cny|hkd|jpy)\s?({_DIGITS})\s?(k|w|m|万|千|grand)?(?![a-z\d])", re.ASCII)
_NUMBER = re.compile(
    rf"(?P<approx>约|大概|大约|差不多|about |around |roughly |some |nearly )?(?P<sign>(?<![\w)])-)?(?:(?P<d>(?<![\d.]){_DIGITS})(?P<scale>\s?[kw](?![a-z\d])|万|千|百|亿)?|(?P<h>{_HAN})|(?P<e>(?<![a-z]){_EN}))"
    r"(?P<more>多|来|余|出头)?(?P<measure>[个位名只条台间份张件层把颗根届期章页家套辆匹])?", re.ASCII)
_CURRENCY = {"$": "usd", "£": "gbp", "€": "eur", "¥": "cny", "rmb": "cny"}
_AFTER_APPROX = re.compile(r"左右|上下|出头|多|or so|ish", re.ASCII)
# 一 and 万 also live in words that count nothing ("一直", "万一"): alone they need a unit or a measure.
_HAN_WORDS = re.compile("一(?:直|般|起|样|些|点|下|定|旦|边|再|切|共|个人)|万一|千万|十分|三番|七上|统一|唯一|第一|百度|一(?=[的地吃到看想上])")


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
    rf"[\d零〇一二两俩仨三四五六七八九十百千万半周@]|星期|礼拜|(?<![a-z])(?:{_W}|half|once|twice|noon|midnight|mon|tue|wed|thu|fri|sat|sun|{_MONTH})|://"
)


def number_of(word: str) -> float | None:
    """A numeral in digits, Chinese or English words → its value; None when it is none."""
    word = word.strip()
    if not word:
        return None
    if word[0].isdigit():
        try:
            return float(word.replace(",", ""))
        except ValueError:
            return None
    if word[0] in _HAN_DIGITS or word[0] in _HAN_SCALE:
        return _han_number(word)
    total = current = 0.0
    for part in re.split(r"[ -]", word):
        if part in _WORD_NUMBERS:
            current += _WORD_NUMBERS[part]
        elif part in _SCALES:
            current = max(current, 1) * _SCALES[part]
            if _SCALES[part] >= 1000:
                total, current = total + current, 0.0
        elif part == "half":
            current = 0.5
    return total + current


def _han_number(word: str) -> float:
    if not any(c in _HAN_SCALE for c in word):
        return float("".join(str(_HAN_DIGITS[c]) for c in word))
    total = section = digit = last = 0
    for c in word:
        if c in _HAN_DIGITS:
            digit = _HAN_DIGITS[c]
            last = 10 if c in "零〇" else last
        elif _HAN_SCALE[c] >= 10_000:
            total, section, digit = (total + section + digit or 1) * _HAN_SCALE[c], 0, 0
            last = _HAN_SCALE[c]
        else:
            section += (digit or 1) * _HAN_SCALE[c]
            digit, last = 0, _HAN_SCALE[c]
    if digit and word[-1] in _HAN_DIGITS and last > 10:  # 两千五 is 2,500, 一百零五 is 105
        digit *= last // 10
    return float(total + section + digit)


def plain(number: float) -> str:
    """A number as text: no trailing zeros, no exponent for everyday sizes."""
    return f"{number:.10g}"


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
    if match["measure"]:  # "个月" and "个小时" are units of their own
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
    if (match["e"] and word in ("half a", "half an", "a half")):
        return None
    return Value("n", plain(number), match.start(), end, loose)


def _clock(hour: float, minute: float, part: str | None, padded: bool) -> tuple[str, bool]:
    """Minutes of the day, and whether am or pm is left open."""
    part = (part or "").replace(".", "").strip()
    morning = part.startswith("am") or part == "in the morning" or part in _MORNING
    later = bool(part) and not morning
    if later and hour < 12 and not (part in ("中午",) and hour >= 10):
        hour += 12
    if morning and hour == 12:
        hour = 0
    return plain(hour % 24 * 60 + minute), not (part or padded or hour > 12)


def _times(m: re.Match[str]) -> Iterator[Value]:
    hour, minute = int(m[2]), int(m[3] or m[4])
    if hour <= 24 and minute < 60:
        value, loose = _clock(hour, minute, m[5] or m[1], m[2].startswith("0"))
        yield Value("time", value, m.start(), m.end(), loose)


def _oclocks(m: re.Match[str]) -> Iterator[Value]:
    if not (m[1] or m[3] or m[4]):
        return
    hour = number_of(m[2])
    if hour is None or hour > 24 or (m[1] == "half" and not m[2].isalpha()):
        return
    shift = {"half past": 30, "half": 30, "quarter past": 15, "quarter to": -15}.get(m[1] or "", 0)
    value, loose = _clock(hour, shift, m[4] or (m[3] if m[3] != "o'clock" else None), False)
    yield Value("time", value, m.start(), m.end(), loose)


def _han_times(m: re.Match[str]) -> Iterator[Value]:
    hour = number_of(m[2])
    if hour is None or hour > 24:
        return
    minute = {"半": 30.0, "一刻": 15.0, "三刻": 45.0}.get(m[3] or "", number_of(m[4] or "") or 0.0)
    value, loose = _clock(hour, minute, m[1], False)
    yield Value("time", value, m.start(), m.end(), loose)


def _nine_to_five(m: re.Match[str]) -> Iterator[Value]:
    for group, part in ((1, "早"), (2, "晚")):
        value, loose = _clock(_HAN_DIGITS.get(m[group], 10), 0, part, False)
        yield Value("time", value, m.start() if group == 1 else m.start(2), m.end(group), loose)


def _date(m: re.Match[str], year: str | None, month: float | None, day: str | None) -> Iterator[Value]:
    number = number_of(day) if day else None
    if (month is None or 1 <= month <= 12) and (number is None or 1 <= number <= 31):
        text = f"{year or '?'}-{plain(month) if month else '?'}-{plain(number) if number else '?'}"
        yield Value("date", text, m.start(), m.end())


def _year(m: re.Match[str]) -> Iterator[Value]:
    short = m[2] or m[3]
    year = int(m[1]) if m[1] else int(short) + (1900 if int(short) > 30 else 2000)
    yield Value("year", str(year), m.start(), m.end())


def _zone(m: re.Match[str]) -> Iterator[Value]:
    hours = number_of(m[4]) if m[4] else float(m[2])
    minutes = ((hours or 0) * 60 + int(m[3] or 0)) * (-1 if m[1] == "-" else 1)
    yield Value("zone", plain(minutes), m.start(), m.end())


def _money(m: re.Match[str]) -> Iterator[Value]:
    scale = {"k": 1e3, "w": 1e4, "m": 1e6, "万": 1e4, "千": 1e3, "grand": 1e3}.get(m[3] or "", 1.0)
    amount = (number_of(m[2]) or 0.0) * scale
    yield Value(f"money_{_CURRENCY.get(m[1], m[1])}", plain(amount), m.start(), m.end())


def _weekdays(m: re.Match[str]) -> Iterator[Value]:
    for i, c in enumerate(m[1]):
        yield Value("weekday", str(_HAN_DAYS[c]), m.start(1) + i if i else m.start(), m.start(1) + i + 1)


def _one(dimension: str, value: Callable[[re.Match[str]], str]) -> Callable[[re.Match[str]], Iterator[Value]]:
    def build(m: re.Match[str]) -> Iterator[Value]:
        yield Value(dimension, value(m), m.start(), m.end())

    return build


_BUILDERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Iterator[Value]]], ...] = (
    (_ADDRESS, _one("address", lambda m: m[0])),
    (_ZONE, _zone),
    (_ISO, lambda m: _date(m, m[1], float(m[2]), m[3])),
    (_HAN_DATE, lambda m: _date(m, m[1], number_of(m[2]), m[3])),
    (_EN_DATE, lambda m: _date(m, m[5], float(_MONTHS[(m[1] or m[4])[:3]]), m[2] or m[3])),
    (_EN_MONTH, lambda m: _date(m, None, float(_MONTHS[m[1][:3]]), None)),
    (_EN_DAY, lambda m: _date(m, None, None, m[1])),
    (_HAN_DAY, lambda m: _date(m, None, None, m[1])),
    (_WEEKDAY, _one("weekday", lambda m: str(_DAYS[m[1][:3]]))),
    (_HAN_WEEKDAY, _weekdays),
    (_AGE, _one("age", lambda m: plain(number_of(m[1] or m[2]) or 0))),
    (_CLOCK, _times),
    (_HAN_CLOCK, _han_times),
    (_NINE_TO_FIVE, _nine_to_five),
    (_NAMED_TIME, _one("time", lambda m: "0" if m[0] == "midnight" else "720")),
    (_OCLOCK, _oclocks),
    (_TERMINAL, _one("terminal", lambda m: m[1] or m[2])),
    (_MONEY, _money),
    (_REGION, _one("region", lambda m: m[0])),
    (_NUMBERED, lambda m: iter([Value("id", m[1], m.start(1), m.end(1))])),
    (_ID, _one("id", lambda m: m[0].lstrip("#"))),
    (_YEAR, _year),
    (_TWICE, _one("times", lambda m: {"once": "1", "twice": "2", "thrice": "3"}[m[1]])),
)
