"""What callers ask for when they read: recall, context, precedents, lists, audits."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from rearview.domain.graph import EdgeKind
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
    Tag,
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

    @property
    def asked_namespaces(self) -> list[str | None]:
        """The namespaces to look into, each once; None is the credential's own, asked when no other is named."""
        names: list[str | None] = [self.namespace] if self.namespace or not self.namespaces else []
        return names + [name for name in dict.fromkeys(self.namespaces) if name not in names]


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
    "orphans",
    "open_conflicts",
    "overdue_expiry",
    "index_drift",
    "ledger",
    "failed_enrichment",
    "archive",
]


class RunAudit(Request):
    """An audit of one user, or of the whole namespace without ``user_id``."""

    user_id: Identifier | None = None
    namespace: Namespace | None = None
    checks: list[AuditCheck] = []


ByTime = Literal["created_at", "-created_at"]


class ListMemories(Scoped):
    """Which memories to list, oldest first unless ``sort`` says otherwise.

    ``since`` and ``until`` are on ``valid_from``. ``-`` turns an order about: ``-created_at`` is newest first,
    ``-importance`` weightiest first (among equals newest first). By importance each page reads all of the user's
    memories; a memory whose importance changes between two pages may come twice or not at all.
    """

    status: list[Status] = []
    memory_type: MemoryType | None = None
    kind: Kind | None = None
    tag: Tag | None = None
    session_id: Identifier | None = None
    origin: list[Origin] = []
    since: Time | None = None
    until: Time | None = None
    known_at: Time | None = None
    valid_at: Time | None = None
    sort: Literal["created_at", "-created_at", "importance", "-importance"] = "created_at"
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Annotated[str, Field(max_length=2000)] | None = None


class ListOf(Scoped):
    """A page of a user's records."""

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Annotated[str, Field(max_length=2000)] | None = None


class ListLedger(Request):
    """A page of a user's ledger; without ``user_id`` of the namespace's own, which tells of its policies."""

    user_id: Identifier | None = None
    namespace: Namespace | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Annotated[str, Field(max_length=2000)] | None = None


class ListConflicts(ListOf):
    """Which conflicts to list."""

    state: Literal["open", "resolved", "all"] = "open"
    known_at: Time | None = None


class ListDecisions(ListOf):
    """Which decisions to list, with their outcomes; oldest first, or newest with ``-created_at``.

    ``action`` is compared after NFC and trim; ``since`` and ``until`` are on ``occurred_at``. With ``known_at`` the
    outcomes too are those that stood then.
    """

    action: ShortText | None = None
    tag: Tag | None = None
    session_id: Identifier | None = None
    since: Time | None = None
    until: Time | None = None
    known_at: Time | None = None
    sort: ByTime = "created_at"


class ListAudits(Request):
    """Which reports of a namespace to list: newest first, unlike other lists, unless ``sort`` is ``created_at``.

    With ``user_id`` only those on that user; ``kind`` is ``audit`` for checks.
    """

    namespace: Namespace | None = None
    user_id: Identifier | None = None
    kind: Literal["audit", "forgetting", "review"] | None = None
    sort: ByTime = "-created_at"
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Annotated[str, Field(max_length=2000)] | None = None


class ShowGraph(Scoped):
    """What to draw of a user's memory: memories and decisions as nodes, how they hang together as edges.

    ``kinds``, ``memory_types`` and ``status`` choose among memories (without ``status`` all but deleted and
    quarantined), ``tag``, ``since`` and ``until`` (on ``valid_from``, for decisions ``occurred_at``) among both.
    ``edges`` names the kinds of edges wanted (without it all). ``limit``: the newest so many nodes.
    """

    kinds: list[Kind] = []
    memory_types: list[MemoryType] = []
    status: list[Status] = []
    tag: Tag | None = None
    since: Time | None = None
    until: Time | None = None
    decisions: bool = True
    edges: list[EdgeKind] = []
    limit: Annotated[int, Field(ge=1, le=6000)] = 6000
