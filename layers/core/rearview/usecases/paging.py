"""Pages of lists: cursors, pages in the order of the store or by a value, and how much one answer may weigh."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest, nsmallest
from typing import TYPE_CHECKING, Any, Final, Protocol

from rearview.domain.codec import Body
from rearview.domain.signing import seal, unseal
from rearview.errors import InvalidInput
from rearview.ports import Filter, MemoryStore

if TYPE_CHECKING:
    from rearview.usecases.services import Services

Listing = dict[str, Any]
Row = tuple[str, Body]

PURPOSE: Final = "cursor"
#: Weight after which a page ends, whatever its limit: a Lambda function may answer 6 MB.
PAGE_BYTES: Final = 4_000_000


class Asked(Protocol):
    """What every request for a page holds."""

    @property
    def limit(self) -> int:
        """Records wanted at most."""
        ...

    @property
    def cursor(self) -> str | None:
        """Where the page before ended."""
        ...


@dataclass(frozen=True, slots=True)
class Mark:
    """The last record of the page before: its sort key, and its value where the list is ordered by one."""

    sort: str
    value: float | None = None


class Pager:
    """The pages of one list: records of ``partition`` under ``prefix``, in the order of their keys, or the reverse.

    ``order`` tells lists of the same records in different orders apart: a cursor of one is refused by the other.
    """

    def __init__(
        self, services: Services, partition: str, prefix: str, request: Asked, order: str = "created_at"
    ) -> None:
        self._services = services
        self.partition, self.prefix, self.limit = partition, prefix, request.limit
        self.reverse = order.startswith("-")
        # Cursors given out before there were orders to choose stay good.
        self._list = prefix if order == "created_at" else prefix + order
        self.mark = self._opened(request.cursor)

    @property
    def store(self) -> MemoryStore:
        """Where the records lie."""
        return self._services.store

    @property
    def after(self) -> str | None:
        """The sort key behind which this page begins; None at the start."""
        return None if self.mark is None else self.mark.sort

    def stored(self, where: Sequence[Filter]) -> list[Row]:
        """The rows of this page and one more, which tells whether there is a next one; one query."""
        found = self.store.query(
            self.partition,
            self.prefix,
            after=self.after,
            limit=self.limit + 1,
            reverse=self.reverse,
            where=where,
        )
        return [(key.sort, body) for key, body in found.items]

    def ranked(self, rows: Iterable[Row], value: str) -> list[Row]:
        """The same of rows in any order, by (their field ``value``, sort key); reverse turns both about.

        All rows are looked at, and no more kept than a page. Concatenated pages are the whole list while nothing
        changes; a record whose value changes between two pages may be met twice or not at all.
        """
        mark = None
        if self.mark is not None:
            mark = (self.mark.value if self.mark.value is not None else 0.0, self.mark.sort)

        def beyond(place: tuple[float, str]) -> bool:
            return mark is None or (place < mark if self.reverse else place > mark)

        places = (((float(body[value]), sort), body) for sort, body in rows)
        choose = nlargest if self.reverse else nsmallest
        best = choose(self.limit + 1, (one for one in places if beyond(one[0])), key=lambda one: one[0])
        return [(sort, body) for (_, sort), body in best]

    def answer(
        self, rows: Sequence[Row], views: Callable[[list[Body]], list[Any]], value: str | None = None
    ) -> Listing:
        """The page: as many of the rows as the limit and :data:`PAGE_BYTES` allow, at least one if there is one.

        ``views`` turns bodies into JSON types, one for one; ``value`` names the field that :meth:`ranked` went by.
        """
        shown = list(rows[: self.limit])
        items = views([body for _, body in shown])
        fit = fitting(items, PAGE_BYTES)
        if fit == len(rows):
            return {"items": items, "next_cursor": None}
        sort, body = shown[fit - 1]
        return {"items": items[:fit], "next_cursor": self._cursor(sort, body, value)}

    def _cursor(self, sort: str, body: Body, value: str | None) -> str:
        payload: dict[str, Any] = {"p": self.partition, "x": self._list, "s": sort}
        if value is not None:
            payload["v"] = float(body[value])
        return seal(self._services.secret, PURPOSE, payload)

    def _opened(self, cursor: str | None) -> Mark | None:
        if cursor is None:
            return None
        payload = unseal(self._services.secret, PURPOSE, cursor, "cursor")
        if payload.get("p") != self.partition or payload.get("x") != self._list:
            raise InvalidInput.of("cursor", "token", "belongs to another list")
        return Mark(str(payload["s"]), payload.get("v"))


def fitting(items: Sequence[Any], budget: int) -> int:
    """How many of the items stay within a weight; at least one, if there is one."""
    spent = 0
    for number, item in enumerate(items):
        spent += weight(item)
        if spent > budget and number:
            return number
    return len(items)


def weight(item: Any) -> int:
    """Bytes of a value in an answer. The body of a function's answer is itself a text in JSON, in which each quotation
    mark and each backslash takes one byte more."""
    text = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode()) + text.count('"') + text.count("\\") + 1


def all_rows(store: MemoryStore, partition: str, prefix: str, where: Sequence[Filter] = ()) -> Iterable[Row]:
    """Every row of a partition under a prefix, oldest first, in portions."""
    after: str | None = None
    while True:
        page = store.query(partition, prefix, after=after, limit=500, where=where)
        yield from ((key.sort, body) for key, body in page.items)
        after = page.last
        if after is None:
            return
