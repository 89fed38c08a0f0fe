"""Lists of decisions with their outcomes, and of audits."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.principal import LOCAL, Principal
from rearview.errors import Forbidden
from rearview.usecases.fields import read
from rearview.usecases.questions import ListAudits, ListDecisions
from tests.house import House, house
from tests.integration.lists_kit import DAYS, QUIET, Town, built, pages


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with built(tmp_path_factory.mktemp("town")) as one:
        yield one


def decisions(h: House, **asked: Any) -> list[dict[str, Any]]:
    return pages(h.app.lister.decisions, ListDecisions, {"user_id": "u", "limit": 50, **asked})


# --- decisions ---


def test_decisions_come_whole_with_their_outcomes(h: House) -> None:
    memory = h.write("I live in Lisbon")["id"]
    one = h.decide("A late parcel", "refund", memory_ids=[memory], options=["refund", "wait"])["id"]
    two = h.decide("包裹又迟到了", "退款", parent_id=one)["id"]
    h.outcome(one, "failure", note="she left")
    reverted = h.outcome(one, "success")["id"]
    h.app.tracer.revert(LOCAL, reverted)
    listed = decisions(h)
    assert [item["id"] for item in listed] == [one, two]
    for item in listed:
        single = h.decision(item["id"]).model_dump(mode="json")
        assert item == {**single, "chain": [], "memories": []}
    assert [item["reverted_at"] is None for item in listed[0]["outcomes"]] == [True, False]


def test_decisions_are_filtered_by_action_tag_session_and_time(h: House) -> None:
    h.decide("a", "caf\u00e9", occurred_at="2026-01-05", tags=["late"])
    h.decide("b", "退款", occurred_at="2026-01-06", session_id="s/1")
    h.decide("c", "caf\u00e9", occurred_at="2026-01-07")

    def found(**asked: Any) -> str:
        return "".join(item["context"] for item in decisions(h, **asked))

    assert found(action=" cafe\u0301 ") == "ac"
    assert found(action="退款") == "b"
    assert found(tag="late") == "a"
    assert found(session_id="s/1") == "b"
    assert found(since="2026-01-06") == "bc"
    assert found(until="2026-01-06") == "ab"
    assert found(sort="-created_at") == "cba"
    assert found(action="nothing") == ""


def test_decisions_of_then_have_the_outcomes_of_then(h: House) -> None:
    one = h.decide("a", "refund")["id"]
    outcome = h.outcome(one, "success")["id"]
    then = h.clock.at.isoformat()
    h.clock.advance(hours=1)
    h.app.tracer.revert(LOCAL, outcome)
    h.outcome(one, "failure")
    h.decide("b", "refund")
    (item,) = decisions(h, known_at=then)
    assert [(one["result"], one["reverted_at"]) for one in item["outcomes"]] == [("success", None)]
    assert len(decisions(h)[0]["outcomes"]) == 2


@QUIET
@given(
    asked=st.fixed_dictionaries(
        {"limit": st.integers(1, 40), "sort": st.sampled_from(["created_at", "-created_at"])},
        optional={
            "action": st.sampled_from(["退款", "send again"]),
            "tag": st.just("late"),
            "since": st.sampled_from(DAYS),
            "until": st.sampled_from(DAYS),
        },
    )
)
def test_concatenated_pages_of_decisions_are_the_whole_list(town: Town, asked: dict[str, Any]) -> None:
    every = decisions(town.h, limit=200)
    assert len(every) == 30
    kept = [
        item
        for item in every
        if item["action"] == asked.get("action", item["action"])
        and ("tag" not in asked or asked["tag"] in item["tags"])
        and asked.get("since", "") <= item["occurred_at"][:10] <= asked.get("until", "9")
    ]
    # The outcomes of a page are the same, however they were fetched.
    assert decisions(town.h, **asked) == (kept[::-1] if asked["sort"].startswith("-") else kept)


def test_a_list_of_decisions_needs_the_permission_trace(h: House) -> None:
    reader = Principal("reader", None, frozenset({"read"}))
    with pytest.raises(Forbidden):
        h.app.lister.decisions(reader, read(ListDecisions, {"user_id": "u"}))


# --- audits ---


def audits(h: House, **asked: Any) -> list[dict[str, Any]]:
    return pages(h.app.lister.audits, ListAudits, {"limit": 50, **asked})


def test_audits_come_newest_first_and_whole(h: House) -> None:
    h.write("I live in Lisbon")
    made = []
    for user in ("u", None, "v", "u"):
        h.clock.advance(minutes=1)
        made.append(h.audit(user))
    assert audits(h) == made[::-1]
    assert audits(h, sort="created_at", limit=1) == made
    assert audits(h, user_id="u", limit=1) == [made[3], made[0]]
    assert audits(h, kind="audit") == made[::-1]
    assert audits(h, kind="forgetting") == []
    assert audits(h, namespace="empty") == []


def test_a_list_of_audits_needs_the_permission_and_the_namespace(h: House) -> None:
    with pytest.raises(Forbidden):
        h.app.lister.audits(Principal("reader", None, frozenset({"read"})), read(ListAudits, {}))
    auditor = Principal("auditor", frozenset({"blue"}), frozenset({"audit"}), "blue")
    assert h.app.lister.audits(auditor, read(ListAudits, {}))["items"] == []
    with pytest.raises(Forbidden):
        h.app.lister.audits(auditor, read(ListAudits, {"namespace": "default"}))


def test_a_walk_through_audits_misses_none_that_was_there_at_its_start(h: House) -> None:
    made = []
    for _ in range(3):
        h.clock.at += timedelta(minutes=1)
        made.append(h.audit()["id"])
    first = h.app.lister.audits(LOCAL, read(ListAudits, {"limit": 2}))
    h.clock.at += timedelta(minutes=1)
    h.audit()
    second = h.app.lister.audits(LOCAL, read(ListAudits, {"limit": 2, "cursor": first["next_cursor"]}))
    assert [item["id"] for item in first["items"] + second["items"]] == made[::-1]
