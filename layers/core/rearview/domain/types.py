"""The closed vocabularies of Rearview (design, section 2) and the numbers that belong to them."""

from __future__ import annotations

from datetime import timedelta
from typing import Final, Literal, get_args

MemoryType = Literal["working", "short_term", "long_term", "trace"]
Kind = Literal["preference", "fact", "conclusion", "correction", "event", "instruction", "summary"]
Origin = Literal["user", "agent", "tool", "document", "import"]
Status = Literal[
    "active", "tentative", "quarantined", "disputed", "superseded", "merged", "archived", "deleted"
]
Audience = Literal["user", "namespace"]
Enrichment = Literal["pending", "done", "failed"]
VerdictName = Literal["admit", "tentative", "drop", "quarantine", "duplicate"]
Admission = Literal["auto", "force", "verbatim"]
ArchivedBecause = Literal["cold", "consolidated", "blame"]
ConflictType = Literal["value", "negation", "time"]
ConflictState = Literal["open", "resolved"]
ConflictPolicy = Literal["ask", "latest", "trusted", "keep_both"]
OutcomeResult = Literal["success", "failure", "mixed", "unknown"]
Permission = Literal["write", "read", "trace", "audit", "admin"]

MEMORY_TYPES: Final = get_args(MemoryType)
KINDS: Final = get_args(Kind)
ORIGINS: Final = get_args(Origin)
STATUSES: Final = get_args(Status)
PERMISSIONS: Final[tuple[Permission, ...]] = get_args(Permission)

#: What a recall may return, and what a list shows unless asked for more.
LIVE: Final[frozenset[Status]] = frozenset({"active", "tentative", "disputed"})

#: Days between a record's expiry (filtered, swept) and the store's own TTL, which only takes out the rubbish.
TTL_GRACE: Final = timedelta(days=7)
#: How long a soft deletion can be undone.
PURGE_GRACE: Final = timedelta(days=30)
IDEMPOTENCY_KEPT: Final = timedelta(hours=24)
MAX_ATTEMPTS: Final = 5
DRAIN_LIMIT: Final = 100
SUMMARY_LIMIT: Final = 50

DEFAULT_NAMESPACE: Final = "default"
