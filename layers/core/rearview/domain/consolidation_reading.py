"""An episode read for its likes: what it is about, without when it was said, how often, and in which words of asking."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from rearview.domain import consolidation_words as words
from rearview.domain.claims_reading import Token, read
from rearview.domain.claims_rules import SlotRules, stem
from rearview.domain.dates import find_dates
from rearview.domain.dates_calendar import DateMention
from rearview.domain.relations_same import routes
from rearview.domain.text import identity

#: Longer texts are alike only word for word: nobody tells them twice in other words.
LONGEST = 2_000
#: Modes of a clause that all say: it happened.
_HAPPENED = frozenset({"", "event", "temporary"})
_DAY = timedelta(days=1)
_WEEK = timedelta(days=8)
_MONTH = timedelta(days=63)


@dataclass(frozen=True, slots=True)
class Profile:
    """What of an episode is compared.

    ``guard``: what must be equal among likes: whom it speaks of, numbers, claimed dates, denials, states, plans, ways.
    ``keys``: what it is about, in order, synonyms of both languages as one. ``names``: those of them that are names.
    ``loose``: those of them that are hung on by a comma, "with" or "and". ``people``: who is spoken of, in order, the user
    first where the text does not name the user. ``order``: people and things in order, from which who did it to whom is told.
    ``beside``: when or why it happened, and ``part``: the part of the day; one may say it and the other not.
    ``core``: the text without that. ``manner``: how it was sorted, as written, which may vary unless it is wanted for good (``standing``).
    ``cleaned``: the text without its date and "again"; ``bare``: also without the manner.
    """

    guard: tuple[object, ...]
    keys: tuple[str, ...]
    names: frozenset[str]
    loose: frozenset[str]
    people: tuple[str, ...]
    order: tuple[str, ...]
    beside: str
    part: frozenset[str]
    core: str
    manner: str
    standing: bool
    cleaned: str
    bare: str
    plain: str


@lru_cache(maxsize=2048)
def profile(text: str, at: datetime, rules: SlotRules) -> Profile:
    """Reads an episode that happened ``at`` (aware), from which relative dates are told."""
    text = unicodedata.normalize("NFKC", text).strip()
    if len(text) > LONGEST:
        plain = identity(text)
        return Profile(
            ("long", plain),
            (),
            frozenset(),
            frozenset(),
            (),
            (),
            "",
            frozenset(),
            plain,
            "",
            True,
            text,
            text,
            plain,
        )
    dateless, cleaned, claimed, part = _dated(text, at)
    dateless, cleaned = (_tidy(words.REPEATED.sub(" ", some)) or text for some in (dateless, cleaned))
    manner = ""
    if found := words.MANNER.search(cleaned):
        manner = (found["m"] or found["z"]).strip()
    bare = _tidy(words.MANNER.sub(" ", cleaned)) if manner else cleaned
    standing = words.STANDING.search(text) is not None
    body = dateless if standing else _tidy(words.MANNER.sub(" ", dateless))
    return _profiled(body or dateless, claimed, part, manner, standing, cleaned, bare, rules)


def _profiled(
    body: str,
    claimed: tuple[object, ...],
    part: frozenset[str],
    manner: str,
    standing: bool,
    cleaned: str,
    bare: str,
    rules: SlotRules,
) -> Profile:
    found = None if standing else words.BESIDE.search(body)
    beside = next((said for said in found.groups() if said), "") if found else ""
    core = _tidy(body[: found.start()] + " " + body[found.end() :]) if found else body
    names = frozenset(m[0].lower().removesuffix("'s") for m in _NAME.finditer(core))
    plain = words.ASKED.sub(" ", core)
    plain = words.PAST_WORD.sub(lambda m: words.PAST[m[0].lower()], plain)
    plain = words.BLAND_HAN.sub(" ", plain)
    for pattern, word in (*words.SAID, *words.SAME_HAN):
        plain = pattern.sub(word, plain)
    reading = read(_QUESTION.sub(".", plain), rules)
    tokens = [token for clause in reading.clauses for token in clause.tokens]
    kin = {token.key for token in tokens if token.sense.kind == "kin"}
    if not words.SELF.search(body):
        kin |= {"third"} if words.THIRD.search(body) else set()
    else:
        kin -= {"he", "she", "they"}
    denials = sorted(" ".join(sorted(clause.scope)) for clause in reading.clauses if not clause.positive)
    values = Counter(
        (v.dimension, v.value) for clause in reading.clauses for vs in clause.values.values() for v in vs
    )
    guard: tuple[object, ...] = (
        tuple(sorted(kin)),
        tuple(sorted(values.items())),
        claimed,
        tuple(denials),
        tuple(sorted({t.key for t in tokens if t.sense.alt and t.sense.concept != _PART})),
        tuple(sorted({clause.mode for clause in reading.clauses} - _HAPPENED)),
        tuple(sorted({token.key for token in tokens if token.key in words.TURNING})),
        tuple(routes(reading)),
        tuple(sorted({m[0].lower() for m in words.UNDONE.finditer(body)})),
        manner.lower() if standing else "",
        words.SUFFERED.search(core) is not None or _by_somebody(reading.folded, tokens),
    )
    keys = tuple(key for token in tokens if (key := _key(token)))
    loose = frozenset(
        _key(token)
        for token in tokens
        if words.HUNG_ON.search(reading.folded, max(0, token.start - 24), token.start)
    )
    implied = frozenset().union(*(words.IMPLIED[key] for key in keys if key in words.IMPLIED))
    keys = tuple(key for key in keys if key not in implied)
    part |= frozenset(token.sense.alt for token in tokens if token.sense.concept == _PART)
    spelled = identity(body).casefold()
    people, order = _roles(reading.folded, tokens, names)
    return Profile(
        guard,
        keys,
        names,
        loose,
        people,
        order,
        beside.lower(),
        part,
        core.lower(),
        manner,
        standing,
        cleaned,
        bare,
        spelled,
    )


_NAME = re.compile(
    r"(?<=[a-z,;:'）)] )[A-Z][\w'-]{1,30}|[A-Z]{2,}[\w-]*|\b[A-Za-z]+\d[\w-]*|(?<=[\u3400-\u9fff])[A-Za-z][\w.-]+"
)
_QUESTION = re.compile(r"[吗么呢]?\s*[?？]+|[吗么]\s*$")
#: The rule files' name for it.
_PART = "part of day"
_EDGES = " \t\r\n,.;:，。；：、-–—()（）[]【】"


def _key(token: Token) -> str:
    """What the token adds to what the episode is about, or nothing."""
    if (token.sense.kind != "plain" and token.key != "call") or token.key.startswith("="):
        return ""
    key = words.SAME.get(token.key, token.key)
    return "" if key in words.BLAND or key in ("go", "take", "get", "have", "do", "make") else key


def _roles(
    folded: str, tokens: Sequence[Token], names: frozenset[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Who is spoken of, and people and things together, each once and in order. What is told without a subject is told
    of the user."""
    called = {stem(name) for name in names}
    at = [(m.start(), "user", True) for m in words.USER.finditer(folded)]
    at = at or [(-1, "user", True)]
    at += [(m.start(), m[0], False) for m in words.TOWARDS.finditer(folded)]
    for token in tokens:
        person = token.sense.kind == "kin"
        if key := token.key if person else _key(token):
            at.append((token.start, key, person or key in called))
    at.sort()
    people = tuple(dict.fromkeys(key for _, key, person in at if person))
    return people, tuple(dict.fromkeys(key for _, key, _ in at))


def _by_somebody(folded: str, tokens: Sequence[Token]) -> bool:
    """Whether 被 says by whom; of things it mostly says no more than that it was done."""
    people = {token.start for token in tokens if token.sense.kind == "kin"}
    people |= {match.start() for match in words.USER.finditer(folded)}
    return any(at > 0 and folded[at - 1] == "被" for at in people)


def _tidy(text: str) -> str:
    """Blanks and marks that a cut left behind go with it."""
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])", "", text)
    text = re.sub(r"\s+(?=[,.;!?，。；！？)）])", "", text)
    text = re.sub(r"[,，;；:：]+(?=[,.，。;；!])|[(（]\s*[)）]|[\[【]\s*[\]】]", "", text)
    return text.strip(_EDGES)


def _dated(text: str, at: datetime) -> tuple[str, str, tuple[object, ...], frozenset[str]]:
    """The text without any dates, and without those that only say when it happened; the dates and times that are part
    of what is claimed; the parts of the day told."""
    at = at.astimezone(UTC)
    claimed: list[str] = []
    parts: set[str] = set()
    read_out, told_out, done = [], [], 0
    for mention in find_dates(text, now=at, timezone=UTC):
        begin, end = mention.span
        if text[end : end + 1].lower() == "s" or _RECURS.search(text, max(0, begin - 10), begin):
            continue  # "on Mondays", 每周一: a habit, read as a value
        kept = text[begin:end]
        clock = mention.start.strftime("%H:%M")
        if _incidental(text, mention, at):
            parts |= {name for name, pattern in words.PARTS if pattern.search(kept)}
            stamp = not text[:begin].strip(_EDGES) and words.FULL_DATE.search(kept)
            if not stamp and mention.grain in ("minute", "hour") and _CLOCK.search(kept):
                claimed.append(clock)
                kept = clock
            else:
                kept = ""
        elif mention.grain == "minute" and mention.start.date() == at.date() and ":" in kept:
            claimed.append(clock)  # a time alone: of each day the same
        else:
            claimed.append(f"{mention.start.isoformat()} {mention.end.isoformat()}")
        before = text[done:begin]
        read_out.append(_PREPOSITION.sub("", before))
        told_out += [before, kept] if kept else [_PREPOSITION.sub("", before)]
        done = end
    rest = text[done:]
    return (
        _tidy(" ".join([*read_out, rest])),
        _tidy("".join([*told_out, rest])),
        tuple(sorted(claimed)),
        frozenset(parts),
    )


_CLOCK = re.compile(r"\d|[点时]")
_PREPOSITION = re.compile(
    r"(?:^|(?<=\s))(?:on|at|in|since)(?: the)?\s$|(?<=[\u3400-\u9fff])[在于]$", re.IGNORECASE
)
_RECURS = re.compile(r"(?:每[个逢]?|every |each )$", re.IGNORECASE)


def _incidental(text: str, mention: DateMention, at: datetime) -> bool:
    """Whether the date only says when it happened: of the episode's own day, and nothing is due then."""
    begin, end = mention.span
    if words.DUE_BEFORE.search(text, max(0, begin - 24), begin) or words.DUE_AFTER.match(text, end):
        return False
    today = at.replace(hour=0, minute=0, second=0, microsecond=0)
    if words.SPOKEN_WEEK.match(mention.text):
        reach = _MONTH if mention.grain == "month" else 2 * _WEEK
        return mention.start <= at and mention.end >= at - reach
    if mention.grain not in ("minute", "hour", "day"):
        return False
    if words.FULL_DATE.search(mention.text):
        return today - _DAY <= mention.start < today + 2 * _DAY
    if words.SPOKEN_DAY.match(mention.text):
        return today - _DAY <= mention.start < today + _DAY
    return mention.grain == "day" and today <= mention.start < today + _DAY
