"""The unit of work over DynamoDB: consistent reads overlaid with buffered writes, and the transaction they become."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from rearview.adapters.aws import dynamodb_items as items
from rearview.domain.codec import Body
from rearview.domain.keys import PENDING, Key
from rearview.ports import AlreadyThere, Filter, Page, Reading


class Table(Reading, Protocol):
    """The reads of the store, and raw items."""

    def item(self, key: Key) -> items.Item | None: ...


@dataclass(slots=True)
class _Write:
    """A buffered put; ``body`` None deletes."""

    body: Body | None
    expires_at: datetime | None = None
    absent: bool = False
    ttl: bool = False


class DynamoUnit:
    """The unit of work: reads through to the table, overlaid with what it is going to write."""

    def __init__(self, store: Table, partition: str) -> None:
        self._store = store
        self._guard = items.guard_of(partition)
        held = store.item(self._guard)
        self._revision = items.revision_of(held)
        self._guard_body = items.body_of(held)
        self.writes: dict[Key, _Write] = {}

    def get(self, key: Key) -> Body | None:
        if key in self.writes:
            return self.writes[key].body
        return self._guard_body if key == self._guard else self._store.get(key)

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Body]:
        wanted = list(dict.fromkeys(keys))
        found = self._store.get_many(key for key in wanted if key not in self.writes)
        mine = {key: self.writes[key].body for key in wanted if key in self.writes}
        merged = {key: mine[key] if key in mine else found.get(key) for key in wanted}
        return {key: body for key, body in merged.items() if body is not None}

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
        touched = [key for key in self.writes if key.partition == partition and key.sort.startswith(prefix)]
        if not touched:
            return self._store.query(
                partition, prefix, after=after, limit=limit, reverse=reverse, where=where
            )
        # Deleted and rewritten items may leave the page: so many more are read.
        page = self._store.query(
            partition, prefix, after=after, limit=limit + len(touched) + 1, reverse=reverse, where=where
        )
        found = {key: body for key, body in page.items if key not in self.writes}
        for key in touched:
            body = self.writes[key].body
            beyond = after is None or (key.sort < after if reverse else key.sort > after)
            if body is not None and beyond and all(one.holds(body) for one in where):
                found[key] = body
        ordered = sorted(found.items(), key=lambda pair: pair[0].sort, reverse=reverse)
        if page.last is not None:
            known = page.last
            ordered = [
                pair for pair in ordered if (pair[0].sort >= known if reverse else pair[0].sort <= known)
            ]
        more = len(ordered) > limit or page.last is not None
        shown = ordered[:limit]
        return Page(shown, shown[-1][0].sort if more and shown else None)

    def put(
        self,
        key: Key,
        body: Body,
        *,
        expires_at: datetime | None = None,
        absent: bool = False,
        ttl: bool = False,
    ) -> None:
        before = self.writes.get(key)
        if before is not None and before.body is not None and absent:
            raise AlreadyThere(key)
        self.writes[key] = _Write(body, expires_at, absent or (before is not None and before.absent), ttl)

    def delete(self, key: Key) -> None:
        self.writes[key] = _Write(None)

    def operations(self, table: str) -> list[tuple[Key, dict[str, Any]]]:
        """The transaction; the guard comes last."""
        now = datetime.now(UTC)
        guard = self.writes.pop(self._guard, None)
        writes = [(key, _operation(table, key, write, now)) for key, write in self.writes.items()]
        return [*writes, (self._guard, self._move(table, guard, now))]

    def _move(self, table: str, write: _Write | None, now: datetime) -> dict[str, Any]:
        fresh = {"N": str((self._revision or 0) + 1)}
        if self._revision is None:
            condition, values = "attribute_not_exists(rev)", {}
        else:
            condition, values = "rev = :old", {":old": {"N": str(self._revision)}}
        common = {"TableName": table, "ConditionExpression": condition}
        if write is None:
            values = {**values, ":new": fresh}
            update = {"Key": items.address(self._guard), "UpdateExpression": "SET rev = :new"}
            return {"Update": {**common, **update, "ExpressionAttributeValues": values}}
        if values:
            common["ExpressionAttributeValues"] = values  # type: ignore[assignment]
        if write.body is None:
            return {"Delete": {**common, "Key": items.address(self._guard)}}
        fields = items.attributes(self._guard, write.body, write.expires_at, write.ttl, now)
        return {"Put": {**common, "Item": {**items.address(self._guard), **fields, items.REVISION: fresh}}}


def _operation(table: str, key: Key, write: _Write, now: datetime) -> dict[str, Any]:
    if write.body is None:
        return {"Delete": {"TableName": table, "Key": items.address(key)}}
    fields = items.attributes(key, write.body, write.expires_at, write.ttl, now)
    if key.sort.startswith(PENDING):
        # A mark that is written again keeps its place in the line.
        first = fields.pop(items.PENDING_SINCE)
        sets = ", ".join(f"{name} = :{name}" for name in fields)
        expression = f"SET {sets}, ps = if_not_exists(ps, :ps)"
        values = {f":{name}": value for name, value in fields.items()} | {":ps": first}
        update = {"TableName": table, "Key": items.address(key), "UpdateExpression": expression}
        return {"Update": {**update, "ExpressionAttributeValues": values}}
    put: dict[str, Any] = {"TableName": table, "Item": {**items.address(key), **fields}}
    if write.absent:
        put["ConditionExpression"] = "attribute_not_exists(pk)"
    return {"Put": put}
