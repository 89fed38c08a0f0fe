"""What the MCP server offers: nine tools, their arguments, hints and shapes, in both protocol eras."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from mcp import Client
from mcp.types import Tool

from tests.house import House, house
from tests.integration.mcp_kit import ERAS, MODERN, Connect, Mcp, callers


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


def tools_of(mcp: Mcp) -> dict[str, Tool]:
    return {tool.name: tool for tool in mcp.with_client(lambda client: client.list_tools()).tools}


#: tool → (needed arguments, optional arguments, reads only, destroys, may be repeated)
OFFERED: dict[str, tuple[str, str, bool, bool, bool]] = {
    "write_memory": (
        "user_id content",
        "admission agent_id audience confidence idempotency_key importance kind memory_type metadata namespace "
        "occurred_at origin session_id source tags timezone ttl_seconds valid_to wait",
        False,
        False,
        False,
    ),
    "read_memory": (
        "user_id query",
        "agent_id context_tokens include_archived include_content include_superseded kinds known_at memory_types "
        "min_importance namespace namespaces origins profile session_id since tags timezone token top_k until valid_at",
        True,
        False,
        True,
    ),
    "get_memory": ("memory_id", "history", True, False, True),
    "trace_memory": (
        "",
        "actions agent_id context decision_id known_at namespace replay timezone top_k user_id valid_at",
        True,
        False,
        True,
    ),
    "record_decision": (
        "user_id context action",
        "agent_id expected idempotency_key memory_ids metadata namespace occurred_at options outcome_due_at parent_id "
        "reasoning recall_id session_id tags timezone",
        False,
        False,
        False,
    ),
    "record_outcome": (
        "result decision_id",
        "at evidence idempotency_key note score timezone",
        False,
        False,
        False,
    ),
    "forget_memory": (
        "user_id",
        "agent_id confirm dry_run everything idempotency_key ids kinds memory_types namespace origins reason "
        "session_id since tags timezone until",
        False,
        True,
        False,
    ),
    "list_conflicts": ("user_id", "cursor known_at limit namespace state timezone", True, False, True),
    "resolve_conflict": ("conflict_id", "idempotency_key keep keep_both note undo", False, True, True),
}


def test_exactly_the_nine_tools_are_offered_with_these_arguments_and_hints(mcp: Mcp) -> None:
    found = {}
    for name, tool in tools_of(mcp).items():
        schema, hints = tool.input_schema, tool.annotations
        assert hints is not None
        needed = list(schema["required"])
        optional = sorted(set(schema["properties"]) - set(needed))
        found[name] = (
            " ".join(needed),
            " ".join(optional),
            hints.read_only_hint,
            hints.destructive_hint,
            hints.idempotent_hint,
        )
        assert hints.open_world_hint is False
        assert hints.title == tool.title
    assert found == OFFERED


def test_every_tool_and_every_argument_is_described_for_a_model(one: Mcp) -> None:
    for tool in tools_of(one).values():
        assert tool.description is not None
        assert len(tool.description) > 120
        for name, schema in tool.input_schema["properties"].items():
            assert len(schema["description"]) > 10, (tool.name, name)
            assert "type" in schema, (tool.name, name)


def test_input_schemas_are_closed_and_free_of_references(one: Mcp) -> None:
    for tool in tools_of(one).values():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert tool.input_schema["additionalProperties"] is False
        assert "$ref" not in str(tool.input_schema)


def test_every_tool_announces_the_shape_of_its_answer(one: Mcp) -> None:
    for tool in tools_of(one).values():
        assert tool.output_schema is not None
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.output_schema["type"] == "object"


def test_the_tool_list_may_be_cached_by_clients_of_the_modern_era(one: Mcp) -> None:
    tools = one.with_client(lambda client: client.list_tools())
    assert (tools.ttl_ms, tools.cache_scope) == (3_600_000, "public")


@pytest.mark.parametrize(("era", "version"), [("legacy", "2025-11-25"), ("auto", MODERN)])
def test_a_client_finds_the_era_and_learns_how_to_use_the_server(
    connect: Connect, era: str, version: str
) -> None:
    async def introduction(client: Client) -> tuple[str, str | None]:
        return client.protocol_version, client.instructions

    found, instructions = connect(era).with_client(introduction)
    assert found == version
    assert "resolve_conflict" in instructions
