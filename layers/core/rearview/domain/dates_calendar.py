"""Calendar arithmetic behind the reading of dates: wall-clock spans around the moment of speech."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from re import Match, Pattern
from typing import Literal

Grain = Literal["minute", "hour", "day", "week", "month", "year"]
Tense = Literal["past", "future", "unknown"]


@dataclass(frozen=True, slots=True)
class DateMention:
    """One date or time in a text: the stretch [start, end) in aware UTC, the words as written, their
    place in the text (`span`, Python string offsets), and how fine the words were (`grain`)."""

    start: datetime
    end: datetime
    text: str
    span: tuple[int, int]
    grain: Grain


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch [start, end) of wall-clock time (naive, in the speaker's zone).

    `time_of_day` marks words that name a time but no day; `weak` ones count only beside a day.
    `zone` is set where the text itself gave an offset.
    """

    start: datetime
    end: datetime
    grain: Grain
    time_of_day: bool = False
    weak: bool = False
    zone: tzinfo | None = None


@dataclass(frozen=True, slots=True)
class Speech:
    """The moment of speech on the speaker's wall clock, and the tense of the clause being read."""

    now: datetime
    tense: Tense = "unknown"

    @property
    def today(self) -> date:
        return self.now.date()


# A reader turns a match into a stretch, or None where the words are no date after all; it may raise
# ValueError or OverflowError for dates outside the calendar.
Reader = Callable[[Match[str], Speech], Stretch | None]
Rule = tuple[Pattern[str], Reader]


def midnight(day: date) -> datetime:
    """The first moment of `day`, naive wall clock."""
    return datetime.combine(day, time())


def days(first: date, count: int = 1, grain: Grain = "day") -> Stretch:
    """`count` whole days from `first`."""
    return Stretch(midnight(first), midnight(first + timedelta(days=count)), grain)


def week(day: date, offset: int = 0) -> Stretch:
    """The ISO week (Monday first) of `day`, `offset` weeks later."""
    return days(monday(day) + timedelta(weeks=offset), 7, "week")


def monday(day: date) -> date:
    """The Monday of `day`'s ISO week."""
    return day - timedelta(days=day.weekday())


def months(year: int, month: int, count: int = 1, grain: Grain = "month") -> Stretch:
    """`count` whole months from `month`; a month outside 1–12 runs over into other years."""
    return Stretch(midnight(month_start(year, month)), midnight(month_start(year, month + count)), grain)


def month_start(year: int, month: int) -> date:
    """The first day of a month; a `month` outside 1–12 runs over into other years. ValueError outside years 1–9999."""
    return date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)


def month_part(first: date, part: Literal["early", "mid", "late", "end"]) -> Stretch:
    """Days 1–10, 11–20, 21 to the end, or the last day alone, of the month that begins at `first`."""
    following = month_start(first.year, first.month + 1)
    if part == "end":
        return days(following - timedelta(days=1))
    if part == "late":
        return Stretch(midnight(first.replace(day=21)), midnight(following), "day")
    return days(first.replace(day=1 if part == "early" else 11), 10)


def year(number: int) -> Stretch:
    """The whole calendar year `number`; ValueError outside 1–9998 (its end is the next year's first day)."""
    return months(number, 1, 12, "year")


def season(number: int, name: Literal["spring", "summer", "autumn", "winter"]) -> Stretch:
    """Meteorological seasons of the northern hemisphere; winter begins in December of `number`."""
    return months(number, {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}[name], 3)


def quarter(day: date, offset: int = 0) -> Stretch:
    """The calendar quarter of `day`, `offset` quarters later."""
    return months(day.year, (day.month - 1) // 3 * 3 + 1 + 3 * offset, 3)


def shift_months(day: date, count: int) -> date:
    """The same day of the month `count` months later, or that month's last day."""
    first = month_start(day.year, day.month + count)
    last = (month_start(first.year, first.month + 1) - timedelta(days=1)).day
    return first.replace(day=min(day.day, last))


def weekday(speech: Speech, number: int) -> Stretch:
    """The bare weekday `number` (0 Monday): the last one in a past clause, else the coming one."""
    ahead = (number - speech.today.weekday()) % 7
    if speech.tense == "past" and ahead:
        ahead -= 7
    return days(speech.today + timedelta(days=ahead))


def day_of_month(speech: Speech, number: int) -> Stretch | None:
    """The `number`-th of a month: the last one in a past clause, else the coming one."""
    today = speech.today
    for offset in range(0, -4, -1) if speech.tense == "past" else range(4):
        first = month_start(today.year, today.month + offset)
        if shift_months(first, 1) - first >= timedelta(days=max(1, number)):
            day = first.replace(day=number)
            if (day <= today) if speech.tense == "past" else (day >= today):
                return days(day)
    return None


def nearest_year(speech: Speech, month: int, day: int = 1) -> int:
    """The year of a date written without one: by tense where the clause shows it, else the nearest."""
    today, tense = speech.today, speech.tense
    years = [today.year - 1, today.year, today.year + 1]

    def distance(candidate: int) -> float:
        # The month alone counts from its own middle, the leap day is taken as the 28th.
        away = (date(candidate, month, min(day, 28)) - today).days
        wrong_way = (tense == "past" and away > 0) or (tense == "future" and away < -28)
        return abs(away) + (1000 if wrong_way else 0)

    return min((y for y in years if 1 <= y <= 9999), key=distance)


def ago(speech: Speech, count: float, unit: str) -> Stretch:
    """The stretch `count` units away from the moment of speech (negative is past).

    `unit` is minute, hour, day, week, month or year; a week or more away is still named to the day.
    """
    now = speech.now
    if unit in ("minute", "hour"):
        at = now + (timedelta(minutes=count) if unit == "minute" else timedelta(hours=count))
        at = at.replace(second=0, microsecond=0)
        return Stretch(at, at + timedelta(minutes=1), "minute")
    if unit in ("day", "week"):
        return days(speech.today + timedelta(days=round(count * (7 if unit == "week" else 1))))
    whole = round(count * (12 if unit == "year" else 1))
    if unit == "year" and count == int(count) and count < 0:
        return year(speech.today.year + int(count))
    if unit == "month" and count == int(count) and count < 0:
        there = month_start(speech.today.year, speech.today.month + whole)
        return months(there.year, there.month)
    return days(shift_months(speech.today, whole))


def running(speech: Speech, count: float, unit: str) -> Stretch:
    """The whole stretch between the moment of speech and `count` units away ("the next 3 days")."""
    far = ago(speech, count, unit)
    grain: Grain = "day" if unit in ("day", "week", "month", "year") else far.grain
    if count < 0:
        return Stretch(far.start, max(midnight(speech.today + timedelta(days=1)), far.end), grain)
    start = midnight(speech.today) if grain == "day" else speech.now.replace(second=0, microsecond=0)
    return Stretch(start, far.end, grain)


def clock(speech: Speech, hour: int, minute: int | None = None, *, weak: bool = False) -> Stretch:
    """The time `hour`:`minute` of today; an hour alone is as coarse as an hour. 24:00 is midnight."""
    at = midnight(speech.today) + timedelta(hours=hour, minutes=minute or 0)
    if hour > 24 or (minute or 0) > 59:
        raise ValueError("no time of day")
    grain: Grain = "hour" if minute is None else "minute"
    width = timedelta(hours=1) if minute is None else timedelta(minutes=1)
    return Stretch(at, at + width, grain, time_of_day=True, weak=weak)


def part_of_day(speech: Speech, first: int, last: int, offset: int = 0) -> Stretch:
    """The hours [first, last) of today (`offset` days later), such as an afternoon."""
    base = midnight(speech.today) + timedelta(days=offset)
    return Stretch(base + timedelta(hours=first), base + timedelta(hours=last), "hour", time_of_day=True)


def onto(day: Stretch, at: Stretch, speech: Speech) -> Stretch:
    """The time of day `at` (read on the day of speech), moved onto the first day of `day`."""
    shift = midnight(day.start.date()) - midnight(speech.today)
    return Stretch(at.start + shift, at.end + shift, at.grain)


def to_utc(moment: datetime, zone: tzinfo) -> datetime:
    """A naive wall-clock `moment` in `zone` as aware UTC; of a repeated hour the first, OverflowError outside the calendar."""
    return moment.replace(tzinfo=zone).astimezone(UTC)
