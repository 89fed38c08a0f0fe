"""`rearview eval` on small sets made here: retrieval, what a run reports, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from evaluation_kit import HASHING, figures, locomo, put, run

from rearview.errors import InvalidInput
from rearview.evaluation import eval as evaluation
from rearview.evaluation.retrieval import marks
from rearview.evaluation.sets import FILES
from rearview.settings import Settings


def test_a_retrieval_set_is_scored_by_category_and_together(tmp_path: Path) -> None:
    locomo(tmp_path)
    got = figures(run(tmp_path, "locomo"))
    assert list(got) == ["category 1", "category 4", "category 5", "categories 1-4", "all"]
    assert got["category 4"]["n"] == 1
    assert got["category 4"]["R@5"] == got["category 4"]["hit@1"] == 1.0
    assert got["category 5"]["MRR"] == 1.0
    assert got["categories 1-4"]["n"] == 2
    assert got["all"]["n"] == 3


def test_the_floor_is_computed_on_the_same_questions(tmp_path: Path) -> None:
    locomo(tmp_path)
    got = figures(run(tmp_path, "locomo"))
    assert got["category 4"]["floor"]["R@5"] == 1.0
    assert got["category 1"]["floor"]["R@5"] == 0.0
    assert got["categories 1-4"]["floor"]["R@5"] == 0.5


def test_hits_of_another_conversation_with_the_same_id_do_not_count(tmp_path: Path) -> None:
    locomo(tmp_path)
    put(
        tmp_path,
        "locomo_questions.jsonl",
        {
            "conv": "c2",
            "question": "How many beehives are behind the barn?",
            "category": 4,
            "evidence": ["D1:9"],
        },
    )
    assert figures(run(tmp_path, "locomo"))["category 4"]["R@10"] == 0.0


def test_a_limit_cuts_a_searched_set_to_the_first_groups(tmp_path: Path) -> None:
    locomo(tmp_path)
    (table,) = run(tmp_path, "locomo", limit=1).tables
    assert table.counts["records"] == 2
    assert "category 5" not in {row.label for row in table.rows}


def test_questions_without_an_answer_count_for_abstention_only(tmp_path: Path) -> None:
    put(
        tmp_path,
        "lifebench_zh_memories.jsonl",
        {"user": "u", "id": "m1", "time": "2025-01-01T08:00", "text": "早上在河边跑步五公里"},
        {"user": "u", "id": "m2", "time": "2025-01-02T08:00", "text": "河边跑步打卡提醒"},
    )
    put(
        tmp_path,
        "lifebench_zh_questions.jsonl",
        {"user": "u", "question": "在河边跑步多远？", "evidence": ["m1"], "evidence_weak": ["m2"]},
        {"user": "u", "question": "护照在哪里？", "evidence": []},
    )
    got = figures(run(tmp_path, "lifebench"))
    assert got["zh"]["hit@1"] == 1.0
    assert got["zh unanswerable"] == {
        "n": 1,
        "R@5": None,
        "R@10": None,
        "MRR": None,
        "hit@1": None,
        "hit@5": None,
        "abstained": got["zh unanswerable"]["abstained"],
    }


def test_recall_is_the_share_of_the_gold_and_mrr_the_first_rank() -> None:
    sums = marks(["x", "a", "y", "z", "w", "b"], {"a", "b", "c", "d"})
    assert (sums["R@5"], sums["R@10"], sums["MRR"], sums["hit@1"], sums["hit@5"]) == (0.25, 0.5, 0.5, 0, 1)


def test_nothing_found_adds_nothing() -> None:
    sums = marks([], {"a"}, abstained=True)
    assert (sums["R@5"], sums["MRR"], sums["abstained"], sums["answerable"]) == (0, 0, 1, 1)


def test_a_row_that_the_service_refuses_is_counted(tmp_path: Path) -> None:
    put(
        tmp_path,
        "filter.jsonl",
        {"id": "f1", "text": "NUL \u0000 inside", "lang": "en", "label": "keep", "confidence": "high"},
        {"id": "f2", "text": "I live in Ghent", "lang": "en", "label": "keep", "confidence": "high"},
    )
    report = run(tmp_path, "filter")
    assert figures(report)["en, confidence high"]["n"] == 1
    assert report.tables[0].counts == {"rows refused by the service": 1}


def test_a_set_without_its_files_is_named_and_the_others_run(tmp_path: Path) -> None:
    put(tmp_path, "poison_zh.jsonl", {"id": "p", "text": "我每周二去学吉他", "label": "benign"})
    report = run(tmp_path)
    assert [table.name for table in report.tables] == ["poison_zh"]
    assert len(report.missing) == len(FILES.keys() - evaluation.LONG) - 1
    assert "locomo: no locomo_turns.jsonl, locomo_questions.jsonl" in report.missing


def test_an_empty_set_gives_an_empty_table(tmp_path: Path) -> None:
    for name in (
        "locomo",
        "filter",
        "slot_pairs",
        "turns_extract",
        "extraction_mempalace",
        "locomo_observations",
    ):
        for file in FILES[name]:
            put(tmp_path, file)
    report = run(tmp_path)
    assert len(report.tables) == 6
    json.dumps(report.as_json(), allow_nan=False)
    assert report.as_text()


def test_progress_is_told_up_to_the_end(tmp_path: Path) -> None:
    locomo(tmp_path)
    told: list[tuple[str, int, int]] = []
    evaluation.run(tmp_path, HASHING, ["locomo"], lambda what, done, total: told.append((what, done, total)))
    assert ("locomo: records", 4, 4) in told
    assert told[-1] == ("locomo: questions", 3, 3)


def test_the_report_says_under_what_it_was_measured(tmp_path: Path) -> None:
    about = run(tmp_path, limit=3).about
    assert str(about["embedder"]).startswith("hashing")
    assert about["limit"] == 3


def test_the_settings_own_folder_is_left_alone(tmp_path: Path) -> None:
    locomo(tmp_path)
    kept = tmp_path / "kept"
    evaluation.run(tmp_path, Settings(embedder="hashing", data=kept), ["locomo"])
    assert not kept.exists()


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"sets": ["locomo", "nonesuch"]}, "sets"),
        ({"limit": 0}, "limit"),
        ({"data": Path("no-such-folder")}, "data"),
    ],
)
def test_what_cannot_be_run_is_refused_by_name(tmp_path: Path, arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        evaluation.run(**({"data": tmp_path, "settings": HASHING} | arguments))
    assert refused.value.errors[0].field == field
