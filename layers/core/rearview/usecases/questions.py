"""What callers ask for when they read: recall, context, precedents, lists, audits."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from rearview.domain.profiles import PARTS
from rearview.domain.types import Kind, MemoryType, Origin, Status
from rearview.usecases.commands import Scoped
from rearview.usecases.fields import (
    Content,
    Identifier,
    Namespace,
    Request,
    Share,
    ShortText,
    Tags,
    Time,
    TopK,
)


class Weights(Request):
    """Weights of the parts; normalised to sum 1."""

    vector: Share = 0.0
    keyword: Share = 0.0
    recency: Share = 0.0
    importance: Share = 0.0
    confidence: Share = 0.0
    time: Share = 0.0
    speaker: Share = 0.0

    @model_validator(mode="after")
    def _some(self) -> Weights:
        if self.total() <= 0:
            raise PydanticCustomError("positive_sum", "at least one weight must be above 0")
        return self

    def total(self) -> float:
        """Sum of the weights."""
        return float(sum(getattr(self, name) for name in PARTS))


class Recall(Scoped):
    """A question to memory; ``user_id`` and ``query`` are enough."""

    query: Content
    namespaces: Annotated[list[Namespace], Field(max_length=20)] = []
    agent_id: Identifier | None = None
    session_id: Identifier | None = None
    top_k: TopK = 5
    memory_types: list[MemoryType] = []
    kinds: list[Kind] = []
    tags: Tags = []
    origins: list[Origin] = []
    since: Time | None = None
    until: Time | None = None
    min_importance: Share | None = None
    include_superseded: bool = False
    include_archived: bool = False
    include_content: bool = True
    known_at: Time | None = None
    valid_at: Time | None = None
    profile: Literal["assistant", "hindsight", "episodic", "support", "experience"] = "assistant"
    weights: Weights | None = None
    token: Annotated[str, Field(max_length=2000)] | None = None
    explain: bool = False


class Context(Recall):
    """Recall's fields and a budget."""

    max_tokens: Annotated[int, Field(ge=50, le=32_000)] = 1000


class Precedents(Scoped):
    """What did we do in such a case, and did it work?"""

    context: Content
    actions: Annotated[list[ShortText], Field(max_length=50)] = []
    agent_id: Identifier | None = None
    top_k: TopK = 5
    known_at: Time | None = None
    valid_at: Time | None = None


AuditCheck = Literal[
    "orphans", "open_conflicts", "overdue_expiry", "index_drift", "ledger", "failed_enrichment"
]


class RunAudit(Request):
    """An audit of one user, or of the whole namespace without ``user_id``."""

    user_id: Identifier | None = None
    namespace: Namespace | None = None
    checks: list[AuditCheck] = []


class ListMemories(Scoped):
    """Which memories to list, oldest first."""

    status: list[Status] = []
    memory_type: MemoryType | None = None
    kind: Kind | None = None
    tag: str | None = None
    session_id: Identifier | None = None
    known_at: Time | None = None
    valid_at: Time | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Annotated[str, Field(max_length=2000)] | None = None


class ListOf(Scoped):
    """A page of a user's records."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Annotated[str, Field(max_length=2000)] | None = None


class ListConflicts(ListOf):
    """Which conflicts to list."""

    state: Literal["open", "resolved", "all"] = "open"
    known_at: Time | None = None
