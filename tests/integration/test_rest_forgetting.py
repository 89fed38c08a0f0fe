"""Proposals to forget and the weekly sample, as a client of the API meets them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.forgetting_kit import FERRY, UMBRELLA, passing, run
from tests.integration.rest_kit import Api, api


@pytest.fixture
def a(tmp_path: Path) -> Iterator[Api]:
    with api(tmp_path) as one:
        yield one


def test_a_week_of_proposals_goes_from_list_to_approval_and_back(a: Api) -> None:
    ferry, umbrella = passing(a.house, FERRY), passing(a.house, UMBRELLA)
    a.house.clock.advance(days=200)
    run(a.house)
    (report,) = a.get("/v1/audits?kind=forgetting&user_id=u")["items"]
    at = f"/v1/audits/{report['id']}"
    assert a.get(at) == report
    opposed = a.post(f"{at}/oppose", {"memory_ids": [umbrella]})
    assert opposed["counts"] == {"users": 1, "proposed": 1, "opposed": 1}
    done = a.post(f"{at}/approve", {"memory_ids": [ferry]})
    assert done["counts"]["done"] == 1
    assert a.get(f"/v1/memories/{ferry}")["status"] == "deleted"
    undone = a.post(f"{at}/undo", {})
    assert undone["counts"]["undone"] == 1
    assert a.get(f"/v1/memories/{ferry}")["status"] == "active"


def test_without_a_body_all_is_meant_and_a_repeat_with_its_key_is_answered_as_before(a: Api) -> None:
    passing(a.house, FERRY)
    a.house.clock.advance(days=200)
    run(a.house)
    at = f"/v1/audits/{a.get('/v1/audits?kind=forgetting')['items'][0]['id']}"
    first = a.call("POST", f"{at}/approve", headers={"idempotency-key": "once"})
    assert (first.status_code, first.json()["counts"]["done"]) == (200, 1)
    a.post(f"{at}/undo")
    again = a.call("POST", f"{at}/approve", headers={"idempotency-key": "once"})
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json() == first.json()
    assert a.get(at)["counts"]["undone"] == 1


def test_what_breaks_a_rule_is_refused_by_name(a: Api) -> None:
    passing(a.house, FERRY)
    a.house.clock.advance(days=200)
    run(a.house)
    at = f"/v1/audits/{a.get('/v1/audits?kind=forgetting')['items'][0]['id']}"
    assert a.broken("POST", f"{at}/approve", {"memory_ids": ["nope"]}) == [("memory_ids[0]", "ulid")]
    assert a.broken("POST", f"{at}/approve", {"all": True}) == [("all", "extra_forbidden")]
    stranger = "01JWB5A8ZK3V9Q6M2T4X7C1D0E"
    assert a.broken("POST", f"{at}/undo", {"memory_ids": [stranger]}) == [("memory_ids[0]", "member")]
    checks = a.post("/v1/audits", {"user_id": "u"})["id"]
    a.refused(409, "POST", f"/v1/audits/{checks}/approve", {})
    a.refused(404, "POST", f"/v1/audits/{stranger}/approve", {})


def test_the_weekly_sample_is_read_and_answered_by_its_own_calls(a: Api) -> None:
    a.house.write("我对花生过敏。", importance=0.9, kind="fact")
    run(a.house, "review")
    (report,) = a.get("/v1/audits?kind=review")["items"]
    (finding,) = report["findings"]
    assert (finding["detail"], finding["state"]) == ("我对花生过敏。", None)
    method, path, body = finding["mends"][0].split(" ", 2)
    assert (method, body) == ("PATCH", '{"confirmed": true}')
    a.ok(method, path, {"confirmed": True})
    assert a.get(f"/v1/audits/{report['id']}")["findings"][0]["state"] == "confirmed"


@pytest.mark.parametrize("verb", ["approve", "oppose", "undo"])
def test_who_chose_nothing_does_not_mean_everything(a: Api, verb: str) -> None:
    ferry = passing(a.house, FERRY)
    a.house.clock.advance(days=200)
    run(a.house)
    (report,) = a.get("/v1/audits?kind=forgetting")["items"]
    at = f"/v1/audits/{report['id']}"
    assert a.broken("POST", f"{at}/{verb}", {"memory_ids": []}) == [("memory_ids", "too_short")]
    assert a.get(at) == report
    assert a.get(f"/v1/memories/{ferry}")["status"] == "active"
    schema = a.get("/openapi.json")["components"]["schemas"]["Decide"]
    assert "memory_ids" not in schema.get("required", [])
    assert "default" not in schema["properties"]["memory_ids"]
