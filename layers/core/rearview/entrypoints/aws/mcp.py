"""The MCP function: the stateless front of ``/mcp`` for the host name that API Gateway answers to."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from starlette.types import Receive, Scope, Send

from rearview.bootstrap import Runtime
from rearview.bootstrap_aws import aws
from rearview.entrypoints.aws.gateway import Handler, http_handler, listed
from rearview.entrypoints.aws.observe import Observer
from rearview.entrypoints.mcp.front import LOOPBACK_HOSTS, Front, caller, security
from rearview.entrypoints.mcp.server import build_server
from rearview.settings import AwsSettings


class Door:
    """One server, and a front for each host name it is reached under.

    The name that API Gateway gives is its own or a custom domain of this account: no client can choose it.
    """

    def __init__(self, runtime: Runtime, settings: AwsSettings) -> None:
        self.runtime = runtime
        self.server: MCPServer[Any] = build_server(runtime.app, caller)
        self.hosts = listed(settings.allowed_hosts)
        self.origins = listed(settings.allowed_origins)
        self.fronts: dict[tuple[str, ...], Front] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        domain = scope.get("aws.event", {}).get("requestContext", {}).get("domainName")
        names = tuple(self.hosts) or ((domain,) if domain else LOOPBACK_HOSTS)
        front = self.fronts.get(names)
        if front is None:
            front = Front(self.server, self.runtime.app.keyring, security(names, self.origins))
            self.fronts[names] = front
        await front(scope, receive, send)


def mcp() -> Handler:
    """The handler of the function ``mcp``."""
    settings = AwsSettings()
    observer = Observer("mcp", settings)
    runtime = aws(settings, uses=("queue", "embedder", "index", "rules", "archive"))
    return http_handler(Door(runtime, settings), runtime, observer, settings)
