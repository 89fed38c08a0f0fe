"""What only the AWS adapters promise, over the stand-ins."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aws_services import SERVICES

from rearview.domain import keys
from rearview.domain.keys import Key
from rearview.errors import InvalidInput, Unavailable
from rearview.ports import AlreadyThere, UnitOfWork

pytestmark = pytest.mark.aws

NOW = datetime(2026, 3, 1, tzinfo=UTC)


# --- DynamoDB


@pytest.fixture
def table() -> Iterator[tuple[Any, str]]:
    client = SERVICES.client("dynamodb")
    yield client, SERVICES.table(client)
    client.close()


def raw(table: tuple[Any, str], partition: str, sort: str) -> dict[str, Any] | None:
    client, name = table
    answer = client.get_item(
        TableName=name, Key={"pk": {"S": partition}, "sk": {"S": sort}}, ConsistentRead=True
    )
    found: dict[str, Any] | None = answer.get("Item")
    return found


def test_writers_of_several_processes_lose_no_increment_and_keep_the_order(table: tuple[Any, str]) -> None:
    from rearview.adapters.aws.dynamodb import DynamoStore

    # A store each, as functions have: nothing but the table orders them.
    stores = [DynamoStore(*table, patience=60) for _ in range(4)]
    head = keys.head("a")

    def increment(unit: UnitOfWork) -> int:
        count = int((unit.get(head) or {"count": 0})["count"]) + 1
        unit.put(head, {"count": count})
        unit.put(keys.ledger("a", count), {}, absent=True)
        return count

    with ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(lambda number: stores[number % 4].transact("a", increment), range(60)))
    assert sorted(numbers) == list(range(1, 61))
    assert len(stores[0].query("a", "L#").items) == 60


def test_a_claim_is_won_once_among_processes(table: tuple[Any, str]) -> None:
    from rearview.adapters.aws.dynamodb import DynamoStore

    at, together = Key("@once#1", "ONCE"), threading.Barrier(4)

    def claim(name: int) -> bool:
        together.wait()

        def work(unit: UnitOfWork) -> bool:
            if unit.get(at) is not None:
                return False
            unit.put(at, {"name": name}, expires_at=NOW, ttl=True)
            return True

        return DynamoStore(*table, patience=60).transact(at.partition, work)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(claim, range(4))).count(True) == 1


def test_a_claim_that_is_given_back_leaves_nothing(table: tuple[Any, str]) -> None:
    from rearview.adapters.aws.dynamodb import DynamoStore

    store, at = DynamoStore(*table), Key("@once#1", "ONCE")
    store.transact(at.partition, lambda unit: unit.put(at, {"v": 1}))
    store.transact(at.partition, lambda unit: unit.delete(at))
    assert raw(table, *_pair(at)) is None
    store.transact(at.partition, lambda unit: unit.put(at, {"v": 2}, absent=True))
    # Sealed by another partition's transaction, as an answer is.
    store.transact("a", lambda unit: unit.put(at, {"v": 3}))
    store.transact(at.partition, lambda unit: unit.put(at, {"v": (unit.get(at) or {})["v"] + 1}))
    assert store.get(at) == {"v": 4}


def test_a_claim_sealed_meanwhile_is_seen_by_the_one_that_read_before(table: tuple[Any, str]) -> None:
    from rearview.adapters.aws.dynamodb import DynamoStore

    store, other, at = DynamoStore(*table), DynamoStore(*table), Key("@once#1", "ONCE")
    seen = []

    def work(unit: UnitOfWork) -> None:
        seen.append(unit.get(at))
        if len(seen) == 1:
            other.transact("a", lambda unit: unit.put(at, {"state": "done"}))
        if seen[-1] is None:
            unit.put(at, {"state": "in_flight"})

    store.transact(at.partition, work)
    assert seen == [None, {"state": "done"}]
    assert store.get(at) == {"state": "done"}


def test_an_erased_head_leaves_a_guard_that_vanishes_and_still_guards(table: tuple[Any, str]) -> None:
    from rearview.adapters.aws.dynamodb import DynamoStore

    store, head = DynamoStore(*table), keys.head("a")
    store.transact("a", lambda unit: unit.put(head, {"seq": 1}))
    store.transact("a", lambda unit: unit.delete(head))
    left = raw(table, "a", "HEAD") or {}
    assert set(left) == {"pk", "sk", "rev", "ttl"}
    assert store.get(head) is None
    assert store.query("a", "").items == []
    assert list(store.partitions()) == []
    store.transact("a", lambda unit: unit.put(head, {"seq": 1}, absent=True))
    assert store.get(head) == {"seq": 1}
    with pytest.raises(AlreadyThere):
        store.transact("a", lambda unit: unit.put(head, {"seq": 2}, absent=True))


def test_a_pending_mark_keeps_its_place_and_loses_what_it_has_no_more(table: tuple[Any, str]) -> None:
    from rearview.adapters.aws.dynamodb import DynamoStore

    store, mark = DynamoStore(*table), keys.pending("a", 1)
    store.transact("a", lambda unit: unit.put(mark, {"attempts": 0}, expires_at=NOW, ttl=True))
    before = raw(table, *_pair(mark)) or {}
    store.transact("a", lambda unit: unit.put(mark, {"attempts": 1}))
    after = raw(table, *_pair(mark)) or {}
    assert before["ps"] == after["ps"]
    assert {"ds", "dp", "ttl"} <= set(before)
    assert not {"ds", "dp", "ttl"} & set(after)
    assert store.get(mark) == {"attempts": 1}


def test_the_largest_record_goes_in_and_a_larger_one_names_the_rule(table: tuple[Any, str]) -> None:
    from rearview.adapters.aws.dynamodb import DynamoStore

    store = DynamoStore(*table)
    store.transact("a", lambda unit: unit.put(Key("a", "M#1"), {"t": "茶" * 136_000}))
    with pytest.raises(InvalidInput) as caught:
        store.transact("a", lambda unit: unit.put(Key("a", "M#2"), {"t": "茶" * 136_600}))
    assert [error.rule for error in caught.value.errors] == ["max_item_bytes"]
    assert store.get(Key("a", "M#2")) is None


def test_many_partitions_share_the_sparse_indexes_and_come_in_time_order(table: tuple[Any, str]) -> None:
    from rearview.adapters.aws.dynamodb import DynamoStore

    store = DynamoStore(*table)
    names = [f"user{number:02d}" for number in range(30)]
    for number, name in enumerate(names):
        at = NOW + timedelta(minutes=(number * 7) % 30)

        def work(unit: UnitOfWork, name: str = name, at: datetime = at) -> None:
            unit.put(keys.pending(name, 1), {})
            unit.put(Key(name, "M#1"), {}, expires_at=at)

        store.transact(name, work)
    assert store.pending_partitions(limit=12) == names[:12]
    due = store.due(NOW + timedelta(minutes=14))
    assert [key.partition for key in due] == sorted(names, key=lambda name: int(name[4:]) * 7 % 30)[:15]


def test_a_missing_table_is_unavailable() -> None:
    from rearview.adapters.aws.dynamodb import DynamoStore

    store = DynamoStore(SERVICES.client("dynamodb"), "no-such-table", patience=0.1)
    with pytest.raises(Unavailable, match="ResourceNotFoundException"):
        store.get(Key("a", "M#1"))
    store.close()


def _pair(key: Key) -> tuple[str, str]:
    return key.partition, key.sort


# --- SQS


@pytest.fixture(params=["ministack", "localstack"])
def sqs(request: pytest.FixtureRequest) -> Iterator[Any]:
    from rearview.adapters.aws.sqs import SqsQueue

    client = SERVICES.client("sqs", request.param)
    yield SqsQueue(client, *SERVICES.queues(client))
    client.close()


def test_dead_letters_are_driven_again_in_order_as_often_as_they_die(sqs: Any) -> None:
    for group in ("a", "b"):
        for number in (1, 2):
            sqs.bury(group, f"{number}", {"seq": number})
    assert sqs.depth() == (0, 4)
    assert sqs.redrive(limit=3) == 3
    assert sqs.depth() == (3, 1)
    assert sqs.redrive() == 1
    seen = []
    while messages := sqs.receive():
        for message in messages:
            seen.append((message.group, message.body["seq"]))
            assert message.attempts == 1
            sqs.acknowledge(message)
    assert [number for group, number in seen if group == "a"] == [1, 2]
    assert [number for group, number in seen if group == "b"] == [1, 2]
    assert sqs.depth() == (0, 0)
    assert sqs.redrive() == 0


def test_a_message_that_died_of_deliveries_comes_back_by_a_redrive(sqs: Any) -> None:
    sqs.send("a", "1", {"seq": 1})
    for round_number in (1, 2):
        for _ in range(5):
            (message,) = sqs.receive()
            sqs.release(message)
        assert sqs.receive() == []
        assert sqs.depth() == (0, 1), round_number
        assert sqs.redrive() == 1
    (message,) = sqs.receive()
    assert (message.group, message.body, message.attempts) == ("a", {"seq": 1}, 1)


def test_any_text_serves_as_group_and_deduplication_id(sqs: Any) -> None:
    for group in ("杭州 🏮", "x" * 300, "f" * 40):
        sqs.send(group, "3.1 第三", {"group": group})
        sqs.send(group, "3.1 第三", {"group": group})
    assert sorted(message.body["group"] for message in sqs.receive()) == sorted(
        ["杭州 🏮", "x" * 300, "f" * 40]
    )
    assert sqs.depth()[0] == 3


# --- S3


@pytest.fixture(params=["ministack", "localstack"])
def bucket(request: pytest.FixtureRequest) -> Iterator[tuple[Any, str]]:
    client = SERVICES.client("s3", request.param)
    yield client, SERVICES.bucket(client)
    client.close()


def test_objects_are_encrypted_on_the_servers_side(bucket: tuple[Any, str]) -> None:
    from rearview.adapters.aws.s3 import S3Archive

    client, name = bucket
    S3Archive(client, name).put("a", b"x")
    assert client.head_object(Bucket=name, Key="a")["ServerSideEncryption"] == "AES256"


def test_a_deletion_leaves_no_version_behind(bucket: tuple[Any, str]) -> None:
    from rearview.adapters.aws.s3 import S3Archive

    client, name = bucket
    archive = S3Archive(client, name)
    for body in (b"1", b"2", b"3"):
        archive.put("u/1", body)
    archive.put("u/10", b"other")
    client.delete_object(Bucket=name, Key="u/1")
    archive.delete("u/1")
    left = client.list_object_versions(Bucket=name)
    assert [one["Key"] for one in left.get("Versions", [])] == ["u/10"]
    assert left.get("DeleteMarkers", []) == []


def test_more_keys_than_one_page_holds_are_all_listed(bucket: tuple[Any, str]) -> None:
    from rearview.adapters.aws.s3 import S3Archive

    client, name = bucket
    archive = S3Archive(client, name, prefix="p/")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: archive.put(f"m/{number:04d}", b""), range(1005)))
    archive.put("n", b"")
    assert sorted(archive.keys("m/")) == [f"m/{number:04d}" for number in range(1005)]


def test_a_missing_bucket_is_unavailable_not_empty(bucket: tuple[Any, str]) -> None:
    from rearview.adapters.aws.s3 import S3Archive

    archive = S3Archive(bucket[0], "no-such-bucket-at-all")
    for attempt in (
        lambda: archive.get("a"),
        lambda: archive.put("a", b""),
        lambda: archive.delete("a"),
        lambda: list(archive.keys("")),
    ):
        with pytest.raises(Unavailable, match="NoSuchBucket"):
            attempt()
