"""The S3 archive's keys, and what it asks the service for."""

from __future__ import annotations

import os
from typing import Any
from unittest.mock import patch

import pytest
from botocore.stub import Stubber
from hypothesis import given
from hypothesis import strategies as st

from rearview.adapters.aws import clients
from rearview.adapters.aws.s3 import S3Archive, original_key, stored_key
from rearview.errors import Unavailable


@pytest.fixture
def s3() -> Any:
    with patch.dict(os.environ, {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}):
        return clients.s3(region="us-east-1", endpoint_url="http://127.0.0.1:9")


@given(st.text(alphabet=st.one_of(st.sampled_from("./%\x00 a2fe"), st.characters(exclude_categories=["Cs"]))))
def test_every_key_comes_back_from_the_bucket_as_it_went_in(key: str) -> None:
    stored = stored_key(key)
    assert original_key(stored) == key
    assert not any(part in (".", "..") for part in stored.split("/"))
    assert "//" not in stored
    assert not stored.startswith("/")
    assert not any(ord(char) <= 32 for char in stored)


@given(st.lists(st.sampled_from(["a", "b", ".", "/", "%", "长"]), max_size=8).map("".join), st.integers(0, 8))
def test_a_stored_key_starts_as_the_prefix_that_is_asked_for(key: str, length: int) -> None:
    from rearview.adapters.aws.s3 import _DOTS

    assert stored_key(key).startswith(stored_key(_DOTS.sub("", key[:length])))


def test_plain_keys_stay_readable() -> None:
    for key in ("memories/01J/1.json", "用户/杭州.txt", "a-b_c.d/e=f"):
        assert stored_key(key) == key


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"ServerSideEncryption": "AES256"}),
        ({"encryption": None}, {}),
        ({"encryption": "aws:kms"}, {"ServerSideEncryption": "aws:kms"}),
        (
            {"encryption": "aws:kms", "kms_key_id": "alias/memory"},
            {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "alias/memory"},
        ),
    ],
)
def test_objects_are_encrypted_as_the_settings_say(s3: Any, options: Any, expected: dict[str, str]) -> None:
    with Stubber(s3) as stub:
        stub.add_response("put_object", {}, {"Bucket": "b", "Key": "p/a", "Body": b"x", **expected})
        S3Archive(s3, "b", prefix="p/", **options).put("a", b"x")
        stub.assert_no_pending_responses()


def test_missing_is_none_and_trouble_is_unavailable(s3: Any) -> None:
    archive = S3Archive(s3, "b")
    with Stubber(s3) as stub:
        stub.add_client_error("get_object", "NoSuchKey", http_status_code=404)
        assert archive.get("a") is None
        stub.add_client_error("get_object", "AccessDenied", "anna's", http_status_code=403)
        with pytest.raises(Unavailable, match="AccessDenied") as caught:
            archive.get("a")
        assert "anna" not in caught.value.detail


def test_a_version_that_cannot_be_deleted_is_trouble(s3: Any) -> None:
    version = {"Key": "a", "VersionId": "1"}
    with Stubber(s3) as stub:
        stub.add_response("list_object_versions", {"Versions": [version]}, {"Bucket": "b", "Prefix": "a"})
        answer = {"Errors": [{**version, "Code": "AccessDenied"}]}
        stub.add_response(
            "delete_objects", answer, {"Bucket": "b", "Delete": {"Objects": [version], "Quiet": True}}
        )
        with pytest.raises(Unavailable, match="AccessDenied"):
            S3Archive(s3, "b").delete("a")
