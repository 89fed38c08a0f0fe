"""How a new statement relates to an older one: the same, part of it, against it, or nothing to do with it.

Rules only, zh and en. Numbers, dates, names and denials that differ never make a duplicate; a denial counts
only on the same subject and predicate; there is no threshold on an absolute cosine anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rearview.domain.claims import Claim, claims_of, put_right
from rearview.domain.claims_reading import Reading, read
from rearview.domain.claims_rules import SlotRules
from rearview.domain.relations_claims import chosen_otherwise, claims_differ, same_claim
from rearview.domain.relations_compare import ConflictType, differ, weight
from rearview.domain.relations_replaced import replaced
from rearview.domain.relations_same import contained, reversed_route, same_reading, signature

Relation = Literal["duplicate", "contained", "contradiction", "none"]

# A pair of long texts is compared clause by clause up to this many on each side.
_CLAUSES_COMPARED = 40
_SHORT = 2
_QUOTED = 80


@dataclass(frozen=True, slots=True)
class Judgement:
    """What ``relate`` found. ``type``, ``subject`` and ``slot`` speak of a contradiction only.

    ``explicit_change``: the new text says itself that things changed ("now", "no longer", 改为, 搬到 …).
    """

    relation: Relation
    type: ConflictType | None = None
    subject: str | None = None
    slot: str | None = None
    reason: str = ""
    explicit_change: bool = False


def relate(old: str, new: str, *, rules: SlotRules, similarity: float | None = None) -> Judgement:  # noqa: ARG001
    """Relates ``new`` to ``old``, which was there first; any Unicode, in time linear in their lengths.

    ``similarity`` (calibrated, 0..1) is a hint that callers may pass; the rules need none.
    """
    old, new = put_right(old, rules), put_right(new, rules)
    before, after = read(old, rules), read(new, rules)
    change, switch = after.change, rules.switch.search(after.folded) is not None
    if not before.clauses or not after.clauses:
        same = bool(before.folded.strip()) and before.folded.split() == after.folded.split()
        return (
            Judgement("duplicate", reason="the same words")
            if same
            else Judgement("none", explicit_change=change)
        )
    old_claims, new_claims = claims_of(old, rules), claims_of(new, rules)
    asks = before.asks or after.asks or chosen_otherwise(old_claims, new_claims)
    if not asks and (same_reading(before, after) or same_claim(old_claims, new_claims)):
        return Judgement("duplicate", reason="says the same", explicit_change=change)
    if not asks and contained(before, after):
        return Judgement("contained", reason="said already as part of more", explicit_change=change)
    if found := claims_differ(old_claims, new_claims, rules, change=change, switch=switch):
        claim, difference = found
        return _contradiction(difference.type, claim.subject, claim.slot, difference.reason, change)
    if not _one_topic(before, after):
        return Judgement("none", reason="longer texts about other things", explicit_change=change)
    if over := replaced(before, after, rules):
        subject, difference = over
        slot = next((c.slot for c in (*new_claims, *old_claims) if c.subject == subject), difference.topic)
        return _contradiction(difference.type, subject, slot, difference.reason, change)
    if reversed_route(before, after) and before.clauses[0].subject == after.clauses[0].subject:
        return _contradiction(
            "value", after.clauses[0].subject, "direction", "the way the other way round", change
        )
    return _clause_by_clause(before, after, new_claims, rules)


def _one_topic(before: Reading, after: Reading) -> bool:
    """Short statements always; longer texts must share much, or their clauses would meet by chance."""
    most = max(len(before.clauses), len(after.clauses))
    if most <= _SHORT:
        return True
    smaller = min(weight(before.heavy), weight(after.heavy))
    return weight(before.heavy & after.heavy) >= (0.35 if most <= 2 * _SHORT else 0.6) * smaller


def question_for(subject: str | None, slot: str | None, old: str, new: str) -> str:
    """The question that lets the user settle a conflict: short, quoting both, in the language of the texts."""
    a, b = _quote(old), _quote(new)
    han = sum("\u3400" <= c <= "\u9fff" for c in old + new)
    about = slot if slot and slot.isascii() else ""
    if han * 3 >= len(old + new):
        return f"之前记的是“{a}”，现在说“{b}”。哪一个是对的？"
    whose = (
        f" ({subject}: {about})"
        if about and subject and subject != "user"
        else f" ({about})"
        if about
        else ""
    )
    return f"Earlier: “{a}”. Now: “{b}”. Which one is right{whose}?"


def _quote(text: str) -> str:
    text = " ".join(text.split()).rstrip(".。")
    return text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…"


def _contradiction(kind: ConflictType, subject: str, slot: str, reason: str, change: bool) -> Judgement:
    return Judgement("contradiction", kind, subject, slot, reason, change)


def _clause_by_clause(
    before: Reading, after: Reading, claims: tuple[Claim, ...], rules: SlotRules
) -> Judgement:
    agreed = {signature(c) for c in before.clauses} & {signature(c) for c in after.clauses}
    olds = [c for c in before.clauses[:_CLAUSES_COMPARED] if signature(c) not in agreed]
    news = [c for c in after.clauses[:_CLAUSES_COMPARED] if signature(c) not in agreed]
    for b in news:
        for a in olds:
            difference = differ(a, b, rules, (before.names, after.names), change=after.change)
            if difference is not None:
                said = _claim_in(claims, after.folded[b.start : b.end])
                slot = said.slot if said else difference.topic
                subject = said.subject if said else b.subject
                return _contradiction(difference.type, subject, slot, difference.reason, after.change)
    return Judgement("none", explicit_change=after.change)


def _claim_in(claims: tuple[Claim, ...], clause: str) -> Claim | None:
    """The claim that was read out of a clause, if any."""
    return next((c for c in claims if c.clause in clause), None)
