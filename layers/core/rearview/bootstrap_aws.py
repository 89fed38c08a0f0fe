"""Bootstrap on AWS: DynamoDB, SQS and OpenSearch behind the same use cases.

A function pays for what it imports, so the index and the embedding model are made at first use: a function that never
searches never loads them.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import Any, Literal, cast

from rearview.adapters.aws import clients
from rearview.adapters.aws.dynamodb import DynamoStore
from rearview.adapters.aws.sqs import SqsQueue
from rearview.adapters.clock import SystemClock
from rearview.bootstrap import Runtime, load_rules, make_embedder, make_reranker, make_text_model
from rearview.errors import InvalidInput
from rearview.ports import Archive, Clock, Embedder, VectorIndex
from rearview.settings import AwsSettings
from rearview.usecases.app import assemble
from rearview.usecases.services import Rules, Services

Part = Literal["queue", "embedder", "index", "rules", "archive"]
#: A waiting writer reads the table first after this many seconds, and then more and more seldom.
POLL_SECONDS = (0.05, 0.5)


class Lazy:
    """Stands for what is made when it is first asked for something."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make, self._lock = make, threading.Lock()

    @property
    def _made(self) -> Any:
        with self._lock:
            return self._once

    @cached_property
    def _once(self) -> Any:
        return self._make()

    def load(self) -> None:
        """Makes it now."""
        _ = self._made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)


def aws(
    settings: AwsSettings,
    *,
    uses: Collection[Part] = (),
    embedder: Embedder | None = None,
    clock: Clock | None = None,
) -> Runtime:
    """The use cases over the table, queue and index that the settings name. A worker elsewhere enriches.

    ``uses``: what this function needs sooner or later. It is loaded at once where a snapshot is taken after the start,
    and at first use where every start is paid for.
    """
    for name in ("table", "queue_url", "dead_letters_url"):
        if not getattr(settings, name):
            raise InvalidInput.of(f"REARVIEW_{name.upper()}", "required", "must be set")
    store = DynamoStore(clients.dynamodb(), settings.table)
    parts: dict[Part, Lazy] = {
        "queue": Lazy(lambda: _queue(settings)),
        "embedder": Lazy(lambda: embedder or make_embedder(settings)),
        "index": Lazy(lambda: make_index(settings, model)),
        "rules": Lazy(load_rules),
        "archive": Lazy(lambda: _archive(settings)),
    }
    queue, model = cast("SqsQueue", parts["queue"]), cast("Embedder", parts["embedder"])
    services = Services(
        store=store,
        index=cast("VectorIndex", parts["index"]),
        queue=queue,
        archive=cast("Archive", parts["archive"]),
        embedder=model,
        clock=clock or SystemClock(),
        rules=cast("Rules", parts["rules"]),
        owner=environment_name(),
        conflict_policy=settings.conflict_policy,
        inline=False,
        wait_seconds=settings.wait_seconds,
        maintenance_hour=settings.maintenance_hour,
        language_model=_lazy(settings.text_model, lambda: make_text_model(settings)),
        reranker=_lazy(settings.reranker_model, lambda: make_reranker(settings)),
        secret_source=_signing_key(settings.signing_key) if settings.signing_key else None,
        poll_seconds=POLL_SECONDS,
    )

    def redrive(limit: int) -> int:
        return queue.redrive(limit)

    def gave_up(partition: str, what: Mapping[str, Any]) -> None:
        _bury(queue, partition, what, services)

    services.redrive_letters, services.gave_up = redrive, gave_up
    app = assemble(services)
    if os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE") == "snap-start":
        for name in uses:
            parts[name].load()

    def close() -> None:
        app.touches.flush()
        store.close()

    return Runtime(app, queue, settings, close)


def environment_name() -> str:
    """A name for this execution environment in leases: never that of another one."""
    return f"{os.environ.get('AWS_LAMBDA_LOG_STREAM_NAME', 'local')[-32:]}/{secrets.token_hex(8)}"


def make_index(settings: AwsSettings, embedder: Embedder) -> VectorIndex:
    """The OpenSearch index that the settings name."""
    from rearview.adapters.aws.opensearch import OpenSearchIndex
    from rearview.adapters.aws.opensearch_mapping import Options

    client = opensearch_client(settings)
    return OpenSearchIndex(client, embedder.fingerprint, Options(alias=settings.opensearch_index))


def opensearch_client(settings: AwsSettings) -> Any:
    """A client of the domain that the settings name."""
    from rearview.adapters.aws.opensearch_client import make_client

    username = password = None
    if settings.opensearch_auth == "basic":
        from rearview.adapters.aws.secrets import fetch

        username, _, password = fetch(settings.opensearch_login).partition(":")
    return make_client(
        settings.opensearch_url,
        auth=settings.opensearch_auth,
        region=os.environ.get("AWS_REGION"),
        service=settings.opensearch_service,
        username=username,
        password=password,
    )


def _queue(settings: AwsSettings) -> SqsQueue:
    return SqsQueue(clients.sqs(), settings.queue_url, settings.dead_letters_url)


def _lazy(name: str, make: Callable[[], Any]) -> Any:
    """What a setting names, made when it is first asked for something; None if it names nothing."""
    return Lazy(make) if name else None


def _archive(settings: AwsSettings) -> Archive:
    from rearview.adapters.aws.s3 import S3Archive

    if not settings.bucket:
        raise InvalidInput.of("REARVIEW_BUCKET", "required", "must be set")
    # The bucket encrypts with the installation's own key.
    return S3Archive(clients.s3(), settings.bucket, encryption=None)


def _signing_key(reference: str) -> Callable[[], bytes]:
    def fetched() -> bytes:
        from rearview.adapters.aws.secrets import fetch_key

        return fetch_key(reference)

    return fetched


def _bury(queue: SqsQueue, partition: str, what: Mapping[str, Any], services: Services) -> None:
    """A copy among the dead letters: ids only, no content. If SQS is away, the record's state and the audit tell."""
    from rearview.usecases.services import told

    try:
        stamp = int(services.now().timestamp())
        queue.bury(partition, f"{what['seq']}-failed-{stamp}", {"partition": partition, **what})
    except Exception as error:
        told("a failed item could not be copied to the dead letters", error)
