"""A new text that says itself what is over ("we dropped X", 从X换到Y), held against an older one that says X."""

from __future__ import annotations

from rearview.domain.claims_reading import Clause, Reading, read
from rearview.domain.claims_rules import SlotRules
from rearview.domain.relations_compare import Difference, weight

_MOST_WORDS = 4


def replaced(before: Reading, after: Reading, rules: SlotRules) -> tuple[str, Difference] | None:
    """(subject, difference) when ``after`` ends something that ``before`` affirms of the same subject."""
    for pattern in rules.replaced:
        for match in pattern.finditer(after.folded):
            gone = _keys(match["x"], rules)
            if not gone:
                continue
            subject = next((c.subject for c in after.clauses if c.start <= match.start("x") < c.end), "user")
            for clause in before.clauses:
                if clause.subject == subject and clause.positive and not clause.mode and _says(clause, gone):
                    return subject, Difference(
                        "value", " ".join(sorted(gone)), f"{match['x'].strip()} is over"
                    )
    return None


def _keys(text: str, rules: SlotRules) -> frozenset[str]:
    """What is over, if it is something one can name: a full word, and not too many."""
    tokens = [t for c in read(text.strip(), rules).clauses for t in c.tokens if t.sense.kind != "light"]
    named = [t.key for t in tokens if t.sense.kind != "kin"]
    return (
        frozenset(named) if len(named) == len(tokens) and 1 <= weight(named) <= _MOST_WORDS else frozenset()
    )


def _says(clause: Clause, gone: frozenset[str]) -> bool:
    """The clause holds all of it; a version in the older name does not matter ("Vue 3", later "Vue")."""
    said = set(clause.keys)
    return all(key in said or any(s.startswith(f"=id:{key}") for s in said) for key in gone)
