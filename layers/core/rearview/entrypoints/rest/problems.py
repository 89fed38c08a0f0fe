"""Problems on the wire: every refusal, from whichever layer, leaves as ``application/problem+json``."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match

from rearview.errors import (
    IdempotencyInFlight,
    NotFound,
    RearviewError,
    TooManyWrites,
    Unauthorized,
    Unavailable,
)
from rearview.usecases.problems import problem

log = logging.getLogger("rearview.rest")

MEDIA_TYPE = "application/problem+json"
_RETRY = (TooManyWrites, Unavailable, IdempotencyInFlight)


class MethodNotAllowed(RearviewError):
    """The path is known, the method is not."""

    status = 405
    title = "Method not allowed"
    slug = "method-not-allowed"


class UnsupportedMediaType(RearviewError):
    """The body is not declared as JSON."""

    status = 415
    title = "Unsupported media type"
    slug = "unsupported-media-type"


class MisdirectedRequest(RearviewError):
    """The Host or Origin header names a place that this server is not: a rebound name, or a foreign page."""

    status = 421
    title = "Misdirected request"
    slug = "misdirected-request"


def respond(error: RearviewError, request_id: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a refused request."""
    more = dict(headers or {})
    if isinstance(error, Unauthorized):
        more.setdefault("WWW-Authenticate", 'Bearer realm="rearview"')
    if isinstance(error, _RETRY):
        more.setdefault("Retry-After", "1")
    body = json.dumps(problem(error, request_id), ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, status_code=error.status, headers=more, media_type=MEDIA_TYPE)


def unexpected(error: Exception, request_id: str) -> Response:
    """The answer to a fault of ours: it says nothing of the inside, and the log says nothing of the content."""
    where = "".join(traceback.format_tb(error.__traceback__))
    log.error("request %s met %s:\n%s", request_id, type(error).__name__, where)
    return respond(RearviewError("something went wrong here; the request id finds it in the log"), request_id)


def request_id_of(request: Request) -> str:
    """The id that this request goes by."""
    return str(getattr(request.state, "request_id", ""))


def install(api: FastAPI) -> None:
    """Turns what the router refuses into problems."""

    @api.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = ", ".join(_methods(api.router.routes, request))
            return respond(
                MethodNotAllowed(f"this path takes {allowed}"), request_id_of(request), {"Allow": allowed}
            )
        if error.status_code == HTTPStatus.NOT_FOUND:
            return respond(NotFound("no such route"), request_id_of(request))
        other = RearviewError(str(error.detail))
        other.status, other.title, other.slug = (
            error.status_code,
            HTTPStatus(error.status_code).phrase,
            "http",
        )
        return respond(other, request_id_of(request), error.headers)


def _methods(routes: list[BaseRoute], request: Request) -> list[str]:
    """All methods of the path; the router itself names those of the first route only."""
    found: set[str] = set()
    for route in routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= getattr(route, "methods", None) or set()
    return sorted(found)
