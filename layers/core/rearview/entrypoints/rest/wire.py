"""The outermost layer of every request: body, limits, path, request id, host, headers, and a net under it all."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Callable, Collection
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rearview.entrypoints.rest.problems import MisdirectedRequest, respond, unexpected
from rearview.errors import Forbidden, PayloadTooLarge, Unavailable

log = logging.getLogger("rearview.rest")

BODY_LIMIT = 1_048_576
#: What is read, and thrown away, of a body over the limit, so that its sender can read the answer.
DRAIN_LIMIT = 64 * BODY_LIMIT

_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}\Z")
_MCP = re.compile(r"/(mcp|\.well-known)(/|\Z)")
_SECURITY = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
]


class Gone(Exception):
    """The client went away in the middle of its request."""


class Wire:
    """ASGI middleware. ``hosts``: the names this server answers to (None: any); ``mount_mcp``: called once, before the
    first request to ``/mcp``, because what it imports would make every start slow."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str] | None = None,
        mount_mcp: Callable[[], None] | None = None,
    ) -> None:
        self.app, self.hosts, self.mount_mcp = app, hosts, mount_mcp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                names = {name.lower() for name, _ in message["headers"]}
                more = [(b"x-request-id", request_id.encode()), *_SECURITY]
                message["headers"] = [
                    *message["headers"],
                    *(item for item in more if item[0] not in names),
                ]
            await send(message)

        try:
            await self._serve(scope, receive, sending, request_id)
        except Gone:
            return
        except asyncio.CancelledError:
            # The server is ending and has waited long enough. A write on its way may be kept or not: as with any answer
            # that got lost, an idempotency key finds out.
            if not status:
                ended = Unavailable("the server is ending; try again")
                await respond(ended, request_id, {"Connection": "close"})(scope, receive, sending)
        except Exception as error:
            answer = unexpected(error, request_id)
            if status:
                raise
            await answer(scope, receive, sending)
        finally:
            # The template, never the path: ids in it may be personal.
            route = scope["state"].get("route", "-")
            took = (time.perf_counter() - started) * 1000
            log.info("%s %s %s %d %.1f ms", request_id, scope["method"], route, status, took)

    async def _serve(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        body = await _body(receive)
        refusal = self._refusal(Request(scope), body, request_id)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        if _MCP.match(scope["path"]):
            if self.mount_mcp is not None:
                await run_in_threadpool(self.mount_mcp)
        else:
            raw = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogateescape")
            scope["path"] = canonical_path(raw)
        scope["state"]["body"] = body
        await self.app(scope, _replay(body or b"", receive), send)

    def _refusal(self, request: Request, body: bytes | None, request_id: str) -> Response | None:
        if body is None:
            error = PayloadTooLarge(f"a body may have at most {BODY_LIMIT} bytes")
            return respond(error, request_id, {"Connection": "close"})
        if self.hosts is None:
            return None
        # Without credentials the browser is the danger: a page elsewhere may send what a local client would, and a
        # name that is rebound to 127.0.0.1 may read the answer.
        if _host(f"//{request.headers.get('host', '')}") not in self.hosts:
            return respond(MisdirectedRequest("the Host header names another server"), request_id)
        origin = request.headers.get("origin")
        if origin is not None and _host(origin) not in self.hosts:
            return respond(Forbidden("requests of foreign pages are refused"), request_id)
        return None


def canonical_path(raw: bytes) -> str:
    """The path in one spelling: each segment decoded and encoded again, so that an encoded slash stays in its segment.

    Routes match on it, and their parameters are decoded one by one (:mod:`rearview.entrypoints.rest.paths`).
    """
    segments = raw.split(b"?", 1)[0].split(b"/")
    return "/".join(quote_from_bytes(unquote_to_bytes(segment), safe="") for segment in segments)


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            text = value.decode("latin-1").strip()
            if _REQUEST_ID.match(text):
                return str(text)
    return secrets.token_hex(16)


async def _body(receive: Receive) -> bytes | None:
    """The whole body, or None if it is over the limit; then it was read to the end all the same, and not kept."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        chunk = message.get("body", b"")
        size += len(chunk)
        if size <= BODY_LIMIT:
            chunks.append(chunk)
        else:
            chunks.clear()
        if not message.get("more_body", False) or size > DRAIN_LIMIT:
            return b"".join(chunks) if size <= BODY_LIMIT else None


def _replay(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that gives the body once more, then what the connection says."""
    told = False

    async def again() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
