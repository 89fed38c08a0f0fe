"""Retrieval sets: every record is written ``verbatim``, every question recalled, hits compared with the gold ids.

R@k is the mean over the questions of |gold ∩ top k| / |gold|; MRR the mean of 1 / rank of the first gold hit among
the ten (0 without one); hit@k the share of questions with a gold record among the first k.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from rearview.domain.principal import LOCAL
from rearview.evaluation.floor import KeywordFloor
from rearview.evaluation.report import Row, Table, share
from rearview.evaluation.sets import Question, Record, retrieval_set
from rearview.evaluation.stage import Stage
from rearview.usecases.app import Rearview
from rearview.usecases.fields import read
from rearview.usecases.questions import Recall

#: Ranks that are looked at.
DEPTH: Final = 10
COLUMNS: Final = ("R@5", "R@10", "MRR", "hit@1", "hit@5", "abstained")
_TITLES: Final = {
    "locomo": "LoCoMo, English chats over months",
    "lifebench": "LifeBench, Chinese notes, messages and calendars of a year",
    "memorybank": "MemoryBank, Chinese companion chats; a hit is any turn of the day",
}
#: Rows over several categories, and the categories after which they stand.
_TOGETHER: Final = {
    "locomo": {
        "categories 1-4": ("category 1", "category 2", "category 3", "category 4"),
        "all": ("category 1", "category 2", "category 3", "category 4", "category 5"),
    }
}


def run(stage: Stage, name: str) -> Table:
    """The table of one retrieval set."""
    started = time.perf_counter()
    data = retrieval_set(name, stage.data, stage.skipped).first(stage.limit)
    floor = KeywordFloor(data.records)
    measured: dict[str, Counter[str]] = defaultdict(Counter)
    expected: dict[str, Counter[str]] = defaultdict(Counter)
    with stage.opened() as app:
        ids = write_all(stage, app, name, data.records)
        written = time.perf_counter()
        for done, question in enumerate(data.questions, 1):
            found, abstained = ask(app, question, ids)
            measured[question.label] += marks(found, question.gold, abstained=abstained)
            best = floor.top(question.group, question.text, DEPTH, question.ignored)
            expected[question.label] += marks(best, question.gold)
            stage.tell(f"{name}: questions", done, len(data.questions))
    asked = time.perf_counter()
    counts = {"records": len(data.records), "questions": len(data.questions)}
    speed = (
        f"writing and enriching {written - started:.1f} s, recalling with the floor {asked - written:.1f} s",
        "floor: BM25 over 'date speaker: text' within one user or conversation, same tokens",
    )
    rows = list(_rows(_TOGETHER.get(name, {}), measured, expected))
    return Table(
        name, _TITLES[name], COLUMNS, tuple(rows), counts | dict(stage.skipped), speed, asked - started
    )


def write_all(stage: Stage, app: Rearview, name: str, records: Sequence[Record]) -> Mapping[str, str]:
    """Writes the records; answers memory id → record id. Record ids are unique within a group only, and so are
    the hits of a recall."""
    answers = stage.batches(app, [item(record) for record in records], f"{name}: records", wait=True)
    return {
        answer["id"]: record.id
        for answer, record in zip(answers, records, strict=True)
        if answer is not None and answer["id"] is not None
    }


def item(record: Record) -> dict[str, Any]:
    """A record as a write: with its date, its speaker and its session, past the sieves."""
    source = {"source": {"speaker": record.speaker}} if record.speaker else {}
    session = {"session_id": record.session} if record.session else {}
    return {
        "user_id": record.group,
        "content": record.text,
        "occurred_at": record.at,
        "admission": "verbatim",
        **source,
        **session,
    }


def ask(app: Rearview, question: Question, ids: Mapping[str, str]) -> tuple[list[str], bool]:
    """The record ids that recall brings, without the ignored ones, best first; and whether it abstained."""
    request = {
        "user_id": question.group,
        "query": question.text,
        "top_k": min(50, DEPTH + len(question.ignored)),
        "include_content": False,
    }
    answer = app.recaller.recall(LOCAL, read(Recall, request))
    found = [ids[hit.id] for hit in answer.hits if hit.id in ids]
    return [one for one in found if one not in question.ignored][:DEPTH], answer.abstained


def marks(found: Sequence[str], gold: Collection[str], *, abstained: bool | None = None) -> Counter[str]:
    """What one question adds to the sums of its category. Without gold only whether recall abstained."""
    sums: Counter[str] = Counter(n=1, abstained=int(bool(abstained)), answerable=int(bool(gold)))
    if abstained is not None:
        sums["asked"] = 1
    if gold:
        at = {k: len(set(gold) & set(found[:k])) for k in (1, 5, 10)}
        first = next((rank for rank, one in enumerate(found, 1) if one in gold), None)
        floats: dict[str, Any] = {
            "R@5": at[5] / len(gold),
            "R@10": at[10] / len(gold),
            "MRR": 1 / first if first else 0.0,
            "hit@1": at[1],
            "hit@5": int(at[5] > 0),
        }
        sums.update(floats)
    return sums


def _rows(
    together: Mapping[str, Sequence[str]],
    measured: Mapping[str, Counter[str]],
    expected: Mapping[str, Counter[str]],
) -> list[Row]:
    rows = [_row(label, [measured[label]], [expected[label]]) for label in sorted(measured)]
    for label, parts in together.items():
        present = [part for part in parts if part in measured]
        if present:
            rows.append(
                _row(label, [measured[part] for part in present], [expected[part] for part in present])
            )
    return rows


def _row(label: str, measured: Sequence[Counter[str]], expected: Sequence[Counter[str]]) -> Row:
    total, floor = _sum(measured), _sum(expected)
    means = {name: share(total[name], total["answerable"]) for name in COLUMNS if name != "abstained"}
    below = {name: share(floor[name], floor["answerable"]) for name in means} if floor["answerable"] else {}
    return Row(label, total["n"], means | {"abstained": share(total["abstained"], total["n"])}, below)


def _sum(counters: Sequence[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for counter in counters:
        total.update(counter)
    return total
