"""From API Gateway to ASGI and back: the path as it was sent, the request's id, CORS, logs and metrics.

Lambda runs one request at a time in an environment, and nothing runs between two: what a process would do in the
background is done at the end of a request here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from mangum import Mangum
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from rearview.bootstrap import Runtime
from rearview.entrypoints.aws.observe import Observer
from rearview.settings import AwsSettings

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]

TEXT = ["text/", "application/json", "application/problem+json"]
#: Notes of recalls are written at the end of a request when the last writing is this long ago.
TOUCH_SECONDS = 20.0
#: Seconds of an invocation that a waiting writer leaves for the answer: a batch has a hundred to be read. With the
#: functions' 29 s it is told after 25 s what has become of its write, whatever the writing took of them.
ANSWER_SECONDS = 4.0
#: All that a path may hold as it is; percent signs stay, because the path is encoded already.
_SAFE = "/%:@!$&'()*+,;=-._~"


class AsSent:
    """ASGI middleware: Mangum decodes the path, which makes a slash in an id one more segment."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        event = scope.get("aws.event", {})
        names = {name for name, _ in scope["headers"]}
        headers = [(bytes(name), bytes(value)) for name, value in scope["headers"]]
        request_id = event.get("requestContext", {}).get("requestId")
        if b"x-request-id" not in names and request_id:
            headers.append((b"x-request-id", str(request_id).encode("latin-1", "ignore")))
        raw = quote(str(event.get("path", scope["path"])), safe=_SAFE).encode()
        await self.app({**scope, "raw_path": raw, "headers": headers}, receive, send)


_loops: list[asyncio.AbstractEventLoop] = []


def _loop() -> asyncio.AbstractEventLoop:
    """The one loop of this execution environment, however many handlers it has."""
    if not _loops or _loops[-1].is_closed():
        _loops[:] = [asyncio.new_event_loop()]
    return _loops[-1]


def http_handler(app: ASGIApp, runtime: Runtime, observer: Observer, settings: AwsSettings) -> Handler:
    """The function behind a part of the API."""
    origins = listed(settings.allowed_origins)
    if origins:
        app = CORSMiddleware(
            app,
            allow_origins=origins,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "X-API-Key", "X-Request-Id"],
            expose_headers=["Idempotency-Replayed", "X-Request-Id"],
        )
    # Mangum takes the thread's loop and makes none on newer Pythons without complaint.
    asyncio.set_event_loop(_loop())
    mangum = Mangum(AsSent(app), lifespan="off", text_mime_types=TEXT)
    touched = time.monotonic()

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        nonlocal touched
        started = time.perf_counter()
        left: Callable[[], int] | None = getattr(context, "get_remaining_time_in_millis", None)
        if left is not None:
            runtime.app.services.seconds_left = lambda: left() / 1000 - ANSWER_SECONDS
        with observer.invocation(context, _request_id(event)):
            answer: dict[str, Any] = mangum(event, context)
            observer.took("Latency", (time.perf_counter() - started) * 1000)
            if answer["statusCode"] >= 500:
                observer.count("Faults")
            if runtime.app.touches.urgent or time.monotonic() - touched >= TOUCH_SECONDS:
                touched = time.monotonic()
                runtime.app.touches.flush()
        return answer

    return handler


def _request_id(event: Mapping[str, Any]) -> str | None:
    given = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    found = given.get("x-request-id") or event.get("requestContext", {}).get("requestId")
    return None if found is None else str(found)


def listed(text: str) -> list[str]:
    """What stands between commas."""
    return [part.strip() for part in text.split(",") if part.strip()]
