"""The stand-ins of AWS that the contract suite runs over, started at first use and stopped with the session.

Under pytest-xdist every worker process has its own, on free ports; one worker (``-n 0``) saves the starts. What cannot
be started fails the tests that need it: nothing is skipped. A fresh table, pair of queues or bucket a test.
"""

from __future__ import annotations

import os
import tempfile
import uuid
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from infra.local.stack import REGION, Stack

#: Tests run without the REARVIEW_ variables of whoever started them; the servers need the one that names the tools.
ENVIRONMENT: Final = {name: value for name, value in os.environ.items() if name.startswith("REARVIEW_")}
_KEYS: Final = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


class Services:
    """Addresses of what runs; starts what does not."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._stack: Stack | None = None

    @property
    def stack(self) -> Stack:
        """The session's own stack: tied to this process, so that not even a kill leaves anything running."""
        if self._stack is None:
            self._folder = tempfile.TemporaryDirectory(
                prefix="rearview-contract-", ignore_cleanup_errors=True
            )
            self._stack = Stack(Path(self._folder.name), tied=True)
        return self._stack

    def url(self, name: str) -> str:
        """The address of ``ministack``, ``localstack`` or ``opensearch-VERSION``."""
        stack = self.stack
        found = stack.url(name)
        if found is None:
            kind, _, version = name.partition("-")
            with patch.dict(os.environ, ENVIRONMENT):
                start = getattr(stack, f"start_{kind}")
                found = (start(version) if version else start()).url
        return str(found)

    def stop(self) -> None:
        """Stops what was started here."""
        if self._stack is not None:
            self._stack.stop()
            self._stack = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    # --- what a test gets of them

    def client(self, service: str, name: str = "ministack") -> Any:
        """A client as the adapters make it, pointed at a stand-in."""
        from rearview.adapters.aws import clients

        url = self.url(name)
        with patch.dict(os.environ, _KEYS):
            made = getattr(clients, service)(region=REGION, endpoint_url=url)
            # Resolved now, while the keys are there.
            made._request_signer._credentials.get_frozen_credentials()
            return made

    def table(self, client: Any) -> str:
        """A fresh table as the template makes it."""
        from rearview.adapters.aws import dynamodb_items as items

        name = _fresh("memories")
        client.create_table(**items.table_definition(name))
        ttl = {"Enabled": True, "AttributeName": items.TTL}
        client.update_time_to_live(TableName=name, TimeToLiveSpecification=ttl)
        return name

    def queues(self, client: Any) -> tuple[str, str]:
        """The URLs of a fresh FIFO queue and of its dead letters."""
        from rearview.adapters.aws.sqs import dead_letters_attributes, queue_attributes

        name = _fresh("writes")
        dead = client.create_queue(QueueName=f"{name}-dead.fifo", Attributes=dead_letters_attributes())[
            "QueueUrl"
        ]
        arn = client.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"][
            "QueueArn"
        ]
        url = client.create_queue(QueueName=f"{name}.fifo", Attributes=queue_attributes(arn))["QueueUrl"]
        return url, dead

    def bucket(self, client: Any, *, versioned: bool = True) -> str:
        """A fresh bucket, versioned as the template's is."""
        name = _fresh("archive")
        client.create_bucket(Bucket=name)
        if versioned:
            client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
        return name


def _fresh(name: str) -> str:
    return f"{name}-{uuid.uuid4().hex[:12]}"


SERVICES: Final = Services()
