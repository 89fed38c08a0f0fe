"""Claims: what a text says a subject's slot holds ("user lives in Leeds", "K is assigned to project one").

The patterns and the list of attributes are data (``rules/slots.toml``); this module only matches them, names
the subject and brings the value into a form that can be compared across notations and languages.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from rearview.domain.claims_reading import Reading, read
from rearview.domain.claims_rules import SlotPattern, SlotRules, compile_slots, fold
from rearview.domain.self_correction import split_correction

__all__ = ["Claim", "SlotRules", "claims_of", "compile_slots", "find_claims", "put_right"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One slot of one subject and the value a clause gives it.

    ``subject``: "user", or a named other as said ("my brother", "k", "api server"). ``value``: normalised
    (concepts and canonical values, space-separated); ``raw_value``: as written, folded. ``polarity``: False
    when the value is denied. ``single``: the slot holds one value at a time. ``mode``: "" when it holds now,
    else past, plan, temporary … ``whole``: the claim is all that the text says. ``habit``: a choice that is made anew
    each time (how to sort, which format): another one is a contradiction only where the text says so.
    """

    subject: str
    slot: str
    value: str
    raw_value: str
    polarity: bool
    single: bool
    clause: str
    mode: str = ""
    whole: bool = False
    habit: bool = False


def find_claims(text: str, rules: SlotRules) -> list[Claim]:
    """The claims of ``text``, in order; questions and wishes of the moment claim nothing."""
    return list(claims_of(text, rules))


@lru_cache(maxsize=4096)
def claims_of(text: str, rules: SlotRules) -> tuple[Claim, ...]:
    """As ``find_claims``, cached: a new memory is held against many, and each of them again and again."""
    reading = read(put_right(text, rules), rules)
    found: list[Claim] = []
    # In a longer text "phone: 555" may be anybody's; in a short one it is the user's.
    implied = len(reading.clauses) <= _SHORT
    for start, end, positive, mode in _pieces(reading):
        clause = reading.folded[start:end].strip(" \t\r\n\"'.。!！")
        needs: tuple[str, ...] = ()
        there = True
        for pattern in rules.patterns:
            if pattern.needs is not needs:  # the same for all patterns of a slot
                needs = pattern.needs
                there = not needs or any(word in clause for word in needs)
            if not there:
                continue
            match = pattern.regex.match(clause)
            if match and not implied and not _says_whose(match):
                continue
            claim = _claim(match, pattern, clause, positive, mode, rules) if match else None
            if claim is not None:
                found.append(claim)
                break
    if len(found) == 1 and len({c.sentence for c in reading.clauses}) == 1 == len(reading.clauses):
        found[0] = replace(found[0], whole=True)
    return tuple(found)


@lru_cache(maxsize=4096)
def put_right(text: str, rules: SlotRules) -> str:
    """A text that corrects itself as if it had been said rightly at once ("I live in Leeds. No wait, York." says "I live in
    York"), where the value taken back is known; any other text as it is."""
    found = split_correction(text)
    claims = claims_of(found.before, rules) if found else ()
    if not found or not claims:
        return text
    folded, clauses = fold(found.before, rules.script), read(found.before, rules).clauses
    raw = claims[-1].raw_value
    at = folded.rfind(raw)
    if at < 0 or claims[-1].clause not in folded[clauses[-1].start :]:
        return text  # what was said last is not what is known
    if any(c.isdigit() for c in raw) != any(c.isdigit() for c in found.value):
        return text
    return f"{folded[:at]}{found.value}{folded[at + len(raw) :]}"


_MAX_CLAUSE = 300
_SHORT = 3


def _says_whose(match: re.Match[str]) -> bool:
    groups = match.groupdict()
    return bool((groups.get("s") or "").strip() or (groups.get("q") or "").strip())


def _pieces(reading: Reading) -> list[tuple[int, int, bool, str]]:
    return [(c.start, min(c.end, c.start + _MAX_CLAUSE), c.positive, c.mode) for c in reading.clauses]


def _claim(
    match: re.Match[str], pattern: SlotPattern, clause: str, positive: bool, mode: str, rules: SlotRules
) -> Claim | None:
    groups = match.groupdict()
    raw_value = _trim(groups["v"] or "", rules)
    if not raw_value or _VAGUE.match(raw_value):
        return None
    value = pattern.values.get(raw_value) or " ".join(value_keys(raw_value, rules))
    if not value:
        return None
    subject = _subject(groups.get("s") or "", groups.get("q") or "", rules)
    if subject is None:
        return None
    key = (groups.get("k") or "").strip()
    slot = pattern.slot
    if slot == "attribute":
        slot = rules.attributes.get(re.sub(r"\s+", " ", key), key)
        # One name stands for several attributes ("number"): they are told apart by the word itself.
        if slot in _GENERIC:
            slot = " ".join(value_keys(key, rules)) or key
    elif slot == "favourite" and not key:
        # "I like teal best" speaks of colours without saying so; with no category it is one liking of many.
        category = _category(raw_value, rules)
        if not category:
            return None
        slot = f"favourite {category}"
    elif key and pattern.habit:
        # "Sort them by date" does not say what: it is about whatever else is sorted.
        slot = slot if _NO_THING.search(key) else f"{slot}: {_thing(key, rules)}"
    elif key:
        slot = f"{slot} {' '.join(value_keys(re.sub('^favou?rite ', '', key), rules)) or key}"
    polarity = pattern.polarity and positive
    if pattern.single and not positive:
        polarity = False
    return Claim(subject, slot, value, raw_value, polarity, pattern.single, clause, mode, habit=pattern.habit)


_GENERIC = frozenset(
    {
        "number",
        "code",
        "handle",
        "setting",
        "tool",
        "device",
        "time",
        "place",
        "person",
        "goal",
        "price",
        "size",
        "status",
        "release date",
    }
)
_VAGUE = re.compile(
    r"(?:what|where|who|which|how|it|that|this|them|so|a lot|like|哪|什么|谁|怎么|吗|的$|了$|这样|那样)(?![a-z])"
)
_NO_THING = re.compile(
    r"(?<![a-z])(?:it|them|they|this|that|these|those|ones?|all|both|each|(?:every|any|some)thing)$"
    r"|^(?:所有|全部)?(?:[它他她]们?|[这那](?:些|个|几个)?|些|一切|全部|所有|东西|结果)的?$"
)
_TRAILING = re.compile(
    r"(?:[\s,.。!！~～]|\b(?:now|these days|already|currently|today|anymore|any more|again|too|as well|please|instead|actually)|了|的|哦|呢|啊|呀|吧|啦)+$"
)
_DETERMINER = re.compile(
    r"^(?:the user's|user's|users|the|my|our|a|an|this|that|his|her|their)\s+|^(?:用户的?|我们的?|我的?|咱们?的?|他的|她的|这个|那个)"
)
_PERSONAL = re.compile(r"^(?:i|we|me|my|our|the user|user|it|there|我|我们|咱|咱们|用户|本人|俺)?$")
_STARTERS = re.compile(
    r"^(?:and|so|but|also|well|btw|fyi|yes|no|ok|actually|that|because|对了|其实|那|所以|因为|现在|目前|另外|今年)\s*"
)
_NOT_A_SUBJECT = re.compile(
    r"(?:if|when|where|what|who|why|how|does|do|did|is|are|can|could|should|would|let|如果|要是|是不是|怎么)(?![a-z])"
)


def _trim(value: str, rules: SlotRules) -> str:
    tail = rules.tails.search(value, 1)
    if tail and tail.start() > 1:
        value = value[: tail.start()]
    return _TRAILING.sub("", value[:200]).strip(" \"'")


def _subject(said: str, qualifier: str, rules: SlotRules) -> str | None:
    """The subject in one form: "user", "my <kin>", or the words themselves without their determiner."""
    said = re.sub(r"\s+", " ", said).strip(" '\"")
    for _ in range(3):
        said = _STARTERS.sub("", said).strip() if not _PERSONAL.match(said) else said
    if _NOT_A_SUBJECT.match(said):
        return None
    bare = _DETERMINER.sub("", said, count=1).strip() if not _PERSONAL.match(said) else ""
    bare = bare.removesuffix("'s").removesuffix("的")
    qualifier = _DETERMINER.sub("", qualifier.strip(), count=1)
    parts = [p for p in (bare, qualifier) if p and not _PERSONAL.match(p)]
    if not parts:
        return "user"
    clauses = read(" ".join(parts), rules).clauses
    tokens = clauses[0].tokens if clauses else ()
    kin = [t.key for t in tokens if t.sense.kind == "kin"]
    if kin and len(tokens) == len(kin):
        return "my " + " ".join(kin)
    return " ".join(t.key for t in tokens if t.sense.kind != "light") or "user"


def _category(value: str, rules: SlotRules) -> str:
    tokens = [t for c in read(value, rules).clauses for t in c.tokens]
    return tokens[-1].sense.category if tokens else ""


def _thing(name: str, rules: SlotRules) -> str:
    """What a choice is about, by its head noun, the last word: "my monthly reports" and 月报表 are reports."""
    tokens = [t for c in read(name, rules).clauses for t in c.tokens]
    if not tokens:
        return name
    last = tokens[-1]
    if last.sense.category or last.key in rules.concepts:
        return last.key
    if name.isascii():
        return name.split()[-1].removesuffix("s")
    return "".join(t.key for t in tokens if not t.key.startswith("="))


def value_keys(value: str, rules: SlotRules) -> tuple[str, ...]:
    """The concepts and canonical values of a short piece of text, in order."""
    return tuple(t.key for c in read(value, rules).clauses for t in c.tokens)
