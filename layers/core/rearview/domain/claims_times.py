"""Dates, days, clock times and zones of both languages in one canonical form.

A date is "year-month-day" with "?" for what is unsaid; a clock time is minutes of the day; a zone is minutes
east of UTC. Every pattern is bounded: time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rearview.domain.claims_numbers import HAN_DIGITS, WORD_NUMBER, Value, number_of, plain

Builder = Callable[[re.Match[str]], Iterator[Value]]

_MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec"
_MONTHS = {m: i for i, m in enumerate(_MONTH_NAMES.split(), 1)}
_DAY_NAMES = "mon tue wed thu fri sat sun"
_DAYS = {d: i for i, d in enumerate(_DAY_NAMES.split(), 1)}
_HAN_DAYS = {c: i for i, c in enumerate("一二三四五六日", 1)} | {"天": 7} | {str(i): i for i in range(1, 8)}
_MORNING = frozenset(("凌晨", "清晨", "早上", "早晨", "上午", "明早", "今早", "每早", "早", "半夜"))

MONTH = "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_PART = "(凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|今晚|明晚|夜里|半夜|明早|今早|每晚|每早|早|晚)"
_HOUR = r"(\d{1,2}|[零一二两三四五六七八九十]{1,3})"

_ZONE = re.compile(
    r"(?:utc|gmt)\s?([+-])\s?(\d{1,2})(?::?(\d{2}))?(?!\d)|东([一二三四五六七八九十]{1,2})区", re.ASCII
)
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)", re.ASCII)
_HAN_DATE = re.compile(
    r"(?:(\d{4})年)?(?<![\d个])(\d{1,2}|[一二三四五六七八九十]{1,2})月(?:份|底|初|中旬)?(?:(\d{1,2}|[一二三四五六七八九十]{1,3})[日号])?",
    re.ASCII,
)
_EN_DATE = re.compile(
    rf"(?<![a-z\d])(?:{MONTH}\.? (?:the )?{_DAY}(?![\d:])|{_DAY} (?:of )?{MONTH}(?![a-z]))(?:,? (\d{{4}}))?(?![\da-z])",
    re.ASCII,
)
_EN_MONTH = re.compile(rf"(?<=in |by |of )(?:early |late )?{MONTH}(?![a-z])", re.ASCII)
_EN_DAY = re.compile(r"(?<![a-z\d])(?:the )?(\d{1,2})(?:st|nd|rd|th)(?![a-z\d])", re.ASCII)
_HAN_DAY = re.compile(r"(?<![\d路街道弄楼栋幢第巷])(\d{1,2})[号日](?![线楼院门])", re.ASCII)
_WEEKDAY = re.compile(
    r"(?<![a-z])(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:days?)?(?![a-z])", re.ASCII
)
_HAN_WEEKDAY = re.compile(r"(?:周|星期|礼拜)([一二三四五六日天]{1,7})(?!年)", re.ASCII)
_YEAR = re.compile(
    r"(?<![\d.,])((?:19|20)\d\d)(?:年|(?!\w|[,.]\d))|(?<![\d])(\d\d)年(?=的|生|出生)|'(\d\d)(?!\d)", re.ASCII
)
_CLOCK = re.compile(
    rf"{_PART}?(?<![\d.:])(\d{{1,2}})(?::(\d{{2}})(?::\d{{2}})?|\.(\d{{2}})(?=\s?[ap]\.?m|\sin the (?:morning|evening)))\s?([ap]\.?m\b\.?|in the (?:morning|afternoon|evening)|at night)?(?![\d:])",
    re.ASCII,
)
_OCLOCK = re.compile(
    rf"(?<![\w.:])(half past|half|quarter past|quarter to)?\s?(\d{{1,2}}|{WORD_NUMBER}) ?(o'clock|[ap]\.?m\b\.?)?(?: (in the (?:morning|afternoon|evening)|at night))?(?![\w:])",
    re.ASCII,
)
_NINE_TO_FIVE = re.compile("[朝早]([六七八九十])晚([四五六七八九十])")
_NAMED_TIME = re.compile(r"(?<![a-z])(noon|midnight)(?![a-z])|正午", re.ASCII)
_HAN_CLOCK = re.compile(
    rf"{_PART}?{_HOUR}点(?!儿|多|点)(?:钟|整|(半|一刻|三刻)|(\d{{1,2}}|[零一二三四五六七八九十]{{1,3}})分?)?",
    re.ASCII,
)


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
        value, loose = _clock(HAN_DIGITS.get(m[group], 10), 0, part, False)
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


def _weekdays(m: re.Match[str]) -> Iterator[Value]:
    for i, c in enumerate(m[1]):
        yield Value("weekday", str(_HAN_DAYS[c]), m.start(1) + i if i else m.start(), m.start(1) + i + 1)


def _one(dimension: str, value: Callable[[re.Match[str]], str]) -> Builder:
    def build(m: re.Match[str]) -> Iterator[Value]:
        yield Value(dimension, value(m), m.start(), m.end())

    return build


# In the order in which they claim their characters; a year comes last of all, after codes.
TIMES: tuple[tuple[re.Pattern[str], Builder], ...] = (
    (_ZONE, _zone),
    (_ISO, lambda m: _date(m, m[1], float(m[2]), m[3])),
    (_HAN_DATE, lambda m: _date(m, m[1], number_of(m[2]), m[3])),
    (_EN_DATE, lambda m: _date(m, m[5], float(_MONTHS[(m[1] or m[4])[:3]]), m[2] or m[3])),
    (_EN_MONTH, lambda m: _date(m, None, float(_MONTHS[m[1][:3]]), None)),
    (_EN_DAY, lambda m: _date(m, None, None, m[1])),
    (_HAN_DAY, lambda m: _date(m, None, None, m[1])),
    (_WEEKDAY, _one("weekday", lambda m: str(_DAYS[m[1][:3]]))),
    (_HAN_WEEKDAY, _weekdays),
    (_CLOCK, _times),
    (_HAN_CLOCK, _han_times),
    (_NINE_TO_FIVE, _nine_to_five),
    (_NAMED_TIME, _one("time", lambda m: "0" if m[0] == "midnight" else "720")),
    (_OCLOCK, _oclocks),
)
YEARS: tuple[re.Pattern[str], Builder] = (_YEAR, _year)
