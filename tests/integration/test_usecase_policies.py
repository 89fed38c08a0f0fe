"""Policies: data per namespace, versioned, told in the ledger, and obeyed by what they are about."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rearview.domain.principal import LOCAL, Principal
from rearview.errors import Conflicting, Forbidden, InvalidInput
from rearview.usecases.fields import read
from rearview.usecases.policy_commands import ChangePolicy, ListPolicies, ReadPolicy
from rearview.usecases.questions import ListLedger
from tests.house import House, house


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def change(home: House, principal: Principal = LOCAL, **fields: Any) -> dict[str, Any]:
    return home.app.policy_keeper.change(principal, read(ChangePolicy, fields))


def policy(home: House, **fields: Any) -> dict[str, Any]:
    return home.app.policy_keeper.get(LOCAL, read(ReadPolicy, fields))


def test_a_namespace_that_nobody_touched_has_the_defaults(home: House) -> None:
    held = policy(home, namespace="quiet")
    assert (held["version"], held["updated_by"]) == (0, None)
    assert held["shelf_lives"] == {
        "working": 3600, "short_term": None, "summary": 604_800, "long_term": None
    }  # fmt: skip
    assert held["archiving"] == {
        "summary_only_days": 30, "cold_days": 90, "turns_days": 30, "purge_days": 30
    }  # fmt: skip


def test_a_change_is_a_new_version_that_keeps_what_it_does_not_name(home: House) -> None:
    change(home, archiving={"cold_days": 120})
    held = change(home, archiving={"turns_days": None}, review_sample=5)
    assert (held["version"], held["archiving"]["cold_days"], held["archiving"]["turns_days"]) == (
        2,
        120,
        None,
    )
    assert policy(home, version=1)["archiving"]["turns_days"] == 30
    assert policy(home, version=0)["archiving"]["cold_days"] == 90


def test_a_change_that_changes_nothing_is_no_version(home: House) -> None:
    assert change(home, archiving={"cold_days": 90})["version"] == 0
    assert change(home, review_sample=7)["version"] == change(home, review_sample=7)["version"] == 1


def test_two_who_change_the_same_version_do_not_overwrite_each_other(home: House) -> None:
    change(home, if_version=0, review_sample=1)
    with pytest.raises(Conflicting):
        change(home, if_version=0, review_sample=2)
    assert policy(home)["review_sample"] == 1


def test_every_change_stands_in_the_chain_of_the_namespace(home: House) -> None:
    change(home, namespace="shop", review_sample=1)
    change(home, namespace="shop", review_sample=2)
    told = home.app.reader.ledger(LOCAL, read(ListLedger, {"namespace": "shop"}))["items"]
    assert [(item["action"], item["ref"]) for item in told] == [
        ("policy_changed", "policy-1"), ("policy_changed", "policy-2")
    ]  # fmt: skip
    assert home.app.reader.ledger(LOCAL, read(ListLedger, {"namespace": "other"}))["items"] == []


def test_the_versions_are_listed_newest_first_page_by_page(home: House) -> None:
    for sample in (1, 2, 3):
        change(home, review_sample=sample)
    first = home.app.policy_keeper.history(LOCAL, read(ListPolicies, {"limit": 2}))
    assert [item["version"] for item in first["items"]] == [3, 2]
    rest = home.app.policy_keeper.history(LOCAL, read(ListPolicies, {"cursor": first["next_cursor"]}))
    assert [item["version"] for item in rest["items"]] == [1]
    assert rest["next_cursor"] is None
    with pytest.raises(InvalidInput):
        home.app.policy_keeper.history(
            LOCAL, read(ListPolicies, {"cursor": first["next_cursor"], "namespace": "other"})
        )


@pytest.mark.parametrize(
    "fields",
    [
        {"archiving": {"cold_days": 0}},
        {"archiving": {"cold_days": 20}},
        {"forgetting": {"mode": "always"}},
        {"forgetting": {"max_confidence": 0.9}},
        {"profile": {"threshold": 0.4}},
        {"consolidation": {"smallest_group": 1}},
        {"shelf_lives": {"trace": 5}},
    ],
)
def test_what_makes_no_sense_is_refused_with_its_field(home: House, fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        change(home, **fields)
    assert refused.value.errors[0].field.startswith(next(iter(fields)))
    assert policy(home)["version"] == 0


@pytest.mark.parametrize(
    "part", ["shelf_lives", "archiving", "forgetting", "consolidation", "profile", "review_sample"]
)
def test_a_whole_part_cannot_be_null_as_if_that_switched_it_off(home: House, part: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        home.app.policy_keeper.change(LOCAL, read(ChangePolicy, {part: None, "conflicts": "latest"}))
    assert [(item.field, item.rule) for item in refused.value.errors] == [(part, "not_null")]
    assert policy(home)["conflicts"] is None


def test_null_takes_the_conflict_policy_back_to_that_of_the_installation(home: House) -> None:
    change(home, conflicts="latest")
    assert change(home, conflicts=None)["conflicts"] is None


def test_only_an_administrator_changes_a_policy_and_only_in_their_namespaces(home: House) -> None:
    auditor = Principal("a", frozenset({"default"}), frozenset({"audit"}))
    with pytest.raises(Forbidden):
        change(home, auditor, review_sample=1)
    stranger = Principal("s", frozenset({"other"}), default_namespace="other")
    with pytest.raises(Forbidden):
        change(home, stranger, namespace="default", review_sample=1)
    with pytest.raises(Forbidden):
        home.app.policy_keeper.get(Principal("r", None, frozenset({"read"})), read(ReadPolicy, {}))


def test_a_shelf_life_of_the_policy_is_that_of_the_next_write(home: House) -> None:
    change(home, shelf_lives={"short_term": 600, "working": None})
    short = home.write("The parcel for Ms Osei arrived this morning.", memory_type="short_term")["memory"]
    assert short["expires_at"] is not None
    working = home.write("我们正在核对三月的发票。", memory_type="working", session_id="s")["memory"]
    assert working["expires_at"] is None
    other = home.write(
        "The parcel for Ms Osei arrived this morning.", memory_type="short_term", namespace="other"
    )
    assert other["memory"]["expires_at"] is None


def test_the_conflict_policy_of_the_namespace_is_that_of_its_conflicts(home: House) -> None:
    change(home, conflicts="latest")
    home.write("My favourite colour is blue.")
    home.clock.advance(hours=1)
    new = home.write("My favourite colour is red.")
    assert new["supersedes"]


def test_another_process_goes_by_a_change_within_seconds(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = home.app.services.policies
    assert held.of("default").review_sample == 100
    # As another process would: past this one's memory of the policy.
    before = dict(held._held)
    change(home, review_sample=3)
    held._held.update(before)
    assert held.of("default").review_sample == 100
    monkeypatch.setattr("rearview.usecases.policies.FRESH", -1.0)
    assert held.of("default").review_sample == 3


@pytest.mark.parametrize("text", ["My phone number is 555-0101.", "我的手机号是 13800000001。"])
def test_what_a_turn_holds_lives_as_long_as_the_namespace_says(home: House, text: str) -> None:
    change(home, shelf_lives={"long_term": 86_400})
    (result,) = home.turns([{"role": "user", "content": text}], session_id="s")["results"]
    (answer,) = result["memories"]
    memory = home.get(answer["id"])
    life = datetime.fromisoformat(memory["expires_at"]) - datetime.fromisoformat(memory["created_at"])
    assert abs(life - timedelta(days=1)) < timedelta(seconds=1)
    home.clock.advance(days=2)
    assert home.memories() == []


@pytest.mark.parametrize("text", ["The offer is valid until tomorrow.", "优惠券明天到期。"])
def test_a_long_shelf_life_does_not_outlast_the_day_that_a_text_itself_names(home: House, text: str) -> None:
    tomorrow = home.write(text)["memory"]["expires_at"]
    assert tomorrow.startswith("2026-03-04T00:00:00")
    for days, ends in ((365, tomorrow[:10]), (1, "2026-03-03")):
        change(home, shelf_lives={"long_term": days * 86_400})
        assert home.write(text, user=f"u{days}")["memory"]["expires_at"].startswith(ends)
    assert home.write(text, user="other", ttl_seconds=864_000)["memory"]["expires_at"] > "2026-03-12"
