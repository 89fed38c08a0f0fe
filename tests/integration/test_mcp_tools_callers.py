"""MCP calls sent again under their key, and whose they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult

from rearview.domain.principal import Principal
from rearview.entrypoints.mcp.server import build_server
from rearview.usecases.commands import CreateKey
from tests.house import House, house
from tests.integration.mcp_kit import ERAS, MODERN, Connect, Mcp, callers, text


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


@pytest.fixture
def connect(h: House) -> Iterator[Connect]:
    with callers(h) as make:
        yield make


@pytest.fixture(params=ERAS)
def mcp(request: pytest.FixtureRequest, connect: Connect) -> Mcp:
    return connect(request.param)


@pytest.fixture
def one(connect: Connect) -> Mcp:
    return connect()


# --- sent again ---


@pytest.mark.parametrize("era", ERAS)
def test_a_call_sent_again_under_its_key_is_done_once(h: House, connect: Connect, era: str) -> None:
    mcp = connect(era)
    first = mcp.call("write_memory", user_id="u", content="I like tea", idempotency_key="k1")
    again = mcp.call("write_memory", user_id="u", content="I like tea", idempotency_key="k1")
    assert again.structured_content == first.structured_content
    assert again.structured_content["verdict"] == "admit"
    assert again.meta["rearview/replayed"] is True
    assert "idempotency_key" in text(again)
    assert len(h.memories()) == 1
    assert h.get(first.structured_content["id"])["confirmations"] == 0


def test_a_key_used_for_something_else_is_refused(one: Mcp) -> None:
    one.ok("write_memory", user_id="u", content="I like tea", idempotency_key="k1")
    assert one.refused("write_memory", user_id="u", content="I like milk", idempotency_key="k1")["type"] == (
        "urn:rearview:problem:idempotency-mismatch"
    )


def test_decisions_outcomes_resolutions_and_forgetting_are_done_once_as_well(one: Mcp) -> None:
    asked = {"user_id": "u", "context": "rain", "action": "umbrella", "idempotency_key": "k"}
    decision = one.ok("record_decision", **asked)
    assert one.ok("record_decision", **asked)["id"] == decision["id"]
    told = {"decision_id": decision["id"], "result": "success", "idempotency_key": "k"}
    assert one.ok("record_outcome", **told)["id"] == one.ok("record_outcome", **told)["id"]
    assert len(one.ok("trace_memory", decision_id=decision["id"])["decision"]["outcomes"]) == 1

    one.ok("write_memory", user_id="u", content="I live in Lisbon")
    conflict = one.ok("write_memory", user_id="u", content="I live in Oslo")["conflicts"][0]
    settled = {"conflict_id": conflict["id"], "keep_both": True, "idempotency_key": "k"}
    assert one.ok("resolve_conflict", **settled) == one.ok("resolve_conflict", **settled)

    # One key may go with the dry run and the real call: only the real one spends it.
    filtered = {"user_id": "u", "everything": True, "idempotency_key": "k"}
    confirm = one.ok("forget_memory", **filtered)["confirm"]
    real = one.ok("forget_memory", **filtered, dry_run=False, confirm=confirm)
    assert one.ok("forget_memory", **filtered, dry_run=False, confirm=confirm) == real


# --- whose it is ---


def key_for(h: House, namespace: str, *permissions: str) -> str:
    more = {"permissions": list(permissions)} if permissions else {}
    made = h.app.keyring.create(
        h.principal, CreateKey.model_validate({"name": namespace, "namespaces": [namespace], **more})
    )
    secret: str = made["key"]
    return secret


@pytest.mark.parametrize("era", ERAS)
def test_a_key_reaches_its_own_namespace_and_no_other(h: House, connect: Connect, era: str) -> None:
    def as_key(namespace: str) -> Mcp:
        return connect(era, auth=True, headers={"Authorization": f"Bearer {key_for(h, namespace)}"})

    ours, theirs = as_key("ours"), as_key("theirs")
    written = ours.ok("write_memory", user_id="u", content="My locker number is 4711")
    assert written["memory"]["namespace"] == "ours"
    assert theirs.ok("read_memory", user_id="u", query="locker number")["hits"] == []
    assert theirs.refused("read_memory", user_id="u", query="locker", namespace="ours")["status"] == 403
    assert theirs.refused("read_memory", user_id="u", query="locker", namespaces=["ours"])["status"] == 403
    assert theirs.refused("write_memory", user_id="u", content="x is y", namespace="ours")["status"] == 403
    assert theirs.refused("get_memory", memory_id=written["id"])["status"] == 404
    decision = ours.ok("record_decision", user_id="u", context="rain", action="umbrella")
    assert theirs.refused("trace_memory", decision_id=decision["id"])["status"] == 404
    assert theirs.refused("record_outcome", decision_id=decision["id"], result="success")["status"] == 404
    assert theirs.refused("forget_memory", user_id="u", everything=True, namespace="ours")["status"] == 403


@pytest.mark.parametrize(
    ("permission", "allowed", "refused"),
    [
        ("read", "read_memory", "write_memory"),
        ("write", "write_memory", "read_memory"),
        ("audit", "list_conflicts", "trace_memory"),
        ("trace", "trace_memory", "list_conflicts"),
    ],
)
def test_each_tool_needs_its_permission(
    h: House, connect: Connect, permission: str, allowed: str, refused: str
) -> None:
    arguments = {
        "read_memory": {"query": "tea"},
        "write_memory": {"content": "I like tea"},
        "list_conflicts": {},
        "trace_memory": {"context": "rain"},
    }
    mcp = connect(MODERN, auth=True, headers={"X-API-Key": key_for(h, "default", permission)})
    mcp.ok(allowed, user_id="u", **arguments[allowed])
    problem = mcp.refused(refused, user_id="u", **arguments[refused])
    assert (problem["status"], problem["type"]) == (403, "urn:rearview:problem:forbidden")


def test_a_server_built_for_one_principal_acts_in_its_name(h: House) -> None:
    someone = Principal(id="someone", namespaces=frozenset({"their-own"}), default_namespace="their-own")
    server = build_server(h.app, lambda: someone)

    async def run() -> CallToolResult:
        async with Client(server) as client:
            return await client.call_tool("write_memory", {"user_id": "u", "content": "I like tea"})

    memory = anyio.run(run).structured_content["memory"]
    assert (memory["namespace"], memory["created_by"]) == ("their-own", "someone")
