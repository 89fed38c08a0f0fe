"""The profile verb and its upkeep: at once after what the user wants, daily for all else, never more than evidence allows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from rearview.domain.policy import ProfileRules
from rearview.errors import InvalidInput
from tests.house import House, house
from tests.integration.profile_kit import daily, get, items, kept, log


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


BY = {
    "en": (
        "Sort my orders by date",
        "Please show my orders by amount",
        "From now on, sort my orders by amount",
    ),
    "zh": ("订单按日期排序", "请把订单按金额排一下", "从现在起，订单都按金额排序"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_the_user_wants_is_in_the_profile_at_once_with_its_share(h: House, language: str) -> None:
    by_date, by_amount, _ = BY[language]
    log(h, *[by_date] * 4, by_amount, *[by_date] * 4, by_amount)
    item = items(h)["sort order: order"]
    assert (item["canonical"], item["confidence"], item["count"], item["total"]) == ("date", 0.8, 8, 10)
    assert [(one["canonical"], one["count"]) for one in item["counts"]] == [("date", 8), ("amount", 2)]
    # The same words again confirm the first memory: one memory is the evidence of all eight.
    assert len(item["evidence"]) == 1
    assert len(item["confirmations"]) == 7
    assert item["origins"] == ["user"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_switch_without_words_is_seen_after_the_sixth_and_one_with_words_at_once(
    h: House, language: str
) -> None:
    by_date, by_amount, from_now_on = BY[language]
    log(h, *[by_date] * 10)
    seen = []
    for number in range(6):
        log(h, by_amount, first=10 + number)
        daily(h)
        seen.append(items(h).get("sort order: order", {}).get("canonical"))
    assert seen == ["date", "date", "date", "date", None, "amount"]
    log(h, *[by_date] * 10, user="v")
    log(h, from_now_on, user="v", first=10)
    item = items(h, "v")["sort order: order"]
    assert (item["canonical"], item["count"], item["total"]) == ("amount", 1, 1)


def test_facts_wait_for_the_daily_round_which_done_twice_changes_nothing(h: House) -> None:
    h.write("I live in Ghent")
    h.write("我的工号是 B7731")
    assert items(h) == {}
    result = daily(h)
    assert result.counts == {"written": 2}
    assert {change.reason for change in result.changes} == {
        "1 of the last 1 tasks that spoke of it say the same"
    }
    assert {change.refs for change in result.changes} == {
        tuple(item["evidence"]) for item in items(h).values()
    }
    before = kept(h)
    assert daily(h).counts == {}
    assert kept(h) == before
    # Anew from all memories it comes out the same.
    h.write("The parcel came on Tuesday")
    assert daily(h).counts == {}
    assert {key: body for key, body in kept(h).items() if key != "F#~"} == {
        key: body for key, body in before.items() if key != "F#~"
    }


def test_a_dry_run_tells_what_it_would_do_and_does_nothing(h: House) -> None:
    h.write("I live in Ghent")
    assert daily(h, dry_run=True).counts == {"written": 1}
    assert kept(h) == {}
    daily(h)
    later = h.clock.now() + timedelta(days=400)
    assert daily(h, dry_run=True, as_of=later, policy=ProfileRules(threshold=0.7)).counts == {}


def test_other_rules_are_followed_at_the_next_round(h: House) -> None:
    log(h, *["Sort my orders by date"] * 6, *["Sort my orders by amount"] * 4)
    assert items(h)["sort order: order"]["confidence"] == 0.6
    assert daily(h, policy=ProfileRules(threshold=0.7)).counts == {"removed": 1}
    assert items(h) == {}
    assert daily(h, policy=ProfileRules(window=5)).counts == {"written": 1}
    assert items(h)["sort order: order"]["canonical"] == "amount"


@pytest.mark.parametrize(("user", "content"), [("u", "Keep answers short"), ("v", "回答尽量简短")])
def test_a_deletion_takes_the_entry_along_and_a_restore_brings_it_back(
    h: House, user: str, content: str
) -> None:
    answer = h.write(content, user)
    assert "answer length" in items(h, user)
    h.delete(answer["id"])
    # Already before anything was reckoned anew: its evidence is looked at when it is read.
    assert items(h, user) == {}
    h.drain(user)
    assert not [key for key in kept(h, user) if key.startswith("F#") and key != "F#~"]
    h.restore(answer["id"])
    h.drain(user)
    assert "answer length" in items(h, user)


def test_a_deleted_fact_is_gone_from_the_profile_by_the_next_round(h: House) -> None:
    one, _ = h.write("I live in Ghent"), h.write("My birthday is 4 May")
    daily(h)
    h.delete(one["id"])
    assert set(items(h)) == {"birthday"}
    assert daily(h).counts == {"removed": 1}
    assert daily(h).counts == {}


def test_an_expired_memory_is_evidence_no_more(h: House) -> None:
    h.write("Keep answers short", ttl_seconds=3600)
    assert set(items(h)) == {"answer length"}
    h.clock.advance(hours=2)
    assert items(h) == {}
    assert daily(h).counts == {"removed": 1}


def test_a_reworded_memory_counts_as_what_it_says_now_from_then_on(h: House) -> None:
    answers = log(h, *["Sort my orders by date"] * 3)
    log(h, "Orders sorted by date", first=3)
    h.patch(answers[0]["id"], content="Sort my orders by amount")
    h.drain()
    daily(h)
    item = items(h)["sort order: order"]
    assert (item["canonical"], item["count"], item["total"]) == ("amount", 1, 1)


def test_a_confirmation_of_the_user_counts_with_its_date(h: House) -> None:
    first, _ = log(h, "Sort my orders by date", "Sort my orders by amount")
    assert items(h) == {}
    h.patch(first["id"], confirmed=True)
    h.drain()
    item = items(h)["sort order: order"]
    assert (item["canonical"], item["count"], item["total"], len(item["confirmations"])) == ("date", 2, 3, 1)


@pytest.mark.parametrize(
    ("old", "new", "key", "value"),
    [
        ("I live in Ghent", "I moved to Bruges", "residence", "Bruges"),
        ("我住在杭州", "我搬到苏州了", "residence", "苏州"),
        ("Sort my orders by date", "From now on, sort my orders by amount", "sort order: order", "amount"),
    ],
)
def test_a_contradiction_shows_the_latest_with_its_open_conflict_until_it_is_settled(
    h: House, old: str, new: str, key: str, value: str
) -> None:
    first, second = h.write(old), h.write(new)
    (conflict,) = second["conflicts"]
    daily(h)
    item = items(h)[key]
    assert (item["value"], item["conflict"]) == (value, conflict["id"])
    h.resolve(conflict["id"], keep=second["id"])
    assert items(h)[key]["conflict"] is None
    h.drain()
    daily(h)
    assert (items(h)[key]["value"], items(h)[key]["conflict"]) == (value, None)
    assert items(h)[key]["evidence"] == [second["id"]]
    assert first["id"] not in items(h)[key]["evidence"]


def test_two_homes_in_dispute_are_no_entry(h: House) -> None:
    h.write("I live in Ghent")
    h.write("I live in Bruges")
    daily(h)
    assert items(h) == {}


def test_where_the_latest_wins_by_policy_the_profile_follows(tmp_path: Path) -> None:
    with house(tmp_path, conflict_policy="latest") as h:
        log(h, "I live in Ghent", "I live in Bruges")
        daily(h)
        assert (items(h)["residence"]["value"], items(h)["residence"]["total"]) == ("Bruges", 1)


def test_preferences_that_no_slot_fits_count_by_their_tag(h: House) -> None:
    for text in ("Oolong, no sugar", "Jasmine with milk", "Oolong, no sugar"):
        h.write(text, kind="preference", tags=["tea"], admission="force")
        h.clock.advance(days=1)
    item = items(h)["tag: tea"]
    assert (item["value"], item["count"], item["total"], item["slot"]) == ("Oolong, no sugar", 2, 3, None)


def test_each_user_has_a_profile_of_his_own(h: House) -> None:
    h.write("Keep answers short", "u")
    h.write("回答尽量详细", "v")
    assert items(h, "u")["answer length"]["canonical"] == "short"
    assert items(h, "v")["answer length"]["canonical"] == "detailed"
    assert get(h, "nobody") == {
        "user_id": "nobody", "namespace": "default", "updated_at": None, "items": [], "next_cursor": None,
    }  # fmt: skip
    assert daily(h, "nobody").counts == {}
    # All of it lies in the user's own partition, where erasure finds it.
    mine = {key for key in kept(h, "u") if key.startswith("F#")}
    assert len(mine) == 2
    assert not mine & {key for key in kept(h, "v") if key != "F#~"}


def test_pages_hold_the_most_certain_first_and_together_everything_once(h: House) -> None:
    for number in range(7):
        h.write(f"I like board game number {number + 1}")
    log(h, *["Sort my orders by date"] * 3, "Sort my orders by amount")
    daily(h)
    seen, cursor = [], None
    while True:
        page = get(h, limit=3, cursor=cursor) if cursor else get(h, limit=3)
        seen += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len({item["key"] for item in seen}) == len(seen) == 8
    assert [item["confidence"] for item in seen] == sorted((i["confidence"] for i in seen), reverse=True)
    with pytest.raises(InvalidInput):
        get(h, "v", cursor=get(h, limit=3)["next_cursor"])
