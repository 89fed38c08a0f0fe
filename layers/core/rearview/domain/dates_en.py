"""English dates and times in words."""

import re
from datetime import date, timedelta
from re import Match
from typing import Final, Literal

from rearview.domain import dates_calendar as cal
from rearview.domain.dates_calendar import Rule, Speech, Stretch
from rearview.domain.dates_numeric import figure, time_of_day

_MONTH_NAMES: Final = (
    "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|"
    "september sept sep|october oct|november nov|december dec"
)
_DAY_NAMES: Final = "monday mon|tuesday tues tue|wednesday weds wed|thursday thurs thur thu|friday fri|saturday sat|sunday sun"
_MONTHS: Final = {n: at for at, names in enumerate(_MONTH_NAMES.split("|"), 1) for n in names.split()}
_DAYS: Final = {n: at for at, names in enumerate(_DAY_NAMES.split("|")) for n in names.split()}
_NUMBERS: Final = {
    word: float(number)
    for number, words in {
        1: "a an one", 2: "two couple", 3: "three few", 4: "four", 5: "five", 6: "six", 7: "seven",
        8: "eight", 9: "nine", 10: "ten", 11: "eleven", 12: "twelve", 13: "thirteen", 14: "fourteen fortnight",
        15: "fifteen", 18: "eighteen", 20: "twenty", 24: "twenty-four", 30: "thirty", 40: "forty",
        45: "forty-five", 48: "forty-eight", 60: "sixty", 90: "ninety",
    }.items()
    for word in words.split()
}  # fmt: skip
_MONTH: Final = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
# "sat", "sun" and "may", "march" are words of their own: alone they need a preposition before them.
_DAY: Final = "(?P<weekday>" + "|".join(sorted(_DAYS, key=len, reverse=True)) + ")"
_FULL_DAY: Final = "(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_COUNT: Final = (
    r"(?P<count>\d{1,4}(?:\.\d)?|a couple(?: of)?|a few|half an?|"
    + "|".join(sorted(_NUMBERS, key=len, reverse=True))
    + ")"
)
_UNIT: Final = r"(?P<unit>minute|min|hour|hr|day|week|month|year|yr)s?"
_UNITS: Final = {"min": "minute", "hr": "hour", "yr": "year"}
_DATE: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>(?:19|20|21)\d\d|9999)"
_SEASON: Final = "(?P<season>spring|summer|autumn|fall|winter)"
_DASH: Final = r"\s?(?:-|–|—|to|until|through)\s?"
_PREPOSITION: Final = r"(?:(?<=\bin )|(?<=\bsince )|(?<=\buntil )|(?<=\bfrom )|(?<=\bby )|(?<=\btill )|(?<=\bduring )|(?<=\bof ))"
_SEASON_NAMES: Final[dict[str, Literal["spring", "summer", "autumn", "winter"]]] = {
    "spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn", "winter": "winter",
}  # fmt: skip
_SHIFT: Final = {"last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1, "coming": 1}
_WHICH: Final = "(?P<which>last|previous|past|this|current|next|coming)"


def _count(words: str) -> float:
    words = words.lower().removesuffix(" of")
    if words[0].isdigit():
        return float(words)
    return 0.5 if words.startswith("half") else _NUMBERS[words.removeprefix("a ") or "a"]


def _month_day(match: Match[str], speech: Speech) -> Stretch:
    month, day = _MONTHS[match["month"].lower()], figure(match, "day")
    year = int(match["year"]) if match["year"] else cal.nearest_year(speech, month, day)
    first = date(year, month, day)
    last = date(year, month, int(match["last"])) if match["last"] else first
    return cal.days(first, max(1, (last - first).days + 1))


def _month(match: Match[str], speech: Speech) -> Stretch:
    month = _MONTHS[match["month"].lower()]
    written = match.groupdict().get("year")
    year = int(written) if written else cal.nearest_year(speech, month)
    part = (match.groupdict().get("part") or "").lower().strip(" -")
    return cal.month_part(date(year, month, 1), _PARTS[part]) if part else cal.months(year, month)


_Part = Literal["early", "mid", "late", "end"]
_PARTS: Final[dict[str, _Part]] = {
    "early": "early", "beginning of": "early", "start of": "early", "mid": "mid", "middle of": "mid",
    "late": "late", "end of": "end",
}  # fmt: skip


def _which_month(match: Match[str], speech: Speech) -> Stretch:
    month, now = _MONTHS[match["month"].lower()], speech.today
    shift = _SHIFT[match["which"].lower()]
    if shift == 0:
        return cal.months(now.year, month)
    if shift < 0:
        return cal.months(now.year - (month >= now.month), month)
    return cal.months(now.year + (month <= now.month), month)


def _year(match: Match[str], _speech: Speech) -> Stretch:
    return cal.year(figure(match, "year"))


def _which_unit(match: Match[str], speech: Speech) -> Stretch:
    shift, unit, today = _SHIFT[match["which"].lower()], match["unit"].lower(), speech.today
    if unit == "week":
        return cal.week(today, shift)
    if unit == "weekend":
        return cal.days(cal.monday(today) + timedelta(weeks=shift, days=5), 2)
    if unit == "month":
        return cal.months(today.year, today.month + shift)
    return cal.quarter(today, shift) if unit == "quarter" else cal.year(today.year + shift)


def _which_season(match: Match[str], speech: Speech) -> Stretch:
    name = match["season"].lower()
    seasons = [cal.season(speech.today.year + off, _season(name)) for off in (-2, -1, 0, 1, 2)]
    shift = _SHIFT[(match["which"] or "this").lower()]
    if shift < 0:
        return [s for s in seasons if s.end <= speech.now][-1]
    ahead = [s for s in seasons if s.end > speech.now]
    return ahead[0] if shift == 0 or ahead[0].start > speech.now else ahead[1]


def _season(name: str) -> Literal["spring", "summer", "autumn", "winter"]:
    return _SEASON_NAMES[name]


def _season_year(match: Match[str], _speech: Speech) -> Stretch:
    return cal.season(figure(match, "year"), _season(match["season"].lower()))


def _which_weekday(match: Match[str], speech: Speech) -> Stretch:
    which, number = match["which"].lower(), _DAYS[match["weekday"].lower()]
    ahead = (number - speech.today.weekday()) % 7
    if which in ("last", "previous", "past"):
        return cal.days(speech.today - timedelta(days=(-ahead) % 7 or 7))
    if which == "coming":
        return cal.days(speech.today + timedelta(days=ahead or 7))
    # "this Friday" lies in this ISO week, "next Friday" in the next one.
    weeks = 1 if which == "next" else 0
    return cal.days(cal.monday(speech.today) + timedelta(weeks=weeks, days=number))


def _weekday(match: Match[str], speech: Speech) -> Stretch:
    return cal.weekday(speech, _DAYS[match["weekday"].lower()])


def _relative(match: Match[str], speech: Speech) -> Stretch:
    unit, count = match["unit"].lower(), _count(match["count"])
    if "fortnight" in match[0].lower():
        count, unit = 14, "day"
    sign = -1 if match.groupdict().get("before") else 1
    return cal.ago(speech, sign * count, _UNITS.get(unit, unit))


def _running(match: Match[str], speech: Speech) -> Stretch:
    unit = match["unit"].lower()
    count = _count(match["count"]) * _SHIFT[match["which"].lower()]
    return cal.running(speech, count or _count(match["count"]), _UNITS.get(unit, unit))


_NAMED: Final = {
    "today": 0, "tomorrow": 1, "tmrw": 1, "yesterday": -1,
    "the day after tomorrow": 2, "day after tomorrow": 2, "the day before yesterday": -2, "day before yesterday": -2,
}  # fmt: skip


def _named(match: Match[str], speech: Speech) -> Stretch:
    return cal.days(speech.today + timedelta(days=_NAMED[" ".join(match[0].lower().split())]))


_PART_HOURS: Final = {
    "morning": (6, 12), "afternoon": (12, 18), "evening": (18, 22), "night": (20, 24), "tonight": (18, 24),
}  # fmt: skip


def _part(match: Match[str], speech: Speech) -> Stretch:
    first, last = _PART_HOURS[match["part"].lower()]
    which = (match.groupdict().get("which") or "").lower()
    if which:
        found = cal.part_of_day(speech, first, last, -1 if which == "last" else 0)
        return Stretch(found.start, found.end, "hour")
    found = cal.part_of_day(speech, first, last)
    return Stretch(found.start, found.end, "hour", time_of_day=True, weak=match["part"].lower() != "tonight")


def _end_of(match: Match[str], speech: Speech) -> Stretch:
    where, unit = match["where"].lower(), match["unit"].lower()
    shift = {"next": 1, "last": -1}.get((match["which"] or "").lower().strip(), 0)
    today = speech.today
    if unit == "day":
        return cal.days(today)
    if unit == "week":
        first = cal.monday(today) + timedelta(weeks=shift)
        return cal.days(first + timedelta(days={"end": 4, "middle": 2}.get(where, 0)))
    if unit == "month":
        return cal.month_part(cal.month_start(today.year, today.month + shift), _PARTS[f"{where} of"])
    whole = cal.quarter(today, shift) if unit == "quarter" else cal.year(today.year + shift)
    if where == "end":
        return cal.days((whole.end - timedelta(days=1)).date())
    return cal.months(whole.start.year, whole.start.month + (0 if where in ("start", "beginning") else 5))


def _short_end(match: Match[str], speech: Speech) -> Stretch:
    unit = match[0].lower()
    if unit == "eod":
        return cal.days(speech.today)
    return cal.days(cal.monday(speech.today) + timedelta(days=4))


def _ordinal(match: Match[str], speech: Speech) -> Stretch | None:
    return cal.day_of_month(speech, figure(match, "day"))


def _oclock(match: Match[str], speech: Speech) -> Stretch:
    named = {"noon": 12, "midday": 12, "midnight": 24}.get((match["named"] or "").lower())
    if named is not None:
        return cal.clock(speech, named)
    hour = int(_count(match["count"]))
    return cal.clock(speech, hour + 12 if 1 <= hour <= 6 else hour)


def _rule(pattern: str, reader: cal.Reader) -> Rule:
    return re.compile(rf"(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9])", re.IGNORECASE | re.ASCII), reader


RULES: Final[tuple[Rule, ...]] = (
    _rule(
        rf"(?:the )?{_DATE}(?:{_DASH}(?P<last>[0-3]?\d)(?:st|nd|rd|th)?)?(?: of)? {_MONTH}(?:,? {_YEAR})?",
        _month_day,
    ),
    _rule(
        rf"{_MONTH} (?:the )?{_DATE}(?!:)(?:{_DASH}(?P<last>[0-3]?\d)(?:st|nd|rd|th)?)?(?:,? {_YEAR})?",
        _month_day,
    ),
    _rule(rf"{_MONTH},? (?:of )?{_YEAR}", _month),
    _rule(
        rf"(?P<part>(?:early|mid|late)[ -]|(?:beginning|start|middle|end) of ){_MONTH}(?: {_YEAR})?", _month
    ),
    _rule(rf"{_PREPOSITION}{_MONTH}", _month),
    _rule(rf"{_WHICH} {_MONTH}", _which_month),
    _rule(rf"{_PREPOSITION}{_YEAR}(?!,\d|\.\d|-\d)", _year),
    _rule(rf"{_WHICH} (?P<unit>weekend|week|month|quarter|year)", _which_unit),
    _rule(rf"(?P<which>last|previous|this|next|coming) {_SEASON}", _which_season),
    _rule(rf"{_SEASON} (?:of )?{_YEAR}", _season_year),
    _rule(rf"{_WHICH} {_DAY}", _which_weekday),
    _rule(rf"{_FULL_DAY}", _weekday),
    _rule(
        r"(?:(?<=\bon )|(?<=\bby )|(?<=\buntil )|(?<=\btill )|(?<=\bfrom )|(?<=\bsince ))"
        r"(?P<weekday>mon|tues?|weds?|thu(?:rs?)?|fri|sat|sun)",
        _weekday,
    ),
    _rule(rf"in {_COUNT}(?: more)? {_UNIT}(?:' time)?", _relative),
    _rule(rf"{_COUNT} {_UNIT} (?:from now|from today|later)", _relative),
    _rule(rf"{_COUNT} {_UNIT} (?P<before>ago|earlier|back)", _relative),
    _rule(rf"within (?:the next )?{_COUNT} {_UNIT}", _relative),
    _rule(r"in (?P<count>a) (?P<unit>fortnight)", _relative),
    _rule(rf"(?P<which>last|past|next|coming) {_COUNT} {_UNIT}", _running),
    _rule(r"(?:(?:the )?day (?:after tomorrow|before yesterday)|today|tomorrow|tmrw|yesterday)", _named),
    _rule(r"(?P<which>this|last) (?P<part>morning|afternoon|evening|night)", _part),
    _rule(r"(?P<part>tonight|morning|afternoon|evening|night)", _part),
    _rule(
        r"(?:the )?(?P<where>end|start|beginning|middle) of (?P<which>the |this |next |last )?"
        r"(?P<unit>day|week|month|quarter|year)",
        _end_of,
    ),
    _rule("(?:eod|eow)", _short_end),
    _rule(
        r"the (?P<day>[0-3]?\d)(?:st|nd|rd|th)(?= of (?:the|this) month|\s*[.,;:!?)]|\s*$|\s+(?:at|for|from|in|to|and|if)\b)",
        _ordinal,
    ),
    _rule(r"(?P<hour>1[0-2]|0?[1-9])\s?(?P<half>[ap])\.?m\b\.?", time_of_day),
    _rule(rf"(?:(?P<named>noon|midday|midnight)|{_COUNT} o['’]clock)", _oclock),
)
