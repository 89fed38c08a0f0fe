"""The weekly sample: which important memories people are asked to look at, and what becomes of them."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rearview.domain.memory import Memory
from rearview.domain.principal import Principal
from rearview.usecases.fields import read
from rearview.usecases.maintenance import review
from rearview.usecases.policy_commands import ChangePolicy
from tests.house import House, house
from tests.integration.forgetting_kit import everything, finding, reports, run, states

USERS = ("mira", "小林", "Зоя")


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def important(h: House, content: str, user: str = "u", **more: Any) -> str:
    fields = {"importance": 0.9, "kind": "fact", "admission": "verbatim", **more}
    memory_id: str = h.write(content, user, **fields)["id"]
    return memory_id


def sample_size(h: House, size: int) -> None:
    h.app.policy_keeper.change(h.principal, read(ChangePolicy, {"review_sample": size}))


def the_report(h: House) -> dict[str, Any]:
    return h.app.auditor.get(h.principal, reports(h, "review")[0]["id"])


def test_only_important_memories_that_stand_are_drawn(h: House) -> None:
    peanuts = important(h, "我对花生过敏。")
    passport = important(h, "My passport is in the blue drawer.", importance=0.8)
    important(h, "The tram was late.", importance=0.79)
    gone = important(h, "The gate code is 4321.")
    h.delete(gone)
    important(h, "Here and now only.", memory_type="working", session_id="s")
    result = run(h, "review")
    report = the_report(h)
    assert set(states(report)) == {peanuts, passport}
    assert (report["kind"], report["user_id"], report["counts"]) == ("review", None, {"drawn": 2})
    assert result.counts == {"drawn": 2}
    one = finding(report, peanuts)
    assert (one["state"], one["detail"], one["severity"]) == (None, "我对花生过敏。", "info")
    assert one["mend"] == f"PATCH /v1/memories/{peanuts}"
    assert one["mends"][-1] == f"DELETE /v1/memories/{peanuts}"


def test_the_sample_keeps_no_content_and_shows_it_to_readers_only(h: House) -> None:
    important(h, "我对花生过敏。")
    run(h, "review")
    assert "花生" not in str([body for key, body in everything(h) if key.sort.startswith("A#")])
    auditor = Principal("key:1", frozenset({"default"}), frozenset({"audit"}))
    audit_id = reports(h, "review")[0]["id"]
    assert "花生" not in str(h.app.auditor.get(auditor, audit_id))


@pytest.mark.parametrize("order", list(itertools.permutations(USERS)))
def test_whatever_the_order_of_users_the_sample_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: tuple[str, ...]
) -> None:
    monkeypatch.setattr(review, "rank", by_content)
    drawn = []
    for folder, users in (("one", USERS), ("two", order)):
        with house(tmp_path / folder) as h:
            sample_size(h, 5)
            ids = {
                important(h, f"{user} keeps key number {number} safe.", user): (user, number)
                for user in USERS
                for number in range(4)
            }
            for user in users:
                run(h, "review", user)
            drawn.append([ids[item] for item in states(the_report(h))])
    assert len(drawn[0]) == 5
    assert drawn[0] == drawn[1]


def by_content(week: str, memory: Memory) -> str:
    """Ids are random: from house to house memories are known by what they say."""
    return hashlib.sha256(f"{week}{memory.content}".encode()).hexdigest()


def test_drawn_twice_in_a_week_nothing_changes_and_another_week_draws_anew(h: House) -> None:
    sample_size(h, 3)
    for number in range(12):
        important(h, f"第{number}号钥匙放在保险箱里。")
    run(h, "review")
    first = set(states(the_report(h)))
    before = everything(h)
    assert run(h, "review").counts == {}
    assert everything(h) == before
    weeks = []
    for _ in range(4):
        h.clock.advance(days=7)
        run(h, "review")
        weeks.append(set(states(the_report(h))))
    assert len(reports(h, "review")) == 5
    assert all(len(week) == 3 for week in weeks)
    assert any(week != first for week in weeks)


def test_what_is_written_after_the_draw_pushes_nothing_out_in_the_same_week(h: House) -> None:
    sample_size(h, 2)
    first = {important(h, "我对花生过敏。"), important(h, "My passport is in the blue drawer.")}
    run(h, "review")
    for number in range(20):
        important(h, f"Spare key {number} hangs in the shed.")
    run(h, "review")
    assert set(states(the_report(h))) == first


def test_the_report_follows_what_becomes_of_its_memories(h: House) -> None:
    names = ("confirmed", "corrected", "forgotten", "left alone")
    ids = {name: important(h, f"The {name} box stands in the cellar.") for name in names}
    run(h, "review")
    h.clock.advance(days=1)
    h.patch(ids["confirmed"], confirmed=True)
    h.patch(ids["corrected"], content="箱子放在阁楼上。")
    h.delete(ids["forgotten"])
    report = the_report(h)
    assert states(report) == {
        ids["confirmed"]: "confirmed",
        ids["corrected"]: "corrected",
        ids["forgotten"]: "forgotten",
        ids["left alone"]: None,
    }
    assert report["counts"] == {"drawn": 4, "confirmed": 1, "corrected": 1, "forgotten": 1}
    assert finding(report, ids["forgotten"])["mends"] == [f"POST /v1/memories/{ids['forgotten']}/restore"]
    assert "cellar" not in finding(report, ids["forgotten"])["detail"]
    assert reports(h, "review")[0] == report, "the list says the same"
    h.clock.advance(days=31)
    h.app.sweeper.sweep()
    assert finding(the_report(h), ids["forgotten"])["state"] == "forgotten"


def test_a_sample_of_none_and_a_dry_run_leave_no_report(h: House) -> None:
    important(h, "我对花生过敏。")
    assert run(h, "review", dry_run=True).counts == {"drawn": 1}
    sample_size(h, 0)
    assert run(h, "review").counts == {}
    assert reports(h, "review") == []


def test_another_user_with_smaller_ranks_takes_the_places(h: House) -> None:
    sample_size(h, 4)
    for number in range(30):
        important(h, f"Key {number} is the neighbour's.", USERS[number % 3])
    for user in USERS:
        run(h, "review", user)
    report = the_report(h)
    assert len(report["findings"]) == 4
    before = everything(h)
    for user in reversed(USERS):
        run(h, "review", user)
    assert everything(h) == before
