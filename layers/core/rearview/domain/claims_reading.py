"""A text read for comparison: clauses with their subject, polarity, time and what they are about.

The reading is the same for both languages: words and phrases become concepts of the rule files, numbers and
dates become typed values, and what no rule knows stays as a stemmed word or a single character.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from rearview.domain.claims_numbers import Value
from rearview.domain.claims_rules import WORD, Sense, SlotRules, fold, stem
from rearview.domain.claims_values import find_values

MAX_CLAUSES = 200
_LONGEST_MERGED = 300


@dataclass(frozen=True, slots=True)
class Token:
    """``key`` identifies the concept; ``sense`` says what sort it is; [start, end) lies in the folded text."""

    key: str
    sense: Sense
    start: int
    end: int
    name: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """One predicate of a text.

    ``subject``: "user" or the kin and others it speaks of, sorted. ``heavy``: what the clause is about,
    without bland words. ``values``: dimension → canonical values. ``states``: closed group → alternatives.
    ``positive``: False when it is denied; ``scope``: what the denial speaks of. ``mode``: "" for now, else past, plan, temporary, condition …
    """

    subject: str
    tokens: tuple[Token, ...]
    heavy: frozenset[str]
    values: dict[str, frozenset[Value]]
    states: dict[str, frozenset[str]]
    positive: bool
    mode: str
    start: int
    end: int
    sentence: int
    comma: bool = False
    scope: frozenset[str] = frozenset()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that carry meaning, in order: all tokens but the light ones."""
        return tuple(t.key for t in self.tokens if t.sense.kind != "light")


@dataclass(frozen=True, slots=True)
class Reading:
    """``names``: the one code that all of the text is about, if there is just one. ``asks``: it holds questions.

    ``heavy``: what all of its clauses are about.
    """

    folded: str
    clauses: tuple[Clause, ...]
    change: bool
    names: frozenset[Value] = frozenset()
    asks: bool = False
    heavy: frozenset[str] = frozenset()


_SPLIT = re.compile(
    r"(?P<stop>[!?…]+|(?<![^a-z]no)(?<!^no)\.+(?=\s|$|[\"')\u3400-\u9fff])|[。;\n])|(?P<comma>,(?!\d)|[、()]|\s-\s|——)"
)
# "[SMS sent to Li] …", "【Bank】…": a label, no part of what is said.
_LABEL = re.compile(r"^\s*\[[^\]\n]{0,80}\]|【[^】\n]{0,40}】")
_QUESTION = re.compile(r"\?|[吗么]\s*$")


@lru_cache(maxsize=4096)
def read(text: str, rules: SlotRules) -> Reading:
    """Reads ``text`` (any Unicode, up to 64 KB, in linear time); questions claim nothing and are left out."""
    folded = fold(text, rules.script)
    record = folded.lstrip().startswith(("[", "【"))
    folded = _LABEL.sub(lambda m: " " * len(m[0]), folded)
    values = find_values(folded, rules)
    clauses: list[Clause] = []
    inherited, last_sentence = "", -1
    for start, end, sentence, comma in _spans(folded, values, rules):
        if sentence != last_sentence:
            inherited, last_sentence = "", sentence
        clause = _clause(folded, start, end, sentence, values, rules, inherited, comma)
        if clause is not None:
            # a labelled text (a message, a notice) is the record of one moment
            clauses.append(replace(clause, mode="event") if record and not clause.mode else clause)
            inherited = inherited or clause.subject
        if len(clauses) >= 2 and _completes(clauses[-2], clauses[-1]):
            whole = _clause(
                folded, clauses[-2].start, end, sentence, values, rules, inherited, clauses[-2].comma
            )
            clauses[-2:] = [whole] if whole is not None else []
        if len(clauses) >= MAX_CLAUSES:
            break
    names = {v for c in clauses for v in c.values.get("id", ())}
    only = frozenset(names) if len({v.value for v in names}) == 1 else frozenset()
    return Reading(
        folded,
        tuple(clauses),
        rules.change.search(folded) is not None,
        only,
        _QUESTION.search(folded) is not None,
        frozenset(key for c in clauses for key in c.heavy),
    )


def _completes(lead: Clause, clause: Clause) -> bool:
    """A fragment of values only ("…, twice a day") belongs to the clause before it."""
    return (
        clause.comma
        and clause.sentence == lead.sentence
        and lead.positive
        and clause.positive
        and not clause.heavy
        and not clause.states
        and bool(clause.values)
        and not lead.values.keys() & clause.values.keys()
        and clause.end - lead.start < _LONGEST_MERGED
    )


def _spans(text: str, values: list[Value], rules: SlotRules) -> list[tuple[int, int, int, bool]]:
    inside = {i for v in values for i in range(v.start, v.end)} if values else set()
    cuts: list[tuple[int, int, bool]] = [
        (m.start(), m.end(), m["stop"] is not None) for m in _SPLIT.finditer(text) if m.start() not in inside
    ]
    cuts.extend((m.start(), m.start(), False) for m in rules.breaks.finditer(text) if m.start() not in inside)
    spans, at, sentence, comma = [], 0, 0, False
    for start, end, stop in sorted(cuts):
        if start < at:
            continue
        if text[at:start].strip():
            question = stop and _QUESTION.search(text[at:end])
            if not question:
                spans.append((at, start, sentence, comma))
        at = end
        sentence, comma = (sentence + 1, False) if stop else (sentence, True)
    if text[at:].strip() and not _QUESTION.search(text[at:]):
        spans.append((at, len(text), sentence, comma))
    return spans


def _clause(
    text: str,
    start: int,
    end: int,
    sentence: int,
    values: list[Value],
    rules: SlotRules,
    inherited: str,
    comma: bool,
) -> Clause | None:
    piece = text[start:end]
    mine = [v for v in values if v.start >= start and v.end <= end] if values else []
    masked = rules.pseudo_negator.sub(lambda m: " " * len(m[0]), piece)
    denials = [(start + m.start(), start + m.end()) for m in rules.negator.finditer(masked)]
    tokens = tuple(_tokens(text, start, end, mine, denials, rules))
    mode = next((name for name, pattern in rules.modes if pattern.search(piece)), "")
    grouped: dict[str, set[Value]] = {}
    for v in mine:
        grouped.setdefault(v.dimension, set()).add(v)
    states: dict[str, set[str]] = {}
    people = set()
    for token in tokens:
        if token.sense.alt:
            states.setdefault(token.sense.concept, set()).add(token.sense.alt)
        elif token.sense.kind == "kin":
            people.add(token.sense.concept)
    if not tokens and not denials:
        return None
    return Clause(
        subject=" ".join(sorted(people)) or inherited or "user",
        tokens=tokens,
        heavy=frozenset(
            t.key for t in tokens if t.sense.kind in ("plain", "kin") and not t.key.startswith("=")
        ),
        values={d: frozenset(vs) for d, vs in grouped.items()},
        states={g: frozenset(alts) for g, alts in states.items()},
        # two denials in one clause are coordinated ("isn't running and no one stands"), hardly ever a yes
        positive=all(any(t.sense.alt and t.start <= a and b <= t.end for t in tokens) for a, b in denials),
        mode=mode,
        start=start,
        end=end,
        sentence=sentence,
        comma=comma,
        scope=_scope(tokens, denials),
    )


def _scope(tokens: tuple[Token, ...], denials: list[tuple[int, int]]) -> frozenset[str]:
    """The heavy words after the first denial; all of them when it comes last (咖啡戒了)."""
    if not denials:
        return frozenset()
    heavy = [t for t in tokens if t.sense.kind in ("plain", "kin") and not t.key.startswith("=")]
    return frozenset(t.key for t in heavy if t.start >= denials[0][0]) or frozenset(t.key for t in heavy)


_VALUE = Sense("plain", "value")


def _tokens(
    text: str, start: int, end: int, values: list[Value], denials: list[tuple[int, int]], rules: SlotRules
) -> list[Token]:
    skip = dict(denials)
    spans: dict[int, Value] = {v.start: v for v in values}
    words = list(WORD.finditer(text, start, end))
    out: list[Token] = []
    i, at = 0, start
    while i < len(words):
        m = words[i]
        if m.start() < at:
            # One word may hold several values ("555-01-0199"): each of them tells texts apart.
            value = next((spans[p] for p in range(at, m.end()) if p in spans), None) if spans else None
            if value is not None:
                out.append(Token(f"={value.dimension}:{value.value}", _VALUE, value.start, value.end))
            at = max(at, m.end()) if value is None else value.end
            i += at >= m.end()
            continue
        value = next((spans[p] for p in range(m.start() - 2, m.end()) if p in spans and p >= at), None)
        if value is not None and value.end > m.start():
            out.append(Token(f"={value.dimension}:{value.value}", _VALUE, value.start, value.end))
            at = value.end
            continue
        denial_end = skip.get(m.start())
        bound = next((p for p in range(m.start() + 1, m.end() + rules.longest_han) if p in spans), end)
        sense, last = _longest(words, i, rules, text, bound)
        stop = words[last].end()
        if denial_end is not None and denial_end >= stop and (sense is None or not sense.alt):
            at = denial_end
            i += 1
            continue
        at = stop
        if sense is None:
            word = m[0].removesuffix("'s")
            whole = word.endswith(("-free", "-less", "-proof"))  # "dairy-free" is no dairy
            parts = (
                word.split("-")
                if "-" in word and not whole and not any(c.isdigit() for c in word)
                else [word]
            )
            for part in parts:
                if part and (known := rules.lexicon.get(stem(part))) is not None:
                    if known.kind != "stop":
                        out.append(Token(_key(known), known, m.start(), stop))
                elif part:
                    out.append(Token(stem(part), Sense("plain", stem(part)), m.start(), stop))
        elif sense.kind != "stop":
            out.append(Token(_key(sense), sense, m.start(), stop))
        i = last + 1
    return out


def _key(sense: Sense) -> str:
    return f"{sense.concept}/{sense.alt}" if sense.alt else sense.concept


def _longest(
    words: list[re.Match[str]], i: int, rules: SlotRules, text: str, bound: int
) -> tuple[Sense | None, int]:
    """The sense of the longest known phrase at word ``i`` (ending by ``bound``), and its last word's index."""
    first = words[i]
    if "\u3400" <= first[0][0] <= "\u9fff":
        limit = min(first.start() + rules.longest_han, bound)
        for stop in range(limit, first.start(), -1):
            sense = rules.lexicon.get(text[first.start() : stop])
            if sense is not None:
                last = i
                while last + 1 < len(words) and words[last + 1].end() <= stop:
                    last += 1
                return sense, last
        return None, i
    best: tuple[Sense | None, int] = (None, i)
    if "\u3400" <= text[first.end() : first.end() + 1] <= "\u9fff":  # "o型", "t恤"
        for stop in range(min(first.end() + 3, bound), first.end(), -1):
            if (sense := rules.lexicon.get(text[first.start() : stop])) is not None:
                return sense, i + stop - first.end()
    key = ""
    for j in range(i, min(i + rules.longest_words, len(words))):
        if j > i and text[words[j - 1].end() : words[j].start()].strip():
            break
        word = words[j][0]
        if "\u3400" <= word[0] <= "\u9fff":
            break
        key = f"{key} {stem(word.removesuffix(chr(39) + 's'))}".strip()
        sense = rules.lexicon.get(key)
        if sense is not None:
            best = (sense, j)
    return best
