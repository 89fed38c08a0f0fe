"""What the deployed stack promises beyond its answers: order, visibility, failures that heal, schedules, MCP."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from rearview.domain.scope import Scope
from tests.e2e.targets import MARK, Client, OnAws, Target, eventually

pytestmark = pytest.mark.aws

EVENTS = Path(__file__).resolve().parents[1] / "events"


def doorbell(partition: str, body: str | None = None) -> dict[str, Any]:
    """An event of the queue for that user."""
    text = (EVENTS / "sqs_fifo.json").read_text().replace("GROUP", partition)
    event: dict[str, Any] = json.loads(text)
    if body is not None:
        event["Records"][0]["body"] = body
    return event


def test_a_writer_sees_its_write_at_once_and_others_see_it_once_enriched(client: Client, user: str) -> None:
    text = f"Parcels for {user} go to the side entrance"
    written = client.write(
        user, text, wait=False, audience="namespace", kind="instruction", admission="force"
    )
    mine = client.post("/v1/recall", {"user_id": user, "query": text})
    assert [hit["id"] for hit in mine["hits"]] == [written["id"]]
    client.enriched(written["id"])
    others = client.post("/v1/recall", {"user_id": f"{user}-other", "query": text})
    assert written["id"] in [hit["id"] for hit in others["hits"]]


def test_what_users_write_in_turn_is_kept_in_the_order_acknowledged(client: Client, user: str) -> None:
    users = [f"{user}-{letter}" for letter in "abc"]
    given: dict[str, list[str]] = {one: [] for one in users}
    for number in range(8):
        for one in users:
            answer = client.write(one, f"Note {number} of {one}", wait=False, admission="verbatim")
            given[one].append(answer["id"])
    for one in users:
        client.enriched(given[one][-1])
        assert [item["id"] for item in client.get(f"/v1/memories?user_id={one}")["items"]] == given[one]
        chain = client.get(f"/v1/ledger?user_id={one}")["items"]
        assert [entry["seq"] for entry in chain] == list(range(1, 9))
        assert [entry["ref"] for entry in chain] == given[one]


def test_what_cannot_be_embedded_is_failed_found_by_words_and_healed_by_a_redrive(
    target: Target, user: str
) -> None:
    target.set_fault(MARK)
    client = Client(target)
    bad = client.write(user, f"The harbour pilot {MARK} is called Jonas", wait=False, admission="force")
    good = client.write(user, "The harbour master is called Ines", wait=False, admission="force")
    assert client.enriched(good["id"])["enrichment"] == "done"
    assert client.enriched(bad["id"])["enrichment"] == "failed"
    found = client.post("/v1/recall", {"user_id": user, "query": "harbour pilot Jonas"})
    assert bad["id"] in [hit["id"] for hit in found["hits"]]
    audit = client.post("/v1/audits", {"user_id": user, "checks": ["failed_enrichment"]})
    assert audit["findings"][0]["refs"] == [bad["id"]]
    if isinstance(target, OnAws):
        assert target.deployed.invoke("maintain", {"action": "sweep"})["dead_letters"] >= 1

    target.set_fault("")
    client = Client(target)
    assert client.post("/v1/redrive", {"user_id": user}) == {"redriven": 1, "more": False}
    eventually(lambda: client.memory(bad["id"])["enrichment"] == "done")
    if isinstance(target, OnAws):
        assert target.deployed.invoke("maintain", {"action": "sweep"})["dead_letters"] == 0
    assert client.post("/v1/audits", {"user_id": user})["ok"] is True


def test_a_message_delivered_twice_changes_nothing(deployed: OnAws, user: str) -> None:
    client = Client(deployed)
    written = client.write(user, "The spare tyre is in the shed")
    before = client.memory(written["id"])
    event = doorbell(Scope("default", user).partition)
    for _ in range(2):
        assert deployed.deployed.invoke("worker", event) == {"batchItemFailures": []}
    assert client.memory(written["id"]) == before
    assert len(client.get(f"/v1/memories?user_id={user}")["items"]) == 1


def test_a_message_that_cannot_be_read_does_not_block_its_user(deployed: OnAws, user: str) -> None:
    client = Client(deployed)
    sqs = deployed.deployed.client("sqs")
    sqs.send_message(
        QueueUrl=deployed.deployed.outputs["QueueUrl"],
        MessageBody="{not json",
        MessageGroupId=Scope("default", user).partition,
        MessageDeduplicationId=uuid.uuid4().hex,
    )
    written = client.write(user, "The bell does not ring", wait=False, admission="force")
    assert client.enriched(written["id"])["enrichment"] == "done"
    dead = deployed.deployed.outputs["DeadLettersUrl"]

    def letter() -> Any:
        return sqs.receive_message(QueueUrl=dead, VisibilityTimeout=1).get("Messages")

    found = eventually(letter)
    assert "not json" not in found[0]["Body"]
    sqs.delete_message(QueueUrl=dead, ReceiptHandle=found[0]["ReceiptHandle"])


def test_an_expired_memory_is_gone_from_reads_at_once_and_swept_later(client: Client, user: str) -> None:
    written = client.write(user, "The parking code is 1234 today", ttl_seconds=2, admission="force")

    def gone() -> bool:
        answer = client.post("/v1/recall", {"user_id": user, "query": "parking code"})
        return written["id"] not in [hit["id"] for hit in answer["hits"]]

    eventually(gone)

    def swept() -> bool:
        client.target.sweep()
        entries = client.get(f"/v1/ledger?user_id={user}")["items"]
        return "expired" in [entry["action"] for entry in entries]

    eventually(swept)
    assert client.get(f"/v1/memories?user_id={user}")["items"] == []


def test_the_audit_by_schedule_leaves_a_report(deployed: OnAws, user: str) -> None:
    client = Client(deployed)
    client.write(user, "The lighthouse is white")
    found = deployed.deployed.invoke("maintain", {"action": "audit"})
    assert found["done"] is True
    assert found["users"] >= 1
    report = client.get(f"/v1/audits/{found['reports'][0]}")
    assert report["namespace"] == "default"
    assert set(report["checks"]) >= {"ledger", "index_drift", "failed_enrichment"}


def test_ttl_is_on_whatever_the_template_was_worth(deployed: OnAws) -> None:
    table = deployed.deployed.outputs["TableName"]
    state = deployed.deployed.client("dynamodb").describe_time_to_live(TableName=table)
    assert state["TimeToLiveDescription"]["AttributeName"] == "ttl"
    assert state["TimeToLiveDescription"]["TimeToLiveStatus"] in ("ENABLED", "ENABLING")


def rpc(client: Client, method: str, params: dict[str, Any]) -> dict[str, Any]:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    accept = {"accept": "application/json, text/event-stream"}
    answer = client.http.post("/mcp", json=body, headers=accept)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["result"]
    return found


def test_an_mcp_client_of_the_older_era_writes_and_reads(client: Client, user: str) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    assert rpc(client, "initialize", hello)["serverInfo"]["name"] == "rearview"
    tools = {tool["name"] for tool in rpc(client, "tools/list", {})["tools"]}
    assert {"write_memory", "read_memory", "forget_memory"} <= tools
    text = "The anchor chain is forty metres long"
    call = {"name": "write_memory", "arguments": {"user_id": user, "content": text}}
    written = rpc(client, "tools/call", call)["structuredContent"]
    assert written["verdict"] in ("admit", "tentative")
    call = {"name": "read_memory", "arguments": {"user_id": user, "query": "anchor chain"}}
    hits = rpc(client, "tools/call", call)["structuredContent"]["hits"]
    assert hits[0]["id"] == written["id"]


def test_mcp_asks_for_a_key_and_takes_posts_only(client: Client) -> None:
    assert client.http.post("/mcp", json={}, headers={"x-api-key": "rv_x_y"}).status_code == 401
    answer = client.http.get("/mcp")
    assert answer.status_code == 405
    assert answer.headers["content-type"] == "application/problem+json"
