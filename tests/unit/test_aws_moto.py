"""Error paths against moto's doubles, in this process: the shapes that botocore really raises.

moto is not trusted with more: its conditional writes lose updates under threads, and its FIFO order breaks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from unittest.mock import patch

import pytest

from rearview.adapters.aws import clients
from rearview.adapters.aws import dynamodb_items as items
from rearview.adapters.aws.dynamodb import DynamoStore
from rearview.adapters.aws.s3 import S3Archive
from rearview.adapters.aws.sqs import SqsQueue
from rearview.domain.keys import Key
from rearview.errors import Unavailable
from rearview.ports import AlreadyThere, UnitOfWork

if not os.environ.get("CI"):
    # CI installs the group `aws-test`, and fails here if it did not.
    pytest.importorskip("moto")
from moto import mock_aws


@pytest.fixture(autouse=True)
def _moto() -> Iterator[None]:
    with patch.dict(os.environ, {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}), mock_aws():
        yield


@pytest.fixture
def store() -> DynamoStore:
    client = clients.dynamodb(region="us-east-1")
    client.create_table(**items.table_definition("memories"))
    return DynamoStore(client, "memories", patience=0.5)


def test_an_existing_key_fails_the_whole_transaction(store: DynamoStore) -> None:
    store.transact("b", lambda unit: unit.put(Key("b", "X#1"), {"v": 1}))

    def work(unit: UnitOfWork) -> None:
        unit.put(Key("a", "M#1"), {})
        unit.put(Key("b", "X#1"), {"v": 2}, absent=True)

    with pytest.raises(AlreadyThere) as caught:
        store.transact("a", work)
    assert caught.value.key == Key("b", "X#1")
    assert store.get(Key("a", "M#1")) is None


def test_a_writer_that_was_overtaken_runs_again(store: DynamoStore) -> None:
    other = DynamoStore(clients.dynamodb(region="us-east-1"), "memories")
    runs = []

    def work(unit: UnitOfWork) -> None:
        runs.append(unit.get(Key("a", "M#1")))
        if len(runs) == 1:
            other.transact("a", lambda unit: unit.put(Key("a", "M#1"), {"by": "other"}))
        unit.put(Key("a", "M#2"), {})

    store.transact("a", work)
    assert runs == [None, {"by": "other"}]


def test_a_missing_table_queue_or_bucket_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="ResourceNotFoundException"):
        DynamoStore(clients.dynamodb(region="us-east-1"), "missing").get(Key("a", "M#1"))
    url = "https://sqs.us-east-1.amazonaws.com/123456789012/missing.fifo"
    with pytest.raises(Unavailable, match="SQS refused"):
        SqsQueue(clients.sqs(region="us-east-1"), url, url).depth()
    with pytest.raises(Unavailable, match="NoSuchBucket"):
        S3Archive(clients.s3(region="us-east-1"), "missing").get("a")
