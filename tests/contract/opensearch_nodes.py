"""Real OpenSearch nodes for the contract suite: one of each version a session, on loopback, stopped with it.

They are the session's stand-ins (`aws_services`), started at first use by `infra/opensearch-node`. While working on the
adapter, ``REARVIEW_TEST_OPENSEARCH_3_6_0`` and ``…_2_19_1`` may name nodes that run already: that saves the starts.
A node that cannot be started fails the tests that need it.
"""

from __future__ import annotations

import json
import os
import urllib.request
import uuid
from contextlib import ExitStack, suppress
from functools import cache
from typing import Any, Final

from aws_services import SERVICES

#: The newest that the local node can be, and the oldest that is supported.
VERSIONS: Final = ("3.6.0", "2.19.1")
# Read now: tests run without the REARVIEW_ variables of whoever started them.
_RUNNING: Final = {
    version: os.environ.get(f"REARVIEW_TEST_OPENSEARCH_{version.replace('.', '_')}") for version in VERSIONS
}


@cache
def url(version: str) -> str:
    """The address of a healthy node of this version."""
    found = _RUNNING[version] or SERVICES.url(f"opensearch-{version}")
    with urllib.request.urlopen(found, timeout=10) as answer:
        running = json.load(answer)["version"]["number"]
    assert running == version, f"{found} is OpenSearch {running}, not {version}"
    return found


def fresh_alias(version: str, stack: ExitStack) -> str:
    """A name that no other test uses; its indexes go when the test ends."""
    alias = f"test-{uuid.uuid4().hex[:12]}"

    def drop() -> None:
        with suppress(OSError):
            request = urllib.request.Request(f"{url(version)}/{alias}-*", method="DELETE")
            urllib.request.urlopen(request, timeout=30).close()

    stack.callback(drop)
    return alias


def client(version: str, stack: ExitStack, **arguments: Any) -> Any:
    """A client as the adapter makes it."""
    from rearview.adapters.aws.opensearch_client import make_client

    made = make_client(url(version), **{"seconds": 30.0, **arguments})
    stack.callback(made.close)
    return made
