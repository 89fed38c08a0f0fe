"""Small sets made here, and `rearview eval` over them with the hashing embedder."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rearview.evaluation import eval as evaluation
from rearview.evaluation.report import Report
from rearview.settings import Settings

HASHING = Settings(embedder="hashing", data=Path("never-made"))


def put(folder: Path, name: str, *lines: dict[str, Any]) -> None:
    (folder / name).write_text(
        "\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8"
    )


def run(folder: Path, *sets: str, limit: int | None = None) -> Report:
    return evaluation.run(folder, HASHING, sets or None, limit=limit)


def figures(report: Report) -> dict[str, Any]:
    (table,) = report.tables
    return dict(table.as_json()["figures"])


def locomo(folder: Path) -> None:
    def turn(conv: str, number: int, text: str) -> dict[str, Any]:
        return {
            "conv": conv,
            "id": f"D1:{number}",
            "session": 1,
            "time": "2025-02-03T09:05",
            "speaker": "Ada",
            "text": text,
        }

    put(
        folder,
        "locomo_turns.jsonl",
        turn("c1", 1, "My sister keeps eleven beehives behind the barn"),
        turn("c1", 2, "The clinic moved my checkup to Thursday"),
        turn("c2", 1, "We painted the canoe turquoise"),
        turn("c2", 2, "Haha ok"),
    )
    put(
        folder,
        "locomo_questions.jsonl",
        {
            "conv": "c1",
            "question": "How many beehives are behind the barn?",
            "category": 4,
            "evidence": ["D1:1"],
        },
        {"conv": "c1", "question": "zzz qqq", "category": 1, "evidence": ["D1:2"]},
        {"conv": "c2", "question": "What colour is the canoe?", "category": 5, "evidence": ["D1:1"]},
    )


FIRST = datetime(2025, 9, 26, 9, tzinfo=UTC)
THINGS = ("蓝色的茶壶", "the brass compass", "红木书桌", "a paper lantern", "旧的自行车", "the oak barrel")


def quarter(folder: Path) -> None:
    """Memories of the last ninety-seven days of a year, three a fortnight, and a question about each thing."""
    memories: list[dict[str, Any]] = []
    for number in range(21):
        at = FIRST + timedelta(days=number // 3 * 14, hours=number % 3)
        memories.append(
            {
                "user": "u",
                "id": f"m{number}",
                "kind": "note",
                "time": f"{at:%Y-%m-%dT%H:%M}",
                "text": f"Note {number}: {THINGS[number % 6]} went to shelf {number * 7}, and the clerk wrote it down "
                f"in the book of the house, 然后由管理员在第{number}页签了字，备查。",
            }
        )
    put(folder, "lifebench_zh_memories.jsonl", *memories)
    questions = [
        {
            "user": "u",
            "id": f"q{number}",
            "question": f"shelf {number * 7} {THINGS[number % 6]}",
            "question_en": None,
            "evidence": [f"m{number}"],
            "evidence_weak": [],
        }
        for number in (0, 4, 8, 20)
    ]
    put(folder, "lifebench_zh_questions.jsonl", *questions)
