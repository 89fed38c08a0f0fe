"""The ledger: one hash chain per scope, without content.

``digest = HMAC-SHA256(user key, canonical JSON of what is recorded)`` binds an entry to a record without holding it;
``hash = SHA-256(canonical JSON of the entry, the previous hash included)`` binds it to all before it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from rearview.domain.records import Head, LedgerEntry
from rearview.domain.times import to_text

GENESIS = "0" * 64


def canonical(value: Any) -> bytes:
    """JSON with sorted keys and no spaces, UTF-8: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str).encode()


def keyed(key: bytes, value: Any) -> str:
    """HMAC-SHA256 of ``value`` under a user's key, hex. Destroying the key makes it meaningless."""
    return hmac.new(key, canonical(value), hashlib.sha256).hexdigest()


def text_digest(key: bytes, content: str) -> str:
    """What stands for a memory's text in the ledger, and names it in the archive once it has moved there."""
    return keyed(key, ["text", content])


def link(
    head: Head, *, at: datetime, action: str, ref: str, by: str, digest: str
) -> tuple[LedgerEntry, Head]:
    """The next entry of a chain and the head that follows from it."""
    entry = LedgerEntry(head.seq + 1, at, action, ref, by, digest, head.hash, "")
    entry = replace(entry, hash=_hash(entry))
    return entry, replace(head, seq=entry.seq, hash=entry.hash)


def _hash(entry: LedgerEntry) -> str:
    fields: Mapping[str, Any] = {
        "seq": entry.seq,
        "at": to_text(entry.at),
        "action": entry.action,
        "ref": entry.ref,
        "by": entry.by,
        "digest": entry.digest,
        "previous": entry.previous,
    }
    return hashlib.sha256(canonical(fields)).hexdigest()


def breaks(entries: Iterable[LedgerEntry], head: Head) -> list[tuple[int, str]]:
    """Where a chain, given oldest first and whole, does not hold: (sequence number, what is wrong)."""
    found: list[tuple[int, str]] = []
    expected, previous = 1, GENESIS
    for entry in entries:
        if entry.seq != expected:
            found.append((expected, "missing"))
        if entry.previous != previous and entry.seq == expected:
            found.append((entry.seq, "does not follow its predecessor"))
        if _hash(entry) != entry.hash:
            found.append((entry.seq, "was changed"))
        expected, previous = entry.seq + 1, entry.hash
    if head.seq != expected - 1 or head.hash != previous:
        found.append((head.seq, "head and last entry disagree"))
    return found
