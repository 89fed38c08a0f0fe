"""Portions: a long list cut into what one transaction may carry, by number and by size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

#: Bytes of text per transaction: DynamoDB takes 4 MB, and every item has keys and other fields beside its text.
PORTION_BYTES = 2_000_000


def portions(items: Iterable[T], most: int, size: Callable[[T], int]) -> Iterator[list[T]]:
    """The items in order, in lists of at most ``most`` that together have at most PORTION_BYTES (one item at least).

    ``size`` answers the bytes of one item.
    """
    some: list[T] = []
    used = 0
    for item in items:
        cost = size(item)
        if some and (len(some) == most or used + cost > PORTION_BYTES):
            yield some
            some, used = [], 0
        some.append(item)
        used += cost
    if some:
        yield some
