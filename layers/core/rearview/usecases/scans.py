"""Scans: all records of one kind in a scope, and what of a memory the ledger vouches for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rearview.domain import keys, ledger
from rearview.domain.codec import decode, encode
from rearview.domain.memory import History, Memory
from rearview.domain.records import LedgerEntry, Pending
from rearview.domain.types import DEFAULT_NAMESPACE
from rearview.ports import Filter, Reading

_LATER = ("importance_stated", "corrected", "evidence", "consolidated_into", "repeats")


def recorded(memory: Memory, key: bytes) -> dict[str, Any]:
    """What the ledger vouches for of one version of a memory. Its text stands there as its digest under the user's key,
    so that the ledger can be checked whether the text lies in the store or in the archive."""
    body = encode(memory)
    body["content"] = memory.text_digest if memory.text_archived else ledger.text_digest(key, memory.content)
    # What changes without a version is not part of what the ledger vouches for.
    for name in (
        "seq",
        "enrichment",
        "embedding",
        "last_recalled_at",
        "last_used_at",
        "text_archived",
        "text_digest",
        "said",
        "said_stamp",
    ):
        body.pop(name)
    # Fields that came later are told only where they say something: older entries must go on being true.
    for name in _LATER:
        if not body[name]:
            body.pop(name)
    return body


def recorded_digest(key: bytes, memory: Memory) -> str:
    """The digest that the ledger entry of this version of a memory must bear."""
    return ledger.keyed(key, recorded(memory, key))


def pending_of(reading: Reading, partition: str, limit: int = 100_000) -> list[Pending]:
    """A scope's pending marks in sequence order."""
    page = reading.query(partition, keys.PENDING, limit=limit)
    return [decode(Pending, body) for _, body in page.items]


def ledger_of(reading: Reading, partition: str) -> Iterable[LedgerEntry]:
    """A scope's chain, oldest first."""
    after: str | None = None
    while True:
        page = reading.query(partition, keys.LEDGER, after=after, limit=1000)
        yield from (decode(LedgerEntry, body) for _, body in page.items)
        after = page.last
        if after is None:
            return


def memories_of(reading: Reading, partition: str, where: Sequence[Filter] = ()) -> Iterable[Memory]:
    """A scope's memories, oldest first."""
    after: str | None = None
    while True:
        page = reading.query(partition, keys.MEMORIES, after=after, limit=500, where=where)
        yield from (decode(Memory, body) for _, body in page.items)
        after = page.last
        if after is None:
            return


def histories_of(reading: Reading, partition: str) -> Iterable[History]:
    """All earlier and present states that a scope's memories have had, memory by memory, oldest first."""
    after: str | None = None
    while True:
        page = reading.query(partition, keys.HISTORY, after=after, limit=500)
        yield from (decode(History, body) for _, body in page.items)
        after = page.last
        if after is None:
            return


def namespaces_of(reading: Reading) -> set[str]:
    """All that somebody has written in or that a key covers, and the default one."""
    found = {DEFAULT_NAMESPACE}
    for prefix, field in ((keys.NAMESPACES, "namespace"), (keys.API_KEYS, "namespaces")):
        after: str | None = None
        while True:
            page = reading.query(keys.SERVICE, prefix, after=after)
            for _, body in page.items:
                held = body[field]
                found |= {held} if isinstance(held, str) else set(held)
            after = page.last
            if after is None:
                break
    return found
