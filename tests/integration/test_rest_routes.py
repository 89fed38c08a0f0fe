"""Every route once, as a client sees it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.integration.rest_kit import Api, api

ROUTES = """\
GET /health
GET /ready
POST /v1/memories
POST /v1/memories/batch
POST /v1/turns
POST /v1/sessions/{session_id}/end
PATCH /v1/memories/{id}
DELETE /v1/memories/{id}
POST /v1/memories/{id}/restore
POST /v1/forget
POST /v1/conflicts/{id}/resolve
POST /v1/conflicts/{id}/undo
POST /v1/recall
POST /v1/context
GET /v1/memories
GET /v1/memories/{id}
GET /v1/graph
GET /v1/profile
GET /v1/memories/{id}/history
GET /v1/sessions/{session_id}
GET /v1/writes/{token}
POST /v1/decisions
POST /v1/decisions/{id}/outcomes
POST /v1/precedents
GET /v1/decisions
GET /v1/decisions/{id}
GET /v1/decisions/{id}/replay
POST /v1/outcomes/{id}/revert
POST /v1/audits
GET /v1/audits
GET /v1/audits/{id}
POST /v1/audits/{id}/approve
POST /v1/audits/{id}/oppose
POST /v1/audits/{id}/undo
GET /v1/conflicts
GET /v1/ledger
POST /v1/keys
GET /v1/keys
POST /v1/redrive
GET /v1/policies
PATCH /v1/policies
GET /v1/policies/history
POST /v1/maintenance
GET /v1/maintenance
GET /v1/maintenance/{id}
DELETE /v1/keys/{id}"""


@pytest.fixture
def a(tmp_path: Path) -> Iterator[Api]:
    with api(tmp_path) as one:
        yield one


def conflict(a: Api) -> dict[str, Any]:
    """Two phone numbers of one user, and the conflict they are in."""
    a.write("My phone number is 5550101")
    answer = a.write("My phone number is 5550202")
    found: dict[str, Any] = answer["conflicts"][0]
    return found


def test_a_write_is_acknowledged_at_once_and_enriched_with_wait(a: Api) -> None:
    quick = a.call("POST", "/v1/memories", {"user_id": "u", "content": "我对花生过敏"})
    assert quick.status_code == 202
    assert quick.json()["memory"]["pending"] is True
    done = a.call("POST", "/v1/memories?wait=true", {"user_id": "u", "content": "I live in Lisbon"})
    assert (done.status_code, done.json()["memory"]["enrichment"]) == (201, "done")


def test_a_drop_and_a_duplicate_answer_200(a: Api) -> None:
    drop = a.call("POST", "/v1/memories", {"user_id": "u", "content": "hello"})
    assert (drop.status_code, drop.json()["verdict"], drop.json()["id"]) == (200, "drop", None)
    first = a.write("I live in Lisbon")
    again = a.call("POST", "/v1/memories", {"user_id": "u", "content": "I live in Lisbon"})
    assert (again.status_code, again.json()["duplicate_of"]) == (200, first["id"])


def test_a_batch_answers_item_by_item(a: Api) -> None:
    items = [
        {"user_id": "u", "content": "I like green tea"},
        {"user_id": "u"},
        {"user_id": "v", "content": "hi"},
    ]
    results = a.post("/v1/memories/batch?wait=true", {"items": items})["results"]
    assert results[0]["verdict"] == "admit"
    assert results[1]["error"]["errors"][0]["field"] == "items[1].content"
    assert results[2]["verdict"] == "drop"


def test_turns_become_memories_and_a_session_that_can_be_read_and_ended(a: Api) -> None:
    session = "trip/2026 夏"
    turns = [
        {"role": "user", "content": "I moved to Lisbon last month."},
        {"role": "assistant", "content": "Noted!"},
    ]
    answer = a.post("/v1/turns?wait=true", {"user_id": "u", "session_id": session, "turns": turns})
    assert answer["results"][0]["memories"][0]["memory"]["source"]["session_id"] == session
    path = "/v1/sessions/" + quote(session, safe="")
    assert "%2F" in path
    shown = a.get(path, params={"user_id": "u"})
    assert [turn["content"] for turn in shown["turns"]] == [turn["content"] for turn in turns]
    ended = a.post(path + "/end", {"user_id": "u"})
    assert ended["memory"]["memory_type"] == "short_term"


def test_a_memory_is_read_changed_forgotten_and_restored_by_its_id(a: Api) -> None:
    at = "/v1/memories/" + a.write("I live in Lisbon", kind="fact")["id"]
    assert a.get(at)["content"] == "I live in Lisbon"
    changed = a.ok("PATCH", at, {"importance": 0.9, "reason": "came up again"})
    assert (changed["importance"], changed["version"]) == (0.9, 2)
    gone = a.ok("DELETE", at + "?reason=moved")
    assert (gone["status"], gone["deleted_because"]) == ("deleted", "moved")
    assert a.post(at + "/restore")["status"] == "active"
    assert [row["version"] for row in a.get(at + "/history")["items"]] == [1, 2, 3, 4]


def test_forgetting_by_filter_takes_a_dry_run_and_its_code(a: Api) -> None:
    a.write("I like green tea", tags=["trial"])
    a.write("I live in Lisbon")
    dry = a.post("/v1/forget", {"user_id": "u", "tags": ["trial"]})
    assert dry["count"] == 1
    a.post("/v1/forget", {"user_id": "u", "tags": ["trial"], "dry_run": False, "confirm": dry["confirm"]})
    left = a.get("/v1/memories", params={"user_id": "u"})["items"]
    assert [item["content"] for item in left] == ["I live in Lisbon"]


def test_a_conflict_is_listed_resolved_and_undone(a: Api) -> None:
    opened = conflict(a)
    listed = a.get("/v1/conflicts?user_id=u")["items"]
    assert [item["id"] for item in listed] == [opened["id"]]
    at = f"/v1/conflicts/{opened['id']}"
    keep = opened["memory_ids"][1]
    assert a.post(at + "/resolve", {"keep": keep})["state"] == "resolved"
    assert a.get("/v1/memories/" + opened["memory_ids"][0])["superseded_by"] == keep
    assert a.get("/v1/conflicts?user_id=u")["items"] == []
    assert a.post(at + "/undo")["state"] == "open"


def test_recall_and_context_find_what_was_written(a: Api) -> None:
    written = a.write("I am allergic to peanuts")
    found = a.post("/v1/recall", {"user_id": "u", "query": "peanuts", "token": written["token"]})
    assert (found["hits"][0]["id"], found["degraded"]) == (written["id"], [])
    block = a.post("/v1/context", {"user_id": "u", "query": "peanuts", "max_tokens": 300})
    assert "peanuts" in block["text"]
    assert block["tokens"] <= 300


def test_the_state_of_a_write_is_told_by_its_token(a: Api) -> None:
    token = a.post("/v1/memories", {"user_id": "u", "content": "I live in Lisbon"})["token"]
    assert a.get(f"/v1/writes/{token}")["state"] == "pending"
    a.house.drain()
    assert a.get(f"/v1/writes/{token}")["state"] == "done"


def test_a_decision_goes_from_record_to_outcome_precedent_replay_and_revert(a: Api) -> None:
    a.write("Mira wants refunds rather than vouchers")
    recalled = a.post("/v1/recall", {"user_id": "u", "query": "refunds"})["recall_id"]
    context = "The parcel is late and a refund is asked for"
    decided = a.post(
        "/v1/decisions", {"user_id": "u", "context": context, "action": "refund", "recall_id": recalled}
    )
    at = f"/v1/decisions/{decided['id']}"
    outcome = a.post(at + "/outcomes", {"result": "success", "score": 1})
    assert outcome["decision_id"] == decided["id"]
    shown = a.get(at)
    assert len(shown["memories"]) == len(shown["outcomes"]) == 1
    found = a.post("/v1/precedents", {"user_id": "u", "context": context})
    assert found["actions"][0]["cases"] == 1
    assert a.get(at + "/replay")["memories"][0]["then"]["content"].startswith("Mira")
    assert a.post(f"/v1/outcomes/{outcome['id']}/revert")["reverted_at"] is not None


def test_an_audit_is_kept_and_the_ledger_is_listed(a: Api) -> None:
    a.write("I live in Lisbon")
    report = a.post("/v1/audits", {"user_id": "u"})
    assert report["ok"] is True
    assert a.get(f"/v1/audits/{report['id']}") == report
    assert [entry["seq"] for entry in a.get("/v1/ledger?user_id=u")["items"]] == [1]


def test_the_document_and_the_page_made_from_it_name_every_route(a: Api) -> None:
    document = a.get("/openapi.json")
    offered = {
        f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods
    }
    assert offered == set(ROUTES.split("\n"))
    assert document["paths"]["/v1/memories"]["post"]["requestBody"]["content"]["application/json"]["example"]
    page = a.call("GET", "/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert all(path in page.text for path in document["paths"])
    assert "<script" not in page.text


def test_a_function_of_one_room_serves_its_routes_and_no_others(tmp_path: Path) -> None:
    with api(tmp_path, rooms=("read",)) as one:
        one.get("/v1/memories?user_id=u")
        one.refused(405, "POST", "/v1/memories", {"user_id": "u", "content": "I live in Lisbon"})
        one.refused(404, "GET", "/v1/ledger?user_id=u")
        assert set(one.get("/openapi.json")["paths"]) >= {"/v1/recall", "/health"}
    with pytest.raises(ValueError, match="kitchen"), api(tmp_path, rooms=("kitchen",)):
        pass


def test_health_and_readiness_answer_without_a_credential(tmp_path: Path) -> None:
    with api(tmp_path, auth=True) as one:
        assert one.get("/health") == {"status": "ok"}
        assert one.get("/ready")["checks"] == {"store": "ok", "index": "ok", "embedder": "ok"}
        assert one.call("HEAD", "/ready").status_code == 200


def test_readiness_names_the_part_that_is_away(a: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_: Any) -> Any:
        raise OSError("no weights")

    monkeypatch.setattr(type(a.house.app.services.embedder), "embed_queries", lambda self, texts: away(texts))
    answer = a.call("GET", "/ready")
    assert answer.status_code == 503
    assert "does not load" in answer.json()["checks"]["embedder"]


def test_an_unfinished_worker_is_woken_by_writes_and_not_by_reads(tmp_path: Path) -> None:
    rung: list[int] = []
    with api(tmp_path, on_write=lambda: rung.append(1)) as one:
        one.write("I live in Lisbon")
        one.post("/v1/recall", {"user_id": "u", "query": "Lisbon"})
        one.refused(422, "POST", "/v1/memories", {"user_id": "u"})
    assert rung == [1]


def test_mcp_is_mounted_at_its_first_request_and_once(tmp_path: Path) -> None:
    mounted: list[Any] = []

    def mount(app: Any) -> None:
        mounted.append(app)
        app.add_route("/mcp", lambda request: __import__("starlette.responses").responses.Response("hi"))

    with api(tmp_path, mount_mcp=mount) as one:
        one.get("/health")
        assert mounted == []
        assert one.call("GET", "/mcp").text == "hi"
        assert one.call("GET", "/mcp").text == "hi"
        assert mounted == [one.app]
