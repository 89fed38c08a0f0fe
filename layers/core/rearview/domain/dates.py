"""Reads the dates and times that a Chinese or English text names, absolute and relative."""

import re
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from typing import Final

from rearview.domain import dates_calendar as cal
from rearview.domain import dates_en, dates_numeric, dates_zh
from rearview.domain.dates_calendar import DateMention, Grain, Rule, Speech, Stretch, Tense

__all__ = ["DAY_NAME", "DateMention", "Grain", "find_dates"]

_RULES: Final[tuple[Rule, ...]] = (*dates_numeric.RULES, *dates_en.RULES, *dates_zh.RULES)
# Full-width forms are read as their ASCII twins; one character for one, so that places stay true.
_WIDTH: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0xA0: 0x20}
_GAP: Final = re.compile(r"[\s,]{0,2}(?:at|on|in the|from|around|@|的|是)?\s{0,2}", re.IGNORECASE)
_CLAUSE_END: Final = re.compile(r"[。！？!?；;，\n]|[.,](?=\s|$)")
_RANGE: Final = re.compile(r"\s?(?:-|–|—|~|～|to|until|till|through|thru|至|到)\s?", re.IGNORECASE)
#: A weekday in words.
DAY_NAME: Final = (
    r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|(?:周|星期|礼拜)[一二三四五六日天]"
)
_WEEKDAY: Final = re.compile(DAY_NAME, re.IGNORECASE)
_ENDS_WITH_WEEKDAY: Final = re.compile(rf"(?<![a-z])(?:{DAY_NAME})$", re.IGNORECASE)
# "Every Friday" and 每周五 are habits, no dates.
_RECURRING: Final = re.compile(r"(?:\b(?:every|each)(?: other)? |每个?)$", re.IGNORECASE)
_REACH: Final = 80
_PAST: Final = re.compile(
    r"\b(?:was|were|had|did|went|came|saw|got|took|made|met|said|told|bought|left|ran|won|lost|gave|found|began"
    r"|became|felt|wrote|ate|held|sent|paid|broke|flew|read|[a-z]{2,}ed)\b|[了过]|曾|已经|刚",
    re.IGNORECASE,
)
_FUTURE: Final = re.compile(
    r"\b(?:will|shall|won't|going to|gonna|plan|plans|planning|due|until|till|by|next|deadline|scheduled|booked"
    r"|need|needs|must|should)\b|'ll\b|将|会|要|打算|计划|准备|截止|到期|之前|约了|定了|订了",
    re.IGNORECASE,
)


def find_dates(text: str, *, now: datetime, timezone: tzinfo) -> list[DateMention]:
    """The dates in `text` in order of place, without overlaps.

    `now` is the moment it was said (aware); words are read on the wall clock of `timezone`. "Next
    Friday" and 下周五 are the Friday of the next ISO week, a bare weekday the coming one, or the last
    one in a past clause; a date without a year the nearest that fits the tense; 3/4/2026 is month
    first unless impossible. A time of day joins the day beside it. Dates that no calendar holds are
    left out; nothing is raised.
    """
    try:
        local = now.astimezone(timezone).replace(tzinfo=None)
    except (OverflowError, ValueError):
        return []
    plain = text.translate(_WIDTH)
    found = _joined(plain, _longest(_readings(plain, local)), Speech(local))
    mentions = []
    for begin, end, stretch in found:
        zone = stretch.zone or timezone
        try:
            start, stop = cal.to_utc(stretch.start, zone), cal.to_utc(stretch.end, zone)
        except (OverflowError, ValueError):
            continue
        # Where the clock jumps forward a wall-clock minute may not exist and end before it starts.
        mentions.append(DateMention(start, max(start, stop), text[begin:end], (begin, end), stretch.grain))
    return mentions


_Reading = tuple[int, int, Stretch]


def _readings(text: str, local: datetime) -> list[_Reading]:
    found: list[_Reading] = []
    for pattern, reader in _RULES:
        for match in pattern.finditer(text):
            if _RECURRING.search(text, max(0, match.start() - 12), match.start()):
                continue
            speech = Speech(local, _tense(text, match.start(), match.end()))
            try:
                stretch = reader(match, speech)
            except (OverflowError, ValueError):
                continue
            if stretch is not None:
                found.append((match.start(), match.end(), stretch))
    return found


def _tense(text: str, begin: int, end: int) -> Tense:
    left = text[max(0, begin - _REACH) : begin]
    for stop in _CLAUSE_END.finditer(left):
        left_start = stop.end()
        left = " " * left_start + left[left_start:]
    stop_right = _CLAUSE_END.search(text, end, end + _REACH)
    clause = left + " " + text[end : stop_right.start() if stop_right else end + _REACH]
    if _FUTURE.search(clause):
        return "future"
    return "past" if _PAST.search(clause) else "unknown"


def _longest(readings: list[_Reading]) -> list[_Reading]:
    """Of overlapping readings the one that begins first, and of those the longest."""
    kept: list[_Reading] = []
    for reading in sorted(readings, key=lambda r: (r[0], -r[1])):
        if not kept or reading[0] >= kept[-1][1]:
            kept.append(reading)
    return kept


def _joined(text: str, readings: list[_Reading], speech: Speech) -> list[_Reading]:
    """Times of day moved onto the day beside them; weak times that stand alone are left out."""
    joined: list[_Reading] = []
    index = 0
    while index < len(readings):
        begin, end, stretch = readings[index]
        index += 1
        while index < len(readings):
            following = readings[index]
            if _GAP.fullmatch(text, end, following[0]):
                both = _together(stretch, following[2], speech)
            elif _RANGE.fullmatch(text, end, following[0]):
                both = _through(stretch, following[2], speech)
                if both is None and _weekdays(text[begin:end], text[following[0] : following[1]]):
                    readings[index] = (*following[:2], _same_week(stretch, following[2]))
            else:
                break
            if both is None:
                break
            stretch, end = both, readings[index][1]
            index += 1
        if not (stretch.time_of_day and stretch.weak):
            joined.append((begin, end, stretch))
    return joined


def _through(one: Stretch, two: Stretch, speech: Speech) -> Stretch | None:
    """The hours from `one` to the time of day `two`, on the day of `one`."""
    if not two.time_of_day or one.grain not in ("hour", "minute") or one.zone or two.zone:
        return None
    day = Stretch(cal.midnight(one.start.date()), one.end, "day")
    end = cal.onto(day, two, speech).start
    return replace(one, end=end, weak=one.weak and two.weak) if end > one.start else None


def _weekdays(first: str, last: str) -> bool:
    """Whether the first ends with a weekday and the last is nothing else."""
    return _WEEKDAY.fullmatch(last) is not None and _ENDS_WITH_WEEKDAY.search(first) is not None


def _same_week(first: Stretch, last: Stretch) -> Stretch:
    """The weekday ``last`` of "next Monday to Friday": of the seven days that begin with ``first``."""
    days = (last.start - first.start).days % 7
    try:
        start = first.start + timedelta(days=days)
        return replace(last, start=start, end=start + (last.end - last.start))
    except OverflowError:
        return last


def _together(one: Stretch, two: Stretch, speech: Speech) -> Stretch | None:
    if one.time_of_day == two.time_of_day or one.zone or two.zone:
        return None
    day, at = (two, one) if one.time_of_day else (one, two)
    if day.grain != "day" or (day.end - day.start).days != 1:
        return None
    try:
        return cal.onto(day, at, speech)
    except (OverflowError, ValueError):
        return None
