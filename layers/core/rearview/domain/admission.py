"""The write gate's three sieves: information density, factuality, timeliness."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, Final, Literal

from rearview.domain.clauses import Clause, ClauseRules, read_clauses
from rearview.domain.lexicon import compile_pattern, compile_tables, compile_words, fragments
from rearview.domain.timeliness import Timeliness, TimelinessRules, compile_timeliness, timeliness

__all__ = ["AdmissionRules", "Verdict", "compile_admission", "estimate", "judge", "kind_of"]

# Signs that make a clause with anything left in it a statement, whoever says it.
_STATING: Final = frozenset(
    {"number", "relation", "statement", "critical", "remember", "name"}
    | {"preference", "instruction", "conclusion", "correction", "event"}
)
_BARE_FIGURE: Final = re.compile(r"\W*[\d.,%:]+\W*")
# In words: what an unsigned clause needs to be kept for now, and what a text needs to be kept in full.
_WEAK, _DENSE = 1.5, 5.0
_IMPORTANCE: Final = {
    "correction": 0.75, "instruction": 0.75, "conclusion": 0.75, "preference": 0.7, "fact": 0.65, "event": 0.6,
    "summary": 0.5,
}  # fmt: skip
_CONFIDENCE: Final = {"user": 0.9, "tool": 0.85, "document": 0.8, "import": 0.8, "agent": 0.7}


@dataclass(frozen=True, slots=True)
class AdmissionRules:
    """The compiled rules of the write gate."""

    clauses: ClauseRules
    timeliness: TimelinessRules


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the sieves say of a text.

    `reasons` are stable snake_case codes; `kind` one of preference, fact, conclusion, correction,
    event, instruction, summary; `importance` and `confidence` lie in 0–1 (importance below .3 only
    with a drop); `expires_at` ends a text's use and `valid_to` its truth, both aware UTC or None.
    """

    verdict: Literal["admit", "tentative", "drop"]
    reasons: tuple[str, ...]
    kind: str
    importance: float
    confidence: float
    expires_at: datetime | None = None
    valid_to: datetime | None = None


def compile_admission(raw: Mapping[str, Any]) -> AdmissionRules:
    """Compiles the parsed admission.toml; raises ValueError or KeyError where it is malformed."""
    words, kinds = raw["words"], raw["kinds"]
    return AdmissionRules(
        ClauseRules(
            phatic=compile_tables(raw["phatic"]),
            filler=compile_words(words["filler"]),
            function=compile_words(words["function"]),
            courtesy=compile_words(words["courtesy"]),
            mood=compile_words(words["mood"]),
            signals=compile_tables(raw["signals"]),
            kinds={name: compile_words(kinds[name]) for name in kinds["order"]},
            question_start=compile_pattern(
                rf"(?:{'|'.join(fragments(raw['question'], 'en'))})(?![a-z0-9])"
                rf"|(?:{'|'.join(fragments(raw['question'], 'zh'))})"
            ),
            question_end=compile_words(raw["question_end"]),
        ),
        compile_timeliness(raw["timeliness"]),
    )


def judge(
    text: str,
    *,
    origin: str,
    kind: str | None,
    said_at: datetime,
    now: datetime,
    timezone: tzinfo,
    rules: AdmissionRules,
) -> Verdict:
    """Whether `text` is worth a memory, why, and with which estimates.

    `origin` is user, agent, tool, document or import; a given `kind` is kept. Dates are read from
    `said_at` in `timezone`, shelf lives run from `now`. Where the sieves are unsure the verdict is
    tentative. A drop carries the reasons of everything that was sieved out.
    """
    clauses = read_clauses(text, rules.clauses, agent=origin == "agent")
    verdict, reasons = _sieve(clauses)
    return _estimated(text, clauses, verdict, reasons, origin, kind, said_at, now, timezone, rules)


def estimate(
    text: str,
    *,
    origin: str,
    kind: str | None,
    said_at: datetime,
    now: datetime,
    timezone: tzinfo,
    rules: AdmissionRules,
) -> Verdict:
    """The estimates of `judge` for a text that is stored whatever the sieves say: always `admit`."""
    clauses = read_clauses(text, rules.clauses, agent=origin == "agent")
    return _estimated(text, clauses, "admit", ("forced",), origin, kind, said_at, now, timezone, rules)


def _sieve(clauses: list[Clause]) -> tuple[Literal["admit", "tentative", "drop"], tuple[str, ...]]:
    hypothetical = {clause.sentence for clause in clauses if "hypothetical" in clause.signals}
    told = [c for c in clauses if c.informative and not asks(c) and c.sentence not in hypothetical]
    strong = [clause for clause in told if states(clause)]
    if strong:
        return "admit", _codes(clauses)
    density = sum(clause.density for clause in told)
    if density >= _DENSE:
        return "admit", ("dense",)
    if density >= _WEAK:
        return "tentative", ("unsure",)
    if any(c.informative and not c.question for c in clauses if c.sentence in hypothetical):
        return "tentative", ("hypothetical",)
    asked = [c for c in clauses if c.informative and asks(c)]
    if any(not c.question for c in asked):
        return "tentative", ("request",)
    if any(_asks_with_fact(c) for c in asked):
        return "tentative", ("question", "unsure")
    return "drop", _why_not(clauses)


def states(clause: Clause) -> bool:
    """Whether a clause states something: it bears a sign of a fact and has words of its own left."""
    if clause.signals & _STATING and clause.density >= 0.5:
        return not _BARE_FIGURE.fullmatch(clause.text)
    return "first_person" in clause.signals and clause.density >= 0.5


def asks(clause: Clause) -> bool:
    """Whether a clause is a question or sets the agent a task, and so states nothing."""
    return clause.question or (
        "request" in clause.signals and not {"instruction", "remember"} & clause.signals
    )


def _asks_with_fact(clause: Clause) -> bool:
    return "critical" in clause.signals or {"first_person", "relation", "statement"} <= clause.signals


def _codes(clauses: list[Clause]) -> tuple[str, ...]:
    found: set[str] = set().union(*(clause.signals for clause in clauses if not asks(clause)))
    named = [
        name
        for name in ("remember", "correction", "instruction", "conclusion", "preference", "event")
        if name in found
    ]
    return tuple(named) or ("fact",)


def _why_not(clauses: list[Clause]) -> tuple[str, ...]:
    reasons: dict[str, None] = {}
    for clause in clauses:
        for name in clause.phatic:
            # Beside words of substance "so", "well" and "good" are no acknowledgement or praise.
            if not clause.density or name not in ("acknowledgement", "appreciation", "hedge"):
                reasons[name] = None
        if clause.question and (clause.informative or not clause.phatic):
            reasons["question"] = None
        elif clause.mood_only:
            reasons["mood_only"] = None
        elif clause.informative or not clause.phatic:
            reasons["low_information"] = None
    return tuple(reasons) or ("low_information",)


def kind_of(clauses: list[Clause]) -> str:
    """The best guess at the kind of what the clauses say, a fact where nothing speaks for another."""
    told = [clause for clause in clauses if not asks(clause)] or clauses
    found = set().union(*(clause.signals for clause in told)) if told else set()
    for name in ("correction", "instruction", "conclusion", "fact", "preference", "event"):
        if name in found:
            return name
    return "fact"


def _estimated(
    text: str,
    clauses: list[Clause],
    verdict: Literal["admit", "tentative", "drop"],
    reasons: tuple[str, ...],
    origin: str,
    kind: str | None,
    said_at: datetime,
    now: datetime,
    timezone: tzinfo,
    rules: AdmissionRules,
) -> Verdict:
    guessed = kind or kind_of(clauses)
    time = Timeliness()
    if verdict != "drop" or reasons == ("low_information",):
        time = timeliness(
            text, kind=guessed, said_at=said_at, now=now, timezone=timezone, rules=rules.timeliness
        )
    if verdict == "drop" and time.reason is None:
        time = Timeliness()
    elif verdict == "drop":
        # Little is said, but of the state of things now: worth its shelf life.
        verdict, reasons = "tentative", ("unsure",)
    if time.reason:
        reasons = (*reasons, time.reason)
    return Verdict(
        verdict,
        reasons,
        guessed,
        _importance(clauses, verdict, guessed, passing=time.reason is not None),
        _confidence(clauses, verdict, origin),
        time.expires_at,
        time.valid_to,
    )


def _importance(clauses: list[Clause], verdict: str, kind: str, *, passing: bool) -> float:
    signals: set[str] = set().union(*(clause.signals for clause in clauses)) if clauses else set()
    value = _IMPORTANCE.get(kind, 0.6)
    value += 0.15 if "critical" in signals else 0.05 if "remember" in signals else 0.0
    value += 0.03 if signals & {"number", "name"} else 0.0
    value -= 0.2 if "aside" in signals else 0.0
    if verdict == "tentative":
        value = min(value, 0.45)
    if passing:
        value = min(value, 0.4)
    if verdict == "drop":
        return 0.2 if sum(clause.density for clause in clauses) >= 1 else 0.1
    return round(min(0.95, max(0.3, value)), 2)


def _confidence(clauses: list[Clause], verdict: str, origin: str) -> float:
    value = _CONFIDENCE.get(origin, 0.7)
    if any({"hedged", "hypothetical"} & clause.signals for clause in clauses):
        value -= 0.2
    return round(max(0.1, value - (0.2 if verdict == "tentative" else 0.0)), 2)
