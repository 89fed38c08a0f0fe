"""The real `mcp` client against a house, in process: over HTTP as bytes would go, in either protocol era."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from rearview.entrypoints.mcp.front import Front
from rearview.entrypoints.mcp.server import asgi_app
from tests.house import House

MODERN = "2026-07-28"
ERAS = ("legacy", MODERN)
URL = "http://127.0.0.1:8787/mcp"


@dataclass
class Mcp:
    """One caller of a house's MCP server."""

    house: House
    era: str = MODERN
    auth: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    front: Front | None = None
    stack: ExitStack = field(default_factory=ExitStack)
    portal: BlockingPortal | None = None
    client: Client | None = None

    def app(self) -> Front:
        if self.front is None:
            self.front = asgi_app(self.house.app, auth=self.auth)
        return self.front

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Client]:
        transport = httpx2.ASGITransport(app=self.app())
        async with (
            httpx2.AsyncClient(transport=transport, headers=self.headers) as http,
            Client(streamable_http_client(URL, http_client=http), mode=self.era) as client,
        ):
            yield client

    def with_client(self, work: Callable[[Client], Awaitable[Any]]) -> Any:
        # One connection for all calls of a test: a client checks every schema anew.
        if self.client is None:
            portal = self.stack.enter_context(start_blocking_portal())
            self.client = self.stack.enter_context(portal.wrap_async_context_manager(self.connected()))
            self.portal = portal
        assert self.portal is not None
        return self.portal.call(work, self.client)

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return self.with_client(lambda client: client.call_tool(tool, arguments))

    def ok(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that must succeed (the client has checked it against the schema)."""
        result = self.call(tool, **arguments)
        assert not result.is_error, text(result)
        content: dict[str, Any] = result.structured_content
        return content

    def refused(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The problem document of a call that must be refused."""
        result = self.call(tool, **arguments)
        assert result.is_error
        return problem(result)

    def http(self, method: str = "POST", **kwargs: Any) -> httpx2.Response:
        """A bare request, as a client that is none would send it."""

        async def run() -> httpx2.Response:
            transport = httpx2.ASGITransport(app=self.app())
            async with httpx2.AsyncClient(transport=transport) as http:
                return await http.request(method, URL, **kwargs)

        return anyio.run(run)

    def post(self, body: Any, **headers: str) -> httpx2.Response:
        """A JSON-RPC message (bytes go as they are) in this caller's era."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        sent |= {"host": "127.0.0.1:8787", **self.headers}
        if self.era == MODERN:
            sent |= {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "write_memory"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http(content=content, headers=sent)

    def raw_call(self, tool: str, arguments: str) -> dict[str, Any]:
        """A tool call whose arguments are JSON text as given, however broken; the JSON-RPC answer."""
        meta = ""
        if self.era == MODERN:
            prefix = "io.modelcontextprotocol"
            meta = (
                f', "_meta": {{"{prefix}/protocolVersion": "{MODERN}", "{prefix}/clientCapabilities": {{}}}}'
            )
        body = (
            '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": '
            f'{{"name": "{tool}", "arguments": {arguments}{meta}}}}}'
        )
        response = self.post(body.encode(), mcp_name=tool) if self.era == MODERN else self.post(body.encode())
        answer: dict[str, Any] = response.json()
        return answer


Connect = Callable[..., Mcp]


@contextmanager
def callers(house: House) -> Iterator[Connect]:
    """Makes callers (era, auth=, headers=) and hangs up for all of them at the end."""
    with ExitStack() as stack:

        def connect(era: str = MODERN, **more: Any) -> Mcp:
            caller = Mcp(house, era, **more)
            stack.enter_context(caller.stack)
            return caller

        yield connect


def text(result: CallToolResult) -> str:
    """The readable half of an answer."""
    return "\n".join(item.text for item in result.content if item.type == "text")


def problem(result: CallToolResult) -> dict[str, Any]:
    """The problem document of a refusal."""
    assert result.meta is not None
    document: dict[str, Any] = result.meta["rearview/problem"]
    return document


def rules(document: dict[str, Any]) -> set[tuple[str, str]]:
    """(field, rule) of every error of a problem document."""
    return {(item["field"], item["rule"]) for item in document["errors"]}
