"""The REST functions: one room each, but for ``audit``, which also serves the document of all rooms."""

from __future__ import annotations

from rearview.bootstrap_aws import Part, aws
from rearview.entrypoints.aws.gateway import Handler, http_handler
from rearview.entrypoints.aws.observe import Observer
from rearview.entrypoints.rest.app import ROOMS, create_app
from rearview.settings import AwsSettings

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
    rooms = tuple(ROOMS) if function == "audit" else (function,)
    return http_handler(create_app(runtime.app, rooms=rooms, auth=True), runtime, observer, settings)
