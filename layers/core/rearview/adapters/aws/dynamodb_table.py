"""Reads of the one table: strongly consistent, but for the sparse indexes, which lag behind a little."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from rearview.adapters.aws import dynamodb_items as items
from rearview.adapters.aws import dynamodb_refusals as refusals
from rearview.domain.codec import Body
from rearview.domain.keys import Key
from rearview.errors import Unavailable
from rearview.ports import Filter, Page

#: boto3's low-level client has no types.
Client = Any

BASE_SECONDS: Final = 0.008
MOST_SECONDS: Final = 0.4
_PAGE: Final = 1000
_SPARSE_PAGE: Final = 200

_random = random.SystemRandom()


def jitter(attempt: int) -> float:
    """Seconds to wait before try number ``attempt``: full jitter (AWS Architecture Blog, "Exponential Backoff And
    Jitter", M. Brooker 2015)."""
    return _random.uniform(0, min(MOST_SECONDS, BASE_SECONDS * 2 ** min(attempt, 16)))


class Table:
    """Implements :class:`rearview.ports.Reading`, and the raw reads that the store's transactions and sweeps need."""

    def __init__(
        self, client: Client, name: str, *, patience: float = 5.0, pause: Callable[[float], None] = time.sleep
    ) -> None:
        """``patience``: seconds after which a read that DynamoDB keeps cutting short is given up."""
        self.client, self.name = client, name
        self._patience, self._pause = patience, pause

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        """One request, on this table unless it names its own; Unavailable when it fails."""
        if "RequestItems" not in request:
            request["TableName"] = self.name
        try:
            answer: dict[str, Any] = getattr(self.client, operation)(**request)
        except (ClientError, BotoCoreError) as error:
            raise refusals.of_read(error) from None
        return answer

    def item(self, key: Key) -> items.Item | None:
        """The raw item, guards included."""
        found: items.Item | None = self.call("get_item", Key=items.address(key), ConsistentRead=True).get(
            "Item"
        )
        return found

    def get(self, key: Key) -> Body | None:
        """See the port."""
        return items.body_of(self.item(key))

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Body]:
        """See the port."""
        wanted = list(dict.fromkeys(keys))
        found: dict[Key, Body] = {}
        for start in range(0, len(wanted), items.BATCH_ITEMS):
            for item in self._batch(
                [items.address(key) for key in wanted[start : start + items.BATCH_ITEMS]]
            ):
                body = items.body_of(item)
                if body is not None:
                    found[items.key_of(item)] = body
        return {key: found[key] for key in wanted if key in found}

    def _batch(self, asked: list[items.Item]) -> Iterator[items.Item]:
        deadline, attempt = time.monotonic() + self._patience, 0
        while asked:
            request = {self.name: {"Keys": asked, "ConsistentRead": True}}
            answer = self.call("batch_get_item", RequestItems=request)
            served = answer["Responses"].get(self.name, [])
            yield from served
            # More than 16 MB were asked for, or DynamoDB is busy.
            asked = answer.get("UnprocessedKeys", {}).get(self.name, {}).get("Keys", [])
            if asked and not served:
                if time.monotonic() >= deadline:
                    raise Unavailable("DynamoDB is busy")
                attempt += 1
                self._pause(jitter(attempt))

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
        """See the port. Filters run here, page by page, until ``limit`` items have passed them."""
        if limit < 1:
            raise ValueError("limit must be at least 1")
        page: list[tuple[Key, Body]] = []
        size = _PAGE if where else min(limit + 1, _PAGE)
        for key, body in self._stream(partition, prefix, after, size, reverse):
            if all(one.holds(body) for one in where):
                if len(page) == limit:
                    return Page(page, page[-1][0].sort)
                page.append((key, body))
        return Page(page, None)

    def _stream(
        self, partition: str, prefix: str, after: str | None, size: int, reverse: bool
    ) -> Iterator[tuple[Key, Body]]:
        condition, values = "pk = :p", {":p": {"S": partition}}
        if prefix:
            condition, values = condition + " AND begins_with(sk, :s)", {**values, ":s": {"S": prefix}}
        request: dict[str, Any] = {
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
            "ConsistentRead": True,
            "ScanIndexForward": not reverse,
            "Limit": size,
        }
        if after is not None:
            if after.startswith(prefix):
                request["ExclusiveStartKey"] = items.address(Key(partition, after))
            elif (after > prefix) is not reverse:
                # A start outside the prefix is an error to DynamoDB: all of it lies behind, or all of it ahead.
                return
        for item in self._pages("query", request):
            body = items.body_of(item)
            if body is not None:
                yield items.key_of(item), body

    def _pages(self, operation: str, request: dict[str, Any]) -> Iterator[items.Item]:
        while True:
            answer = self.call(operation, **request)
            yield from answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def sparse(
        self, index: str, shard: str, order: str, number: int, upto: str | None = None
    ) -> Iterator[tuple[str, Key]]:
        """(place in the order, key) of one shard of a sparse index, up to a place."""
        condition, values = f"{shard} = :s", {":s": {"S": str(number)}}
        if upto is not None:
            condition, values = f"{condition} AND {order} <= :t", {**values, ":t": {"S": upto}}
        request = {
            "IndexName": index,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
            "Limit": _SPARSE_PAGE,
        }
        for item in self._pages("query", request):
            yield item[order]["S"], items.key_of(item)

    def partitions(self) -> Iterator[str]:
        """Each partition that holds a body, once. Reads the whole table."""
        seen: set[str] = set()
        request = {
            "ProjectionExpression": "pk",
            "FilterExpression": "attribute_exists(b)",
            "ConsistentRead": True,
        }
        for item in self._pages("scan", request):
            name = item[items.PARTITION]["S"]
            if name not in seen:
                seen.add(name)
                yield name
