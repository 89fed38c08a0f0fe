"""Scope: whose a record is. Fixed at creation, never moved by an update."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from rearview.errors import InvalidInput

NAMESPACE = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")


@dataclass(frozen=True, slots=True)
class Scope:
    """Namespace and user: the unit of isolation, of order and of the ledger."""

    namespace: str
    user_id: str

    @property
    def partition(self) -> str:
        """40 hex digits: SHA-256 over the length-prefixed pair, so that no two pairs can be spelled alike.

        It is the store's partition key, the queue's message group and the index's tenant filter.
        """
        digest = hashlib.sha256()
        for part in (self.namespace, self.user_id):
            raw = part.encode()
            digest.update(len(raw).to_bytes(4, "big") + raw)
        return digest.hexdigest()[:40]


def check_namespace(text: str, field: str = "namespace") -> str:
    """The namespace itself, or InvalidInput: 1-64 of ``A-Z a-z 0-9 . _ -``."""
    if not NAMESPACE.match(text):
        raise InvalidInput.of(field, "pattern", "must be 1-64 characters of A-Z a-z 0-9 . _ -")
    return text
