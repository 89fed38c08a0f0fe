"""MCP over stdin and stdout, for clients that start the server themselves. Logs go to stderr."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import Any, cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from rearview.domain.principal import Principal
from rearview.entrypoints.mcp.front import MAX_BODY
from rearview.entrypoints.mcp.messages import RefusedMessage, screen, too_large
from rearview.entrypoints.mcp.server import build_server
from rearview.usecases.app import Rearview


def run_stdio(app: Rearview, principal: Principal) -> None:
    """Serves until stdin ends. Nothing but the protocol is written to stdout while it runs."""
    anyio.run(_serve, app, principal)


async def _serve(app: Rearview, principal: Principal) -> None:
    # The SDK runs its own transport only; the loop below it takes ours.
    server = build_server(app, lambda: principal)._lowlevel_server
    lines = _Lines()
    async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (incoming, outgoing):
        lines.answers = outgoing
        await server.run(incoming, outgoing, server.create_initialization_options())


class _Lines:
    """The messages of stdin, one a line, screened; what is refused is answered here (the SDK would drop it)."""

    answers: Any

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in anyio.wrap_file(sys.stdin.buffer):
            if not line.strip():
                continue
            try:
                message = screen(line) if len(line) <= MAX_BODY else too_large(line, MAX_BODY)
            except RefusedMessage as error:
                answer = jsonrpc_message_adapter.validate_python(error.body())
                await self.answers.send(SessionMessage(answer))
                continue
            yield message.decode()
