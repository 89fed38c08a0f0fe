"""The console: a few files of the package, at ``/console``, with a policy that lets nothing in from elsewhere.

The page stands at ``/console`` and names its files and the API relative to itself, so that it works below a stage or
any other prefix. Only the files listed here are served, whatever a path says.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.resources import files

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from rearview.entrypoints.rest.problems import request_id_of, respond
from rearview.errors import NotFound

PAGE = "index.html"
#: Name → media type. All are text, so that a gateway hands them on as they are.
FILES = {
    PAGE: "text/html; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "app.css": "text/css; charset=utf-8",
    "LICENSES.txt": "text/plain; charset=utf-8",
}
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Kept, but asked for anew each time: an upgrade shows at once.
    "Cache-Control": "no-cache",
}


def install(api: FastAPI) -> None:
    """``/console`` and its files. No credential is asked for: they hold no data, and the page asks for a key itself."""

    async def page(request: Request) -> Response:
        return _answer(request, PAGE)

    async def slash(request: Request) -> Response:
        request.state.route = "/console/"
        # Relative, since only the browser knows the prefix.
        return Response(status_code=308, headers={**_HEADERS, "Location": "../console"})

    async def file(request: Request) -> Response:
        return _answer(request, request.path_params["file"])

    api.add_route("/console", page, methods=["GET"])
    api.add_route("/console/", slash, methods=["GET"])
    api.add_route("/console/{file:path}", file, methods=["GET"])


def _answer(request: Request, name: str) -> Response:
    request.state.route = "/console"
    if name not in FILES:
        return respond(NotFound("no such file"), request_id_of(request))
    content, etag = _content(name)
    headers = {**_HEADERS, "ETag": etag}
    asked = request.headers.get("if-none-match", "").split(",")
    if {"*", etag} & {item.strip().removeprefix("W/") for item in asked}:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=FILES[name])


@lru_cache
def _content(name: str) -> tuple[bytes, str]:
    """A file and its entity tag."""
    content = files("rearview").joinpath("console", name).read_bytes()
    return content, f'"{hashlib.sha256(content).hexdigest()[:32]}"'
