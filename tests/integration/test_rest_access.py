"""Who may see what: two keys, two namespaces, every route."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from rearview.errors import Unauthorized, Unavailable
from tests.integration.rest_kit import Api, api, caller


@dataclass
class Town:
    """``mine`` has a record of each kind in its namespace; ``theirs`` is a key for another namespace."""

    nobody: Api
    mine: Api
    theirs: Api
    ids: dict[str, str]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """One for all: what the tests try on its records must change nothing."""
    with api(tmp_path_factory.mktemp("town"), auth=True) as nobody:
        mine, theirs = caller(nobody, "red"), caller(nobody, "blue")
        mine.write("My phone number is 5550101")
        answer = mine.write("My phone number is 5550202")
        turns = [{"role": "user", "content": "I moved to Lisbon last month."}]
        mine.post("/v1/turns", {"user_id": "u", "session_id": "s", "turns": turns})
        decision = mine.post("/v1/decisions", {"user_id": "u", "context": "late parcel", "action": "refund"})
        outcome = mine.post(f"/v1/decisions/{decision['id']}/outcomes", {"result": "success"})
        yield Town(
            nobody,
            mine,
            theirs,
            {
                "memory": answer["id"],
                "conflict": answer["conflicts"][0]["id"],
                "decision": decision["id"],
                "outcome": outcome["id"],
                "audit": mine.post("/v1/audits", {"user_id": "u"})["id"],
                "token": answer["token"],
            },
        )


BY_ID: list[tuple[str, str, Any]] = [
    ("GET", "/v1/memories/{memory}", None),
    ("GET", "/v1/memories/{memory}/history", None),
    ("PATCH", "/v1/memories/{memory}", {"importance": 0.1}),
    ("DELETE", "/v1/memories/{memory}", None),
    ("POST", "/v1/memories/{memory}/restore", None),
    ("POST", "/v1/conflicts/{conflict}/resolve", {"keep_both": True}),
    ("POST", "/v1/conflicts/{conflict}/undo", None),
    ("GET", "/v1/writes/{token}", None),
    ("GET", "/v1/decisions/{decision}", None),
    ("GET", "/v1/decisions/{decision}/replay", None),
    ("POST", "/v1/decisions/{decision}/outcomes", {"result": "failure"}),
    ("POST", "/v1/outcomes/{outcome}/revert", None),
    ("GET", "/v1/audits/{audit}", None),
    ("POST", "/v1/audits/{audit}/approve", {}),
    ("POST", "/v1/audits/{audit}/oppose", {}),
    ("POST", "/v1/audits/{audit}/undo", {}),
]
BY_USER: list[tuple[str, str, Any]] = [
    ("POST", "/v1/memories", {"user_id": "u", "content": "I live in Lisbon"}),
    ("POST", "/v1/turns", {"user_id": "u", "turns": [{"content": "I live in Lisbon"}]}),
    ("POST", "/v1/sessions/s/end", {"user_id": "u"}),
    ("POST", "/v1/forget", {"user_id": "u", "everything": True}),
    ("POST", "/v1/recall", {"user_id": "u", "query": "phone"}),
    ("POST", "/v1/context", {"user_id": "u", "query": "phone"}),
    ("GET", "/v1/memories?user_id=u", None),
    ("GET", "/v1/sessions/s?user_id=u", None),
    ("GET", "/v1/graph?user_id=u", None),
    ("GET", "/v1/profile?user_id=u", None),
    ("GET", "/v1/decisions?user_id=u", None),
    ("GET", "/v1/audits?user_id=u", None),
    ("POST", "/v1/decisions", {"user_id": "u", "context": "late parcel", "action": "refund"}),
    ("POST", "/v1/precedents", {"user_id": "u", "context": "late parcel"}),
    ("POST", "/v1/audits", {"user_id": "u"}),
    ("GET", "/v1/conflicts?user_id=u", None),
    ("GET", "/v1/ledger?user_id=u", None),
]
KEYS: list[tuple[str, str, Any]] = [
    ("GET", "/v1/keys", None),
    ("POST", "/v1/keys", {"name": "more", "namespaces": ["red"]}),
    ("DELETE", "/v1/keys/{memory}", None),
]
BATCH: list[tuple[str, str, Any]] = [
    ("POST", "/v1/memories/batch", {"items": [{"user_id": "u", "content": "I live in Lisbon"}]})
]


def state(town: Town) -> list[Any]:
    """What ``mine`` can see of its own records."""
    asked = [item for item in BY_ID + BY_USER if item[0] == "GET"]
    return [town.mine.get(path.format(**town.ids)) for _, path, _ in asked]


@pytest.mark.parametrize(("method", "path", "body"), BY_ID + BY_USER + KEYS + BATCH)
def test_without_a_credential_every_route_answers_401(town: Town, method: str, path: str, body: Any) -> None:
    answer = town.nobody.call(method, path.format(**town.ids), body)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(("method", "path", "body"), BY_ID)
def test_a_foreign_record_is_not_there(town: Town, method: str, path: str, body: Any) -> None:
    before = state(town)
    town.theirs.refused(404, method, path.format(**town.ids), body)
    assert state(town) == before


@pytest.mark.parametrize(("method", "path", "body"), BY_USER)
def test_a_foreign_namespace_is_forbidden(town: Town, method: str, path: str, body: Any) -> None:
    before = state(town)
    if body is None:
        path += "&namespace=red"
    else:
        body = {**body, "namespace": "red"}
    town.theirs.refused(403, method, path, body)
    assert state(town) == before


def test_a_foreign_item_of_a_batch_is_refused_and_the_others_stand(town: Town) -> None:
    items = [
        {"user_id": "v", "content": "I live in Lisbon", "namespace": "red"},
        {"user_id": "v", "content": "I live in Lisbon"},
    ]
    results = town.theirs.post("/v1/memories/batch", {"items": items})["results"]
    assert results[0]["error"]["status"] == 403
    assert results[1]["memory"]["namespace"] == "blue"


def test_recall_over_several_namespaces_needs_a_grant_for_each(town: Town) -> None:
    town.theirs.refused(
        403, "POST", "/v1/recall", {"user_id": "u", "query": "phone", "namespaces": ["blue", "red"]}
    )


def test_the_same_user_of_another_namespace_has_nothing_of_it(town: Town) -> None:
    assert town.theirs.get("/v1/memories?user_id=u")["items"] == []
    assert town.theirs.post("/v1/recall", {"user_id": "u", "query": "phone number"})["hits"] == []
    assert town.theirs.post("/v1/precedents", {"user_id": "u", "context": "late parcel"})["precedents"] == []


def test_a_namespace_defaults_to_the_keys_own(town: Town) -> None:
    assert town.theirs.write("I live in Lisbon", user="w")["memory"]["namespace"] == "blue"


def test_a_foreign_token_or_recall_id_opens_nothing(town: Town) -> None:
    asked = {"user_id": "u", "query": "phone"}
    recall_id = town.mine.post("/v1/recall", asked)["recall_id"]
    town.theirs.refused(404, "POST", "/v1/recall", {**asked, "token": town.ids["token"]})
    decision = {"user_id": "u", "context": "late parcel", "action": "refund"}
    for field, value in (
        ("recall_id", recall_id),
        ("memory_ids", [town.ids["memory"]]),
        ("parent_id", town.ids["decision"]),
    ):
        town.theirs.refused(422, "POST", "/v1/decisions", {**decision, field: value})


@pytest.mark.parametrize(
    ("permission", "method", "path", "body"),
    [
        ("read", "POST", "/v1/memories", {"user_id": "u", "content": "I live in Lisbon"}),
        ("write", "POST", "/v1/recall", {"user_id": "u", "query": "phone"}),
        ("write", "GET", "/v1/memories/{memory}", None),
        ("read", "DELETE", "/v1/memories/{memory}", None),
        ("read", "POST", "/v1/decisions", {"user_id": "u", "context": "late parcel", "action": "refund"}),
        ("read", "GET", "/v1/ledger?user_id=u", None),
        ("read", "GET", "/v1/decisions?user_id=u", None),
        ("trace", "GET", "/v1/audits?user_id=u", None),
        ("trace", "GET", "/v1/graph?user_id=u", None),
        ("trace", "GET", "/v1/profile?user_id=u", None),
        ("audit", "POST", "/v1/audits/{audit}/approve", {}),
        ("audit", "POST", "/v1/audits/{audit}/oppose", {}),
        ("audit", "POST", "/v1/audits/{audit}/undo", {}),
        ("audit", "GET", "/v1/keys", None),
    ],
)
def test_a_key_without_the_permission_is_forbidden(
    town: Town, permission: str, method: str, path: str, body: Any
) -> None:
    one = caller(town.nobody, "red", permissions=[permission])
    one.refused(403, method, path.format(**town.ids), body)


@pytest.mark.parametrize("permission", ["read", "write", "trace"])
def test_whoever_got_a_token_may_ask_how_far_its_write_is(town: Town, permission: str) -> None:
    path = f"/v1/writes/{town.ids['token']}"
    assert caller(town.nobody, "red", permissions=[permission]).get(path)["state"] == "done"
    caller(town.nobody, "blue", permissions=[permission]).refused(404, "GET", path)
    caller(town.nobody, "red", permissions=["audit", "admin"]).refused(403, "GET", path)


def test_keys_are_made_listed_and_revoked_and_a_revocation_holds_at_once(town: Town) -> None:
    admin = caller(town.nobody, "default", permissions=["admin"])
    made = admin.post("/v1/keys", {"name": "bot", "namespaces": ["green"], "permissions": ["read"]})
    bot = Api(town.nobody.app, town.nobody.house, made["key"])
    assert bot.get("/v1/memories?user_id=u") == {"items": [], "next_cursor": None}
    assert made["key"] not in admin.call("GET", "/v1/keys").text
    assert admin.ok("DELETE", f"/v1/keys/{made['id']}")["revoked_at"] is not None
    bot.refused(401, "GET", "/v1/memories?user_id=u")


def test_an_administrator_of_one_namespace_makes_sees_and_ends_no_keys_of_another(town: Town) -> None:
    admin = caller(town.nobody, "red", permissions=["admin"])
    wide = caller(town.nobody, "red", "green")
    for namespaces in (["green"], ["red", "green"], ["default"]):
        admin.refused(403, "POST", "/v1/keys", {"name": "bot", "namespaces": namespaces})
    made = admin.post("/v1/keys", {"name": "bot", "namespaces": ["red"]})
    seen = admin.get("/v1/keys")["items"]
    assert made["id"] in [item["id"] for item in seen]
    assert {name for item in seen for name in item["namespaces"]} == {"red"}
    for other in (town.theirs, wide):
        admin.refused(404, "DELETE", f"/v1/keys/{str(other.key).split('_')[1]}")
        other.get("/v1/memories?user_id=u")
    admin.ok("DELETE", f"/v1/keys/{made['id']}")


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer rv_01JWB5A8ZK3V9Q6M2T4X7C1D0E_wrong"},
        {"authorization": "Bearer nonsense"},
        {"authorization": "Bearer "},
        {"authorization": "Basic dTpw"},
        {"x-api-key": "钥匙".encode()},
        {"x-api-key": "k" * 5000},
        {"authorization": "Bearer a", "x-api-key": "b"},
    ],
)
def test_an_unknown_or_odd_credential_answers_401(town: Town, headers: dict[str, Any]) -> None:
    town.nobody.refused(401, "GET", "/v1/memories?user_id=u", headers=headers)


@pytest.mark.parametrize("odd", ["k" * 2000, "", "A B", "01JWB5A8ZK3V9Q6M2T4X7C1D0"])
def test_what_is_no_key_id_asks_the_store_for_nothing(
    town: Town, monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    def get(_: Any, key: Any) -> None:
        # DynamoDB refuses keys over 1,024 bytes, which answered 503 and rang the alarm for faults.
        raise Unavailable(f"refused: {len(key.sort)} bytes")

    monkeypatch.setattr(type(town.nobody.house.app.services.store), "get", get)
    town.nobody.refused(401, "GET", "/v1/memories?user_id=u", headers={"x-api-key": f"rv_{odd}_secret"})
    with pytest.raises(Unauthorized):
        town.nobody.house.app.keyring.principal(f"rv_{odd}_secret")


def test_a_key_may_come_in_either_header(town: Town) -> None:
    for headers in ({"x-api-key": town.mine.key}, {"authorization": f"bearer {town.mine.key}"}):
        assert town.nobody.call("GET", "/v1/memories?user_id=u", headers=headers).status_code == 200


def test_a_caller_is_known_before_its_body_is_judged(town: Town) -> None:
    town.nobody.refused(401, "POST", "/v1/memories", {"nonsense": True})
