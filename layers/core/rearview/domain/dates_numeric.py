"""Dates and times in figures, which Chinese and English texts share: ISO, slashed, 24-hour and a.m./p.m."""

import re
from datetime import UTC, date, timedelta, timezone
from re import Match
from typing import Final

from rearview.domain import dates_calendar as cal
from rearview.domain.dates_calendar import Rule, Speech, Stretch


def figure(match: Match[str], group: str) -> int:
    """The named group as a number; ValueError where it is none, TypeError where the group did not match."""
    return int(match[group])


def _iso(match: Match[str], speech: Speech) -> Stretch:
    day = date(figure(match, "year"), figure(match, "month"), figure(match, "day"))
    if match["hour"] is None:
        return cal.days(day)
    at = cal.onto(cal.days(day), cal.clock(speech, figure(match, "hour"), figure(match, "minute")), speech)
    if not match["offset"]:
        return at
    offset = match["offset"].replace(":", "")
    zone = (
        UTC
        if offset in "zZ"
        else timezone(
            (1 if offset[0] == "+" else -1) * timedelta(hours=int(offset[1:3]), minutes=int(offset[3:5]))
        )
    )
    return Stretch(at.start, at.end, "minute", zone=zone)


def _slashed(match: Match[str], _speech: Speech) -> Stretch:
    # Month first unless that is impossible: the form is ambiguous, and this is its commoner reading.
    month, day = figure(match, "one"), figure(match, "two")
    if month > 12:
        month, day = day, month
    return cal.days(date(figure(match, "year"), month, day))


def time_of_day(match: Match[str], speech: Speech) -> Stretch:
    """The time named by the groups `hour` and, where present, `minute` and `half` (a or p: twelve-hour clock).

    Without `minute` the stretch is an hour wide. ValueError for a twelve-hour time outside 1–12.
    """
    hour = figure(match, "hour")
    written = match.groupdict().get("minute")
    minute = int(written) if written else None
    half = (match.groupdict().get("half") or "").lower()
    if half:
        if not 1 <= hour <= 12:
            raise ValueError("no twelve-hour time")
        hour = hour % 12 + (12 if half[0] == "p" else 0)
    return cal.clock(speech, hour, minute)


RULES: Final[tuple[Rule, ...]] = (
    (
        re.compile(
            r"(?<![\d.-])(?P<year>\d{4})(?P<sep>[-/.])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})(?![\d-])"
            r"(?:(?:[T ]|,? at )(?P<hour>\d{2}):(?P<minute>\d{2})(?::\d{2}(?:\.\d{1,9})?)?"
            r"(?P<offset>Z|[+-]\d{2}:?\d{2})?(?!\d))?",
            re.ASCII | re.IGNORECASE,
        ),
        _iso,
    ),
    (
        re.compile(r"(?<![\d./-])(?P<one>\d{1,2})/(?P<two>\d{1,2})/(?P<year>\d{4})(?![\d/])", re.ASCII),
        _slashed,
    ),
    (
        re.compile(
            r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?![\d:])(?:\s?(?P<half>[ap])\.?m\b\.?)?",
            re.ASCII | re.IGNORECASE,
        ),
        time_of_day,
    ),
)
