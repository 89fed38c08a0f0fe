"""What callers get: the answer shapes of the design's section 6. Times leave as UTC, six decimals, ``Z``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainSerializer, WithJsonSchema

from rearview.domain.memory import History, Memory
from rearview.domain.records import Conflict
from rearview.domain.times import to_text

Moment = Annotated[
    datetime,
    PlainSerializer(to_text, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time", "examples": ["2026-05-03T12:00:00.000000Z"]}),
]


class View(BaseModel):
    """Base of all answers."""

    model_config = ConfigDict(extra="forbid")


class SourceView(View):
    """Where a memory came from; what is unknown is null."""

    session_id: str | None = None
    turn_id: str | None = None
    speaker: str | None = None
    tool: str | None = None
    document: str | None = None
    decision_id: str | None = None


class MemoryView(View):
    """A memory as callers see it. ``text_archived``: its text lies in the archive, whence ``content`` was fetched; where
    one of many could not be had it is empty."""

    id: str
    namespace: str
    user_id: str
    agent_id: str | None
    session_id: str | None
    content: str
    summary: str
    memory_type: str
    kind: str
    tags: list[str]
    entities: list[str]
    importance: float
    confidence: float
    confirmations: int
    origin: str
    audience: str
    status: str
    version: int
    created_at: Moment
    updated_at: Moment
    created_by: str
    updated_by: str
    valid_from: Moment
    valid_to: Moment | None
    expires_at: Moment | None
    last_confirmed_at: Moment | None
    last_recalled_at: Moment | None
    source: SourceView
    superseded_by: str | None
    merged_into: str | None
    conflicts: list[str]
    pending: bool
    enrichment: str
    archived_because: str | None
    text_archived: bool
    last_used_at: Moment | None
    evidence: list[str]
    consolidated_into: str | None
    deleted_at: Moment | None
    deleted_by: str | None
    deleted_because: str | None
    metadata: dict[str, Any]

    @classmethod
    def of(cls, memory: Memory) -> MemoryView:
        """The view of a memory."""
        own = {name: getattr(memory, name) for name in _COPIED}
        return cls(
            namespace=memory.scope.namespace,
            user_id=memory.scope.user_id,
            tags=list(memory.tags),
            entities=list(memory.entities),
            evidence=list(memory.evidence),
            conflicts=list(memory.conflicts),
            metadata=dict(memory.metadata),
            source=source_view(memory),
            **own,
        )


_COPIED = tuple(
    name
    for name in MemoryView.model_fields
    if name not in {"namespace", "user_id", "tags", "entities", "evidence", "conflicts", "metadata", "source"}
)


def source_view(memory: Memory) -> SourceView:
    """Where a memory came from."""
    source = memory.source
    return SourceView(**{name: getattr(source, name) for name in SourceView.model_fields})


class ConflictView(View):
    """Two memories that cannot both hold, with the question that settles it."""

    id: str
    namespace: str
    user_id: str
    type: str
    subject: str
    slot: str
    memory_ids: list[str]
    question: str
    state: str
    created_at: Moment
    updated_at: Moment
    resolution: str | None
    keep: str | None
    resolved_by: str | None
    automatic: bool
    note: str | None

    @classmethod
    def of(cls, conflict: Conflict) -> ConflictView:
        """The view of a conflict."""
        own = {name: getattr(conflict, name) for name in cls.model_fields if hasattr(conflict, name)}
        own["memory_ids"] = list(conflict.memory_ids)
        return cls(namespace=conflict.scope.namespace, user_id=conflict.scope.user_id, **own)


class WriteAnswer(View):
    """What became of a write. Only a drop has a null id."""

    id: str | None
    verdict: str
    reasons: list[str] = []
    status: str | None = None
    version: int | None = None
    token: str | None = None
    duplicate_of: str | None = None
    conflicts: list[ConflictView] = []
    supersedes: list[str] = []
    memory: MemoryView | None = None


class DroppedView(View):
    """A stretch of a turn that was not kept, and why."""

    text: str
    reason: str


class TurnResult(View):
    """What one turn left: the writes it led to, and what was dropped of it."""

    turn_id: str
    memories: list[WriteAnswer]
    dropped: list[DroppedView]


class TurnsAnswer(View):
    """What a piece of conversation left in memory, turn by turn."""

    results: list[TurnResult]
    session_id: str | None
    token: str | None


class HitView(View):
    """One memory found, with the parts of its score."""

    id: str
    score: float
    parts: dict[str, float]
    summary: str
    content: str | None
    memory_type: str
    kind: str
    origin: str
    audience: str
    status: str
    namespace: str
    user_id: str
    importance: float
    confidence: float
    created_at: Moment
    valid_from: Moment
    valid_to: Moment | None
    source: SourceView
    conflicts: list[str]
    pending: bool
    tags: list[str]
    version: int
    metadata: dict[str, Any]


class RecallAnswer(View):
    """Hits, best first; ``degraded`` names what did not run; ``abstained`` says that none is good enough."""

    hits: list[HitView]
    conflicts: list[ConflictView]
    abstained: bool
    reason: str | None
    degraded: list[str]
    recall_id: str
    took_ms: float
    cost: dict[str, Any]
    explain: dict[str, Any] | None = None


class ContextAnswer(View):
    """A prompt-ready block: fenced, labelled, within the budget."""

    text: str
    hits: list[HitView]
    tokens: int
    conflicts: list[ConflictView]
    abstained: bool
    reason: str | None
    degraded: list[str]
    recall_id: str
    took_ms: float


class HistoryView(View):
    """A version of a memory and when the system knew it so: [known_from, known_to), open-ended for the current one."""

    version: int
    known_from: Moment
    known_to: Moment | None
    change: str
    by: str
    reason: str | None
    memory: MemoryView

    @classmethod
    def of(cls, row: History, known_to: datetime | None) -> HistoryView:
        """The view of a history row."""
        return cls(
            version=row.memory.version,
            known_from=row.known_from,
            known_to=known_to,
            change=row.change,
            by=row.by,
            reason=row.reason,
            memory=MemoryView.of(row.memory),
        )


def plain(view: BaseModel) -> Mapping[str, Any]:
    """A view as JSON types."""
    return view.model_dump(mode="json")
