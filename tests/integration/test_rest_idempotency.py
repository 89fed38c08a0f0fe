"""One answer per (principal, namespace, route, key)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from tests.integration.rest_kit import Api, api, caller

LISBON = {"user_id": "u", "content": "I live in Lisbon"}


@pytest.fixture
def a(tmp_path: Path) -> Iterator[Api]:
    with api(tmp_path) as one:
        yield one


def keyed(a: Api, method: str, path: str, body: Any = None, key: str = "k-1") -> Any:
    return a.call(method, path, body, headers={"idempotency-key": key})


def test_a_repeat_gets_the_first_answer_again_and_says_so(a: Api) -> None:
    first = keyed(a, "POST", "/v1/memories", LISBON)
    again = keyed(a, "POST", "/v1/memories", LISBON)
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert a.get("/v1/memories/" + first.json()["id"])["confirmations"] == 0


def test_the_order_of_fields_is_no_other_body(a: Api) -> None:
    keyed(a, "POST", "/v1/memories", LISBON)
    again = keyed(a, "POST", "/v1/memories", dict(reversed(LISBON.items())))
    assert again.headers["idempotency-replayed"] == "true"


def test_another_body_with_the_same_key_is_refused(a: Api) -> None:
    keyed(a, "POST", "/v1/memories", LISBON)
    other = keyed(a, "POST", "/v1/memories", {**LISBON, "content": "I live in Porto"})
    assert (other.status_code, other.json()["type"]) == (422, "urn:rearview:problem:idempotency-mismatch")


def test_the_key_is_per_route_and_path(a: Api) -> None:
    keyed(a, "POST", "/v1/memories", LISBON)
    ids = [a.write(f"Ticket {number} is open")["id"] for number in range(2)]
    assert keyed(a, "DELETE", f"/v1/memories/{ids[0]}").status_code == 200
    assert keyed(a, "DELETE", f"/v1/memories/{ids[1]}").status_code == 422
    assert a.get(f"/v1/memories/{ids[1]}")["status"] == "active"


def test_a_refused_request_leaves_its_key_free(a: Api) -> None:
    assert keyed(a, "POST", "/v1/memories", {**LISBON, "importance": 2}).status_code == 422
    assert keyed(a, "POST", "/v1/memories", LISBON).status_code == 202


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/memories/batch", {"items": [LISBON]}),
        (
            "/v1/turns",
            {"user_id": "u", "session_id": "s", "turns": [{"content": "I moved to Lisbon last month."}]},
        ),
        ("/v1/decisions", {"user_id": "u", "context": "late parcel", "action": "refund"}),
        ("/v1/audits", {"user_id": "u"}),
    ],
)
def test_every_write_takes_a_key(a: Api, path: str, body: Any) -> None:
    first = keyed(a, "POST", path, body)
    assert first.status_code < 300, first.text
    again = keyed(a, "POST", path, body)
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json() == first.json()


def test_two_at_once_do_the_work_once(a: Api) -> None:
    gate, answers = Barrier(2), []
    body = {"user_id": "u", "context": "late parcel", "action": "refund"}

    def go() -> None:
        gate.wait()
        answers.append(keyed(a, "POST", "/v1/decisions", body))

    threads = [Thread(target=go) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.status_code for answer in answers) in ([201, 201], [201, 409])
    assert len({answer.json()["id"] for answer in answers if answer.status_code == 201}) == 1
    assert len(a.get("/v1/ledger?user_id=u")["items"]) == 1


def test_the_key_of_another_principal_is_another_key(tmp_path: Path) -> None:
    with api(tmp_path, auth=True) as nobody:
        one, two = caller(nobody, "red"), caller(nobody, "red")
        first = keyed(one, "POST", "/v1/memories", LISBON)
        second = keyed(two, "POST", "/v1/memories", {**LISBON, "content": "I live in Porto"})
        assert first.json()["id"] != second.json()["id"]
        assert second.status_code == 202


def test_the_secret_of_a_new_key_is_not_kept_for_a_replay(tmp_path: Path) -> None:
    with api(tmp_path) as one:
        body = {"name": "bot", "namespaces": ["red"]}
        first = keyed(one, "POST", "/v1/keys", body).json()
        again = keyed(one, "POST", "/v1/keys", body).json()
        assert first["key"].startswith("rv_")
        assert again == {**first, "key": None}
        assert len(one.get("/v1/keys")["items"]) == 1


@pytest.mark.parametrize("key", ["", " ", "a b", "k" * 256, "é"])
def test_a_key_that_is_not_visible_ascii_is_refused(a: Api, key: str) -> None:
    headers = {"idempotency-key": key.encode("latin-1")}
    assert a.broken("POST", "/v1/memories", LISBON, headers=headers) == [("Idempotency-Key", "pattern")]
    assert a.get("/v1/memories?user_id=u")["items"] == []


def test_a_key_given_twice_is_refused(a: Api) -> None:
    headers = [("idempotency-key", "a"), ("idempotency-key", "b")]
    a.refused(422, "POST", "/v1/memories", LISBON, headers=headers)


def test_reads_ignore_a_key(a: Api) -> None:
    a.write("I live in Lisbon")
    asked = {"user_id": "u", "query": "Lisbon"}
    keyed(a, "POST", "/v1/recall", asked)
    assert "idempotency-replayed" not in keyed(a, "POST", "/v1/recall", asked).headers
