"""Short names for the store contract."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from rearview.domain.keys import Key
from rearview.ports import MemoryStore, UnitOfWork

NOW = datetime(2026, 3, 1, tzinfo=UTC)


#: A transaction of DynamoDB has a hundred items at most.
CHUNK = 90


def put(store: MemoryStore, *items: tuple[Key, dict[str, Any]], **options: Any) -> None:
    for start in range(0, len(items), CHUNK):

        def work(unit: UnitOfWork, some: Sequence[tuple[Key, dict[str, Any]]]) -> None:
            for key, body in some:
                unit.put(key, body, **options)

        store.transact(items[0][0].partition, partial(work, some=items[start : start + CHUNK]))


def fill(store: MemoryStore, partition: str, *sorts: str) -> None:
    put(store, *[(Key(partition, sort), {"sort": sort}) for sort in sorts])


def sorts(store: MemoryStore, partition: str, prefix: str, **options: Any) -> list[str]:
    return [key.sort for key, _ in store.query(partition, prefix, **options).items]
