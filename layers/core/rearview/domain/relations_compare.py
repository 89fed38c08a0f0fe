"""Two clauses held against each other: do they deny each other, or differ in one value of the same thing?

Nothing here knows a particular slot. A conflict needs the same subject, the same time (mode) and the same
topic; what counts as a topic is the heavy words of the clauses, of which one side must hold the other's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rearview.domain.claims_numbers import Value
from rearview.domain.claims_reading import Clause
from rearview.domain.claims_rules import SlotRules

ConflictType = Literal["value", "negation", "time"]
TIME_DIMENSIONS = frozenset({"time", "date", "weekday", "year"})
# Dimensions whose values name the thing spoken of: other values mean another thing, never a conflict.
NAMING = frozenset({"id", "address"})
# Measures that a bare number may stand for, and those that need no other words to be a statement.
_LENT = frozenset({"age", "percent", "money_cny", "money_usd", "money_eur", "money_gbp"})
SPEAKING = frozenset({"zone", "age"})
# What happened once may happen again with other figures.
PASSING = frozenset({"event", "temporary"})
LOOSE_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Difference:
    """Why two clauses cannot both hold: the type, the words they share, and a reason for people."""

    type: ConflictType
    topic: str
    reason: str


def same_value(a: Value, b: Value) -> bool:
    """Equal, as far as both say: a rough number within a fifth, a date within what is unsaid."""
    if a.dimension != b.dimension:
        return False
    if a.value == b.value:
        return True
    if a.dimension == "date":
        return all(
            x == y or "?" in (x, y) for x, y in zip(a.value.split("-"), b.value.split("-"), strict=True)
        )
    if not (a.loose or b.loose):
        return False
    if a.dimension == "time":
        return float(a.value) % 720 == float(b.value) % 720
    try:
        x, y = float(a.value), float(b.value)
    except ValueError:
        return False
    return abs(x - y) <= LOOSE_SHARE * max(abs(x), abs(y))


def values_differ(a: frozenset[Value], b: frozenset[Value], *, growing: bool = False) -> bool:
    """Both sides hold a value that the other has not; what grows by itself may have grown."""
    left = [x for x in a if not any(same_value(x, y) for y in b)]
    right = [y for y in b if not any(same_value(x, y) for x in a)]
    if not left or not right:
        return False
    if len(left) == len(right) == 1 and _date_pair_is_vague(left[0], right[0]):
        return False
    if growing or left[0].dimension == "age":
        return not all(_grew(x, y) for x in left for y in right)
    return True


def _grew(a: Value, b: Value) -> bool:
    """By so much as it may have grown between two remarks: an age by two, anything else not to its double."""
    try:
        x, y = float(a.value), float(b.value)
    except ValueError:
        return False  # versions and addresses grow by no measure
    most = 2.0 if a.dimension == "age" else max(2.0, 0.9 * x)
    return 0 < y - x <= most


def _date_pair_is_vague(a: Value, b: Value) -> bool:
    """A day without its month against a month without its day says nothing."""
    if a.dimension != "date":
        return False
    return not any("?" not in (x, y) for x, y in zip(a.value.split("-"), b.value.split("-"), strict=True))


def weight(keys: Iterable[str]) -> float:
    """How much a set of words says: a lone Chinese character half of a word."""
    return sum(0.5 if len(k) == 1 and "\u3400" <= k <= "\u9fff" else 1.0 for k in keys)


def align(
    a: dict[str, frozenset[Value]], b: dict[str, frozenset[Value]]
) -> tuple[dict[str, frozenset[Value]], dict[str, frozenset[Value]]]:
    """A bare number takes the measure that the other side names: "budget 2500" and "预算2500元"."""
    return _lend(a, b), _lend(b, a)


def _lend(a: dict[str, frozenset[Value]], b: dict[str, frozenset[Value]]) -> dict[str, frozenset[Value]]:
    free = [d for d in b if d not in a and d in _LENT]
    if "n" not in a or "n" in b or len(free) != 1:
        return a
    out = {d: v for d, v in a.items() if d != "n"}
    out[free[0]] = frozenset(Value(free[0], v.value, v.start, v.end, v.loose) for v in a["n"])
    return out


def differ(a: Clause, b: Clause, rules: SlotRules, names: Names, *, change: bool) -> Difference | None:
    """The conflict between clause ``a`` (said before) and ``b``, or None.

    ``names``: the code each text is about as a whole. ``change``: the new text says itself that things
    changed, so the overlap may be thinner.
    """
    if a.subject != b.subject or a.mode != b.mode:
        return None
    left, right = align(a.values, b.values)
    named = 0
    for dimension in NAMING:
        ours = left.get(dimension) or (names[0] if dimension == "id" else None)
        theirs = right.get(dimension) or (names[1] if dimension == "id" else None)
        if ours and theirs:
            if not any(same_value(x, y) for x in ours for y in theirs):
                return None
            named = 2
    shared = a.heavy & b.heavy
    topic = " ".join(t.key for t in a.tokens if t.key in shared)
    pair = _Pair(
        a,
        b,
        left,
        right,
        weight(shared) + named,
        weight(a.heavy - b.heavy) + _states_beside(a, b),
        weight(b.heavy - a.heavy) + _states_beside(b, a),
        topic,
        change,
    )
    return _states(pair, rules) or _denial(pair, rules) or _values(pair, rules) or _substitution(pair)


Names = tuple[frozenset[Value], frozenset[Value]]


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two clauses with what they share: weights of common, missing (old only) and extra (new only) words."""

    a: Clause
    b: Clause
    left: dict[str, frozenset[Value]]
    right: dict[str, frozenset[Value]]
    common: float
    missing: float
    extra: float
    topic: str
    change: bool

    @property
    def smaller(self) -> float:
        return self.common + min(self.missing, self.extra)

    @property
    def larger(self) -> float:
        return self.common + max(self.missing, self.extra)


def _states(p: _Pair, rules: SlotRules) -> Difference | None:
    a, b = p.a, p.b
    alone = {t.sense.concept for t in (*a.tokens, *b.tokens) if t.sense.kind == "state"}
    for group in a.states.keys() & b.states.keys():
        left, right = a.states[group], b.states[group]
        reason = f"{group}: {_either(left)} against {_either(right)}"
        if group in rules.paired:
            # "most" is a yes that says more
            opposed = len(left) == len(right) == 1 and ((left == _NO) == (right == _NO)) != (
                a.positive == b.positive
            )
            if opposed and p.common >= 1 and min(p.missing, p.extra) <= 0.25 * p.common:
                return Difference("negation", p.topic or group, reason)
            continue
        if a.positive and b.positive:
            opposed = not left & right
        else:
            opposed = a.positive != b.positive and left == right
        near = (
            p.common >= 0.5
            and a.mode not in PASSING
            and min(p.missing, p.extra) <= (0.5 * p.common if p.change else 0)
            and max(p.missing, p.extra) <= max(1.0, 0.5 * p.common)
        )
        if opposed and (group in alone or near):
            return Difference("value" if a.positive == b.positive else "negation", group, reason)
    return None


_NO = frozenset({"no"})


def _states_beside(a: Clause, b: Clause) -> int:
    """How many lasting states ("married", "retired") ``a`` speaks of and ``b`` does not."""
    return len({t.sense.concept for t in a.tokens if t.sense.kind == "state"} - b.states.keys())


def _either(alternatives: frozenset[str]) -> str:
    return " or ".join(sorted(alternatives))


def _apart(a: Clause, b: Clause) -> bool:
    """They name different alternatives of a closed group."""
    return any(not a.states[g] & b.states[g] for g in a.states.keys() & b.states.keys())


def _denial(p: _Pair, rules: SlotRules) -> Difference | None:
    a, b = p.a, p.b
    if a.positive == b.positive or p.common < 1 or not p.topic or _apart(a, b):
        return None
    if any(group in rules.paired for group in a.states.keys() & b.states.keys()):
        return None  # decided by the pair: "does not hate" is not "does not like"
    if any(values_differ(p.left[d], p.right[d]) for d in p.left.keys() & p.right.keys()):
        return None  # "not 5 but 3" denies another value than the one that was said
    denied = a.scope if not a.positive else b.scope
    reached = weight(denied & a.heavy & b.heavy)
    if reached < 0.5 * weight(denied):
        return None  # the same subject, another predicate
    beside = p.larger - p.common
    enough = p.common == p.smaller and (
        beside <= 1 or p.common >= 0.75 * p.larger or (p.change and beside <= 2)
    )
    if enough or (
        p.common >= 2
        and p.common >= 0.7 * p.smaller
        and p.common >= 0.5 * p.larger
        and reached >= 0.7 * weight(denied)
    ):
        return Difference("negation", p.topic, f"said and denied: {p.topic}")
    return None


def _values(p: _Pair, rules: SlotRules) -> Difference | None:
    a, b = p.a, p.b
    if a.positive != b.positive or a.mode in PASSING or min(p.missing, p.extra) > 0 or _apart(a, b):
        return None
    if max(p.missing, p.extra) > max(1.0, 0.5 * p.common):
        return None
    growing = bool(rules.growing & (a.heavy | b.heavy))
    for dimension in sorted(p.left.keys() & p.right.keys()):
        left, right = p.left[dimension], p.right[dimension]
        if dimension in NAMING or len(left) != len(right) or (p.common < 1 and dimension not in SPEAKING):
            continue
        if dimension == "weekday" and p.common < 2 and len(left) < 2 and not p.change:
            continue  # one may well do the same on two days
        if values_differ(left, right, growing=growing):
            kind: ConflictType = "time" if dimension in TIME_DIMENSIONS else "value"
            return Difference(kind, p.topic or dimension, f"{p.topic}: another {dimension}")
    ours = {d for d in p.left if d.startswith("money_")}
    theirs = {d for d in p.right if d.startswith("money_")}
    if p.common >= 1 and ours and theirs and not ours & theirs:
        return Difference("value", p.topic, f"{p.topic}: another currency")
    return None


def _substitution(p: _Pair) -> Difference | None:
    """The same said of another member of a category ("reply in Chinese from now on"), with words of change."""
    if not p.change or not p.a.positive or not p.b.positive or _apart(p.a, p.b):
        return None
    ours = {t.key: t.sense.category for t in p.a.tokens if t.sense.category}
    theirs = {t.key: t.sense.category for t in p.b.tokens if t.sense.category}
    left, right = p.a.heavy - p.b.heavy, p.b.heavy - p.a.heavy
    if len(left) != 1 or len(right) != 1 or p.common < 1:
        return None
    (x,), (y,) = left, right
    if ours.get(x) and ours.get(x) == theirs.get(y):
        return Difference("value", f"{p.topic} {ours[x]}", f"{x} against {y}")
    return None
