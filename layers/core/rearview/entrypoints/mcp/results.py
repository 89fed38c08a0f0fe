"""What the tools answer as structured content: the use cases' own views, put together."""

from __future__ import annotations

from pydantic import Field

from rearview.entrypoints.mcp.descriptions import NOTICE
from rearview.usecases.trace_views import ActionView, DecisionView, PrecedentView
from rearview.usecases.views import ConflictView, HistoryView, HitView, MemoryView, Moment, View


class Recalled(View):
    """An answer that holds stored text."""

    notice: str = Field(default=NOTICE, description="how to take recalled text")


class ReadResult(Recalled):
    hits: list[HitView]
    conflicts: list[ConflictView]
    abstained: bool
    reason: str | None
    degraded: list[str]
    recall_id: str
    took_ms: float
    context: str | None = Field(default=None, description="the fenced block, if context_tokens asked for it")
    context_tokens: int | None = None


class GetResult(Recalled):
    memory: MemoryView
    history: list[HistoryView] | None = None


class StateView(View):
    status: str
    version: int
    superseded_by: str | None


class ReplayedMemory(View):
    id: str
    rested_on: bool | None = None
    then: MemoryView | None
    now: StateView | None
    changed: bool


class ReplayView(View):
    decision: DecisionView
    at: Moment
    profile: str | None
    weights: dict[str, float] | None
    memories: list[ReplayedMemory]


class TraceResult(Recalled):
    """Precedents, or one decision, or its replay; what was not asked for is null."""

    precedents: list[PrecedentView] | None = None
    actions: list[ActionView] | None = None
    warning: str | None = None
    abstained: bool | None = None
    degraded: list[str] | None = None
    decision: DecisionView | None = None
    replay: ReplayView | None = None


class ForgottenView(View):
    id: str
    summary: str
    kind: str


class ForgetResult(View):
    dry_run: bool
    count: int
    ids: list[str]
    confirm: str
    token: str | None
    memories: list[ForgottenView] | None = Field(
        default=None, description="the first 50 that would go (dry run)"
    )


class ConflictsResult(Recalled):
    items: list[ConflictView]
    next_cursor: str | None
