"""The records beside memories: conflicts, sessions, decisions, outcomes, ledger entries, pending marks, leases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from rearview.domain.scope import Scope
from rearview.domain.types import ConflictState, ConflictType, OutcomeResult, Permission


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories that cannot both hold. ``before`` remembers (memory id → status, valid_to, superseded_by)
    as they stood when it was resolved, so that the resolution can be undone."""

    id: str
    scope: Scope
    type: ConflictType
    subject: str
    slot: str
    memory_ids: tuple[str, ...]
    question: str
    state: ConflictState
    created_at: datetime
    updated_at: datetime
    resolution: str | None = None
    keep: str | None = None
    resolved_by: str | None = None
    automatic: bool = False
    note: str | None = None
    before: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation: its turns lie beside it, ``summary`` is the running task summary.

    Turns 1 to ``turns_archived`` lie in the archive, in the object that ``turns_digest`` (its HMAC under the user's key)
    names; those up to ``turns_cleared`` are gone from the store. While they are being moved ``turns_before`` names the
    object that held fewer of them. ``last_turn_at``: when the last one came.
    """

    id: str
    scope: Scope
    created_at: datetime
    updated_at: datetime
    turns: int = 0
    agent_id: str | None = None
    summary: str = ""
    ended_at: datetime | None = None
    summary_memory_id: str | None = None
    last_turn_at: datetime | None = None
    turns_archived: int = 0
    turns_cleared: int = 0
    turns_digest: str = ""
    turns_before: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """One raw utterance, kept for drill-back. ``number`` counts from 1 within its session."""

    session_id: str
    number: int
    turn_id: str
    role: str
    content: str
    at: datetime
    speaker: str | None = None
    memory_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided, why, and on which memories it rested."""

    id: str
    scope: Scope
    context: str
    action: str
    created_at: datetime
    occurred_at: datetime
    created_by: str
    seq: int
    reasoning: str = ""
    summary: str = ""
    options: tuple[str, ...] = ()
    memory_ids: tuple[str, ...] = ()
    recall_id: str | None = None
    parent_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    tags: tuple[str, ...] = ()
    expected: str | None = None
    outcome_due_at: datetime | None = None
    enrichment: Literal["pending", "done", "failed"] = "pending"
    embedding: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Effect:
    """What an outcome did to one memory: importance before and after, and whether it was archived for it."""

    memory_id: str
    before: float
    after: float
    failures_before: int = 0
    archived: bool = False
    status_before: str = "active"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a decision went."""

    id: str
    decision_id: str
    scope: Scope
    result: OutcomeResult
    created_at: datetime
    at: datetime
    created_by: str
    score: float | None = None
    note: str | None = None
    evidence: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    reverted_at: datetime | None = None
    reverted_by: str | None = None


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One link of a scope's chain. ``digest`` is an HMAC under the user's key: the ledger holds no content."""

    seq: int
    at: datetime
    action: str
    ref: str
    by: str
    digest: str
    previous: str
    hash: str


@dataclass(frozen=True, slots=True)
class Pending:
    """A mark that enrichment is due: the work itself, of which a queue message is only the doorbell.

    ``relate`` False: duplicates and conflicts were settled elsewhere (import), only the index is due."""

    seq: int
    ref: str
    what: Literal["memory", "decision"]
    attempts: int = 0
    crashes: int = 0
    error: str | None = None
    conflict_policy: str | None = None
    relate: bool = True


@dataclass(frozen=True, slots=True)
class Lease:
    """One worker's right to a user, until ``until``; ``fence`` grows with each new holder."""

    owner: str
    fence: int
    until: datetime


@dataclass(frozen=True, slots=True)
class Head:
    """Where a scope stands: last sequence number and ledger hash, last id and time given out."""

    scope: Scope
    seq: int = 0
    hash: str = "0" * 64
    last_id: str | None = None
    last_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A credential; only the SHA-256 of its secret (256 random bits) is stored."""

    id: str
    name: str
    secret_hash: str
    namespaces: tuple[str, ...]
    permissions: tuple[Permission, ...]
    default_namespace: str
    created_at: datetime
    created_by: str
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


#: A proposal: open, refused by a person, carried out, taken back, or settled otherwise. A sample: what became of it.
FindingState = Literal["proposed", "opposed", "done", "undone", "moot", "confirmed", "corrected", "forgotten"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing an audit found, and the call that mends it.

    The rest is for findings that somebody is asked about: ``state`` since ``at``, set by ``by``; ``note`` says what kept
    a call from doing what it was asked. Of a proposal to forget: the memory's ``value`` with its ``parts``, which memory
    covers it, and the ``opinion`` of a language model. Of a memory to review: ``digest``, its content hash when it was
    sampled, and its ``rank`` in the sample.
    """

    check: str
    severity: Literal["info", "warning", "error"]
    detail: str
    refs: tuple[str, ...] = ()
    mend: str | None = None
    state: FindingState | None = None
    at: datetime | None = None
    by: str | None = None
    note: str | None = None
    value: float | None = None
    parts: Mapping[str, float] | None = None
    covered_by: str | None = None
    opinion: Literal["keep", "forget"] | None = None
    digest: str | None = None
    rank: str | None = None


@dataclass(frozen=True, slots=True)
class AuditReport:
    """The result of one audit of one scope, or of a whole namespace when ``user_id`` is None."""

    id: str
    namespace: str
    user_id: str | None
    created_at: datetime
    finished_at: datetime
    checks: tuple[str, ...]
    counts: Mapping[str, int]
    findings: tuple[Finding, ...]
    #: What wrote it: ``audit`` is a run of checks.
    kind: str = "audit"
    #: Of a sample: what it was drawn from had been written by then.
    as_of: datetime | None = None
