"""Items of the one table: attribute names, marshalling, sizes, and the sparse indexes for what is due and pending."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final
from zlib import crc32

from rearview.adapters.bodies import read_body
from rearview.domain.codec import Body
from rearview.domain.keys import HEAD, PENDING, Key
from rearview.domain.times import plus, to_text
from rearview.domain.types import TTL_GRACE

#: Attributes: partition, sort key, body (JSON), revision of a guard, TTL (epoch seconds).
PARTITION, SORT, BODY, REVISION, TTL = "pk", "sk", "b", "rev", "ttl"
#: Sparse indexes. Their partitions are sharded, because everything of a moment lands on one of them.
DUE_INDEX, DUE_SHARD, DUE_AT = "due", "dp", "ds"
PENDING_INDEX, PENDING_SHARD, PENDING_SINCE = "pending", "pp", "ps"
SHARDS: Final = 8
#: DynamoDB's bounds: bytes of an item, bytes and operations of a transaction, keys of a batch read.
ITEM_BYTES: Final = 400 * 1024
TRANSACTION_BYTES: Final = 4 * 1024 * 1024
TRANSACTION_ITEMS: Final = 100
BATCH_ITEMS: Final = 100
_ONCE: Final = "@once#"

Item = dict[str, Any]


def shard(partition: str) -> str:
    """Which part of a sparse index a partition's marks go to."""
    return str(crc32(partition.encode()) % SHARDS)


def lives_once(partition: str) -> bool:
    """Whether a partition is of the kind that holds one item and vanishes with it."""
    return partition.startswith(_ONCE)


def guard_of(partition: str) -> Key:
    """The item whose revision every transaction of a partition moves: its head, or the one item it has."""
    return Key(partition, "ONCE" if lives_once(partition) else HEAD)


def address(key: Key) -> Item:
    """A key as DynamoDB wants it."""
    return {PARTITION: {"S": key.partition}, SORT: {"S": key.sort}}


def key_of(item: Item) -> Key:
    """The key of an item."""
    return Key(item[PARTITION]["S"], item[SORT]["S"])


def body_of(item: Item | None) -> Body | None:
    """The body of an item; None where there is only a guard."""
    if item is None or BODY not in item:
        return None
    return read_body(item[BODY]["S"])


def revision_of(item: Item | None) -> str | None:
    """The revision of a guard."""
    return None if item is None or REVISION not in item else str(item[REVISION]["S"])


def attributes(key: Key, body: Body, expires_at: datetime | None, ttl: bool, now: datetime) -> Item:
    """All attributes of an item but its key. ``now`` is a pending mark's place in the line."""
    fields: Item = {BODY: {"S": json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)}}
    if expires_at is not None:
        fields[DUE_SHARD] = {"S": shard(key.partition)}
        fields[DUE_AT] = {"S": to_text(expires_at)}
        if ttl:
            fields[TTL] = epoch(plus(expires_at, TTL_GRACE))
    if key.sort.startswith(PENDING):
        fields[PENDING_SHARD] = {"S": shard(key.partition)}
        fields[PENDING_SINCE] = {"S": f"{to_text(now)}#{key.sort}"}
    return fields


def epoch(moment: datetime) -> Item:
    """A time as the store's TTL wants it: whole seconds since 1970."""
    return {"N": str(int(moment.timestamp()))}


def size(item: Item) -> int:
    """Bytes of an item as DynamoDB counts them: names and values in UTF-8."""
    return sum(
        len(name.encode()) + sum(len(str(value).encode()) for value in typed.values())
        for name, typed in item.items()
    )


def table_definition(name: str) -> dict[str, Any]:
    """What ``create_table`` takes; the SAM template says the same. TTL and backups are switched on apart."""

    def index(index_name: str, partition: str, sort: str) -> dict[str, Any]:
        return {
            "IndexName": index_name,
            "KeySchema": [
                {"AttributeName": partition, "KeyType": "HASH"},
                {"AttributeName": sort, "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }

    names = (PARTITION, SORT, DUE_SHARD, DUE_AT, PENDING_SHARD, PENDING_SINCE)
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": item, "AttributeType": "S"} for item in names],
        "KeySchema": [
            {"AttributeName": PARTITION, "KeyType": "HASH"},
            {"AttributeName": SORT, "KeyType": "RANGE"},
        ],
        "GlobalSecondaryIndexes": [
            index(DUE_INDEX, DUE_SHARD, DUE_AT),
            index(PENDING_INDEX, PENDING_SHARD, PENDING_SINCE),
        ],
    }
