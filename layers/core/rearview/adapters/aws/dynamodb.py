"""The store over one DynamoDB table.

A transaction reads strongly consistently, buffers its writes and commits them as one ``TransactWriteItems`` under the
condition that the partition's guard (its head item) is at the revision read at the start. Every transaction of a
partition moves the guard, so whatever was read inside it still holds at commit; a collision is retried with jitter.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from rearview.adapters.aws import dynamodb_items as items
from rearview.adapters.aws.dynamodb_unit import DynamoUnit
from rearview.domain.codec import Body
from rearview.domain.keys import Key
from rearview.domain.times import to_text
from rearview.errors import InvalidInput, TooManyWrites, Unavailable
from rearview.ports import AlreadyThere, Filter, Page, UnitOfWork

if TYPE_CHECKING:
    Client = Any

T = TypeVar("T")

ATTEMPTS: Final = 10
BASE_SECONDS: Final = 0.008
MOST_SECONDS: Final = 0.4
#: DynamoDB's bounds for one transaction and one batch read.
TRANSACTION: Final = 100
BATCH: Final = 100
_RETRY: Final = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})
_LATER: Final = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "RequestLimitExceeded",
        "InternalServerError",
        "ServiceUnavailable",
        "TransactionInProgressException",
    }
)


class _Collision(Exception):
    """Another transaction of the partition was faster."""


class DynamoStore:
    """Implements :class:`rearview.ports.MemoryStore`. Safe among threads, functions and machines."""

    def __init__(self, client: Client, table: str) -> None:
        """``client``: boto3's low-level DynamoDB client. ``table``: see ``dynamodb_items.table_definition``."""
        self._client, self._table = client, table
        self._random = random.SystemRandom()

    # --- reading

    def get(self, key: Key) -> Body | None:
        return items.body_of(self.item(key))

    def item(self, key: Key) -> items.Item | None:
        """The raw item, guards included; strongly consistent."""
        answer = self._call("get_item", Key=items.address(key), ConsistentRead=True)
        found: items.Item | None = answer.get("Item")
        return found

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Body]:
        wanted = list(dict.fromkeys(keys))
        found: dict[Key, Body] = {}
        for start in range(0, len(wanted), BATCH):
            asked = [items.address(key) for key in wanted[start : start + BATCH]]
            attempt = 0
            while asked:
                request = {self._table: {"Keys": asked, "ConsistentRead": True}}
                answer = self._call("batch_get_item", RequestItems=request, table=False)
                for item in answer["Responses"].get(self._table, []):
                    body = items.body_of(item)
                    if body is not None:
                        found[items.key_of(item)] = body
                asked = answer.get("UnprocessedKeys", {}).get(self._table, {}).get("Keys", [])
                if asked:
                    attempt += 1
                    self._pause(attempt)
        return {key: found[key] for key in wanted if key in found}

    def query(
        self,
        partition: str,
        prefix: str,
        *,
        after: str | None = None,
        limit: int = 1000,
        reverse: bool = False,
        where: Sequence[Filter] = (),
    ) -> Page:
        if limit < 1:
            raise ValueError("limit must be at least 1")
        page: list[tuple[Key, Body]] = []
        for key, body in self._stream(partition, prefix, after, limit, reverse, bool(where)):
            if all(one.holds(body) for one in where):
                if len(page) == limit:
                    return Page(page, page[-1][0].sort)
                page.append((key, body))
        return Page(page, None)

    def _stream(
        self, partition: str, prefix: str, after: str | None, limit: int, reverse: bool, filtered: bool
    ) -> Iterator[tuple[Key, Body]]:
        request: dict[str, Any] = {
            "KeyConditionExpression": "pk = :p AND sk BETWEEN :low AND :high",
            "ExpressionAttributeValues": {
                ":p": {"S": partition},
                ":low": {"S": prefix if after is None or reverse else max(prefix, after + "\x00")},
                ":high": {"S": prefix + items.LAST},
            },
            "ConsistentRead": True,
            "ScanIndexForward": not reverse,
            "Limit": 1000 if filtered else min(limit + 1, 1000),
        }
        if after is not None and reverse:
            request["ExclusiveStartKey"] = items.address(Key(partition, after))
        while True:
            answer = self._call("query", **request)
            for item in answer["Items"]:
                body = items.body_of(item)
                if body is not None:
                    yield items.key_of(item), body
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    # --- transactions

    def transact(self, partition: str, work: Callable[[UnitOfWork], T]) -> T:
        for attempt in range(ATTEMPTS):
            unit = DynamoUnit(self, partition)
            result = work(unit)
            try:
                self._commit(unit)
            except _Collision:
                self._pause(attempt)
                continue
            return result
        raise TooManyWrites("too many writers of this user at once; try again")

    def _commit(self, unit: DynamoUnit) -> None:
        if not unit.writes:
            return
        writes = unit.operations(self._table)
        if len(writes) > TRANSACTION:
            raise RuntimeError(f"a transaction of {len(writes)} items; the use case must cut it")
        try:
            self._client.transact_write_items(TransactItems=[operation for _, operation in writes])
        except ClientError as error:
            self._refused(error, [key for key, _ in writes])
        except BotoCoreError as error:
            raise Unavailable(f"DynamoDB did not answer: {type(error).__name__}") from None

    def _refused(self, error: ClientError, keys: Sequence[Key]) -> None:
        code = error.response["Error"]["Code"]
        if code in _LATER:
            raise _Collision from None
        if code == "ValidationException" and "size" in error.response["Error"].get("Message", "").lower():
            raise InvalidInput.of("body", "max_bytes", "is larger than an item may be (400 KB)") from None
        if code != "TransactionCanceledException":
            raise Unavailable(f"DynamoDB refused: {code}") from None
        reasons = [reason.get("Code", "None") for reason in error.response.get("CancellationReasons", [])]
        failed = [
            key for key, reason in zip(keys, reasons, strict=False) if reason == "ConditionalCheckFailed"
        ]
        # The guard is the last operation: when it moved, what was read is stale and everything is tried again.
        if not reasons or any(reason in _RETRY for reason in reasons) or keys[-1] in failed:
            raise _Collision from None
        if failed:
            raise AlreadyThere(failed[0]) from None
        if "ValidationError" in reasons or "ItemCollectionSizeLimitExceeded" in reasons:
            raise InvalidInput.of("body", "max_bytes", "is larger than an item may be (400 KB)") from None
        raise Unavailable(f"DynamoDB cancelled the transaction: {sorted(set(reasons))}") from None

    def _pause(self, attempt: int) -> None:
        """Full jitter (AWS Architecture Blog, "Exponential Backoff And Jitter")."""
        time.sleep(self._random.uniform(0, min(MOST_SECONDS, BASE_SECONDS * 2**attempt)))

    # --- sweeps

    def pending_partitions(self, limit: int = 100) -> list[str]:
        streams = [
            self._sparse(items.PENDING_INDEX, items.PENDING_SHARD, items.PENDING_SINCE, str(number), None)
            for number in range(items.SHARDS)
        ]
        found: dict[str, None] = {}
        for _, key in merge(*streams, key=lambda pair: pair[0]):
            found.setdefault(key.partition)
            if len(found) == limit:
                break
        return list(found)

    def due(self, now: datetime, limit: int = 1000) -> list[Key]:
        streams = [
            self._sparse(items.DUE_INDEX, items.DUE_SHARD, items.DUE_AT, str(number), to_text(now))
            for number in range(items.SHARDS)
        ]
        return [key for _, key in islice(merge(*streams, key=lambda pair: pair[0]), limit)]

    def _sparse(
        self, index: str, shard: str, order: str, number: str, upto: str | None
    ) -> Iterator[tuple[str, Key]]:
        condition = f"{shard} = :s" + ("" if upto is None else f" AND {order} <= :t")
        values = {":s": {"S": number}} | ({} if upto is None else {":t": {"S": upto}})
        request: dict[str, Any] = {
            "IndexName": index,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
            "Limit": 200,
        }
        while True:
            answer = self._call("query", **request)
            for item in answer["Items"]:
                yield item[order]["S"], items.key_of(item)
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def partitions(self) -> Iterator[str]:
        seen: set[str] = set()
        request: dict[str, Any] = {"ProjectionExpression": "pk"}
        while True:
            answer = self._call("scan", **request)
            for item in answer["Items"]:
                name = item[items.PARTITION]["S"]
                if name not in seen:
                    seen.add(name)
                    yield name
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def close(self) -> None:
        self._client.close()

    def _call(self, name: str, *, table: bool = True, **request: Any) -> dict[str, Any]:
        try:
            if table:
                request["TableName"] = self._table
            answer: dict[str, Any] = getattr(self._client, name)(**request)
        except ClientError as error:
            raise Unavailable(f"DynamoDB refused: {error.response['Error']['Code']}") from None
        except BotoCoreError as error:
            raise Unavailable(f"DynamoDB did not answer: {type(error).__name__}") from None
        return answer
