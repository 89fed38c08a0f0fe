"""Clients of AWS services: short time-outs, retries in standard mode, connections enough for a process's threads."""

from __future__ import annotations

import os
from typing import Any, Final

from botocore.config import Config
from botocore.session import Session

#: boto3's low-level clients have no types.
Client = Any

CONNECT_SECONDS: Final = 1.0
READ_SECONDS: Final = 4.0
#: Between two pieces of an answer, however large the object is: whoever asks is answered within API Gateway's 29 s.
S3_READ_SECONDS: Final = 5.0
#: A model may take its time over 96 texts.
MODEL_READ_SECONDS: Final = 30.0
TRIES: Final = 3
#: Beside a model that hangs a recall has to answer by keyword, and soon.
ASKED_TRIES: Final = 2
CONNECTIONS: Final = 32


def client(
    service: str,
    *,
    region: str | None = None,
    endpoint_url: str | None = None,
    read_seconds: float = READ_SECONDS,
    tries: int = TRIES,
    **more: Any,
) -> Client:
    """A client of ``service`` with the process's credentials; it may be shared among threads.

    Without ``region`` and ``endpoint_url`` the usual places are asked (``AWS_REGION``, ``AWS_DEFAULT_REGION``,
    ``AWS_ENDPOINT_URL``, profiles). botocore alone is used: boto3 on top of it would cost time at a cold start.
    """
    config = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=read_seconds,
        retries={"mode": "standard", "total_max_attempts": tries},
        max_pool_connections=CONNECTIONS,
        tcp_keepalive=True,
        **more,
    )
    # botocore by itself reads AWS_DEFAULT_REGION only.
    region = region or os.environ.get("AWS_REGION")
    return Session().create_client(service, region_name=region, endpoint_url=endpoint_url, config=config)


def dynamodb(*, region: str | None = None, endpoint_url: str | None = None) -> Client:
    """For :class:`~rearview.adapters.aws.dynamodb.DynamoStore`."""
    return client("dynamodb", region=region, endpoint_url=endpoint_url)


def sqs(*, region: str | None = None, endpoint_url: str | None = None, poll_seconds: float = 0.0) -> Client:
    """For :class:`~rearview.adapters.aws.sqs.SqsQueue`; ``poll_seconds`` is how long its receive may wait."""
    return client("sqs", region=region, endpoint_url=endpoint_url, read_seconds=READ_SECONDS + poll_seconds)


def s3(*, region: str | None = None, endpoint_url: str | None = None) -> Client:
    """For :class:`~rearview.adapters.aws.s3.S3Archive`. Stand-ins on loopback know no bucket's host name."""
    custom = endpoint_url or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    style = {"addressing_style": "path"} if custom else {}
    return client("s3", region=region, endpoint_url=endpoint_url, read_seconds=S3_READ_SECONDS, s3=style)


def bedrock(
    service: str = "bedrock-runtime",
    *,
    region: str | None = None,
    endpoint_url: str | None = None,
    asked: bool = False,
) -> Client:
    """For the models of Bedrock: ``bedrock-runtime``, or ``bedrock-agent-runtime`` for the reranker. ``asked``: for what
    somebody waits for, which gives up in time to answer without the model."""
    seconds, tries = (READ_SECONDS, ASKED_TRIES) if asked else (MODEL_READ_SECONDS, TRIES)
    return client(service, region=region, endpoint_url=endpoint_url, read_seconds=seconds, tries=tries)
