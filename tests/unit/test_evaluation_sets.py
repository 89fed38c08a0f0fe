"""Loading of the sets: the scoring rules of the data, and rows that nobody knows."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rearview.evaluation.sets import Question, RetrievalSet, moment, records_of, retrieval_set, rows


def put(folder: Path, name: str, *lines: Any) -> None:
    text = "\n".join(
        line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines
    )
    (folder / name).write_text(text + "\n", encoding="utf-8")


def turn(number: int, conv: str = "c1", **fields: Any) -> dict[str, Any]:
    base = {"conv": conv, "id": f"t{number}", "session": 1, "time": "2025-02-03T09:05", "speaker": "Ada"}
    return base | {"text": f"turn {number}", "image_caption": "a cat"} | fields


def asked(**fields: Any) -> dict[str, Any]:
    return {"conv": "c1", "question": "Who?", "category": 1, "evidence": ["t1"]} | fields


@pytest.mark.parametrize(
    ("told", "read"),
    [
        ("2025-02-03", "2025-02-03T12:00:00Z"),
        ("2025-02-03T09:05", "2025-02-03T09:05:00Z"),
        ("2025-02-03T09:05:07", "2025-02-03T09:05:07Z"),
        ("2025-02-03T09:05:07+08:00", "2025-02-03T09:05:07+08:00"),
        ("2025-02-03T09:05:07Z", "2025-02-03T09:05:07Z"),
    ],
)
def test_times_of_the_data_become_rfc_3339(told: str, read: str) -> None:
    assert moment(told) == read


def test_rows_of_no_known_shape_are_counted_and_left(tmp_path: Path) -> None:
    put(tmp_path, "locomo_turns.jsonl", turn(1), "{broken", [1, 2], {"conv": "c1"}, turn(2, text="  "), "")
    skipped: Counter[str] = Counter()
    assert [record.id for record in records_of("locomo", tmp_path, skipped)] == ["t1"]
    assert skipped == {"unknown rows in locomo_turns.jsonl": 4}


def test_bytes_that_are_no_utf_8_do_not_end_the_reading(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(b'\xef\xbb\xbf{"a": 1}\n{"a": "\xff"}\n{"a": 2}\n')
    read = list(rows(tmp_path / "x.jsonl", lambda row: row["a"], Counter()))
    assert read[0] == 1
    assert read[-1] == 2


def test_captions_are_not_part_of_a_turn(tmp_path: Path) -> None:
    put(tmp_path, "locomo_turns.jsonl", turn(1))
    (record,) = records_of("locomo", tmp_path, Counter())
    assert (record.text, record.speaker, record.session) == ("turn 1", "Ada", "s1")


def test_the_audit_replaces_evidence_and_takes_out_the_ambiguous(tmp_path: Path) -> None:
    put(tmp_path, "locomo_turns.jsonl", turn(1), turn(2))
    put(
        tmp_path,
        "locomo_questions.jsonl",
        asked(),
        asked(audit={"type": "WRONG_CITATION", "evidence": ["t2"]}),
        asked(audit={"type": "AMBIGUOUS"}),
        asked(conv="c9"),
        asked(evidence=["t7"]),
    )
    skipped: Counter[str] = Counter()
    found = retrieval_set("locomo", tmp_path, skipped)
    assert [question.gold for question in found.questions] == [{"t1"}, {"t2"}, {"t7"}]
    assert skipped == {
        "questions that the audit calls ambiguous": 1,
        "questions about an unknown group": 1,
        "questions with gold that is not among the records": 1,
    }


def test_a_question_is_asked_in_both_languages_and_weak_evidence_is_ignored(tmp_path: Path) -> None:
    put(
        tmp_path,
        "lifebench_zh_memories.jsonl",
        {"user": "u", "id": "m1", "time": "2025-01-01T08:00", "text": "早上跑步五公里"},
    )
    put(
        tmp_path,
        "lifebench_zh_questions.jsonl",
        {
            "user": "u",
            "question": "跑了多远？",
            "question_en": "How far?",
            "evidence": ["m1"],
            "evidence_weak": ["m2"],
        },
        {"user": "u", "question": "姓什么？", "question_en": None, "evidence": [], "evidence_weak": []},
    )
    found = retrieval_set("lifebench", tmp_path, Counter()).questions
    assert [(one.label, one.text) for one in found] == [
        ("zh", "跑了多远？"),
        ("en->zh", "How far?"),
        ("zh unanswerable", "姓什么？"),
    ]
    assert found[1].ignored == {"m2"}


def test_any_turn_of_the_day_answers_and_questions_without_a_day_are_left(tmp_path: Path) -> None:
    def said(number: int, day: str) -> dict[str, Any]:
        return {"user": "u", "id": f"m{number}", "time": day, "user_text": "去划船", "assistant_text": "真好"}

    put(
        tmp_path,
        "memorybank_zh_turns.jsonl",
        said(1, "2025-05-01"),
        said(2, "2025-05-02"),
        said(3, "2025-05-02"),
    )
    put(
        tmp_path,
        "memorybank_zh_questions.jsonl",
        {"user": "u", "question": "哪天去划船？", "evidence_day": "2025-05-02"},
        {"user": "u", "question": "去哪里？", "evidence_day": None},
    )
    skipped: Counter[str] = Counter()
    found = retrieval_set("memorybank", tmp_path, skipped)
    assert found.records[0].text == "去划船\n真好"
    assert [question.gold for question in found.questions] == [{"m2", "m3"}]
    assert skipped == {"questions without a day that answers them": 1}


def test_a_limit_takes_the_first_groups_with_their_questions(tmp_path: Path) -> None:
    put(tmp_path, "locomo_turns.jsonl", turn(1), turn(1, conv="c2"), turn(2))
    records = records_of("locomo", tmp_path, Counter())
    questions = [Question(group, "Who?", frozenset({"t1"}), "category 1") for group in ("c2", "c1")]
    part = RetrievalSet(records, questions).first(1)
    assert [record.id for record in part.records] == ["t1", "t2"]
    assert [question.group for question in part.questions] == ["c1"]
    assert RetrievalSet(records, questions).first(None).records == records
