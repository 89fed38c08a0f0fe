"""Health (the process lives) and readiness (store and index answer, the embedder loads)."""

from __future__ import annotations

import threading
import time
from typing import Any

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from rearview.errors import RearviewError
from rearview.usecases.services import Services, log

#: Seconds between tries to load an embedder that failed.
RETRY_SECONDS = 5.0


class Readiness:
    """Whether this process can serve. Loads the embedding model on the way, once."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._loading = threading.Lock()
        self._embedder = "loading"
        self._tried = -RETRY_SECONDS

    def load(self) -> None:
        """Loads the embedder, unless that is done, under way or failed a moment ago."""
        if self._embedder == "ok" or not self._loading.acquire(blocking=False):
            return
        try:
            if time.monotonic() - self._tried < RETRY_SECONDS:
                return
            self.services.embedder.embed_queries(["ready?"])
            self._embedder = "ok"
        except Exception as error:
            log.warning("the embedder does not load: %s", error)
            self._embedder = f"does not load ({type(error).__name__}); keyword search goes on"
        finally:
            self._tried = time.monotonic()
            self._loading.release()

    def state(self) -> tuple[int, dict[str, Any]]:
        """(200 | 503, the parts and what is wrong with them)."""
        self.load()
        checks = {"store": _check(self._store), "index": _check(self._index), "embedder": self._embedder}
        ready = all(value == "ok" for value in checks.values())
        degraded = ["vector"] if checks["index"] == "ok" and self.foreign() else []
        body = {"status": "ready" if ready else "not ready", "checks": checks, "degraded": degraded}
        return (200 if ready else 503), body

    def foreign(self) -> bool:
        """Whether another embedding model filled the index: then only keyword search runs until a reindex."""
        return self.services.index.fingerprint() not in (None, self.services.embedder.fingerprint)

    def _store(self) -> None:
        self.services.store.pending_partitions(1)

    def _index(self) -> None:
        self.services.index.fingerprint()


def _check(part: Any) -> str:
    try:
        part()
    except RearviewError as error:
        return error.detail
    except Exception as error:
        return type(error).__name__
    return "ok"


def install(api: FastAPI, readiness: Readiness) -> None:
    """``/health`` and ``/ready``; neither needs a credential, and neither tells what is stored."""

    async def health(request: Request) -> JSONResponse:
        request.state.route = "/health"
        return JSONResponse({"status": "ok"})

    async def ready(request: Request) -> JSONResponse:
        request.state.route = "/ready"
        status, body = await run_in_threadpool(readiness.state)
        return JSONResponse(body, status_code=status)

    api.add_route("/health", health, methods=["GET"])
    api.add_route("/ready", ready, methods=["GET"])
