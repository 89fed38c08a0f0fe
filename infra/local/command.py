"""The command: ``up [--deploy] | down | status | env``. Called by ``python -m infra.local`` and by the CLI."""

from __future__ import annotations

import argparse
import importlib
import shlex
import sys
import time
from collections.abc import Sequence

from infra.local import tools
from infra.local.stack import LOCALSTACK_PORT, MINISTACK_PORT, OPENSEARCH_PORT, Stack


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; answers the exit status (0 fine, 1 trouble, 3 asked for status and nothing runs)."""
    given = _parser().parse_args(argv)
    try:
        match given.verb:
            case "up":
                return _up(given)
            case "down":
                return _down()
            case "env":
                return _env()
            case _:
                return _status()
    except tools.ToolError as error:
        print(error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rearview local-aws",
        description="AWS on this machine, without Docker: ministack and OpenSearch.",
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    up = verbs.add_parser("up", help="start what does not run yet, and wait until it is healthy")
    up.add_argument("--deploy", action="store_true", help="build the functions and deploy the stack as well")
    up.add_argument("--localstack", action="store_true", help="LocalStack's SQS and S3 as well")
    up.add_argument("--no-opensearch", action="store_true", help="no OpenSearch node")
    up.add_argument(
        "--opensearch",
        action="append",
        choices=tools.OPENSEARCH_VERSIONS,
        help="version of the OpenSearch node (default 3.6.0); may be given twice",
    )
    up.add_argument("--port", type=int, default=MINISTACK_PORT, help="ministack's port (default %(default)s)")
    up.add_argument("--opensearch-port", type=int, default=OPENSEARCH_PORT, help="default %(default)s")
    up.add_argument("--localstack-port", type=int, default=LOCALSTACK_PORT, help="default %(default)s")
    verbs.add_parser("down", help="stop what `up` started")
    verbs.add_parser("status", help="say what runs")
    verbs.add_parser("env", help='print the environment for other programs: eval "$(rearview local-aws env)"')
    return parser


def _up(given: argparse.Namespace) -> int:
    stack = Stack.running()
    begun = time.monotonic()
    versions = [] if given.no_opensearch else given.opensearch or ["3.6.0"]
    for number, version in enumerate(versions):
        # Before ministack, which hands the address on.
        stack.start_opensearch(version, given.opensearch_port + number)
    stack.start_ministack(given.port)
    if given.localstack:
        stack.start_localstack(given.localstack_port)
    _status()
    print(f"up after {time.monotonic() - begun:.1f} s; logs in {stack.folder}")
    if given.deploy:
        # The deploy step knows the template; this module only knows how to start what it is deployed to.
        importlib.import_module("infra.local.deploy").deploy(stack)
    return 0


def _down() -> int:
    stack = Stack.running()
    names = [server.name for server in stack.servers]
    stack.stop()
    print(f"stopped {', '.join(names)}" if names else "nothing was running")
    return 0


def _status() -> int:
    stack = Stack.running()
    for server in stack.servers:
        print(f"{server.name:<18} {server.url:<24} pid {server.pid}")
    if not stack.servers:
        print("nothing is running")
    return 0 if stack.servers else 3


def _env() -> int:
    stack = Stack.running()
    if stack.aws_url is None:
        print("nothing is running; start it by `up`", file=sys.stderr)
        return 3
    for name, value in stack.env.items():
        print(f"export {name}={shlex.quote(value)}")
    return 0
