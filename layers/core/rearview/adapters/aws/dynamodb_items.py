"""Items of the one table: attribute names, marshalling, and the sparse indexes for what is due and what is pending."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final
from zlib import crc32

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
#: The largest text that may stand in a sort key (DynamoDB: 1,024 bytes of UTF-8).
LAST: Final = "\U0010ffff"
_ONCE: Final = "@once#"

Item = dict[str, Any]


def shard(partition: str) -> str:
    """Which part of a sparse index a partition's marks go to."""
    return str(crc32(partition.encode()) % SHARDS)


def guard_of(partition: str) -> Key:
    """The item whose revision every transaction of a partition moves: its head, or the one item it has."""
    return Key(partition, "ONCE" if partition.startswith(_ONCE) else HEAD)


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
    body: Body = json.loads(item[BODY]["S"])
    return body


def revision_of(item: Item | None) -> int | None:
    """The revision of a guard."""
    return None if item is None or REVISION not in item else int(item[REVISION]["N"])


def attributes(key: Key, body: Body, expires_at: datetime | None, ttl: bool, now: datetime) -> Item:
    """All attributes of an item but its key."""
    fields: Item = {BODY: {"S": json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)}}
    if expires_at is not None:
        fields[DUE_SHARD] = {"S": shard(key.partition)}
        fields[DUE_AT] = {"S": to_text(expires_at)}
        if ttl:
            fields[TTL] = {"N": str(int(plus(expires_at, TTL_GRACE).timestamp()))}
    if key.sort.startswith(PENDING):
        fields[PENDING_SHARD] = {"S": shard(key.partition)}
        fields[PENDING_SINCE] = {"S": f"{to_text(now)}#{key.sort}"}
    return fields


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
