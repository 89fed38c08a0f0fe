"""The real MCP client against both installations, in either era of the protocol."""

from __future__ import annotations

from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.targets import Client, Target

pytestmark = pytest.mark.aws

ERAS = ("legacy", "2026-07-28")


def session(target: Target, era: str, calls: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """What the calls answer, one after the other over one connection."""

    async def run() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        async with (
            httpx2.AsyncClient(headers={"x-api-key": target.key}, timeout=60) as http,
            McpClient(streamable_http_client(f"{target.url}/mcp", http_client=http), mode=era) as client,
        ):
            for tool, arguments in calls:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result.content
                assert result.structured_content is not None
                found.append(result.structured_content)
        return found

    return anyio.run(run)


@pytest.mark.parametrize("era", ERAS)
def test_a_client_of_either_era_writes_and_reads(target: Target, era: str, user: str) -> None:
    written, read = session(
        target,
        era,
        [
            ("write_memory", {"user_id": user, "content": "锚链长四十米，在船首的舱里。"}),
            ("read_memory", {"user_id": user, "query": "锚链"}),
        ],
    )
    assert written["verdict"] in ("admit", "tentative")
    # Behind it may come lessons that other tests left for everybody in the namespace.
    assert read["hits"][0]["id"] == written["id"]
    assert Client(target).memory(written["id"])["content"] == "锚链长四十米，在船首的舱里。"
