"""Where it is noted that the user called a memory important, or corrected it, and how far that goes with the memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.domain.scope import Scope
from tests.house import House, house
from tests.integration.transfer_kit import lines_of, restore

TEA = "She prefers green tea in the morning."


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "one") as one:
        yield one


def memory(h: House, memory_id: str) -> Memory:
    body = h.app.services.store.get(keys.memory(Scope("default", "u").partition, memory_id))
    assert body is not None
    return decode(Memory, body)


def facts(h: House, memory_id: str) -> tuple[bool, bool, int]:
    one = memory(h, memory_id)
    return one.importance_stated, one.corrected, one.confirmations


@pytest.mark.parametrize(
    ("fields", "stated"),
    [
        ({"importance": 0.8}, True),
        ({"importance": 0.79}, False),
        ({}, False),
        ({"importance": 0.95, "origin": "agent"}, False),
        ({"importance": 0.95, "origin": "document"}, False),
        ({"importance": 0.95, "admission": "verbatim"}, True),
    ],
)
@pytest.mark.parametrize("content", [TEA, "她早上喜欢喝绿茶。"])
def test_only_the_users_own_word_at_the_write_calls_it_important(
    h: House, content: str, fields: dict[str, Any], stated: bool
) -> None:
    written = h.write(content, **{"admission": "force", **fields})
    assert facts(h, written["id"])[0] is stated


def test_an_importance_that_the_service_estimates_states_nothing(h: House) -> None:
    written = h.write("My blood type is AB negative and I am allergic to penicillin!")
    turns = h.turns([{"role": "user", "content": "我对青霉素过敏，千万要记住。"}])
    ids = [written["id"], *(item["id"] for item in turns["results"][0]["memories"])]
    assert len(ids) > 1
    assert not any(facts(h, item)[0] for item in ids)


def test_an_edit_of_the_importance_states_it_and_takes_it_back(h: House) -> None:
    one = h.write(TEA, importance=0.5)["id"]
    h.patch(one, importance=0.85)
    assert facts(h, one)[0]
    h.patch(one, tags=["tea"])
    assert facts(h, one)[0]
    h.patch(one, importance=0.6)
    assert not facts(h, one)[0]


def test_a_failure_takes_importance_and_not_the_users_word(h: House) -> None:
    one = h.write(TEA, importance=0.8)["id"]
    decided = h.decide("what to serve", "green tea", memory_ids=[one])
    h.outcome(decided["id"], "failure")
    assert memory(h, one).importance < 0.8
    assert facts(h, one)[0]


def test_new_words_are_a_correction_and_the_same_words_are_none(h: House) -> None:
    one = h.write(TEA)["id"]
    h.patch(one, content=TEA)
    h.patch(one, tags=["tea"])
    assert not facts(h, one)[1]
    h.patch(one, content="她早上喜欢喝红茶。")
    assert facts(h, one)[1]


def test_the_kind_correction_is_one(h: House) -> None:
    assert facts(h, h.write(TEA, kind="correction")["id"])[1]
    other = h.write("The gate code is 4321.")["id"]
    h.patch(other, kind="correction")
    assert facts(h, other)[1]


def test_a_repeat_that_calls_it_important_says_so_of_the_one_that_stands(h: House) -> None:
    one = h.write(TEA, importance=0.4)["id"]
    assert h.write(TEA, importance=0.9)["duplicate_of"] == one
    assert facts(h, one) == (True, False, 1)


def test_what_is_merged_hands_on_what_the_user_said_of_it(h: House) -> None:
    one = h.write("I am allergic to peanuts", importance=0.4)["id"]
    two = h.write("I'm allergic to peanuts!", importance=0.9)
    assert two["duplicate_of"] == one
    assert two["id"] != one, "a near-duplicate, not the same words"
    assert facts(h, one) == (True, False, 1)


def test_export_and_import_keep_what_the_user_said(h: House, tmp_path: Path) -> None:
    stated = h.write(TEA, importance=0.9)["id"]
    corrected = h.write("The gate code is 4321.")["id"]
    h.patch(corrected, content="大门密码是四三二一。")
    h.drain()
    with house(tmp_path / "two") as other:
        restore(other.app, lines_of(h.app))
        assert facts(other, stated) == (True, False, 0)
        assert facts(other, corrected) == (False, True, 0)
        other.drain()
        assert other.audit()["ok"]


def test_an_import_that_is_known_here_under_another_id_hands_it_on_too(h: House, tmp_path: Path) -> None:
    one = h.write(TEA, importance=0.9)["id"]
    h.patch(one, confirmed=True)
    h.drain()
    with house(tmp_path / "two") as other:
        mine = other.write(TEA, importance=0.4)["id"]
        restore(other.app, lines_of(h.app))
        assert memory(other, one).merged_into == mine
        assert facts(other, mine) == (True, False, 1)
        other.drain()
        assert other.audit()["ok"]
