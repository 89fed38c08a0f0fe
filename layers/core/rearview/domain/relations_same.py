"""Do two readings say the same, or does the older one say all of the newer one already?

Wording may differ by bland words, synonyms, number notation, language, the order of clauses and of list items,
and voice. Values, names, denials, times and who is spoken of may not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from rearview.domain.claims_numbers import Value
from rearview.domain.claims_reading import Clause, Reading
from rearview.domain.relations_compare import SPEAKING, align, same_value

Signature = tuple[str, str, bool, tuple[str, ...]]

_OTHER = {"yes": "no", "no": "yes"}
# Beyond this many words a changed order is no longer taken for a harmless one.
_MOST_REORDERED = 12


def signature(clause: Clause) -> Signature:
    """Subject, mode, polarity and keys of a clause, so that "does not like" and "dislikes" come out the same."""
    keys: list[str] = []
    positive = clause.positive
    for key in clause.keys:
        pair, _, alt = key.rpartition("/")
        if not positive and alt in _OTHER:
            positive = True
            keys.append(f"{pair}/{_OTHER[alt]}")
        else:
            keys.append(key)
    return clause.subject, clause.mode, positive, tuple(keys)


def same_reading(before: Reading, after: Reading) -> bool:
    """True when the texts say the same. Symmetric."""
    olds = [s for s in map(signature, before.clauses) if s[3]]
    news = [s for s in map(signature, after.clauses) if s[3]]
    if not olds or not news:
        return False
    for part in (0, 1):  # who is spoken of, and when it holds
        if {s[part] for s in olds} != {s[part] for s in news}:
            return False
    if not same_routes(before, after) or _paths(before) != _paths(after):
        return False
    if Counter(olds) == Counter(news):
        return True
    denied_before, denied_after = sum(not s[2] for s in olds), sum(not s[2] for s in news)
    # What a denial reaches is known inside its own clause only.
    if denied_before != denied_after or (denied_before and (len(olds) > 1 or len(news) > 1)):
        return False
    return _same_words(before, after, [k for s in olds for k in s[3]], [k for s in news for k in s[3]])


def contained(before: Reading, after: Reading) -> bool:
    """True when each clause of ``after`` is a clause of ``before``, or one with the sentence's head before it."""
    wholes = [signature(c) for c in after.clauses if c.keys]
    if not wholes or sum(len(s[3]) for s in wholes) >= sum(len(c.keys) for c in before.clauses):
        return False
    said = set(_statements(before))
    return all(s in said for s in wholes)


def _statements(reading: Reading) -> Iterable[Signature]:
    """The clauses, also cut at "and" and at phrases that may be left off, each with the head of its sentence."""
    for clause in reading.clauses:
        subject, mode, positive, keys = signature(clause)
        yield subject, mode, positive, keys
        if not positive:
            continue
        pieces = _pieces(clause, reading.folded)
        if len(pieces) > 1:
            yield subject, mode, positive, pieces[0]
            for piece in pieces[1:]:
                for head in range(min(4, len(pieces[0])) + 1):
                    yield subject, mode, positive, pieces[0][:head] + piece
    first: dict[int, Clause] = {}
    for clause in reading.clauses:
        lead = first.setdefault(clause.sentence, clause)
        if lead is not clause and lead.subject == clause.subject:
            subject, mode, positive, keys = signature(clause)
            for head in range(1, min(3, len(lead.keys)) + 1):
                yield subject, mode, positive, lead.keys[:head] + keys


_CUT = re.compile(
    r"(?<![a-z])(?:and|with|since|because|near|together with|along)(?![a-z])|并且?|同时|而且|[和与](?=[^，。]{3})"
)


def _pieces(clause: Clause, folded: str) -> list[tuple[str, ...]]:
    # A Chinese joint is a word of its own here; an English one is light, or says something ("near", "since").
    cuts = [
        (m.start(), m.start() if m.group().isascii() else m.end())
        for m in _CUT.finditer(folded, clause.start, clause.end)
    ]
    pieces, at = [], clause.start
    for cut, after in [*cuts, (clause.end, clause.end)]:
        keys = tuple(t.key for t in clause.tokens if t.sense.kind != "light" and at <= t.start < cut)
        if keys:
            pieces.append(keys)
        at = after
    return pieces


def _same_words(before: Reading, after: Reading, left: list[str], right: list[str]) -> bool:
    """The same words and values, in an order that means the same."""
    words_left, words_right = _words(left), _words(right)
    if Counter(words_left) != Counter(words_right) or not _same_values(before, after):
        return False
    if not words_left:  # "I'm 30" and "User is 30 years old"
        return any(d in SPEAKING for c in (*before.clauses, *after.clauses) for d in c.values)
    if words_left != words_right and ORDERED.search(before.folded) and ORDERED.search(after.folded):
        return False
    free_left = [k for k in words_left if "/" not in k]
    free_right = [k for k in words_right if "/" not in k]
    if free_left == free_right:  # at most times, amounts and states have moved
        return True
    if len(free_left) > _MOST_REORDERED:
        return False
    if _LIST.search(before.folded) and _LIST.search(after.folded):
        return free_left[0] == free_right[0]
    passive = bool(_PASSIVE.search(before.folded)) != bool(_PASSIVE.search(after.folded))
    return passive and free_left[0] == free_right[-1] and free_left[-1] == free_right[0]


def _words(keys: list[str]) -> list[str]:
    return [k for k in keys if not k.startswith("=")]


def _same_values(before: Reading, after: Reading) -> bool:
    left, right = _values(before), _values(after)
    if {v.dimension for v in left} != {v.dimension for v in right}:
        aligned = align(_by_dimension(left), _by_dimension(right))
        left, right = (sorted((v for vs in d.values() for v in vs), key=lambda v: v.start) for d in aligned)
    if Counter(v.dimension for v in left) != Counter(v.dimension for v in right):
        return False
    for dimension in {v.dimension for v in left}:
        ours = [v for v in left if v.dimension == dimension]
        theirs = [v for v in right if v.dimension == dimension]
        if not all(_equal(x, y) for x, y in zip(ours, theirs, strict=True)):
            return False
    return True


def _by_dimension(values: list[Value]) -> dict[str, frozenset[Value]]:
    return {d: frozenset(v for v in values if v.dimension == d) for d in {v.dimension for v in values}}


def _values(reading: Reading) -> list[Value]:
    return sorted((v for c in reading.clauses for vs in c.values.values() for v in vs), key=lambda v: v.start)


def _equal(a: Value, b: Value) -> bool:
    return a.value == b.value or (a.dimension == "time" and same_value(a, b))


_LIST = re.compile(r"(?<![a-z])(?:and|or)(?![a-z])|[和与、及]")
_PATH = re.compile(r"(?<![a-z])(?:out of|down from|off|into|under|behind|across|in front of)(?![a-z])")
ORDERED = re.compile(r"(?<![a-z])(?:over|than|before|after|instead|rather)(?![a-z])|胜过|而不是|先|比")
_PASSIVE = re.compile(
    r"(?<![a-z])(?:is|are|was|were|been|being)\s+[a-z]{2,20}(?:ed|en|ced|t|wn)\s+(?:[a-z]{1,20}\s+){0,3}by(?![a-z])"
)
_ROUTE = re.compile(
    r"(?<![a-z])from\s+(?P<a>[\w-]{1,40})\s+to\s+(?P<b>[\w-]{1,40})|从(?P<c>[^，,。到去至飞坐乘]{1,8})[^，,。到去至飞]{0,6}[到去至飞](?P<d>[^，,。]{1,8})"
)


def routes(reading: Reading) -> list[tuple[str, str]]:
    """The (from, to) pairs of a text."""
    return [((m["a"] or m["c"]), (m["b"] or m["d"])) for m in _ROUTE.finditer(reading.folded)]


def _paths(reading: Reading) -> list[str]:
    """Prepositions that change what happens, sorted; the others come and go with the wording."""
    return sorted(_PATH.findall(reading.folded))


def same_routes(before: Reading, after: Reading) -> bool:
    """No two different ways are named."""
    left, right = routes(before), routes(after)
    return not left or not right or left == right


def reversed_route(before: Reading, after: Reading) -> bool:
    """The same way, the other way round."""
    left, right = routes(before), routes(after)
    return len(left) == len(right) == 1 and left[0] != right[0] and left[0] == right[0][::-1]
