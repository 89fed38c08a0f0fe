"""What callers ask for: the request shapes of the design's section 6, shared by REST, MCP and the command line."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from rearview.domain.types import (
    PERMISSIONS,
    Admission,
    Audience,
    Kind,
    MemoryType,
    Origin,
    OutcomeResult,
    Permission,
)
from rearview.usecases.fields import (
    Content,
    Identifier,
    Metadata,
    Namespace,
    Request,
    Share,
    ShortText,
    Tags,
    Time,
    Ttl,
    Ulid,
    not_null,
)


class SourceIn(Request):
    """Where a memory comes from."""

    session_id: Identifier | None = None
    turn_id: Identifier | None = None
    speaker: Identifier | None = None
    tool: Identifier | None = None
    document: ShortText | None = None
    decision_id: Ulid | None = None


class Scoped(Request):
    """Whose memory it is about. ``namespace`` defaults to the credential's own."""

    user_id: Identifier
    namespace: Namespace | None = None


class WriteMemory(Scoped):
    """One memory to keep; ``user_id`` and ``content`` are enough."""

    content: Content
    agent_id: Identifier | None = None
    session_id: Identifier | None = None
    memory_type: MemoryType = "long_term"
    kind: Kind | None = None
    tags: Tags = []
    importance: Share | None = None
    confidence: Share | None = None
    origin: Origin = "user"
    occurred_at: Time | None = None
    valid_to: Time | None = None
    ttl_seconds: Ttl | None = None
    source: SourceIn | None = None
    audience: Audience = "user"
    metadata: Metadata = {}
    admission: Admission = "auto"


class WriteBatch(Request):
    """1-100 memories; each is judged by itself, so items are validated one by one."""

    items: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=100)]


class TurnIn(Request):
    """One utterance."""

    content: Content
    turn_id: Identifier | None = None
    role: Literal["user", "assistant", "system", "tool"] = "user"
    speaker: Identifier | None = None
    at: Time | None = None


class WriteTurns(Scoped):
    """A piece of conversation, from which memories are extracted."""

    turns: Annotated[list[TurnIn], Field(min_length=1, max_length=100)]
    session_id: Identifier | None = None
    agent_id: Identifier | None = None

    @model_validator(mode="after")
    def _distinct(self) -> WriteTurns:
        given = [turn.turn_id for turn in self.turns if turn.turn_id is not None]
        if len(given) != len(set(given)):
            raise PydanticCustomError("distinct_turn_ids", "turn_id must be distinct within a call")
        return self


class EndSession(Scoped):
    """Ends a session: working memory goes, a short-term summary stays."""


class PatchMemory(Request):
    """Changes to one memory; what is absent stays. Null clears ``valid_to``, ``ttl_seconds`` and metadata keys."""

    content: Content | None = None
    kind: Kind | None = None
    tags: Tags | None = None
    importance: Share | None = None
    confidence: Share | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    ttl_seconds: Ttl | None = None
    metadata: Metadata | None = None
    confirmed: bool | None = None
    agent_id: Identifier | None = Field(default=None, description="who edits; the creator stays")
    version: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="refuse unless at this version"
    )
    reason: ShortText | None = None

    @model_validator(mode="after")
    def _something(self) -> PatchMemory:
        # Not to confirm is no change.
        idle = set() if self.confirmed else {"confirmed"}
        if not self.model_fields_set - idle - {"timezone", "version", "reason", "agent_id"}:
            raise PydanticCustomError("not_empty", "must change something")
        return self

    _there = field_validator(
        "content", "kind", "tags", "importance", "confidence", "valid_from", "metadata", "confirmed",
        mode="before",
    )(not_null)  # fmt: skip


class Forget(Scoped):
    """Soft deletion by filter. The first call (``dry_run``, the default) tells what would go and a ``confirm``
    code; the second brings that code."""

    ids: Annotated[list[Ulid], Field(min_length=1, max_length=200)] | None = None
    memory_types: list[MemoryType] = []
    kinds: list[Kind] = []
    tags: Tags = []
    origins: list[Origin] = []
    session_id: Identifier | None = None
    agent_id: Identifier | None = None
    since: Time | None = None
    until: Time | None = None
    everything: bool = Field(default=False, description="needed when no other filter is given")
    dry_run: bool = True
    confirm: str | None = None
    reason: ShortText | None = None

    @model_validator(mode="after")
    def _a_filter(self) -> Forget:
        named = self.model_fields_set - {
            "user_id", "namespace", "timezone", "everything", "dry_run", "confirm", "reason",
        }  # fmt: skip
        if not self.everything and not any(getattr(self, name) for name in named):
            raise PydanticCustomError("filter_needed", "needs a filter, or everything: true")
        return self


class Resolve(Request):
    """How the user settled a conflict: ``keep`` one memory (the others are superseded) or ``keep_both``."""

    keep: Ulid | None = None
    keep_both: bool = False
    note: ShortText | None = None

    @model_validator(mode="after")
    def _one_of(self) -> Resolve:
        if (self.keep is not None) == self.keep_both:
            raise PydanticCustomError("one_of", "give either keep (a memory id) or keep_both: true")
        return self


class RecordDecision(Scoped):
    """A decision with its reasons."""

    context: Content
    action: ShortText
    reasoning: ShortText | None = None
    options: Annotated[list[ShortText], Field(max_length=50)] = []
    memory_ids: Annotated[list[Ulid], Field(max_length=100)] = []
    recall_id: Annotated[str, Field(max_length=16_000)] | None = None
    parent_id: Ulid | None = None
    agent_id: Identifier | None = None
    session_id: Identifier | None = None
    tags: Tags = []
    expected: ShortText | None = None
    outcome_due_at: Time | None = None
    occurred_at: Time | None = None
    metadata: Metadata = {}


class RecordOutcome(Request):
    """How a decision went."""

    result: OutcomeResult
    score: Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)] | None = None
    note: ShortText | None = None
    evidence: Annotated[list[ShortText], Field(max_length=50)] = []
    at: Time | None = None


class CreateKey(Request):
    """A new API key. Permissions default to all but admin."""

    name: ShortText
    namespaces: Annotated[list[Namespace], Field(min_length=1, max_length=50)]
    permissions: list[Permission] = [item for item in PERMISSIONS if item != "admin"]
    default_namespace: Namespace | None = None
    ttl_seconds: Ttl | None = None
