"""The local AWS as one thing: what runs, under which addresses, and how to stop it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from infra.local import processes, tools
from infra.local.processes import HOST, Server

REGION: Final = "us-east-1"
MINISTACK: Final = "ministack"
LOCALSTACK: Final = "localstack"
#: Ports when a person asks; tests take free ones.
MINISTACK_PORT: Final = 4566
LOCALSTACK_PORT: Final = 4568
OPENSEARCH_PORT: Final = 9200
READY_SECONDS: Final = 120.0


def default_folder() -> Path:
    """Where logs, data and the list of what runs lie: ``REARVIEW_LOCAL_AWS``, else ``build/local-aws``."""
    return Path(os.environ.get("REARVIEW_LOCAL_AWS") or tools.ROOT / "build" / "local-aws").resolve()


@dataclass
class Stack:
    """What runs of the local AWS. ``tied``: it ends with this process, even when that is killed."""

    folder: Path = field(default_factory=default_folder)
    tied: bool = False
    servers: list[Server] = field(default_factory=list)

    @classmethod
    def running(cls, folder: Path | None = None) -> Stack:
        """The one that an earlier command started there, without what has ended since."""
        stack = cls(folder or default_folder())
        stack.servers = [server for server in processes.load(stack.state) if server.alive()]
        return stack

    @property
    def state(self) -> Path:
        """The file that tells what runs."""
        return self.folder / "state.json"

    # --- addresses

    def url(self, name: str) -> str | None:
        """The address of ``ministack``, ``localstack`` or ``opensearch-VERSION``; None while it does not run."""
        return next((server.url for server in self.servers if server.name == name), None)

    @property
    def aws_url(self) -> str | None:
        """ministack's address: what stands in for AWS."""
        return self.url(MINISTACK)

    @property
    def opensearch_url(self) -> str | None:
        """The first OpenSearch node's address."""
        found = [server.url for server in self.servers if server.name.startswith("opensearch-")]
        return found[0] if found else None

    @property
    def env(self) -> dict[str, str]:
        """What a program needs in its environment to take this stack for AWS."""
        return environment(self.aws_url, self.opensearch_url)

    # --- starting and stopping

    def start_ministack(self, port: int | None = None) -> Server:
        """ministack on loopback, listening on that port alone."""
        home = tools.environment("ministack")
        port = _port(port)
        files = self._fresh(f"{MINISTACK}-files")
        env = _clean_env() | {
            "BIND_HOST": HOST,
            "GATEWAY_PORT": str(port),
            # Both would listen on ports of their own.
            "SFTP_ENABLED": "0",
            "IOT_MTLS_ENABLED": "0",
            # Handlers are started by the name of the interpreter.
            "PATH": f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
            # It unpacks a function for each of its processes, hundreds of megabytes with a model, and leaves them there.
            "TMPDIR": str(files),
        }
        if self.opensearch_url is not None:
            env["MINISTACK_OPENSEARCH_ENDPOINT"] = self.opensearch_url
        return self._start(MINISTACK, [str(home / "bin" / "ministack")], port, env, "/_ministack/health")

    def start_localstack(self, port: int | None = None, services: Sequence[str] = ("sqs", "s3")) -> Server:
        """LocalStack 4.14.0's own code without Docker: what it does of SQS and S3."""
        home = tools.environment("localstack")
        port = _port(port)
        files = self._fresh(f"{LOCALSTACK}-files")
        env = _clean_env() | {
            # Its default server listens on every interface.
            "GATEWAY_SERVER": "hypercorn",
            "GATEWAY_LISTEN": f"{HOST}:{port}",
            "DNS_ADDRESS": "0",
            "SERVICES": ",".join(services),
            "STRICT_SERVICE_LOADING": "1",
            "DISABLE_EVENTS": "1",
            "SKIP_SSL_CERT_DOWNLOAD": "1",
            "FILESYSTEM_ROOT": str(files),
        }
        command = [str(home / "bin" / "python"), "-m", "localstack.runtime.main"]
        return self._start(LOCALSTACK, command, port, env, "/_localstack/health")

    def start_opensearch(self, version: str = "3.6.0", port: int | None = None) -> Server:
        """A real OpenSearch node with an empty home."""
        built = tools.opensearch(version)
        name = f"opensearch-{version}"
        port = _port(port)
        home = self._fresh(f"{name}-home")
        command = ["bash", str(tools.NODE / "node.sh"), "start", version, str(built), str(home), str(port)]
        path = "/_cluster/health?wait_for_status=yellow&timeout=1s"
        return self._start(
            name, [*command, str(processes.free_port())], port, _clean_env(), path, b'"timed_out":false'
        )

    def _start(
        self, name: str, command: list[str], port: int, env: dict[str, str], path: str, holds: bytes = b""
    ) -> Server:
        running = next((server for server in self.servers if server.name == name and server.alive()), None)
        if running is not None:
            return running
        if processes.taken(port):
            raise tools.ToolError(f"{name} cannot start: somebody listens on port {port} already")
        server = processes.start(
            name,
            command,
            url=f"http://{HOST}:{port}",
            log=self.folder / f"{name}.log",
            env=env,
            ready=processes.answers(path, lambda body: holds in body),
            seconds=READY_SECONDS,
            tied=self.tied,
        )
        self.servers = [other for other in self.servers if other.name != name] + [server]
        processes.save(self.state, self.servers)
        return server

    def stop(self, name: str | None = None) -> None:
        """Stops one server, or all, the last one started first. What was not started here is not touched."""
        for server in reversed([server for server in self.servers if name in (None, server.name)]):
            server.stop()
            shutil.rmtree(self.folder / f"{server.name}-files", ignore_errors=True)
            self.servers.remove(server)
            processes.save(self.state, self.servers)

    def _fresh(self, name: str) -> Path:
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        return place


@contextmanager
def started(
    folder: Path, *, ministack: bool = True, localstack: bool = False, opensearch: Sequence[str] = ()
) -> Iterator[Stack]:
    """A stack on free ports for the length of a ``with``; nothing is left of it, however that ends."""
    stack = Stack(folder, tied=True)
    try:
        for version in opensearch:
            stack.start_opensearch(version)
        if ministack:
            stack.start_ministack()
        if localstack:
            stack.start_localstack()
        yield stack
    finally:
        stack.stop()


def environment(aws_url: str | None, opensearch_url: str | None = None) -> dict[str, str]:
    """The environment variables of a program that talks to stand-ins under these addresses."""
    env = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": f"{HOST},localhost",
        "no_proxy": f"{HOST},localhost",
    }
    if aws_url is not None:
        env["AWS_ENDPOINT_URL"] = aws_url
    if opensearch_url is not None:
        env["REARVIEW_OPENSEARCH_URL"] = opensearch_url
    return env


def _port(wanted: int | None) -> int:
    return processes.free_port() if wanted is None else wanted


def _clean_env() -> dict[str, str]:
    """This process's environment without what would lead a server to other places or another Python."""
    strange = ("AWS_", "PYTHON", "VIRTUAL_ENV", "COV_", "PYTEST_")
    return {name: value for name, value in os.environ.items() if not name.startswith(strange)}
