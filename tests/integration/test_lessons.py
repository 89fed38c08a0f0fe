"""Lessons (audience ``namespace``) beside what their author alone may see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.memory import Memory
from rearview.domain.scope import Scope
from tests.house import House, house


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


PAIRS = [
    ("I live in Lisbon", "I live in Porto", "Lisbon"),
    (
        "The deploy window is Friday at 17:00, says Dr. Weiss",
        "The deploy window is Tuesday at 10:00",
        "Weiss",
    ),
    ("我住在北京", "我住在上海", "北京"),
]
SAME = [
    ("Run the linter before every commit", "Run the linter before every commit"),
    ("The release notes are written before the tag.", "the release notes are written before the tag!!"),
    ("提交之前先跑测试", "提交之前先跑测试。"),
]


@pytest.mark.parametrize(("own", "lesson", "secret"), PAIRS)
@pytest.mark.parametrize("lesson_first", [False, True])
def test_a_lesson_shows_nobody_what_its_author_keeps_to_himself(
    h: House, own: str, lesson: str, secret: str, lesson_first: bool
) -> None:
    said = [(own, "user"), (lesson, "namespace")]
    for content, audience in reversed(said) if lesson_first else said:
        h.write(content, user="ann", audience=audience)
    answer = h.recall(lesson, user="bob", explain=True)
    assert [hit.content for hit in answer.hits] == [lesson]
    assert secret not in answer.model_dump_json()
    assert secret not in h.context(lesson, user="bob")


def test_a_question_that_was_opened_across_audiences_is_asked_of_its_own_user_only(h: House) -> None:
    h.write("I live in Lisbon", user="ann")
    lesson = h.write("I live in Porto", user="ann")["id"]
    at = keys.memory(Scope("default", "ann").partition, lesson)

    def teach(uow: object) -> None:
        # As an earlier release left it.
        memory = decode(Memory, uow.get(at))  # type: ignore[attr-defined]
        uow.put(at, encode(replace(memory, audience="namespace")))  # type: ignore[attr-defined]

    h.app.services.store.transact(at.partition, teach)
    h.app.reindexer.reindex()
    assert len(h.recall("I live in Porto", user="ann").conflicts) == 1
    answer = h.recall("I live in Porto", user="bob")
    assert [hit.id for hit in answer.hits] == [lesson]
    assert answer.conflicts == []


def test_a_question_between_two_lessons_is_asked_of_everybody(h: House) -> None:
    for day in ("Friday", "Tuesday"):
        h.write(f"The deploy window is {day} at 17:00", user="ann", audience="namespace")
    assert len(h.recall("deploy window", user="bob").conflicts) == 1


@pytest.mark.parametrize("policy", ["latest", "trusted"])
def test_what_a_user_says_for_himself_ends_no_lesson(h: House, policy: str) -> None:
    h.app.services.conflict_policy = policy  # type: ignore[assignment]
    h.write("The deploy window is Friday at 17:00", user="ann", audience="namespace")
    h.write("The deploy window is Tuesday at 10:00", user="ann")
    assert h.contents("deploy window", user="bob") == ["The deploy window is Friday at 17:00"]


@pytest.mark.parametrize(("own", "lesson"), SAME)
@pytest.mark.parametrize("lesson_first", [False, True])
def test_a_lesson_is_no_repetition_of_what_one_user_alone_may_see(
    h: House, own: str, lesson: str, lesson_first: bool
) -> None:
    said = [(own, "user"), (lesson, "namespace")]
    for content, audience in reversed(said) if lesson_first else said:
        assert h.write(content, user="ann", audience=audience)["verdict"] != "duplicate"
    assert h.contents(lesson, user="bob") == [lesson]


@pytest.mark.parametrize(("first", "again"), SAME)
def test_a_lesson_that_is_told_again_is_one_lesson(h: House, first: str, again: str) -> None:
    kept = h.write(first, user="ann", audience="namespace")["id"]
    repeated = h.write(again, user="ann", audience="namespace")
    assert (repeated["verdict"], repeated["duplicate_of"]) == ("duplicate", kept)
