"""The listening end: a socket, and uvicorn as a process of this house runs it."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from types import FrameType

import uvicorn
from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.server import Server

#: Seconds that requests in the middle of their answer get when the server ends.
ANSWER_SECONDS = 1


class SignalServer(Server):
    """uvicorn, ended by SIGTERM and SIGINT without raising them again; ``signal`` tells which one came."""

    def __init__(self, config: Config, ending: Callable[[], None]) -> None:
        """``ending`` is called in the signal handler, at the first signal: it must return at once."""
        super().__init__(config)
        self.ending = ending
        self.signal: int | None = None

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing: they are caught around everything (:meth:`signals`), not only around the loop."""
        yield

    @contextlib.contextmanager
    def signals(self) -> Iterator[None]:
        """Catches the signals; in a thread other than the first there is nothing to catch."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {sig: signal.signal(sig, self.handle_exit) for sig in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for sig, handler in before.items():
                signal.signal(sig, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """What is cut off at the end is no fault; its callers are told by a problem, and nobody by a traceback."""
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's signature
        """The first signal ends it gently, a second at once."""
        if self.should_exit:
            self.force_exit = True
            return
        self.should_exit, self.signal = True, sig
        self.ending()


def server(api: ASGIApp, ending: Callable[[], None]) -> SignalServer:
    """A server for ``api``, not yet running."""
    config = uvicorn.Config(
        api,
        http="h11",
        ws="none",
        lifespan="off",
        loop="asyncio",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=ANSWER_SECONDS,
    )
    return SignalServer(config, ending)


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; connections that come before the server runs wait in its backlog. Raises OSError."""
    family, kind, number, _, address = socket.getaddrinfo(
        host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, number)
    try:
        # After a kill the port may be taken again at once; a port in use is refused all the same.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(256)
    except OSError:
        listener.close()
        raise
    return listener


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def is_any(host: str) -> bool:
    """Whether it means every address of this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return host == ""


def bracketed(host: str) -> str:
    """The host as it stands in a URL."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
