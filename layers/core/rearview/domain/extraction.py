"""Turns a conversation into memories: which clauses of which turns are kept, and how they stand alone."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from re import Pattern
from typing import Any, Final

from rearview.domain.admission import AdmissionRules, Verdict, asks, judge, kind_of, states
from rearview.domain.clauses import Clause, read_clauses
from rearview.domain.language import language_of, sentences
from rearview.domain.lexicon import compile_pattern, compile_words, normalise
from rearview.domain.self_correction import with_corrections

_ORIGINS: Final = {
    "user": "user",
    "assistant": "agent",
    "agent": "agent",
    "ai": "agent",
    "tool": "tool",
    "function": "tool",
}
_SHORT: Final = 60
_TOPIC_LENGTH: Final = 80
_CONJUNCTION: Final = re.compile(r"^(?:(?:and|but|so|also|plus) |而且|并且|还有|还|也|但是?)", re.IGNORECASE)
# A question that names what to choose from.
_CHOICE: Final = re.compile(r"\bor\b|还是", re.IGNORECASE)
# A turn leaves at most so many pieces: a pasted document is kept in stretches, not sentence by sentence.
_MOST_PIECES: Final = 40
_EDGES: Final = " \t，,。.；;!！?？：:"


@dataclass(frozen=True, slots=True)
class TurnText:
    """One turn of a conversation; `role` is user, assistant or tool, `at` (aware) when it was said."""

    turn_id: str
    role: str
    speaker: str | None
    content: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Extracted:
    """A memory that a turn leaves: its text, verbatim but for the context it needs to stand alone, with
    kind and estimates as in `Verdict`; `origin` is user, agent or tool."""

    turn_id: str
    text: str
    kind: str
    importance: float
    confidence: float
    origin: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A turn, or a part of one, that leaves nothing, and why (a code as in `Verdict.reasons`)."""

    turn_id: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class ExtractionRules:
    """The compiled rules of extraction."""

    result: Pattern[str]
    echo: Pattern[str]
    answer: Pattern[str]
    topic: Pattern[str]
    unmeant: Pattern[str]
    small_talk: Pattern[str]
    identifier: Pattern[str]
    subject: tuple[Pattern[str], Pattern[str]]
    own_subject: tuple[Pattern[str], Pattern[str]]


def compile_extraction(raw: Mapping[str, Any]) -> ExtractionRules:
    """Compiles the parsed extraction.toml; raises ValueError or KeyError where it is malformed."""
    topics = [f"(?:{fragment})" for key in ("en", "zh") for fragment in raw["topic"][key]]
    named = re.sub(r"\?P<topic\d*>", "", "|".join(topics))
    subject = raw["subject"]
    return ExtractionRules(
        result=compile_words(raw["result"]),
        echo=compile_words(raw["echo"]),
        answer=compile_words(raw["answer"]),
        topic=compile_pattern(named),
        unmeant=compile_words(raw["unmeant"]),
        small_talk=compile_words(raw["small_talk"]),
        identifier=compile_pattern(raw["identifier"]["pattern"]),
        subject=(compile_pattern(f"(?i:{subject['en']})"), compile_pattern(subject["zh"])),
        own_subject=(compile_pattern(f"(?i:{subject['own_en']})"), compile_pattern(subject["own_zh"])),
    )


def extract(
    turns: Sequence[TurnText],
    *,
    now: datetime,
    timezone: tzinfo,
    rules: ExtractionRules,
    admission: AdmissionRules,
) -> tuple[list[Extracted], list[Dropped]]:
    """The memories of a conversation and what was left out, both in the order of the turns.

    Each turn becomes zero or more memories. A sentence whose clauses differ in kind is parted, each
    part with its subject; an answer that makes no sense alone gets its question. Of an assistant's or
    tool's turn only results are kept. Nothing is silently lost: each turn or sentence that leaves
    nothing is in the second list.
    """
    reader = _Reader(now, timezone, rules, admission)
    extracted: list[Extracted] = []
    dropped: list[Dropped] = []
    for index, turn in enumerate(turns):
        kept, left = reader.read(turn, turns[max(0, index - 3) : index])
        extracted += kept
        dropped += left
    return extracted, dropped


@dataclass(frozen=True, slots=True)
class _Reader:
    now: datetime
    timezone: tzinfo
    rules: ExtractionRules
    admission: AdmissionRules

    def read(self, turn: TurnText, before: Sequence[TurnText]) -> tuple[list[Extracted], list[Dropped]]:
        origin = _ORIGINS.get(turn.role.lower(), "agent")
        pieces = _stretches(sentences(turn.content))
        if not pieces:
            return [], [Dropped(turn.turn_id, turn.content, "low_information")]
        if origin == "user":
            return self._user(turn, pieces, before)
        kept: list[Extracted] = []
        left: list[Dropped] = []
        for piece in pieces:
            reason = self._no_result(piece, origin)
            if reason:
                left.append(Dropped(turn.turn_id, piece, reason))
            else:
                kept.append(self._memory(turn, piece, origin, None, ("result",)))
        return kept, left

    def _no_result(self, piece: str, origin: str) -> str | None:
        plain = normalise(piece)
        clauses = read_clauses(piece, self.admission.clauses, agent=True)
        if origin == "tool":
            return None if any(clause.informative for clause in clauses) else "low_information"
        if any(clause.question for clause in clauses):
            return "question"
        identified = self.rules.identifier.search(piece) is not None
        if not (self.rules.result.search(plain) or identified):
            return "no_result"
        if self.rules.echo.search(plain.strip(_EDGES)) and not identified:
            return "echo"
        return None if any(clause.density >= 1 for clause in clauses) else "low_information"

    def _user(
        self, turn: TurnText, pieces: list[str], before: Sequence[TurnText]
    ) -> tuple[list[Extracted], list[Dropped]]:
        kept: list[Extracted] = []
        left: list[Dropped] = []
        context = self._context(turn, before)
        own = [one.content for one in before[-2:] if one.role.lower() == "user"]
        pieces, corrections = with_corrections(pieces, own[-1] if own and not context else None)
        for piece in pieces:
            identified = self.rules.identifier.search(piece) is not None
            reason = None if identified else self._unmeant(piece)
            clauses = read_clauses(piece, self.admission.clauses)
            if reason is None and not identified and not any(self._worth(c, context) for c in clauses):
                reason = self._judge(piece, turn, None).reasons[0] if clauses else "low_information"
                reason = "low_information" if reason in ("unsure", "dense", "fact") else reason
            if reason is not None:
                left.append(Dropped(turn.turn_id, piece, reason))
                continue
            for text, kind in self._parts(piece, clauses, corrects=piece in corrections):
                whole = f"{context}{text}" if context and not kept else text
                kept.append(self._memory(turn, whole, "user", kind, ()))
        return kept, left

    def _unmeant(self, piece: str) -> str | None:
        plain = normalise(piece)
        if self.rules.unmeant.search(plain):
            return "hypothetical"
        return "small_talk" if self.rules.small_talk.search(plain) else None

    @staticmethod
    def _worth(clause: Clause, context: str | None) -> bool:
        """Whether a user's clause is worth a memory; beside its question less is needed."""
        if clause.mood_only or "hypothetical" in clause.signals:
            return False
        if "request" in clause.signals and asks(clause):
            return False
        if clause.question:
            return bool({"critical", "number"} & clause.signals) and "first_person" in clause.signals
        if "third_person" in clause.signals and clause.density >= 1:
            return True
        return states(clause) or clause.density >= (1.0 if context else 2.5)

    def _parts(
        self, piece: str, clauses: list[Clause], *, corrects: bool = False
    ) -> list[tuple[str, str | None]]:
        """The sentence, whole where its clauses are of one kind, else parted where the kind changes; what is taken back
        is never parted from what takes its place."""
        if corrects:
            return [(piece, "correction")]
        told = [clause for clause in clauses if clause.informative and not asks(clause)]
        if len(told) < 2 or len(piece) < 8:
            return [(piece, None)]
        language = 1 if language_of(piece) == "zh" else 0
        subject = self.rules.subject[language].search(told[0].text)
        groups: list[tuple[list[Clause], str]] = []
        for clause in told:
            kind = kind_of([clause])
            own = self.rules.own_subject[language].search(clause.text) or subject
            apart = bool(groups) and states(clause) and bool(own) and groups[-1][1] != kind
            if not groups or (apart and any(states(one) for one in groups[-1][0])):
                groups.append(([clause], kind))
            else:
                groups[-1][0].append(clause)
        if len(groups) < 2:
            return [(piece, None)]
        joint = "，" if language else ", "
        parts: list[tuple[str, str | None]] = []
        for group, kind in groups:
            text = joint.join(clause.text for clause in group)
            if parts and subject and not self.rules.own_subject[language].search(group[0].text):
                text = f"{subject['subject']}{'' if language else ' '}{_CONJUNCTION.sub('', text)}"
            parts.append((text, kind))
        return parts

    def _context(self, turn: TurnText, before: Sequence[TurnText]) -> str | None:
        """What an answer needs in front of it to make sense: "topic: ", or None where it stands alone."""
        text = turn.content.strip()
        previous = before[-1] if before else None
        if previous is None or previous.role.lower() == "user" or len(text) > _SHORT:
            return None
        asked = [s for s in sentences(previous.content) if s.rstrip().endswith(("?", "？")) or self._topic(s)]
        plain = normalise(text)
        clauses = read_clauses(text, self.admission.clauses)
        bare = not any("first_person" in c.signals or "relation" in c.signals for c in clauses)
        if not asked or not (bare or self.rules.answer.search(plain)):
            return None
        choice = _CHOICE.search(asked[-1]) is not None
        if self.rules.answer.search(plain) and not choice and not self._topic(asked[-1]):
            # "Found it: 2460" answers the user's own question before the assistant's.
            own = [t.content.strip() for t in before[:-1] if t.role.lower() == "user"]
            asked = [own[-1]] if own and len(own[-1]) <= _TOPIC_LENGTH else asked
        topic = (None if choice else self._topic(asked[-1])) or asked[-1].strip(_EDGES)[:_TOPIC_LENGTH]
        return f"{topic}：" if language_of(topic) == "zh" else f"{topic}: "

    def _topic(self, question: str) -> str | None:
        found = self.rules.topic.search(normalise(question).strip(_EDGES))
        return (
            next((group.strip() for group in found.groups() if group and group.strip()), None)
            if found
            else None
        )

    def _memory(
        self, turn: TurnText, text: str, origin: str, kind: str | None, reasons: tuple[str, ...]
    ) -> Extracted:
        verdict = self._judge(text, turn, kind, origin)
        importance = max(0.3, verdict.importance) if verdict.verdict == "drop" else verdict.importance
        if self.rules.identifier.search(text):
            importance = max(0.6, importance)
        codes = reasons or (verdict.reasons if verdict.verdict != "drop" else ("in_context",))
        return Extracted(turn.turn_id, text, verdict.kind, importance, verdict.confidence, origin, codes)

    def _judge(self, text: str, turn: TurnText, kind: str | None, origin: str = "user") -> Verdict:
        return judge(
            text,
            origin=origin,
            kind=kind,
            said_at=turn.at,
            now=self.now,
            timezone=self.timezone,
            rules=self.admission,
        )


def _stretches(pieces: list[str]) -> list[str]:
    """The sentences themselves, or neighbours joined where there are more than a turn may leave."""
    size = -(-len(pieces) // _MOST_PIECES)
    if size <= 1:
        return pieces
    return [" ".join(pieces[at : at + size]) for at in range(0, len(pieces), size)]
