"""The REST functions: one room each, but for ``audit``, which also serves the document of all rooms."""

from __future__ import annotations

import os
import threading
from typing import Any

from rearview.bootstrap_aws import Part, aws
from rearview.entrypoints.aws.gateway import Handler, http_handler
from rearview.entrypoints.aws.observe import Observer
from rearview.entrypoints.rest.app import ROOMS, create_app
from rearview.settings import AwsSettings
from rearview.usecases.services import told

USES: dict[str, tuple[Part, ...]] = {
    "write": ("queue", "rules", "archive"),
    "read": ("queue", "embedder", "index", "archive"),
    "trace": ("queue", "embedder", "index", "archive"),
    "audit": ("queue", "index", "archive"),
}


def rest(function: str) -> Handler:
    """The handler of the function ``write``, ``read``, ``trace`` or ``audit``."""
    settings = AwsSettings()
    observer = Observer(function, settings)
    runtime = aws(settings, uses=USES[function])
    # A connection that goes into a snapshot is dead when it is restored.
    restored = os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") == "snap-start"
    if function == "read" and settings.opensearch_url and not restored:
        # While the application is put together: the first recall should not wait for the connection as well.
        threading.Thread(target=warm, args=(runtime.app.services.index,), daemon=True).start()
    rooms = tuple(ROOMS) if function == "audit" else (function,)
    return http_handler(create_app(runtime.app, rooms=rooms, auth=True), runtime, observer, settings)


def warm(index: Any) -> None:
    """Lets the index connect and load what a search needs. What is away now is told by the first recall."""
    try:
        index.warm_up()
    except Exception as error:
        told("the index is not warm", error)
