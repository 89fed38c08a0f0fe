"""Profiles: what a user's memories say by slot, counted over tasks, with shares and evidence."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.profile_kit import ORDERS, SCOPE, START, log, memory, orders, profile, rules

from rearview.domain.memory import Repeat
from rearview.domain.policy import ProfileRules
from rearview.domain.records import Conflict
from rearview.domain.sayings import read_into

# --- shares


@pytest.mark.parametrize(
    ("dates", "amounts", "wanted"),
    [(8, 2, ("date", 8, 10)), (6, 4, ("date", 6, 10)), (5, 5, None), (10, 0, ("date", 10, 10)), (1, 0, ("date", 1, 1))],
)  # fmt: skip
@pytest.mark.parametrize(
    ("by_date", "by_amount"),
    [
        ("Sort my orders by date", "User wants orders sorted by amount"),
        ("订单按日期排序", "用户要求按金额查看订单"),
    ],
)
def test_the_share_of_a_value_is_its_confidence_and_below_the_threshold_there_is_no_entry(
    dates: int, amounts: int, wanted: tuple[str, int, int] | None, by_date: str, by_amount: str
) -> None:
    memories = log(*[by_amount] * amounts, *[by_date] * dates)
    assert orders(memories) == wanted
    if wanted is not None:
        assert profile(memories)[ORDERS.key].confidence == wanted[1] / wanted[2]


def test_both_languages_count_as_one_value() -> None:
    memories = log("Sort my orders by date", "订单按日期排序", "請把訂單按金額排序", "Show my orders by date")
    assert orders(memories) == ("date", 3, 4)


def test_several_mentions_in_one_session_count_once_as_the_latest() -> None:
    memories = log("Sort my orders by date", "Sort my orders by amount", "Orders sorted by amount")
    together = [replace(item, session_id="one") for item in memories[:2]]
    assert orders([*together, memories[2]]) == ("amount", 2, 2)


def test_memories_without_a_session_are_tasks_of_their_own() -> None:
    assert orders(log("Sort my orders by date", "订单按日期排序", session_id=None)) == ("date", 2, 2)


def test_only_the_last_tasks_of_the_window_count() -> None:
    memories = log(*["Sort my orders by amount"] * 20, *["Sort my orders by date"] * 6)
    assert orders(memories) == ("date", 6, 10)
    assert orders(memories[:-1]) is None
    assert orders(memories, policy=ProfileRules(window=26)) == ("amount", 20, 26)
    assert orders(memories, policy=ProfileRules(threshold=0.7)) is None
    made = profile(memories)[ORDERS.key]
    assert [(one.canonical, one.count, one.ever) for one in made.counts] == [
        ("date", 6, 6),
        ("amount", 4, 20),
    ]


def test_repetitions_count_by_their_dates_and_sessions() -> None:
    first = memory(
        0,
        "Sort my orders by date",
        confirmations=3,
        repeats=tuple(Repeat(START + timedelta(days=day), f"s{day}") for day in (0, 2, 3)),
    )
    made = profile([first, memory(1, "Sort my orders by amount")])[ORDERS.key]
    # One of them came in the session of the memory itself.
    assert (made.count, made.total) == (3, 4)
    assert made.confirmations == tuple(START + timedelta(days=day) for day in (0, 2, 3))
    assert made.last_updated == START + timedelta(days=3)


def test_a_merged_memory_counts_beside_its_survivor_and_not_twice() -> None:
    kept = memory(0, "Sort my orders by date", confirmations=1, last_confirmed_at=START + timedelta(days=1))
    gone = memory(1, "订单按日期排序", status="merged", merged_into=kept.id)
    made = profile([kept, gone])[ORDERS.key]
    assert (made.count, made.total, made.evidence) == (2, 2, (kept.id,))
    assert profile([replace(kept, status="deleted"), gone]) == {}


def test_a_consolidated_memory_counts_through_its_episodes() -> None:
    episodes = [
        replace(item, status="archived", archived_because="consolidated", consolidated_into="9")
        for item in log("Sort my orders by date", "订单按日期排序")
    ]
    whole = memory(5, "The user sorts orders by date", evidence=tuple(item.id for item in episodes))
    assert orders([*episodes, whole]) == ("date", 2, 2)
    assert orders([whole]) == ("date", 1, 1)


@pytest.mark.parametrize(
    "gone",
    [
        {"status": "deleted"},
        {"status": "quarantined"},
        {"status": "archived", "archived_because": "blame"},
        {"memory_type": "working"},
        {"audience": "namespace"},
        {"expires_at": START},
    ],
)
def test_what_is_gone_or_not_of_this_user_alone_counts_no_more(gone: dict[str, Any]) -> None:
    assert profile(log("Sort my orders by date", **gone)) == {}


def test_what_went_cold_still_counts() -> None:
    assert orders(log("订单按日期排序", status="archived", archived_because="cold")) == ("date", 1, 1)


def test_a_choice_about_nothing_in_particular_is_about_the_one_thing_of_which_it_is_made() -> None:
    assert orders(log("Sort my orders by date", "Sort by date", "按金额排序")) == ("date", 2, 3)
    assert set(profile(log("Sort my orders by date", "Sort files by name", "Sort by size"))) == {
        "sort order: order",
        "sort order: file",
        "sort order",
    }


# --- switches


@pytest.mark.parametrize("words", ["From now on, sort my orders by amount", "以后订单都按金额排序"])
def test_an_explicit_switch_restarts_the_count(words: str) -> None:
    memories = log(*["Sort my orders by date"] * 10, words)
    assert orders(memories) == ("amount", 1, 1)
    assert orders([*memories, memory(20, "订单按日期排序")]) is None


@pytest.mark.parametrize("words", ["Don't sort my orders by date any more", "以后订单不要按日期排序"])
def test_what_is_not_wanted_any_more_is_in_no_entry(words: str) -> None:
    assert orders(log(*["Sort my orders by date"] * 10, words)) is None


def test_a_correction_restarts_the_count() -> None:
    memories = log(*["Sort my orders by date"] * 10)
    assert orders([*memories, memory(20, "Sort my orders by amount", kind="correction")]) == ("amount", 1, 1)
    reworded = replace(memories[3], content="Sort my orders by amount", corrected=True)
    others = [item for item in memories if item.id != reworded.id]
    assert orders([*others, reworded]) == ("date", 9, 10)
    assert orders([*others, reworded], corrected={reworded.id: START + timedelta(days=30)}) == (
        "amount",
        1,
        1,
    )


def test_a_settled_supersede_restarts_the_count_where_the_winner_begins() -> None:
    old, new = log("I live in Leeds", "I live in York")
    lost = replace(old, status="superseded", superseded_by=new.id)
    made = profile([lost, new])["residence"]
    assert (made.value, made.confidence) == ("York", 1.0)
    # The older one won: what lost is not counted.
    made = profile([old, replace(new, status="superseded", superseded_by=old.id)])["residence"]
    assert (made.value, made.count, made.total) == ("Leeds", 1, 1)


def test_a_new_home_ends_the_old_one_without_a_settlement() -> None:
    assert profile(log("I live in Leeds", "I moved to York"))["residence"].value == "York"
    assert profile(log("我住在杭州", "我住在杭州西湖边", "我搬到苏州了"))["residence"].value == "苏州"


# --- other slots


def test_of_what_one_has_many_each_is_an_entry_of_its_own() -> None:
    made = profile(log("I like coffee", "I like hiking", "我喜欢喝咖啡", "I don't like coriander"))
    assert {(one.slot, one.item, one.value) for one in made.values()} == {
        ("likes", "coffee", "咖啡"),
        ("likes", "hike", "hiking"),
        ("likes", "coriander", "not coriander"),
    }
    assert made["likes: coffee"].count == 2


def test_others_have_entries_under_their_names() -> None:
    assert set(profile(log("My brother lives in Lyon", "I live in Ghent"))) == {
        "my brother: residence",
        "residence",
    }


def test_a_denied_home_is_no_entry() -> None:
    assert profile(log("I do not live in Leeds")) == {}


def test_a_home_that_was_only_until_then_is_no_entry() -> None:
    assert profile(log("I live in Leeds", valid_to=START + timedelta(days=5))) == {}


def test_preferences_that_no_slot_fits_count_by_tag() -> None:
    memories = [
        memory(number, text, kind="preference", tags=("ＴＥＡ",) if number else ("tea",))
        for number, text in enumerate(
            ["Oolong, no sugar", "oolong no sugar!", "Jasmine with milk", "Oolong, no sugar."]
        )
    ]
    made = profile(memories)["tag: tea"]
    assert (made.value, made.count, made.total, made.slot) == ("Oolong, no sugar.", 3, 4, None)
    assert profile([replace(item, kind="fact") for item in memories]) == {}
    assert profile([replace(item, tags=()) for item in memories]) == {}


def test_an_open_conflict_is_named_and_puts_the_latest_in_front() -> None:
    memories = log("I live in Leeds", "I live in Leeds, near the river", "I live in Leeds", "I live in York")
    sides = (memories[0].id, memories[3].id)
    conflict = Conflict("C1", SCOPE, "value", "user", "residence", sides, "?", "open", START, START)
    made = profile(memories, conflicts=(conflict,))["residence"]
    assert (made.value, made.confidence, made.latest, made.conflict) == ("Leeds", 0.75, "York", "C1")
    assert made.counts[0].value == "York"
    closed = replace(conflict, state="resolved")
    made = profile(memories, conflicts=(closed,))["residence"]
    assert (made.conflict, made.counts[0].value) == (None, "Leeds")


def test_five_thousand_memories_take_less_than_two_seconds() -> None:
    memories = [
        read_into(one, one.content, rules())
        for one in log(*(f"Sort my orders by {('date', 'amount')[n % 3 == 0]}" for n in range(5_000)))
    ]
    started = time.process_time()
    assert profile(memories)[ORDERS.key].total == 10
    assert time.process_time() - started < 2
