"""Judging sets of pairs: is what is said now a contradiction of what was said before, a duplicate, or neither?

Each pair belongs to a user of its own; ``old`` then ``new`` are written with ``admission: force`` and enriched.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rearview.evaluation import floor
from rearview.evaluation.report import Row, Table, precision_recall, share
from rearview.evaluation.sets import moment, rows, text
from rearview.evaluation.stage import Stage

CLASSES: Final = ("contradicts", "duplicates")
LABELS: Final = (*CLASSES, "compatible", "unrelated")
COLUMNS: Final = (
    "contradicts P", "contradicts R", "duplicates P", "duplicates R", "false alarms",
)  # fmt: skip
_TITLES: Final = {
    "conflict_pairs": "pairs of statements from public sets",
    "slot_pairs": "pairs of statements about one slot, with hard look-alikes",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements in the order in which they were made; ``groups`` are the lines of the table it counts in."""

    id: str
    old: str
    new: str
    old_at: str | None
    new_at: str | None
    label: str
    groups: tuple[str, ...]

    def item(self, which: str) -> dict[str, Any]:
        """One side of the pair as a write."""
        content, at = (self.old, self.old_at) if which == "old" else (self.new, self.new_at)
        dated = {"occurred_at": moment(at[:10])} if at else {}
        return {"user_id": self.id, "content": content, "admission": "force", **dated}


def run(stage: Stage, name: str) -> Table:
    """The table of ``conflict_pairs`` or ``slot_pairs``."""
    started = time.perf_counter()
    pairs = list(rows(stage.data / f"{name}.jsonl", _parse, stage.skipped))[: stage.limit]
    with stage.opened() as app:
        first = stage.batches(app, [pair.item("old") for pair in pairs], f"{name}: old", wait=True)
        second = stage.batches(app, [pair.item("new") for pair in pairs], f"{name}: new", wait=True)
    told = [
        (pair, said(answer), floor.relation(pair.old, pair.new))
        for pair, before, answer in zip(pairs, first, second, strict=True)
        if before is not None and answer is not None
    ]
    table = []
    for group in sorted(
        {group for pair in pairs for group in pair.groups}, key=lambda one: (one == "all", one)
    ):
        mine = [one for one in told if group in one[0].groups]
        figures = _figures([(pair.label, verdict) for pair, verdict, _ in mine])
        table.append(
            Row(group, len(mine), figures, _figures([(pair.label, below) for pair, _, below in mine]))
        )
    return Table(
        name,
        _TITLES[name],
        COLUMNS,
        tuple(table),
        dict(stage.skipped),
        (
            "false alarms: share of compatible and unrelated pairs with either verdict",
            "floor: alike and one of the two negated or of other numbers; word overlap for duplicates",
        ),
        time.perf_counter() - started,
    )


def said(answer: Mapping[str, Any]) -> str:
    """What the service found, from its answer to the second write."""
    if answer["verdict"] == "duplicate":
        return "duplicates"
    return "contradicts" if answer["conflicts"] or answer["supersedes"] else "none"


def _parse(row: dict[str, Any]) -> Pair:
    if row["label"] not in LABELS:
        raise ValueError("no known label")
    language = text(row["lang"])
    kind = row.get("kind")
    groups = (language, *((f"{language}, {kind}",) if kind else ()), "all")
    return Pair(
        text(row["id"]),
        text(row["old"]),
        text(row["new"]),
        row.get("old_at"),
        row.get("new_at"),
        row["label"],
        groups,
    )


def _figures(told: Sequence[tuple[str, str]]) -> dict[str, float | None]:
    figures: dict[str, float | None] = {}
    for name in CLASSES:
        precision, recall = precision_recall([(label == name, verdict == name) for label, verdict in told])
        figures |= {f"{name} P": precision, f"{name} R": recall}
    neither = [verdict for label, verdict in told if label not in CLASSES]
    figures["false alarms"] = share(sum(verdict != "none" for verdict in neither), len(neither))
    return figures
