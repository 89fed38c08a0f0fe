"""Like episodes become one memory: through the whole house."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from rearview.domain import keys
from rearview.errors import Unavailable
from tests.house import House
from tests.integration.consolidation_kit import (
    MARCH,
    ORDER_LIST,
    SCOPE,
    abstractions,
    consolidate,
    opened,
    told,
    订单,
)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as found:
        yield found


def test_like_episodes_become_one_memory_with_count_dates_and_evidence(home: House) -> None:
    ids = told(home, ORDER_LIST)
    result = consolidate(home)
    (made,) = abstractions(home)
    assert made["content"] == (
        "Asked for the order list: 4 times since 3 March 2026, last on 24 March 2026, mostly by date ascending (3 of 4)."
    )
    assert made["metadata"]["consolidation"]["count"] == 4
    assert made["metadata"]["consolidation"]["since"].startswith("2026-03-03T10:00")
    assert made["metadata"]["consolidation"]["until"].startswith("2026-03-24T10:00")
    assert (made["memory_type"], made["kind"], made["origin"]) == ("long_term", "conclusion", "agent")
    assert made["valid_from"].startswith("2026-03-03")
    for memory_id in ids:
        episode = home.get(memory_id)
        assert (episode["status"], episode["archived_because"]) == ("archived", "consolidated")
        assert episode["content"] in ORDER_LIST
    assert result.counts == {"consolidated": 1}
    assert result.changes[0].undo == f"DELETE /v1/memories/{made['id']}"
    assert result.changes[0].reason == "like episodes: 4 times, 2026-03-03 to 2026-03-24"


def test_它用中文说出次数与起止(home: House) -> None:
    told(home, 订单)
    consolidate(home)
    (made,) = abstractions(home)
    assert (
        made["content"]
        == "用户自2026年3月3日起共4次要求订单列表，最近一次2026年3月24日，多为按日期升序（4次中3次）。"
    )


def test_the_abstraction_is_recalled_and_the_episodes_only_when_the_archive_is_asked(home: House) -> None:
    ids = told(home, ORDER_LIST)
    consolidate(home)
    assert [hit.id for hit in home.recall("order list").hits] == [abstractions(home)[0]["id"]]
    assert abstractions(home)[0]["content"] in home.context("order list")
    assert set(ids) & {hit.id for hit in home.recall("order list", include_archived=True).hits}


@pytest.mark.parametrize(
    "strange",
    [
        "Asked for the invoice list",
        "My colleague asked for the order list",
        "Did not ask for the order list",
        "Asked for the top 5 of the order list",
        "Asked for the order list due 30 June 2026",
        "同事要求订单列表",
        "用户没有要求订单列表",
        "用户要求发票列表",
        "用户要求前5个订单列表",
    ],
)
def test_what_differs_in_object_subject_number_date_or_denial_stays_out(home: House, strange: str) -> None:
    same = 订单[:3] if not strange.isascii() else ORDER_LIST[:3]
    ids = told(home, [*same, strange])
    consolidate(home)
    (made,) = abstractions(home)
    assert made["metadata"]["consolidation"]["count"] == 3
    assert home.get(ids[-1])["status"] == "active"


def test_fewer_than_the_policy_asks_for_stay_as_they_are(home: House) -> None:
    told(home, ORDER_LIST[:2])
    assert consolidate(home).counts == {}
    assert consolidate(home, 2).counts == {"consolidated": 1}


def test_where_the_policy_switches_it_off_nothing_is_consolidated(home: House) -> None:
    told(home, ORDER_LIST)
    assert consolidate(home, enabled=False).counts == {}


def test_a_dry_run_tells_and_writes_nothing(home: House) -> None:
    told(home, ORDER_LIST)
    before = home.app.services.store.get(keys.head(SCOPE.partition))
    assert consolidate(home, dry_run=True).counts == {"consolidated": 1}
    assert home.app.services.store.get(keys.head(SCOPE.partition)) == before


def test_what_the_user_called_important_or_reworded_stays(home: House) -> None:
    ids = told(home, [*ORDER_LIST, *ORDER_LIST[:1]])
    home.patch(ids[0], importance=0.9)
    home.patch(ids[1], content="Requested the order list by date ascending")
    home.drain()
    consolidate(home)
    assert home.get(ids[0])["status"] == home.get(ids[1])["status"] == "active"
    assert abstractions(home)[0]["metadata"]["consolidation"]["count"] == 3


def test_what_has_a_date_to_go_is_not_made_to_last(home: House) -> None:
    told(home, ORDER_LIST, ttl_seconds=86_400)
    assert consolidate(home).counts == {}


def test_preferences_and_instructions_are_no_episodes(home: House) -> None:
    told(home, ["Wants the order list by date"] * 3, kind="preference")
    told(home, ["Send the order list by date"] * 3, kind="instruction", memory_type="long_term")
    assert consolidate(home).counts == {}


def test_words_that_came_again_and_landed_on_their_memory_count(home: House) -> None:
    for day in range(4):
        home.write(
            "Watered the ferns in the hallway",
            memory_type="short_term",
            kind="event",
            admission="force",
            occurred_at=(MARCH + timedelta(days=day)).isoformat(),
        )
    assert consolidate(home).counts == {"consolidated": 1}
    (made,) = abstractions(home)
    assert made["metadata"]["consolidation"]["count"] == 4
    assert made["metadata"]["consolidation"]["until"].startswith("2026-03-06")


def test_that_the_user_confirmed_it_is_no_occurrence(home: House) -> None:
    ids = told(home, ORDER_LIST[:2])
    home.patch(ids[0], confirmed=True)
    home.drain()
    assert consolidate(home).counts == {}


# --- with a language model ---


class Model:
    """Answers what it was given."""

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer

    def complete(self, _prompt: str, _schema: Any, *, max_tokens: int = 512) -> dict[str, Any]:
        if isinstance(self.answer, Exception):
            raise self.answer
        return {"content": self.answer}


def test_a_models_wording_that_keeps_to_the_evidence_is_taken(home: House) -> None:
    told(home, ORDER_LIST)
    wording = (
        "The user asked 4 times for the order list, first on 3 March 2026 and most recently on 24 March 2026."
    )
    home.app.services.language_model = Model(wording)
    consolidate(home)
    assert abstractions(home)[0]["content"] == wording


@pytest.mark.parametrize(
    "answer",
    [
        "The user asked 40 times for the order list, first on 3 March 2026, last on 24 March 2026.",
        "The user asked 4 times for the order list since 3 March 2026.",
        "The user asked Nordwind 4 times for the order list, first on 3 March 2026, last on 24 March 2026.",
        "The user never asked for the order list, 4 times, first on 3 March 2026, last on 24 March 2026.",
        "用户4次要求订单列表，首次2026年3月3日，最近2026年3月24日。",
        "",
        Unavailable("away"),
    ],
)
def test_one_that_does_not_is_left(home: House, answer: Any) -> None:
    told(home, ORDER_LIST)
    home.app.services.language_model = Model(answer)
    consolidate(home)
    assert abstractions(home)[0]["content"].startswith("Asked for the order list: 4 times since")


def test_one_that_went_cold_says_no_more_than_its_evidence_either(home: House) -> None:
    ids = told(home, ORDER_LIST)
    consolidate(home)
    (made,) = abstractions(home)
    home.patch(made["id"], kind="event")
    home.drain()
    home.clock.advance(days=100)
    run = home.app.maintainer.start("default", "daily", by="test")
    assert home.app.maintainer.advance(run, lambda: False, inline=True)
    assert home.get(made["id"])["status"] == "archived"
    home.delete(ids[0])
    home.drain()
    now = home.get(made["id"])
    assert "3 times since 10 March 2026" in now["content"]
    assert "3 times" in now["summary"]
    assert now["content"] in home.contents("order list", include_content=True, include_archived=True)
