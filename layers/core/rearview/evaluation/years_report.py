"""What a year's stores come to: recall by question and by age, what is hot, what the runs did, and how fast it is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from rearview.evaluation.report import Row, share
from rearview.evaluation.sets import Question, Record

COLUMNS: Final = (
    "R@10 kept",
    "R@10 summary",
    "R@10 with archive",
    "R@10 hot",
    "archive / kept",
    "summary / kept",
)
#: Days before the year's end that a question's newest gold memory may lie back, by row.
AGES: Final = ((30, "gold of the last 30 days"), (90, "gold of 31-90 days"), (366, "gold older than 90 days"))


@dataclass(slots=True)
class Year:
    """One store after its year: memory id → record, what is hot, what the runs did, and the seconds they took."""

    ids: dict[str, Record] = field(default_factory=dict)
    hot: int = 0
    documents: int = 0
    done: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    answered: int = 0
    gone: int = 0
    lost: int = 0


def rows(
    questions: Sequence[Question],
    found: Mapping[str, Sequence[float]],
    newest: Sequence[datetime],
    end: datetime,
) -> Iterator[Row]:
    """Rows by label of the questions and by age of their newest gold. ``found``: per store R@10 of each question."""
    labels: dict[str, list[int]] = defaultdict(list)
    for number, question in enumerate(questions):
        labels[question.label].append(number)
        labels["all"].append(number)
        age = (end - newest[number]).days
        labels[next(label for days, label in AGES if age <= days)].append(number)
    for label in sorted(labels, key=lambda one: (one.startswith("gold"), one)):
        chosen = labels[label]
        means = {name: share(sum(some[at] for at in chosen), len(chosen)) for name, some in found.items()}
        kept = means["kept"] or 0.0
        yield Row(
            label,
            len(chosen),
            {
                "R@10 kept": means["kept"],
                "R@10 summary": means.get("summary"),
                "R@10 with archive": means["archive"],
                "R@10 hot": means["hot"],
                "archive / kept": share(means["archive"] or 0.0, kept),
                "summary / kept": share(means["summary"] or 0.0, kept) if "summary" in means else None,
            },
        )


def counts(memories: int, questions: int, year: Year) -> dict[str, int]:
    """What was read, what is hot, and how the ids answer."""
    return {
        "memories": memories,
        "questions": questions,
        "hot at the year's end": year.hot,
        "documents in its index": year.documents,
        "ids that answer with their text": year.answered,
        "ids that say why they are gone": year.gone,
        "ids that answer anything else": year.lost,
    }


def notes(years: Mapping[str, Year], speeds: Mapping[str, float], total: int) -> tuple[str, ...]:
    """The shares, what was done, and the medians of recalls in milliseconds."""
    year = years["years"]
    told = [
        f"hot share {share(year.hot, total)}; maintenance of the year {year.seconds:.0f} s "
        + (f"(texts alone {years['summary'].seconds:.0f} s)" if "summary" in years else ""),
        "done: " + ", ".join(f"{name} {number}" for name, number in sorted(year.done.items())),
    ]
    if speeds:
        ratio = share(speeds["years"], speeds["kept"])
        told.append(
            f"p50 of a recall without embedding, interleaved: {speeds['years']:.1f} ms against "
            f"{speeds['kept']:.1f} ms without maintenance, ratio {ratio}"
        )
    return tuple(told)
