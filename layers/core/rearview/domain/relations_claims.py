"""Claims held against claims: the same slot of the same subject with another value, or denied."""

from __future__ import annotations

from collections.abc import Sequence

from rearview.domain.claims import Claim, value_keys
from rearview.domain.claims_numbers import Value
from rearview.domain.claims_reading import read
from rearview.domain.claims_rules import SlotRules
from rearview.domain.relations_compare import TIME_DIMENSIONS, ConflictType, Difference, values_differ


def same_claim(old: Sequence[Claim], new: Sequence[Claim]) -> bool:
    """Both texts consist of one claim, and it is the same one."""
    if len(old) != 1 or len(new) != 1 or not (old[0].whole and new[0].whole):
        return False
    a, b = old[0], new[0]
    return (a.subject, a.slot, a.value, a.polarity, a.mode) == (
        b.subject,
        b.slot,
        b.value,
        b.polarity,
        b.mode,
    )


def chosen_otherwise(old: Sequence[Claim], new: Sequence[Claim]) -> bool:
    """Another choice of one habit ("sort by date", "sort by amount"): no repetition, however alike the words are."""
    return any(
        b.habit
        and (a.subject, a.slot) == (b.subject, b.slot)
        and (a.value, a.polarity) != (b.value, b.polarity)
        for b in new
        for a in old
    )


def claims_differ(
    old: Sequence[Claim], new: Sequence[Claim], rules: SlotRules, *, change: bool, switch: bool = False
) -> tuple[Claim, Difference] | None:
    """The first claim of ``new`` that cannot hold beside one of ``old``, and why. ``change``: the new text speaks of
    change; ``switch``: it says that things are different from now on."""
    for b in new:
        for a in old:
            if a.slot != b.slot or a.subject != b.subject or a.mode != b.mode:
                continue
            if a.polarity != b.polarity:
                if a.value == b.value:
                    return b, Difference("negation", b.slot, f"{b.slot} {b.raw_value}: said and denied")
                continue
            if not (a.single and b.single and a.polarity) or a.value == b.value:
                continue
            if a.slot == "prefers" and not (change or _rivals(a, b, rules)):
                continue
            if b.habit and not switch:
                continue
            if a.slot == "prefers over" and not _swapped(a, b, rules):
                continue
            difference = _another_value(a, b, rules)
            if difference is not None:
                return b, difference
    return None


def _another_value(a: Claim, b: Claim, rules: SlotRules) -> Difference | None:
    left, right = _values(a, rules), _values(b, rules)
    shared = left.keys() & right.keys()
    ours, theirs = _words(a), _words(b)
    beside = [frozenset(k for k in words if not k.startswith("=")) for words in (ours, theirs)]
    if shared and all(beside) and not beside[0] & beside[1]:
        return None  # "64 for training", "256 for inference"
    for dimension in sorted(shared):
        if values_differ(left[dimension], right[dimension], growing=a.slot in rules.growing):
            kind: ConflictType = "time" if dimension in TIME_DIMENSIONS else "value"
            return Difference(kind, b.slot, f"{b.slot}: {a.raw_value} against {b.raw_value}")
    if shared and not (ours and theirs):
        return None
    if not ours or not theirs or ours <= theirs or theirs <= ours:
        return None  # one says no more than the other, or speaks of another measure
    if b.slot in rules.distinct and ours & theirs:
        return None  # "designer" and "interior designer"
    if rules.regions.get(a.raw_value, "place") != rules.regions.get(b.raw_value, "place"):
        return None
    if not _comparable(ours, theirs, rules):
        return None
    return Difference("value", b.slot, f"{b.slot}: {a.raw_value} against {b.raw_value}")


def _values(claim: Claim, rules: SlotRules) -> dict[str, frozenset[Value]]:
    out: dict[str, frozenset[Value]] = {}
    for clause in read(claim.raw_value, rules).clauses:
        for dimension, values in clause.values.items():
            out[dimension] = out.get(dimension, frozenset()) | values
    return out


def _words(claim: Claim) -> frozenset[str]:
    return frozenset(
        k for k in claim.value.split() if not k.startswith("=") or k.startswith(("=id:", "=address:"))
    )


def _comparable(a: frozenset[str], b: frozenset[str], rules: SlotRules) -> bool:
    """Names in two scripts may be one name ("长沙", "Changsha"): only words of one script, or known ones, differ."""

    def scripts(keys: frozenset[str]) -> set[bool]:
        return {any("\u3400" <= c <= "\u9fff" for c in k) for k in keys if k not in rules.concepts}

    left, right = scripts(a - b), scripts(b - a)
    return not left or not right or bool(left & right)


def _rivals(a: Claim, b: Claim, rules: SlotRules) -> bool:
    """Values of one category or of one closed group."""
    left, right = _kinds(a, rules), _kinds(b, rules)
    return bool(left & right)


def _kinds(claim: Claim, rules: SlotRules) -> set[str]:
    tokens = [t for c in read(claim.raw_value, rules).clauses for t in c.tokens]
    return {t.sense.category or t.sense.concept for t in tokens if t.sense.category or t.sense.alt}


def _swapped(a: Claim, b: Claim, rules: SlotRules) -> bool:
    """ "X over Y", then "Y over X": each value stands in the other's clause."""
    return set(value_keys(b.raw_value, rules)) <= set(value_keys(a.clause, rules)) and set(
        value_keys(a.raw_value, rules)
    ) <= set(value_keys(b.clause, rules))
