"""The sets of a data folder: JSONL in, typed rows out. A row that does not have the known shape is counted and left."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

T = TypeVar("T")

#: The files that a set needs.
FILES: Final[Mapping[str, tuple[str, ...]]] = {
    "locomo": ("locomo_turns.jsonl", "locomo_questions.jsonl"),
    "lifebench": ("lifebench_zh_memories.jsonl", "lifebench_zh_questions.jsonl"),
    "memorybank": ("memorybank_zh_turns.jsonl", "memorybank_zh_questions.jsonl"),
    "filter": ("filter.jsonl",),
    "conflict_pairs": ("conflict_pairs.jsonl",),
    "slot_pairs": ("slot_pairs.jsonl",),
    "consolidation": ("slot_pairs.jsonl",),
    "turns_extract": ("turns_extract.jsonl",),
    "poison": ("poison.jsonl",),
    "poison_zh": ("poison_zh.jsonl",),
    "extraction_mempalace": ("extraction_mempalace.jsonl",),
    "locomo_observations": ("locomo_turns.jsonl", "locomo_observations.jsonl"),
    "profile": (),
    "years": ("lifebench_zh_memories.jsonl", "lifebench_zh_questions.jsonl"),
}


@dataclass(frozen=True, slots=True)
class Record:
    """Something to remember. ``group`` is whose memory it is (a user, a conversation); ``at`` is RFC 3339."""

    group: str
    id: str
    at: str
    speaker: str | None
    text: str
    session: str | None


@dataclass(frozen=True, slots=True)
class Question:
    """A query with the record ids that answer it. Hits on ``ignored`` are taken out before ranks are counted."""

    group: str
    text: str
    gold: frozenset[str]
    label: str
    ignored: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Records and questions; only questions whose group has records."""

    records: Sequence[Record]
    questions: Sequence[Question]

    def first(self, groups: int | None) -> RetrievalSet:
        """The part of the first ``groups`` groups; all of it for None."""
        kept = set(list(dict.fromkeys(record.group for record in self.records))[:groups])
        return RetrievalSet(
            [record for record in self.records if record.group in kept],
            [question for question in self.questions if question.group in kept],
        )


def rows(path: Path, parse: Callable[[dict[str, Any]], T | None], skipped: Counter[str]) -> Iterator[T]:
    """The parsed rows of a JSONL file. ``parse`` answers None for a row that the rules of the set leave out; a row
    that is no JSON object, or not of the known shape, is counted in ``skipped`` under the file's name."""
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        for line in lines:
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise TypeError("no JSON object")
                parsed = parse(row)
            except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
                skipped[f"unknown rows in {path.name}"] += 1
                continue
            if parsed is not None:
                yield parsed


def text(value: Any) -> str:
    """``value`` itself; TypeError unless it is a text with something in it."""
    if isinstance(value, str) and value.strip():
        return value
    raise TypeError("a text is needed")


def moment(value: Any) -> str:
    """A time of the data as RFC 3339: without a time of day noon, without an offset UTC."""
    told = text(value)
    if len(told) <= 10:
        return f"{told}T12:00:00Z"
    if told.endswith("Z") or "+" in told:
        return told
    return told + ("Z" if told.count(":") == 2 else ":00Z")


def records_of(name: str, folder: Path, skipped: Counter[str]) -> list[Record]:
    """What is to be remembered in ``locomo``, ``lifebench`` or ``memorybank``."""
    parse = {"locomo": _locomo_turn, "lifebench": _lifebench_memory, "memorybank": _memorybank_turn}
    return list(rows(folder / FILES[name][0], parse[name], skipped))


def retrieval_set(name: str, folder: Path, skipped: Counter[str]) -> RetrievalSet:
    """The records and questions of a set, by the scoring rules of the data."""
    records = records_of(name, folder, skipped)
    questions_file = folder / FILES[name][1]
    if name == "locomo":
        found = rows(questions_file, lambda row: _locomo_question(row, skipped), skipped)
    elif name == "lifebench":
        found = (one for some in rows(questions_file, _lifebench_questions, skipped) for one in some)
    else:
        days: dict[tuple[str, str], set[str]] = defaultdict(set)
        for record in records:
            days[record.group, record.at[:10]].add(record.id)
        found = rows(questions_file, lambda row: _memorybank_question(row, days, skipped), skipped)
    groups = {record.group for record in records}
    ids = {(record.group, record.id) for record in records}
    questions = []
    for question in found:
        if question.group not in groups:
            skipped["questions about an unknown group"] += 1
            continue
        if any((question.group, one) not in ids for one in question.gold):
            skipped["questions with gold that is not among the records"] += 1
        questions.append(question)
    return RetrievalSet(records, questions)


def _locomo_turn(row: dict[str, Any]) -> Record:
    return Record(
        text(row["conv"]),
        text(row["id"]),
        moment(row["time"]),
        row["speaker"],
        text(row["text"]),
        f"s{row['session']}",
    )


def _locomo_question(row: dict[str, Any], skipped: Counter[str]) -> Question | None:
    audit = row.get("audit") or {}
    if audit.get("type") == "AMBIGUOUS":
        skipped["questions that the audit calls ambiguous"] += 1
        return None
    gold = frozenset(audit.get("evidence") or row["evidence"])
    return Question(text(row["conv"]), text(row["question"]), gold, f"category {row['category']}")


def _lifebench_memory(row: dict[str, Any]) -> Record:
    return Record(text(row["user"]), text(row["id"]), moment(row["time"]), None, text(row["text"]), None)


def _lifebench_questions(row: dict[str, Any]) -> list[Question]:
    gold, weak = frozenset(row.get("evidence") or ()), frozenset(row.get("evidence_weak") or ())
    asked = {"zh": text(row["question"]), "en->zh": row.get("question_en")}
    return [
        Question(text(row["user"]), query, gold, label if gold else f"{label} unanswerable", weak)
        for label, query in asked.items()
        if query
    ]


def _memorybank_turn(row: dict[str, Any]) -> Record:
    both = f"{text(row['user_text'])}\n{row['assistant_text']}"
    at = moment(row["time"])
    return Record(text(row["user"]), text(row["id"]), at, None, both, at[:10])


def _memorybank_question(
    row: dict[str, Any], days: Mapping[tuple[str, str], set[str]], skipped: Counter[str]
) -> Question | None:
    if not row["evidence_day"]:
        skipped["questions without a day that answers them"] += 1
        return None
    user = text(row["user"])
    gold = frozenset(days.get((user, row["evidence_day"][:10]), ()))
    return Question(user, text(row["question"]), gold, "day")
