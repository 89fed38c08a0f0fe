"""``serve`` and ``mcp``."""

from __future__ import annotations

from typing import Annotated

import typer

from rearview.entrypoints.cli import options as o
from rearview.entrypoints.cli.session import guarded, runtime, settings


@guarded
def serve(
    host: Annotated[str, typer.Option("--host")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535)] = 8787,
    data: o.Data = None,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="One local principal with all rights; on loopback only.")
    ] = False,
) -> int:
    """Starts REST, its docs and MCP over one folder. Ctrl-C or SIGTERM ends it; several may share a folder."""
    from rearview.entrypoints import local

    return local.serve(settings(data), host, port, not no_auth)


@guarded
def mcp(data: o.Data = None) -> int:
    """Speaks MCP over standard input and output, for a client that starts it itself."""
    from rearview.domain.principal import LOCAL
    from rearview.entrypoints.mcp.stdio import run_stdio
    from rearview.entrypoints.worker import Worker

    with runtime(data) as made:
        worker = Worker(made)
        worker.start()
        try:
            run_stdio(made.app, LOCAL)
        finally:
            worker.stop()
    return o.OK
