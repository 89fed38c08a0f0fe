"""Secrets by reference: what a function is told is a name, and its role decides whether it may read it."""

from __future__ import annotations

from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from rearview.adapters.aws.clients import client
from rearview.errors import Unavailable

#: A key of fewer bytes could be guessed.
MIN_KEY_BYTES: Final = 32


def fetch(reference: str) -> str:
    """The value behind ``secretsmanager:NAME-OR-ARN`` or ``ssm:NAME`` (a SecureString); Unavailable if it cannot be
    read, ValueError for a reference of another kind."""
    kind, _, name = reference.partition(":")
    try:
        if kind == "secretsmanager" and name:
            answer: dict[str, Any] = client("secretsmanager").get_secret_value(SecretId=name)
            return str(answer["SecretString"])
        if kind == "ssm" and name:
            answer = client("ssm").get_parameter(Name=name, WithDecryption=True)
            return str(answer["Parameter"]["Value"])
    except (ClientError, BotoCoreError) as error:
        code = error.response["Error"]["Code"] if isinstance(error, ClientError) else type(error).__name__
        raise Unavailable(f"a secret could not be read: {code}") from None
    raise ValueError("a secret's reference reads secretsmanager:NAME or ssm:NAME")


def fetch_key(reference: str) -> bytes:
    """A signing key; ValueError if it is too short to be one."""
    key = fetch(reference).encode()
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(f"a signing key has at least {MIN_KEY_BYTES} bytes")
    return key
