"""The front door of ``/mcp``: what is settled before the SDK sees a request.

Host and Origin, method, media type, size, credentials and the shape of the message; refusals are problem documents,
or JSON-RPC errors where there is a message to answer. Stateless: each request runs a session manager of its own,
so that it works the same under uvicorn and under Mangum, where no lifespan outlives a request.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, Final

import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from rearview.domain.principal import LOCAL, Principal
from rearview.entrypoints.mcp.messages import RefusedMessage, screen
from rearview.errors import PayloadTooLarge, RearviewError, Unauthorized
from rearview.usecases.credentials import Keyring
from rearview.usecases.problems import problem

log = logging.getLogger("rearview.mcp")

#: Bytes of a request body.
MAX_BODY: Final = 1024 * 1024
#: What is read, and thrown away, of a body over the limit, so that its sender can read the answer.
MAX_DRAIN: Final = 64 * MAX_BODY
#: Names of this machine; the port does not matter.
LOOPBACK_HOSTS: Final = ("127.0.0.1", "localhost", "[::1]")

_caller: ContextVar[Principal | None] = ContextVar("rearview_mcp_caller", default=None)


class MethodNotAllowed(RearviewError):
    """There is no session to open, resume or end: every call is one POST."""

    status = 405
    title = "Method not allowed"
    slug = "method-not-allowed"


class UnsupportedMediaType(RearviewError):
    """The body is not announced as JSON."""

    status = 415
    title = "Unsupported media type"
    slug = "unsupported-media-type"


class MisdirectedRequest(RearviewError):
    """The Host header names another machine (DNS rebinding)."""

    status = 421
    title = "Misdirected request"
    slug = "misdirected-request"


class ForeignOrigin(RearviewError):
    """The Origin header names a page that may not call this server."""

    status = 403
    title = "Forbidden origin"
    slug = "forbidden-origin"


def caller() -> Principal:
    """In whose name the request at hand is made."""
    principal = _caller.get()
    if principal is None:
        raise Unauthorized("no caller is known for this request")
    return principal


def security(hosts: Sequence[str], origins: Sequence[str] = ()) -> TransportSecuritySettings:
    """Host names, each with any port, and the origins that may call: pages of those hosts, and ``origins``."""
    names = [host.lower() for host in hosts]
    own = [f"{scheme}://{name}" for name in names for scheme in ("http", "https")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*names, *(f"{name}:*" for name in names)],
        allowed_origins=[*own, *(f"{name}:*" for name in own), *origins],
    )


class Front:
    """An ASGI application for one path. ``keyring`` None means no credentials are asked for (``--no-auth``)."""

    def __init__(
        self, server: MCPServer[Any], keyring: Keyring | None, settings: TransportSecuritySettings
    ) -> None:
        self.server, self.keyring, self.settings = server, keyring, settings
        self._guard = TransportSecurityMiddleware(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError("only HTTP is served here")
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._answer(_trimmed(scope), receive, sending)
        except RearviewError as error:
            await _problem(error, scope)(scope, receive, send)
        except RefusedMessage as error:
            body = json.dumps(error.body())
            await Response(body, 400, media_type="application/json")(scope, receive, send)
        except Exception as error:
            log.error("a request to /mcp failed with %s", type(error).__name__)
            if started:
                raise
            await _problem(RearviewError("the request failed"), scope)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Read to its end whatever the answer is: a client that is still sending would not see it.
        body = await _read(receive)
        request = Request(scope)
        refused = await self._guard.validate_request(request)
        if refused is not None:
            raise (
                MisdirectedRequest("this server does not answer for the host named")
                if refused.status_code == 421
                else ForeignOrigin("pages of this origin may not call this server")
            )
        if request.method != "POST":
            raise MethodNotAllowed("MCP is served statelessly here: POST only, no stream and no session")
        if body is None:
            raise PayloadTooLarge(f"a request body must be at most {MAX_BODY} bytes")
        token = _caller.set(await self._principal(request.headers))
        try:
            if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
                raise UnsupportedMediaType("Content-Type must be application/json")
            await self._serve(scope, _replaying(screen(body), receive), send)
        finally:
            _caller.reset(token)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.server.streamable_http_app(
            json_response=True,
            stateless_http=True,
            transport_security=self.settings,
            max_request_body_size=2 * MAX_BODY,
        )
        # The server remembers only the newest manager: no await may come between the two.
        manager = self.server.session_manager
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    async def _principal(self, headers: Headers) -> Principal:
        if self.keyring is None:
            return LOCAL
        return await anyio.to_thread.run_sync(self.keyring.principal, _credential(headers))


def _credential(headers: Headers) -> str:
    stated = headers.get("authorization")
    if stated is None:
        key = headers.get("x-api-key")
        if not key:
            raise Unauthorized("send an API key as 'Authorization: Bearer …' or 'X-API-Key: …'")
        return key
    scheme, _, token = stated.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthorized("Authorization must be 'Bearer' and an API key")
    return token.strip()


def _trimmed(scope: Scope) -> Scope:
    """Header values without outer white space (some gateways add it); host names in lower case."""
    headers = [
        (name, value.strip().lower() if name in (b"host", b"origin") else value.strip())
        for name, value in scope["headers"]
    ]
    return {**scope, "headers": headers}


async def _read(receive: Receive) -> bytes | None:
    """The whole body; None if it is over MAX_BODY (the rest, up to MAX_DRAIN, is read and thrown away)."""
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            break
        piece = message.get("body", b"")
        size += len(piece)
        if size <= MAX_BODY:
            pieces.append(piece)
        if not message.get("more_body", False) or size > MAX_DRAIN:
            break
    return b"".join(pieces) if size <= MAX_BODY else None


def _replaying(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _problem(error: RearviewError, scope: Scope) -> Response:
    # An application around this one may have named the request already.
    request_id = scope.get("state", {}).get("request_id") or uuid.uuid4().hex
    headers = {"X-Request-Id": request_id}
    if error.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="rearview"'
    if error.status == 405:
        headers["Allow"] = "POST"
    body = json.dumps(problem(error, request_id), ensure_ascii=False)
    return Response(body, error.status, headers, "application/problem+json")


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return
