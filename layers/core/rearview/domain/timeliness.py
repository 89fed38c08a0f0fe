"""The timeliness sieve: until when a text is useful, and until when it is true."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from re import Pattern
from typing import Any, Final

from rearview.domain.dates import DAY_NAME, DateMention, find_dates
from rearview.domain.language import sentences
from rearview.domain.lexicon import compile_pattern, compile_words, fragments, normalise

_LEFT: Final = 24
_LONGEST: Final = 600
_SENTENCE_END: Final = re.compile(r"[。！？!?；;\n]|\.(?=\s|$)")
_DAY: Final = rf"(?:{DAY_NAME})s?"
_WEEKDAY: Final = re.compile(rf"(?:{_DAY})\.?", re.IGNORECASE)
# What stands in front of the last day of "Monday through Friday" and 周一到周五.
_FROM_DAY: Final = re.compile(
    rf"(?:(?<![a-z])(?:{_DAY}))\.?\s*(?:through|thru|until|till?|up to|到|至)\s*(?:每个?)?$", re.IGNORECASE
)
# What outlives the state it is said in.
_LASTING: Final = frozenset({"preference", "instruction", "correction", "conclusion"})


@dataclass(frozen=True, slots=True)
class Shelf:
    """A kind of passing state: its sign, the reason reported, and how long it is worth keeping."""

    sign: Pattern[str]
    reason: str
    life: timedelta


@dataclass(frozen=True, slots=True)
class TimelinessRules:
    """The compiled table: `shelves` in order of precedence; signs `before` and `after` a date that bounds a text;
    how far off (`near`) such a date may be to end the text's use as well; words of a `habit`, whose times come round
    again, and of an `anchor`, which say which day is meant.
    """

    shelves: tuple[Shelf, ...]
    before: Pattern[str]
    after: Pattern[str]
    near: timedelta
    habit: Pattern[str]
    anchor: Pattern[str]


@dataclass(frozen=True, slots=True)
class Timeliness:
    """`expires_at`: no use after; `valid_to`: no longer true after (both aware UTC); `reason` of the former."""

    expires_at: datetime | None = None
    valid_to: datetime | None = None
    reason: str | None = None


def compile_timeliness(raw: Mapping[str, Any]) -> TimelinessRules:
    """Compiles the `timeliness` table of the admission rules; raises ValueError where it is malformed."""
    bound = raw["bound"]
    words = rf"(?<![a-z0-9])(?:{'|'.join(fragments(bound, 'before'))})(?: the| about| around)?"
    return TimelinessRules(
        shelves=tuple(
            Shelf(compile_words(shelf), str(shelf["reason"]), timedelta(hours=float(shelf["hours"])))
            for shelf in raw["shelf"]
        ),
        before=compile_pattern(rf"(?:{words}|(?:{'|'.join(fragments(bound, 'before_zh'))}))\s*$"),
        after=compile_pattern(rf"\s*(?:{'|'.join(fragments(bound, 'after_zh'))})"),
        near=timedelta(hours=float(raw["near_bound_hours"])),
        habit=compile_words(raw["habit"]),
        anchor=compile_words(raw["anchor"]),
    )


def timeliness(
    text: str, *, kind: str, said_at: datetime, now: datetime, timezone: tzinfo, rules: TimelinessRules
) -> Timeliness:
    """Reads the end of a text's truth and use.

    A date that bounds the text gives `valid_to`, and `expires_at` too where it is near and still to
    come. Without one, a passing state gets its shelf life, which runs from `now` (the moment of
    storing); dates are read from `said_at`.
    """
    valid_to = _bound(text, said_at, timezone, rules)
    if valid_to is not None:
        near = now < valid_to <= now + rules.near
        passing = near and kind not in ("preference", "correction", "conclusion")
        return Timeliness(valid_to if passing else None, valid_to, "bounded" if passing else None)
    if kind in _LASTING:
        return Timeliness()
    pieces = [normalise(sentence[:_LONGEST]) for sentence in sentences(text)[:3]]
    if not 1 <= len(pieces) <= 2:
        return Timeliness()
    found = [next((shelf for shelf in rules.shelves if shelf.sign.search(piece)), None) for piece in pieces]
    shelves = [shelf for shelf in found if shelf is not None]
    if len(shelves) < len(pieces):
        return Timeliness()
    longest = max(shelves, key=lambda shelf: shelf.life)
    try:
        return Timeliness(now.astimezone(UTC) + longest.life, None, longest.reason)
    except OverflowError:
        return Timeliness()


def _bound(text: str, said_at: datetime, timezone: tzinfo, rules: TimelinessRules) -> datetime | None:
    if len(text) > 2 * _LONGEST:
        return None  # one date among many sentences bounds one of them, not the text
    ends = [
        end_of(mention)
        for mention in find_dates(text, now=said_at, timezone=timezone)
        if (
            rules.before.search(normalise(text[max(0, mention.span[0] - _LEFT) : mention.span[0]]))
            or rules.after.match(text[mention.span[1] : mention.span[1] + _LEFT].lower())
        )
        and not _comes_again(text, mention, rules)
    ]
    return max(ends, default=None)


def _comes_again(text: str, mention: DateMention, rules: TimelinessRules) -> bool:
    """Whether the time is one of a habit or a timetable ("usually until 6pm", 周一到周五上班): it ends a day or a week,
    not the truth of the text."""
    begin, end = mention.span
    first = max((stop.end() for stop in _SENTENCE_END.finditer(text, 0, begin)), default=0)
    stop = _SENTENCE_END.search(text, end)
    sentence = normalise(text[first : stop.start() if stop else len(text)])
    if rules.anchor.search(sentence):
        return False
    if _WEEKDAY.fullmatch(mention.text):
        return _FROM_DAY.search(text, max(first, begin - _LEFT), begin) is not None
    return mention.grain in ("minute", "hour") and rules.habit.search(sentence) is not None


def end_of(mention: DateMention) -> datetime:
    """The moment a bound names: a clock time itself, the end of a longer stretch."""
    wide = mention.end - mention.start > timedelta(hours=1)
    return mention.start if mention.grain in ("minute", "hour") and not wide else mention.end
