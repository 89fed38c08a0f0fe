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
class Repeat:
    """That a memory's own words came once more: when they were said, in which session, and when that was written."""

    at: datetime
    session_id: str | None = None
    written_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """One slot of one subject and the value that a text gives it (see ``domain/claims.py``).

    ``raw``: the value as written. ``polarity``: False when it is denied. ``single``: the slot holds one value at
    a time. ``habit``: a choice made anew each time, which shows only over many. ``switch``: the text says itself that
    things are different from now on. A whole preference that no slot fits has an empty ``slot``.
    """

    subject: str
    slot: str
    value: str
    raw: str
    polarity: bool = True
    single: bool = True
    habit: bool = False
    switch: bool = False


#: Repetitions of one memory whose times are kept.
REPEATS_KEPT = 50


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory as it stands now. ``version`` counts its states from 1; each has a :class:`History` row.

    ``follows`` is the memory written before it in the same session: what was said just before is context when it is
    embedded. ``embedding`` is the stamp (fingerprint and text digest) under which the index holds its vectors.

    ``importance_stated``: the user said how important it is; ``corrected``: the user reworded it. ``last_used_at``: the
    last use other than a recall (a good outcome, a waking). ``text_archived``: ``content`` is empty because the text lies
    in the archive, and ``text_digest`` is its HMAC under the user's key. ``evidence``: of a consolidated memory, the
    episodes it stands for; ``consolidated_into``: of an episode, the memory that stands for it. ``repeats``: when the same
    words came again, the last :data:`REPEATS_KEPT`. ``said``: what the text says by slot, read out of it when it was
    enriched, under the stamp ``said_stamp``; it stays when the text goes to the archive.
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
    #: When what was softly deleted is purged, by the policy at its deletion; None: after the usual grace.
    purge_at: datetime | None = None
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
    repeats: tuple[Repeat, ...] = ()
    said: tuple[Said, ...] = ()
    said_stamp: str = ""

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
            grace = TTL_GRACE if self.deleted_because == "expired" else PURGE_GRACE
            return self.purge_at or self.deleted_at + grace
        return self.expires_at

    @property
    def gist(self) -> str:
        """The text, or its summary while the text lies in the archive: for what must not wait for it."""
        return self.content or self.summary

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
