"""The unit of work over DynamoDB: consistent reads overlaid with buffered writes, and the transaction they become."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from rearview.adapters.aws import dynamodb_items as items
from rearview.adapters.aws.dynamodb_refusals import too_large
from rearview.adapters.aws.dynamodb_table import Table
from rearview.domain.codec import Body
from rearview.domain.keys import PENDING, Key
from rearview.ports import AlreadyThere, Filter, Page

#: How long a guard without a body is kept at least, for transactions that saw it before its body went.
_GUARD_KEPT: Final = timedelta(days=1)
#: Every item has a body, but for a guard that stands alone.
_NOTHING_THERE: Final = "attribute_not_exists(b)"

Operation = tuple[Key, dict[str, Any]]


@dataclass(slots=True)
class _Write:
    """A buffered put; ``body`` None deletes. ``absent``: there must be nothing at commit. ``anew``: a deletion came
    before it, so nothing of what is there stays."""

    body: Body | None
    expires_at: datetime | None = None
    ttl: bool = False
    absent: bool = False
    anew: bool = False


class DynamoUnit:
    """Implements :class:`rearview.ports.UnitOfWork`.

    The guard is read first: if it has not moved at commit, then nothing that was read in between has changed.
    """

    def __init__(self, table: Table, partition: str) -> None:
        self._table = table
        self._guard = items.guard_of(partition)
        held = table.item(self._guard)
        self._seen = items.revision_of(held)
        self._guard_body = items.body_of(held)
        self._looked = False
        self._refused: Key | None = None
        self._writes: dict[Key, _Write] = {}
        #: What the guard's revision will be. Never used twice, so that no revision comes back after others.
        self.revision = secrets.token_hex(8)

    # --- reading

    def get(self, key: Key) -> Body | None:
        if key in self._writes:
            return self._writes[key].body
        if key == self._guard:
            return self._guard_body
        self._looked = True
        return self._table.get(key)

    def get_many(self, keys: Iterable[Key]) -> dict[Key, Body]:
        wanted = list(dict.fromkeys(keys))
        self._looked = True
        found = self._table.get_many(key for key in wanted if key not in self._writes)
        mine = {key: self._writes[key].body for key in wanted if key in self._writes}
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
        self._looked = True
        touched = [key for key in self._writes if key.partition == partition and key.sort.startswith(prefix)]
        # Deleted and rewritten items leave the page: so many more are read.
        room = limit + len(touched) + 1 if touched else limit
        page = self._table.query(partition, prefix, after=after, limit=room, reverse=reverse, where=where)
        if not touched:
            return page
        found = {key: body for key, body in page.items if key not in self._writes}
        for key in touched:
            body = self._writes[key].body
            beyond = after is None or (key.sort < after if reverse else key.sort > after)
            if body is not None and beyond and all(one.holds(body) for one in where):
                found[key] = body
        ordered = sorted(found.items(), key=lambda pair: pair[0].sort, reverse=reverse)
        if page.last is not None:
            # What lies beyond the page is not known yet, so nothing of mine may be shown there.
            end = page.last
            ordered = [pair for pair in ordered if (pair[0].sort >= end if reverse else pair[0].sort <= end)]
        shown = ordered[:limit]
        more = len(ordered) > limit or page.last is not None
        return Page(shown, shown[-1][0].sort if more and shown else None)

    # --- writing

    def put(
        self,
        key: Key,
        body: Body,
        *,
        expires_at: datetime | None = None,
        absent: bool = False,
        ttl: bool = False,
    ) -> None:
        before = self._writes.get(key)
        if absent and (
            before.body is not None if before else key == self._guard and self._guard_body is not None
        ):
            self._refused = key
            raise AlreadyThere(key)
        first = before is None
        self._writes[key] = _Write(
            body,
            expires_at,
            ttl,
            # What stood there before this transaction matters to the first touch only.
            absent=absent if first else before.absent,  # type: ignore[union-attr]
            anew=not first and (before.anew or before.body is None),  # type: ignore[union-attr]
        )

    def delete(self, key: Key) -> None:
        before = self._writes.get(key)
        self._writes[key] = _Write(None, absent=before is not None and before.absent)

    # --- the end

    @property
    def written(self) -> bool:
        """Whether there is anything to commit."""
        return bool(self._writes)

    def check(self) -> None:
        """An existing key is learnt of at commit as a rule, so no ``work`` can swallow the news that came earlier."""
        if self._refused is not None:
            raise AlreadyThere(self._refused)

    def stale(self) -> bool:
        """Whether what was read may not have been one state of the partition, because others wrote meanwhile."""
        return self._looked and items.revision_of(self._table.item(self._guard)) != self._seen

    def operations(self) -> list[Operation]:
        """The transaction, the guard last; InvalidInput when it is larger than DynamoDB takes."""
        now = datetime.now(UTC)
        guard = self._writes.get(self._guard)
        found = [
            self._operation(key, write, now) for key, write in self._writes.items() if key != self._guard
        ]
        found.append((self._guard, self._move(guard, now)))
        if len(found) > items.TRANSACTION_ITEMS:
            raise RuntimeError(f"a transaction of {len(found)} items; the use case must cut it")
        sizes = [_size(operation) for _, operation in found]
        if max(sizes) > items.ITEM_BYTES:
            raise too_large()
        if sum(sizes) > items.TRANSACTION_BYTES:
            raise too_large(item=False)
        return found

    def _move(self, write: _Write | None, now: datetime) -> dict[str, Any]:
        """The guard's own operation, under the condition that nobody has moved it."""
        condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(rev)"}
        if self._seen is not None:
            condition = {
                "ConditionExpression": "rev = :seen",
                "ExpressionAttributeValues": {":seen": {"S": self._seen}},
            }
        condition["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        if write is None:
            return self._update(self._guard, "SET rev = :new", {":new": {"S": self.revision}}, condition)
        return self._guard_write(self._guard, write, now, condition)

    def _operation(self, key: Key, write: _Write, now: datetime) -> Operation:
        condition = {"ConditionExpression": _NOTHING_THERE} if write.absent else {}
        if key == items.guard_of(key.partition):
            # Another partition's guard: it must not look as before to that partition's own transactions.
            return key, self._guard_write(key, write, now, condition)
        if write.body is None:
            if write.absent:
                return key, {"ConditionCheck": self._target(key) | condition}
            return key, {"Delete": self._target(key)}
        fields = items.attributes(key, write.body, write.expires_at, write.ttl, now)
        if key.sort.startswith(PENDING) and not write.absent and not write.anew:
            # A mark that is written again keeps its place in the line.
            gone = sorted({items.DUE_SHARD, items.DUE_AT, items.TTL} - fields.keys())
            sets = [f"#{name} = :{name}" for name in fields if name != items.PENDING_SINCE]
            sets.append("#ps = if_not_exists(#ps, :ps)")
            expression = f"SET {', '.join(sets)} REMOVE {', '.join(f'#{name}' for name in gone)}"
            names = {f"#{name}": name for name in [*fields, *gone]}
            values = {f":{name}": value for name, value in fields.items()}
            return key, self._update(
                key,
                expression if gone else expression.partition(" REMOVE ")[0],
                values,
                {"ExpressionAttributeNames": names},
            )
        return key, {"Put": self._target(key, fields) | condition}

    def _guard_write(
        self, key: Key, write: _Write, now: datetime, condition: dict[str, Any]
    ) -> dict[str, Any]:
        if write.body is not None:
            fields = items.attributes(key, write.body, write.expires_at, write.ttl, now)
            return {"Put": self._target(key, fields | {items.REVISION: {"S": self.revision}}) | condition}
        if items.lives_once(key.partition):
            return {"Delete": self._target(key) | condition}
        expression = "SET rev = :new, #ttl = :ttl REMOVE b, dp, ds"
        values = {":new": {"S": self.revision}, ":ttl": items.epoch(now + _GUARD_KEPT)}
        return self._update(
            key, expression, values, condition | {"ExpressionAttributeNames": {"#ttl": items.TTL}}
        )

    def _target(self, key: Key, fields: items.Item | None = None) -> dict[str, Any]:
        where = {"Key": items.address(key)} if fields is None else {"Item": items.address(key) | fields}
        return {"TableName": self._table.name, **where}

    def _update(
        self, key: Key, expression: str, values: dict[str, Any], more: dict[str, Any]
    ) -> dict[str, Any]:
        bound = {**more.get("ExpressionAttributeValues", {}), **values}
        target = self._target(key) | more
        return {"Update": {**target, "UpdateExpression": expression, "ExpressionAttributeValues": bound}}


def _size(operation: dict[str, Any]) -> int:
    (what,) = operation.values()
    if "Item" in what:
        return items.size(what["Item"])
    return items.size(what["Key"]) + items.size(what.get("ExpressionAttributeValues", {}))
