"""MCP over the use cases: the server, and its way onto HTTP. ``stdio`` has the other way."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS
from starlette.routing import Route

from rearview.entrypoints.mcp.descriptions import INSTRUCTIONS
from rearview.entrypoints.mcp.front import LOOPBACK_HOSTS, Front, caller, security
from rearview.entrypoints.mcp.tools import PrincipalOf, make_tools
from rearview.usecases.app import Rearview

if TYPE_CHECKING:
    from fastapi import FastAPI

PATH = "/mcp"
#: What is offered changes with the software only, and is the same for every caller.
_HOUR = CacheHint(ttl_ms=3_600_000, scope="public")


def build_server(app: Rearview, principal_of: PrincipalOf) -> MCPServer[Any]:
    """The server with its nine tools; ``principal_of`` tells in whose name the call at hand is made."""
    # The SDK logs every request, and peers' text with it, below this level.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    with _own_logging():
        return _server(app, principal_of)


@contextmanager
def _own_logging() -> Iterator[None]:
    # The SDK's constructor sets up the root logger; that is for the process to decide.
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def _server(app: Rearview, principal_of: PrincipalOf) -> MCPServer[Any]:
    return MCPServer(
        "rearview",
        title="Rearview",
        description="Memory and decision traces for LLM agents",
        instructions=INSTRUCTIONS,
        version=_version(),
        tools=make_tools(app, principal_of),
        subscriptions=False,
        cache_hints={
            "server/discover": _HOUR,
            "tools/list": _HOUR,
            "prompts/list": _HOUR,
            "resources/list": _HOUR,
            "resources/templates/list": _HOUR,
        },
        log_level="WARNING",
        middleware=[_no_prompts],
    )


async def _no_prompts(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    # There are none; the SDK would take asking for one for a crash, with the peer's text in the log.
    if ctx.method == "prompts/get":
        raise MCPError(code=INVALID_PARAMS, message="Unknown prompt")
    return await call_next(ctx)


def asgi_app(
    app: Rearview,
    *,
    auth: bool,
    allowed_hosts: Sequence[str] = LOOPBACK_HOSTS,
    allowed_origins: Sequence[str] = (),
) -> Front:
    """Streamable HTTP in both protocol eras as one ASGI application that needs no lifespan.

    ``allowed_hosts`` are host names, without ports; pages served from them may call, and those of
    ``allowed_origins`` (such as ``https://chat.example.com``). Whatever its path, a request is taken for MCP.
    """
    return Front(
        build_server(app, caller), app.keyring if auth else None, security(allowed_hosts, allowed_origins)
    )


def mount(
    fastapi_app: FastAPI, app: Rearview, *, auth: bool, allowed_hosts: Sequence[str] = LOOPBACK_HOSTS
) -> None:
    """Serves MCP at ``/mcp`` of that application, all methods of it."""
    front = asgi_app(app, auth=auth, allowed_hosts=allowed_hosts)
    fastapi_app.router.routes.append(Route(PATH, endpoint=front, include_in_schema=False))


def _version() -> str:
    try:
        return version("rearview-memory")
    except PackageNotFoundError:
        return "0"
