"""Judging sets of single texts: what the entrance keeps, drops and holds back.

Each text is written to a user of its own; the verdict at acknowledgement is what counts, so nothing is embedded.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rearview.evaluation.floor import LONG_UTTERANCE, is_long, looks_planted
from rearview.evaluation.report import Row, Table, precision_recall, share
from rearview.evaluation.sets import rows, text
from rearview.evaluation.stage import Stage

_FILTER: Final = ("precision", "recall", "drops kept", "admitted")
_POISON: Final = ("caught", "stored", "precision")


@dataclass(frozen=True, slots=True)
class Judged:
    """A row of a set and the verdict on it; ``group`` is the line of the table that it counts in."""

    group: str
    text: str
    wanted: bool
    verdict: str


def run_filter(stage: Stage) -> Table:
    """Utterances to keep or drop, by language and by how sure their label is. Tentative counts as kept."""
    started = time.perf_counter()

    def parse(row: dict[str, Any]) -> tuple[str, bool, dict[str, Any]]:
        wanted = {"keep": True, "drop": False}[row["label"]]
        sure = "high" if row["confidence"] == "high" else "low or medium"
        origin = "agent" if row.get("role") == "assistant" else "user"
        write = {"user_id": text(row["id"]), "content": text(row["text"]), "origin": origin}
        return f"{row['lang']}, confidence {sure}", wanted, write

    judged = _judge(
        stage, "filter", list(rows(stage.data / "filter.jsonl", parse, stage.skipped))[: stage.limit]
    )
    table = []
    for group, some in sorted(_grouped(judged).items()):
        said = [(one.wanted, one.verdict in ("admit", "tentative", "duplicate")) for one in some]
        floor = [(one.wanted, is_long(one.text, LONG_UTTERANCE)) for one in some]
        keeps = [one for one in some if one.wanted]
        figures = _filter_figures(said)
        figures["admitted"] = share(sum(one.verdict == "admit" for one in keeps), len(keeps))
        table.append(Row(group, len(some), figures, _filter_figures(floor)))
    return Table(
        "filter",
        "utterances: precision and recall of what is kept",
        _FILTER,
        tuple(table),
        dict(stage.skipped),
        (
            "drops kept: share of what should go and stays; admitted: share of the keeps with full verdict",
            f"floor: keep what has at least {LONG_UTTERANCE} characters",
        ),
        time.perf_counter() - started,
    )


def _filter_figures(said: Sequence[tuple[bool, bool]]) -> dict[str, float | None]:
    precision, recall = precision_recall(said)
    drops = [kept for wanted, kept in said if not wanted]
    return {"precision": precision, "recall": recall, "drops kept": share(sum(drops), len(drops))}


def run_poison(stage: Stage, name: str) -> Table:
    """Planted memories by tier, and benign look-alikes. Caught means quarantined; a drop is not stored either."""
    started = time.perf_counter()

    def parse(row: dict[str, Any]) -> tuple[str, bool, dict[str, Any]]:
        malicious = {"malicious": True, "benign": False}[row["label"]]
        tier = text(row["tier"]) if malicious else f"benign, {row.get('difficulty', 'normal')}"
        write = {"user_id": text(row["id"]), "content": text(row["text"]), "origin": "tool"}
        return f"{tier}, {row.get('lang', 'zh')}", malicious, write

    parsed = list(rows(stage.data / f"{name}.jsonl", parse, stage.skipped))[: stage.limit]
    judged = _judge(stage, name, parsed)
    table = []
    for group, some in sorted(_grouped(judged).items()):
        caught, floor = sum(_caught(one) for one in some), sum(looks_planted(one.text) for one in some)
        stored = sum(one.verdict in ("admit", "tentative", "duplicate") for one in some)
        figures = {"caught": share(caught, len(some)), "stored": share(stored, len(some))}
        table.append(Row(group, len(some), figures, {"caught": share(floor, len(some))}))
    blatant = [one for one in judged if one.group.startswith("override") or not one.wanted]
    precision, recall = precision_recall([(one.wanted, _caught(one)) for one in blatant])
    floors = precision_recall([(one.wanted, looks_planted(one.text)) for one in blatant])
    table.append(
        Row(
            "override against all benign",
            len(blatant),
            {"caught": recall, "precision": precision},
            {"caught": floors[1], "precision": floors[0]},
        )
    )
    return Table(
        name,
        "planted memories: share quarantined, by tier; benign ones must not be",
        _POISON,
        tuple(table),
        dict(stage.skipped),
        (
            "intent and context cannot be told from the text alone, and are reported, not judged",
            "floor: a handful of regular expressions",
        ),
        time.perf_counter() - started,
    )


def _caught(one: Judged) -> bool:
    return one.verdict == "quarantine"


def _judge(stage: Stage, name: str, parsed: Sequence[tuple[str, bool, dict[str, Any]]]) -> list[Judged]:
    with stage.opened() as app:
        answers = stage.batches(app, [write for _, _, write in parsed], name, wait=False)
    return [
        Judged(group, write["content"], wanted, answer["verdict"])
        for (group, wanted, write), answer in zip(parsed, answers, strict=True)
        if answer is not None
    ]


def _grouped(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    groups: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        groups[one.group].append(one)
    return groups
