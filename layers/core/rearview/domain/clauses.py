"""Reads a text clause by clause: what is phatic in it, how much is left, and which signs of a fact it bears."""

import re
from dataclasses import dataclass, replace
from re import Pattern
from typing import Final

from rearview.domain.language import CJK, sentences
from rearview.domain.lexicon import normalise

# A longer run without a stop is no clause of a conversation; the cut keeps every pattern's work bounded.
_LONGEST_CLAUSE: Final = 400
# Enough to judge any text by; a document of 64 KB is not read clause by clause to its end.
_MOST_CLAUSES: Final = 400
_COMMA: Final = re.compile(r"[，；;：、]|[,:](?=\s|$)|,(?=[^\d\s])|\s[-–—]+\s|——|\.{2,}")
_ACROSS: Final = ("correction", "instruction")
_EDGES: Final = " \t\"'.,!?;:~。！？…，、；：～()（）[]【】「」《》*_#>|-—"
_LATIN: Final = re.compile(r"[^\W\d_" + CJK + r"][\w'’-]*", re.UNICODE)
_CJK: Final = re.compile(f"[{CJK}]")
_FIGURE: Final = re.compile(r"\d[\d.,:/%-]*")
_NAME: Final = re.compile(r"(?<=[a-z,;:)] )[A-Z][A-Za-z'’-]+|[A-Z]{2,}|\b[A-Za-z]+\d\w*")
_FIRST_WORD_I: Final = frozenset(
    {"I", "I'm", "I've", "I'll", "I'd", "OK", "LOL", "OMG", "Thank", "Thanks", "Goodbye", "Bye"}
)


@dataclass(frozen=True, slots=True)
class ClauseRules:
    """The compiled word lists that clauses are read by."""

    phatic: dict[str, Pattern[str]]
    filler: Pattern[str]
    function: Pattern[str]
    courtesy: Pattern[str]
    mood: Pattern[str]
    signals: dict[str, Pattern[str]]
    kinds: dict[str, Pattern[str]]
    question_start: Pattern[str]
    question_end: Pattern[str]


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: its words, its sentence's number, and what the rules found.

    `density` counts what is left without phatic parts, function words and fillers, in words (a CJK
    character is half a word); `signals` holds the names of signs and kinds that match.
    """

    text: str
    sentence: int
    density: float
    phatic: tuple[str, ...]
    mood_only: bool
    question: bool
    signals: frozenset[str]

    @property
    def informative(self) -> bool:
        return self.density > 0 and not self.mood_only


def split_clauses(sentence: str) -> list[str]:
    """The clauses of one sentence, verbatim, without the marks between them."""
    pieces: list[str] = []
    begin = 0
    for mark in _COMMA.finditer(sentence):
        pieces.append(sentence[begin : mark.start()])
        begin = mark.end()
    pieces.append(sentence[begin:])
    return [
        part
        for piece in pieces
        for at in range(0, len(piece), _LONGEST_CLAUSE)
        if (part := piece[at : at + _LONGEST_CLAUSE].strip())
    ]


def read_clauses(text: str, rules: ClauseRules, *, agent: bool = False) -> list[Clause]:
    """The clauses of `text`. Offers of help are phatic only where an agent makes them (`agent`)."""
    raw: list[tuple[int, str, bool]] = []
    across: dict[int, set[str]] = {}
    for number, sentence in enumerate(sentences(text)):
        pieces = split_clauses(sentence)
        asked = _question_from(sentence, pieces, rules)
        across[len(raw)] = _across(sentence, pieces, rules)
        raw += [(number, piece, at >= asked) for at, piece in enumerate(pieces)]
        if len(raw) >= _MOST_CLAUSES:
            break
    phatic = {name: pattern for name, pattern in rules.phatic.items() if agent or name != "offer"}
    stripped = [_without_phatic(normalise(piece), phatic) for _, piece, _ in raw]
    # Thanks, wishes and offers colour the words around them, in the whole utterance.
    courteous = any({"thanks", "welcome", "farewell", "offer"} & set(found) for _, found in stripped)
    clauses = [
        _read(piece, number, question, left, found, courteous, rules)
        for (number, piece, question), (left, found) in zip(raw, stripped, strict=True)
    ]
    for first, kinds in across.items():
        if kinds and first < len(clauses):
            clauses[first] = replace(clauses[first], signals=clauses[first].signals | kinds)
    return clauses


def _across(sentence: str, pieces: list[str], rules: ClauseRules) -> set[str]:
    """Kinds that show only where clauses meet: "it's the blue one, not the red one"."""
    if len(pieces) < 2:
        return set()
    plain = normalise(sentence[: 2 * _LONGEST_CLAUSE])
    return {name for name in _ACROSS if name in rules.kinds and rules.kinds[name].search(plain)}


def _question_from(sentence: str, pieces: list[str], rules: ClauseRules) -> int:
    """The first clause of `sentence` that asks; the number of clauses where none does."""
    marked = sentence.rstrip(" \t\"'”’)）」』").endswith(("?", "？"))
    plain = [normalise(piece).strip(_EDGES) for piece in pieces]
    for at, clause in enumerate(plain):
        ends = rules.question_end.search(clause)
        if ends or (rules.question_start.match(clause) and (marked or _asks_without_mark(clause))):
            return at
    return len(pieces) - 1 if marked else len(pieces)


def _asks_without_mark(clause: str) -> bool:
    # "When I was six …" and 怎么都行 begin like questions; only an auxiliary before its subject, or a
    # question word before an auxiliary, asks without a mark.
    return bool(_INVERTED.match(clause))


_INVERTED: Final = re.compile(
    r"(?:what|when|where|which|why|how|who)(?:'s)? (?:\w+ ){0,2}(?:is|are|do|does|did|can|could|should|would|will)\b"
    r"|(?:is|are|was|were|do|does|did|can|could|will|would|should|shall|may) (?:i|you|we|they|he|she|it|there|anyone|this|that)\b"
    r"|any (?:idea|suggestion|recommendation)|got any\b|anyone\b|请问|能不能|可不可以|有没有|要不要|会不会|你觉得|你知道|为什么"
)


def _without_phatic(clause: str, phatic: dict[str, Pattern[str]]) -> tuple[str, tuple[str, ...]]:
    left, found = clause.strip(_EDGES), []
    for name, pattern in phatic.items():
        left, count = pattern.subn(" ", left)
        left = left.strip()
        if count:
            found.append(name)
    return left, tuple(found)


def _read(
    piece: str,
    number: int,
    question: bool,
    left: str,
    phatic: tuple[str, ...],
    courteous: bool,
    rules: ClauseRules,
) -> Clause:
    plain = normalise(piece)
    left = rules.filler.sub(" ", rules.function.sub(" ", left))
    if courteous:
        left = rules.courtesy.sub(" ", left)
    density = _density(left)
    mood_only = bool(density) and not _density(rules.mood.sub(" ", left))
    signals = {name for name, pattern in rules.signals.items() if pattern.search(plain)}
    signals |= {name for name, pattern in rules.kinds.items() if pattern.search(plain)}
    if any(name[0] not in _FIRST_WORD_I for name in (match for match in _NAME.finditer(piece))):
        signals.add("name")
    return Clause(piece, number, density, phatic, mood_only, question, frozenset(signals))


def _density(left: str) -> float:
    words = sum(1 for word in _LATIN.findall(left) if len(word) > 1)
    return words + len(_CJK.findall(left)) / 2 + len(_FIGURE.findall(left))
