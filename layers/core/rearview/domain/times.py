"""Times: aware UTC inside, RFC 3339 with six decimals and ``Z`` outside."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

MIN = datetime(1, 1, 2, tzinfo=UTC)
MAX = datetime(9999, 12, 30, tzinfo=UTC)


def to_text(moment: datetime) -> str:
    """RFC 3339, UTC, six decimals, ``Z``: equal moments give equal texts, and texts sort as moments do."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f").zfill(26) + "Z"


def from_text(text: str) -> datetime:
    """The inverse of :func:`to_text`."""
    return datetime.fromisoformat(text)


def optional_text(moment: datetime | None) -> str | None:
    """:func:`to_text`, None kept."""
    return None if moment is None else to_text(moment)


def optional_time(text: str | None) -> datetime | None:
    """:func:`from_text`, None kept."""
    return None if text is None else from_text(text)


def parse(text: str, timezone: tzinfo, *, upper: bool = False) -> datetime:
    """Reads an RFC 3339 time or a date into aware UTC.

    A time without an offset is read in ``timezone``; a date alone means its start, or with ``upper`` its last
    microsecond, so that "until today" holds what was said today. Raises ValueError for anything else.
    """
    text = text.strip()
    if len(text) == 10:
        day = date.fromisoformat(text)
        moment = datetime.combine(day, time.max if upper else time.min, timezone)
    else:
        if len(text) < 16 or text[10] not in "Tt ":
            raise ValueError("not an RFC 3339 time")
        moment = datetime.fromisoformat(text.upper())
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone)
    # Years 1 and 9999 overflow when shifted to UTC; they are clamped rather than refused.
    if moment.year >= 9999 and moment.replace(tzinfo=UTC) > MAX:
        return MAX
    if moment.year <= 1 and moment.replace(tzinfo=UTC) < MIN:
        return MIN
    return moment.astimezone(UTC)


def plus(moment: datetime, delta: timedelta) -> datetime:
    """``moment + delta``, held inside the years that UTC can express."""
    try:
        return max(MIN, min(moment + delta, MAX))
    except OverflowError:
        return MAX if delta > timedelta() else MIN
