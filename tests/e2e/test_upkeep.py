"""Maintenance as it is deployed: given out through the queue, done by workers, gathered into a report."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.targets import Client, Target, eventually

pytestmark = pytest.mark.aws


def finished(target: Target, client: Client, run_id: str) -> dict[str, Any]:
    """The report, once the run is done."""

    def done() -> dict[str, Any] | None:
        target.upkeep()
        report = client.get(f"/v1/maintenance/{run_id}")
        return report if report["state"] == "done" else None

    return eventually(done, 180.0)


def test_like_episodes_become_one_memory_and_still_answer_from_the_archive(
    target: Target, client: Client, user: str
) -> None:
    ids = [
        client.write(
            user,
            "Mira asked for the order list.",
            memory_type="short_term",
            kind="event",
            admission="verbatim",
            occurred_at=f"2026-0{month}-11T09:00:00Z",
        )["id"]
        for month in (3, 4, 6)
    ]
    run = client.post("/v1/maintenance", {"cadence": "weekly"})
    report = finished(target, client, run["id"])
    assert report["users_done"] == report["users"] > 0
    assert not [name for name in report["counts"] if name.endswith(".failed")], report["counts"]
    found = client.get(f"/v1/memories?user_id={user}")["items"]
    (whole,) = [item for item in found if item["evidence"]]
    assert set(whole["evidence"]) == set(ids)
    for memory_id in ids:
        held = client.enriched(memory_id)
        assert (held["status"], held["content"]) == ("archived", "Mira asked for the order list.")
        assert held["consolidated_into"] == whole["id"]
    client.enriched(whole["id"])
    asked = {"user_id": user, "query": "order list", "top_k": 10, "include_archived": True}
    hits = [hit["id"] for hit in client.post("/v1/recall", asked)["hits"]]
    # Lessons that other users of the namespace left may be among them.
    assert {whole["id"], *ids} <= set(hits)
    # Taken back: the episodes are as they were.
    client.ok("DELETE", f"/v1/memories/{whole['id']}")
    assert {client.memory(memory_id)["status"] for memory_id in ids} == {"active"}
    assert client.post("/v1/audits", {"user_id": user})["ok"] is True


def test_a_dry_run_of_next_year_tells_what_would_go_cold_and_changes_nothing(
    target: Target, client: Client, user: str
) -> None:
    memory = client.write(
        user,
        "今天的船因为大雾晚点了两个小时，码头上的人都在候船室里等，工作人员给大家发了热水和毛毯。",
        memory_type="short_term",
        kind="event",
        admission="verbatim",
    )
    before = client.enriched(memory["id"])
    run = client.post("/v1/maintenance", {"dry_run": True, "as_of": "2031-01-01"})
    report = finished(target, client, run["id"])
    told = [change for change in report["tasks"]["cold"]["changes"] if memory["id"] in change["refs"]]
    assert told or report["counts"]["cold.archived"] > len(report["tasks"]["cold"]["changes"])
    assert client.memory(memory["id"]) == before
