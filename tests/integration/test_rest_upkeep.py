"""Policies and maintenance as callers of the API meet them: runs that are asked for, times, kinds, permissions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.rest_kit import Api, api, caller

LONG = (
    "The parcel of order 4711 arrived broken at the office on Tuesday; 顾客很生气，要求马上退款并且重新发货。"
)
UNKNOWN = "01JWB5A8ZK3V9Q6M2T4X7C1D0E"


@pytest.fixture
def a(tmp_path: Path) -> Iterator[Api]:
    with api(tmp_path) as one:
        yield one


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Api]:
    with api(tmp_path, auth=True) as one:
        yield one


def finished(a: Api, run: dict[str, Any]) -> dict[str, Any]:
    a.house.app.maintainer.step(lambda: False, inline=True)
    return a.get(f"/v1/maintenance/{run['id']}")


def test_a_run_as_of_the_beginning_of_time_finds_nothing_old(a: Api) -> None:
    a.write(LONG, memory_type="short_term", admission="force")
    told = finished(a, a.post("/v1/maintenance", {"as_of": "0001-01-01"}))
    assert (told["state"], told["users_done"]) == ("done", 1)
    assert [name for name in told["counts"] if name.startswith(("archive", "cold", "forget"))] == []


def test_no_word_of_a_memory_stands_in_a_report_which_outlives_it_and_has_other_readers(a: Api) -> None:
    for number in range(4):
        episode = {"content": "Lin asked for the Zanzibar list.", "occurred_at": f"2026-02-0{number + 1}"}
        a.write(memory_type="short_term", kind="event", admission="verbatim", **episode)
    a.write("我的工号是 Quixote77", kind="fact")
    a.write(f"{LONG} Zanzibar.", memory_type="short_term", kind="event", importance=0.3, admission="force")
    for days in (0, 200):
        a.house.clock.advance(days=days)
        a.house.app.maintainer.step(lambda: False, inline=True)
    told = a.get("/v1/maintenance")["items"]
    assert {"profile.written", "consolidate.consolidated", "archive.summary_only", "cold.archived"} <= {
        name for run in told for name in run["counts"]
    }
    assert [word for word in ("Zanzibar", "Quixote77", "工号", "工 号", "4711") if word in str(told)] == []


def test_a_run_where_nobody_has_written_is_done_with_its_start(a: Api) -> None:
    run = a.post("/v1/maintenance", {"namespace": "empty"})
    assert (run["state"], run["users"], run["finished_at"] is None) == ("done", 0, False)
    # Nothing was written there, so the schedule does not come by either.
    assert "empty" not in a.house.app.maintainer.namespaces()


def test_a_run_gives_out_its_first_jobs_with_the_call_that_starts_it(a: Api) -> None:
    a.write(LONG)
    run = a.post("/v1/maintenance", {"dry_run": True})
    assert (run["state"], run["users"], run["users_done"]) == ("running", 1, 0)
    messages = a.house.runtime.queue.receive(10)
    assert messages[-1].body["maintain"] == run["id"]


def test_a_part_of_a_policy_that_is_null_is_refused_by_name_and_a_history_has_cursors(a: Api) -> None:
    assert a.broken("PATCH", "/v1/policies", {"archiving": None, "review_sample": 1}) == [
        ("archiving", "not_null")
    ]
    assert a.get("/v1/policies")["version"] == 0
    for sample in (1, 2):
        a.ok("PATCH", "/v1/policies", {"review_sample": sample})
    first = a.get("/v1/policies/history?limit=1")
    last = a.get(f"/v1/policies/history?limit=1&cursor={first['next_cursor']}")
    assert [item["version"] for item in first["items"] + last["items"]] == [2, 1]
    assert last["next_cursor"] is None
    other = f"/v1/maintenance?cursor={first['next_cursor']}"
    assert a.broken("GET", other) == [("cursor", "token")]


def test_the_document_shows_no_default_that_a_client_could_send_back_as_a_change(a: Api) -> None:
    shown = a.get("/openapi.json")["components"]["schemas"]
    for name in (
        "ChangePolicy",
        "ShelfLivesIn",
        "ArchivingIn",
        "ForgettingIn",
        "ConsolidationIn",
        "ProfileIn",
    ):
        assert [field for field, schema in shown[name]["properties"].items() if "default" in schema] == []
    parts = shown["ChangePolicy"]["properties"]
    assert parts["archiving"] == {"$ref": "#/components/schemas/ArchivingIn"}
    assert {"type": "null"} in parts["conflicts"]["anyOf"]


def test_a_kind_of_report_that_there_is_not_is_refused_instead_of_having_none(a: Api) -> None:
    assert a.broken("GET", "/v1/audits?kind=checks") == [("kind", "literal_error")]
    made = a.post("/v1/audits", {"user_id": "u"})["id"]
    assert [item["id"] for item in a.get("/v1/audits?kind=audit")["items"]] == [made]


def test_a_foreign_id_is_not_told_apart_from_an_unknown_one_whatever_the_key_may(guarded: Api) -> None:
    owner = caller(guarded, "shop", permissions=["write", "audit", "admin", "trace"])
    memory = owner.write(LONG, user="mira")["id"]
    decision = owner.post("/v1/decisions", {"user_id": "mira", "context": "late", "action": "refund"})["id"]
    audit = owner.post("/v1/audits", {"user_id": "mira"})["id"]
    run = owner.post("/v1/maintenance", {"dry_run": True})["id"]
    for permission in ("write", "read", "trace", "audit", "admin"):
        stranger = caller(guarded, "other", permissions=[permission])
        for held, method, path in (
            (run, "GET", "/v1/maintenance/{}"),
            (audit, "GET", "/v1/audits/{}"),
            (audit, "POST", "/v1/audits/{}/approve"),
            (memory, "GET", "/v1/memories/{}"),
            (memory, "GET", "/v1/memories/{}/history"),
            (memory, "DELETE", "/v1/memories/{}"),
            (decision, "GET", "/v1/decisions/{}"),
        ):
            there = stranger.refused(404, method, path.format(held))
            not_there = stranger.refused(404, method, path.format(UNKNOWN))
            assert there["detail"] == not_there["detail"]
