"""Serve: REST, docs and MCP over one data folder, in one process on this machine.

Others may serve the same folder at the same time. What is acknowledged is in the folder; what is unfinished when this
process ends stays pending there, and the next one goes on with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from rearview.bootstrap import Runtime, embedded
from rearview.domain.tokens import query_terms
from rearview.entrypoints.rest import listen
from rearview.entrypoints.rest.app import create_app
from rearview.entrypoints.rest.health import Readiness
from rearview.entrypoints.worker import Worker
from rearview.errors import RearviewError
from rearview.ports import IndexQuery
from rearview.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

log = logging.getLogger("rearview.serve")

#: From the signal to the end of the process, all in all.
END_SECONDS = 1.0

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


def serve(
    settings: Settings,
    host: str = "127.0.0.1",
    port: int = 8787,
    auth: bool = True,
    *,
    say: Callable[[str], None] | None = None,
) -> int:
    """Runs until SIGTERM or SIGINT; answers the exit code: 0 after SIGTERM, 130 after SIGINT, 1 when it could not
    start, 2 when it was asked for what it does not do. ``say`` takes the lines for people (default: standard output).

    Does not come back, but ends the process, when a thread is still in the middle of an embedding.
    """
    if not auth and not listen.is_loopback(host):
        _complain(f"--no-auth is for the loopback only; {host} can be reached from elsewhere")
        return USAGE
    try:
        listener = listen.bind(host, port)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        _complain(f"cannot listen on {host}:{port}: {reason}. Is another server there? Try another --port")
        return FAILED
    with listener:
        try:
            runtime = embedded(settings)
        except (RearviewError, OSError) as error:
            _complain(f"cannot open the data folder: {error}")
            return FAILED
        return Local(runtime, listener, host, auth=auth, say=say or _print).run()


class Local:
    """One serving process."""

    def __init__(
        self,
        runtime: Runtime,
        listener: socket.socket,
        host: str,
        *,
        auth: bool,
        say: Callable[[str], None],
    ) -> None:
        self.runtime, self.listener, self.auth, self.say = runtime, listener, auth, say
        self.host, self.port = host.strip("[]").lower(), int(listener.getsockname()[1])
        self.worker = Worker(runtime)
        self.readiness = Readiness(runtime.app.services)
        api = create_app(
            runtime.app,
            auth=auth,
            # Without keys a browser must not be talked into being the client.
            hosts=None if auth else {"127.0.0.1", "localhost", "::1", self.host},
            mount_mcp=self._mount_mcp,
            on_write=self.worker.wake,
            readiness=self.readiness,
        )
        self.server = listen.server(api, self._ending)
        self.ended_at: float | None = None

    def run(self) -> int:
        """Until a signal comes; answers the exit code."""
        with self.server.signals():
            try:
                self._announce()
            except RearviewError as error:
                _complain(f"cannot use the data folder: {error.detail}")
                self.runtime.close()
                return FAILED
            threading.Thread(target=self._warm, name="rearview-warm", daemon=True).start()
            self.worker.start()
            asyncio.run(self.server.serve(sockets=[self.listener]))
            return self._end()

    def _warm(self) -> None:
        """What the first recall would wait for; meanwhile the server answers."""
        self.readiness.load()
        try:
            _warm_index(self.runtime)
        except Exception as error:
            log.warning("the index is not warm: %s", type(error).__name__)

    def _mount_mcp(self, api: FastAPI) -> None:
        from rearview.entrypoints.mcp.server import mount

        names = ["127.0.0.1", "localhost", "[::1]", listen.bracketed(self.host)]
        if listen.is_any(self.host):
            names += [socket.gethostname().lower()]
        mount(api, self.runtime.app, auth=self.auth, allowed_hosts=list(dict.fromkeys(names)))

    def _announce(self) -> None:
        app = self.runtime.app
        key = app.keyring.first() if self.auth else None
        shown = "127.0.0.1" if listen.is_any(self.host) else listen.bracketed(self.host)
        base = f"http://{shown}:{self.port}"
        lines = [
            f"Rearview keeps its memory in {self.runtime.settings.data.resolve()}",
            f"  REST  {base}/v1",
            f"  look  {base}/console",
            f"  docs  {base}/docs",
            f"  MCP   {base}/mcp",
            "",
        ]
        if key is not None:
            lines += [f"  API key (shown once, covers the namespace default): {key}", ""]
        elif not self.auth:
            lines += ["  No authentication: whoever uses this machine may read and write.", ""]
        header = f" -H 'X-API-Key: {key or '…'}'" if self.auth else ""
        text = '{"user_id": "mira", "content": "我对花生过敏"}'
        lines += [
            "Try it:",
            f"  curl -s '{base}/v1/memories?wait=true'{header} -H 'content-type: application/json' -d '{text}'",
        ]
        if self.readiness.foreign():
            lines += [
                "",
                f"  Another embedding model filled this folder ({app.services.index.fingerprint()}).",
                "  Recall goes on by keywords only; `rearview reindex` brings the vectors back.",
            ]
        for line in lines:
            self.say(line)

    # --- the end ---

    def _ending(self) -> None:
        """The signal came: the worker stops after the step at hand, while the server finishes its answers."""
        self.ended_at = time.monotonic()
        with contextlib.suppress(
            RuntimeError
        ):  # it came before the worker was started, which then ends at once
            self.worker.stop(0)

    def _end(self) -> int:
        since = time.monotonic() if self.ended_at is None else self.ended_at
        until = since + END_SECONDS
        self.worker.stop(max(0.1, until - time.monotonic()))
        with contextlib.suppress(Exception):
            self.runtime.close()
        code = INTERRUPTED if self.server.signal == signal.SIGINT else OK
        others = [item for item in threading.enumerate() if item is not threading.current_thread()]
        for item in others:
            item.join(max(0.05, until - time.monotonic()))
        if any(item.is_alive() for item in others):
            # A thread deep in an embedding cannot be asked to stop. Its work is pending in the store and nothing else
            # is open, so waiting for it would only make the end late.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        return code


def _warm_index(runtime: Runtime) -> None:
    """Brings the vectors and the tokeniser into memory."""
    services = runtime.app.services
    filled = services.index.fingerprint() == services.embedder.fingerprint
    query = IndexQuery(
        partitions=["-"],
        namespaces=[],
        record="memory",
        limit=1,
        now=services.now(),
        vector=services.embedder.embed_queries(["warm"])[0] if filled else None,
        text="warm 热身",
        terms=query_terms("warm 热身"),
    )
    services.index.search(query)


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _complain(line: str) -> None:
    sys.stderr.write(f"rearview: {line}\n")
    sys.stderr.flush()
