"""Memory and its history: what is kept, and every state it has been in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from rearview.domain.scope import Scope
from rearview.domain.types import (
    LIVE,
    PURGE_GRACE,
    TTL_GRACE,
    ArchivedBecause,
    Audience,
    Enrichment,
    Kind,
    MemoryType,
    Origin,
    Status,
)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a memory came from; every part optional."""

    session_id: str | None = None
    turn_id: str | None = None
    speaker: str | None = None
    tool: str | None = None
    document: str | None = None
    decision_id: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory as it stands now. ``version`` counts its states from 1; each has a :class:`History` row.

    ``follows`` is the memory written before it in the same session: what was said just before is context when it is
    embedded. ``embedding`` is the stamp (fingerprint and text digest) under which the index holds its vectors.

    ``importance_stated``: the user said how important it is; ``corrected``: the user reworded it. ``last_used_at``: the
    last use other than a recall (a good outcome, a waking). ``text_archived``: ``content`` is empty because the text lies
    in the archive, and ``text_digest`` is its HMAC under the user's key. ``evidence``: of a consolidated memory, the
    episodes it stands for; ``consolidated_into``: of an episode, the memory that stands for it.
    """

    id: str
    scope: Scope
    content: str
    summary: str
    memory_type: MemoryType
    kind: Kind
    importance: float
    confidence: float
    origin: Origin
    status: Status
    version: int
    seq: int
    created_at: datetime
    updated_at: datetime
    valid_from: datetime
    created_by: str
    updated_by: str
    content_hash: str
    agent_id: str | None = None
    session_id: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    confirmations: int = 0
    audience: Audience = "user"
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    last_confirmed_at: datetime | None = None
    last_recalled_at: datetime | None = None
    source: Source = field(default_factory=Source)
    follows: str | None = None
    superseded_by: str | None = None
    merged_into: str | None = None
    conflicts: tuple[str, ...] = ()
    enrichment: Enrichment = "pending"
    embedding: str | None = None
    archived_because: ArchivedBecause | None = None
    deleted_at: datetime | None = None
    deleted_by: str | None = None
    deleted_because: str | None = None
    failures_in_a_row: int = 0
    verbatim: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    importance_stated: bool = False
    corrected: bool = False
    last_used_at: datetime | None = None
    text_archived: bool = False
    text_digest: str = ""
    evidence: tuple[str, ...] = ()
    consolidated_into: str | None = None

    @property
    def pending(self) -> bool:
        """Acknowledged, but not yet embedded and indexed."""
        return self.enrichment == "pending"

    def expired(self, now: datetime) -> bool:
        """Whether its shelf life is over."""
        return self.expires_at is not None and self.expires_at <= now

    @property
    def due(self) -> datetime | None:
        """When the sweep has something to do with it: its expiry, or, once deleted, its purge."""
        if self.deleted_at is not None and self.status == "deleted":
            return self.deleted_at + (TTL_GRACE if self.deleted_because == "expired" else PURGE_GRACE)
        return self.expires_at

    def live(self, now: datetime) -> bool:
        """Whether recall may return it and a duplicate may land on it."""
        return self.status in LIVE and not self.expired(now)

    def true_at(self, moment: datetime) -> bool:
        """Whether it claims to hold at ``moment`` (valid_from inclusive, valid_to exclusive)."""
        return self.valid_from <= moment and (self.valid_to is None or moment < self.valid_to)


@dataclass(frozen=True, slots=True)
class History:
    """One state of one memory: ``memory`` as it was from ``known_from`` until the next row's ``known_from``."""

    memory: Memory
    known_from: datetime
    change: str
    by: str
    reason: str | None = None
