"""The REST entrance: the rooms that are wanted, on one FastAPI application."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from rearview.entrypoints.rest import audit, console, docs, document, health, problems, read, trace, write
from rearview.entrypoints.rest.health import Readiness
from rearview.entrypoints.rest.room import Desk, Room, rooms_named
from rearview.entrypoints.rest.wire import Wire
from rearview.usecases.app import Rearview

ROOMS: dict[str, Callable[[Rearview], Room]] = {
    "write": write.room,
    "read": read.room,
    "trace": trace.room,
    "audit": audit.room,
}


def create_app(
    app: Rearview,
    *,
    rooms: Collection[str] = tuple(ROOMS),
    auth: bool = True,
    hosts: Collection[str] | None = None,
    mount_mcp: Callable[[FastAPI], None] | None = None,
    on_write: Callable[[], None] | None = None,
    readiness: Readiness | None = None,
) -> FastAPI:
    """The application. ``auth`` False: every caller is the local principal, so ``hosts`` should name the loopback.

    ``hosts``: the host names it answers to (None: any). ``mount_mcp`` is called with the application before the first
    request to ``/mcp``; ``on_write`` after each change, to wake a worker.
    """
    api = FastAPI(title="Rearview", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    api.router.redirect_slashes = False
    desk = Desk(app, auth=auth, on_write=on_write)
    specs = [spec for name in rooms_named(rooms, ROOMS) for spec in ROOMS[name](app).specs]
    for spec in specs:
        api.add_route(spec.path, desk.endpoint(spec), methods=[spec.method])
    health.install(api, readiness or Readiness(app.services))
    if "read" in rooms:
        console.install(api)
    _describe(api, lambda: document.build(specs, auth=auth))
    problems.install(api)
    api.add_middleware(Wire, hosts=hosts, mount_mcp=None if mount_mcp is None else _once(api, mount_mcp))
    return api


def _describe(api: FastAPI, build: Callable[[], dict[str, Any]]) -> None:
    """``/openapi.json`` and ``/docs``, made at the first request."""

    def described() -> dict[str, Any]:
        if api.openapi_schema is None:
            api.openapi_schema = build()
        return api.openapi_schema

    def openapi(_: Request) -> Response:
        return Response(json.dumps(described(), ensure_ascii=False), media_type="application/json")

    def reference(_: Request) -> Response:
        return HTMLResponse(docs.page(described()))

    api.openapi = described  # type: ignore[method-assign]
    api.add_route("/openapi.json", openapi, methods=["GET"])
    api.add_route("/docs", reference, methods=["GET"])


def _once(api: FastAPI, mount: Callable[[FastAPI], None]) -> Callable[[], None]:
    """``mount(api)`` at the first call; later ones, also those that come meanwhile, find it done."""
    lock = threading.Lock()
    done = False

    def mounted() -> None:
        nonlocal done
        if done:
            return
        with lock:
            if not done:
                mount(api)
                done = True

    return mounted
