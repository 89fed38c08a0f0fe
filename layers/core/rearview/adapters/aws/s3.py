"""The archive over an S3 bucket, encrypted on the server's side."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, Literal
from urllib.parse import unquote

from botocore.exceptions import BotoCoreError, ClientError

from rearview.errors import Unavailable

#: boto3's low-level client has no types.
Client = Any
Encryption = Literal["AES256", "aws:kms"]

#: Bytes of a key in UTF-8, the bound of S3.
MAX_KEY_BYTES: Final = 1024
_MISSING: Final = frozenset({"NoSuchKey", "404", "NotFound"})
#: The escape itself, what XML cannot hold, what S3 advises against, and what a proxy may read as a path of its own:
#: a first or double slash, and parts of dots alone.
_UNSAFE: Final = re.compile(r"[%\x00-\x20\x7f\\^`{}\[\]\"<>~#|?*:]|(?<![^/])/|(?<![^/])\.{1,2}(?![^/])")
_DOTS: Final = re.compile(r"(?<![^/])\.{1,2}\Z")
_DELETE_BATCH: Final = 1000


def stored_key(key: str) -> str:
    """A key as it stands in the bucket: unsafe characters percent-encoded, so that none is read as anything else."""
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02x}" for byte in match[0].encode()), key)


def original_key(stored: str) -> str:
    """What :func:`stored_key` was given."""
    return unquote(stored)


class S3Archive:
    """Implements :class:`rearview.ports.Archive`.

    On a versioned bucket ``delete`` takes out every version, because what is erased has to be gone.
    """

    def __init__(
        self,
        client: Client,
        bucket: str,
        *,
        prefix: str = "",
        encryption: Encryption | None = "AES256",
        kms_key_id: str | None = None,
    ) -> None:
        """``prefix`` stands before every key. ``kms_key_id`` with ``aws:kms``: the key, else the account's own.
        ``encryption`` None: as the bucket's default says."""
        self._client, self._bucket, self._prefix = client, bucket, prefix
        self._encryption: dict[str, str] = {} if encryption is None else {"ServerSideEncryption": encryption}
        if encryption == "aws:kms" and kms_key_id:
            self._encryption["SSEKMSKeyId"] = kms_key_id

    def put(self, key: str, body: bytes) -> None:
        """Durable when it returns; readers see the old object or the new one."""
        self._call("put_object", Key=self._place(key), Body=body, **self._encryption)

    def get(self, key: str) -> bytes | None:
        try:
            answer = self._call("get_object", Key=self._place(key))
            return bytes(answer["Body"].read())
        except _Missing:
            return None
        except BotoCoreError as error:
            raise Unavailable(f"S3 broke off: {type(error).__name__}") from None

    def delete(self, key: str) -> None:
        place = self._place(key)
        found = [
            {"Key": place, "VersionId": one["VersionId"]}
            for page in self._pages("list_object_versions", place)
            for one in [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
            if one["Key"] == place
        ]
        for start in range(0, len(found), _DELETE_BATCH):
            batch = {"Objects": found[start : start + _DELETE_BATCH], "Quiet": True}
            failed = self._call("delete_objects", Delete=batch).get("Errors", [])
            if failed:
                raise Unavailable(f"S3 refused to delete: {failed[0].get('Code')}")

    def keys(self, prefix: str) -> Iterator[str]:
        """Page by page, in the bucket's order."""
        # Dots at the end of a prefix may go on as something else in the key.
        certain = stored_key(_DOTS.sub("", prefix))
        for page in self._pages("list_objects_v2", self._prefix + certain):
            for one in page.get("Contents", []):
                key = original_key(one["Key"][len(self._prefix) :])
                if key.startswith(prefix):
                    yield key

    def _place(self, key: str) -> str:
        place = self._prefix + stored_key(key)
        if not key or len(place.encode()) > MAX_KEY_BYTES:
            raise ValueError(f"an archive key has 1 to {MAX_KEY_BYTES} bytes")
        return place

    def _pages(self, operation: str, prefix: str) -> Iterator[dict[str, Any]]:
        try:
            yield from self._client.get_paginator(operation).paginate(Bucket=self._bucket, Prefix=prefix)
        except (ClientError, BotoCoreError) as error:
            raise _refusal(error) from None

    def _call(self, operation: str, **request: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = getattr(self._client, operation)(Bucket=self._bucket, **request)
        except (ClientError, BotoCoreError) as error:
            raise _refusal(error) from None
        return answer


class _Missing(Unavailable):
    """There is no such object."""


def _refusal(error: ClientError | BotoCoreError) -> Unavailable:
    if isinstance(error, ClientError):
        code = str(error.response["Error"]["Code"])
        return (_Missing if code in _MISSING else Unavailable)(f"S3 refused: {code}")
    return Unavailable(f"S3 did not answer: {type(error).__name__}")
