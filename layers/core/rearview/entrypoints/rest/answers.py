"""Answers that use cases give as plain JSON, described for the document (and held to it by the tests)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from rearview.usecases.trace_views import ActionView, DecisionView, LedgerView, PrecedentView
from rearview.usecases.views import ConflictView, HistoryView, MemoryView, Moment, View, WriteAnswer


class FieldProblem(View):
    field: str
    rule: str
    message: str


class Problem(View):
    """RFC 9457. ``errors`` names each broken rule; what was sent is not echoed."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldProblem]
    request_id: str | None


class MemoryChanged(MemoryView):
    """The memory after the change, with the change's consistency token."""

    token: str | None


class Refused(View):
    """An item of a batch that was refused; the others stand."""

    error: Problem


class BatchAnswer(View):
    """One result per item, in the order given."""

    results: list[WriteAnswer | Refused]


class SessionEnded(View):
    """``cleared``: working memories that went; ``memory``: the short-term summary that stays."""

    id: str
    ended_at: Moment
    cleared: int
    summary: str | None
    memory: MemoryView | None
    token: str


class Matched(View):
    id: str
    summary: str
    kind: str


class ForgetAnswer(View):
    """A dry run tells ``count`` and ``confirm``; the second call brings that code and does it."""

    dry_run: bool
    count: int
    ids: list[str]
    confirm: str
    token: str | None
    memories: list[Matched] | None = None


class TurnView(View):
    turn_id: str
    number: int
    role: str
    speaker: str | None
    content: str
    at: Moment


class SessionView(View):
    """Last turns, working memory, running summary. ``degraded``: ``archive`` when turns lie there and could not be had."""

    id: str
    namespace: str
    user_id: str
    agent_id: str | None
    turns_count: int
    summary: str | None
    created_at: Moment
    updated_at: Moment
    ended_at: Moment | None
    turns: list[TurnView]
    working: list[MemoryView]
    degraded: list[str]


class WriteState(View):
    """How far a write is: ``pending``, ``done`` or ``failed``."""

    token: str
    seq: int
    state: str
    action: str
    ref: str
    at: Moment
    attempts: int


class MemoryList(View):
    items: list[MemoryView]
    next_cursor: str | None


class HistoryList(View):
    items: list[HistoryView]
    next_cursor: str | None


class ConflictList(View):
    items: list[ConflictView]
    next_cursor: str | None


class LedgerList(View):
    items: list[LedgerView]
    next_cursor: str | None


class DecisionList(View):
    items: list[DecisionView]
    next_cursor: str | None


class PrecedentsAnswer(View):
    precedents: list[PrecedentView]
    actions: list[ActionView]
    warning: str | None
    abstained: bool
    degraded: list[str]


class ReplayNow(View):
    status: str
    version: int
    superseded_by: str | None


class ReplayMemory(View):
    """A memory as the decision saw it, beside what has become of it; both null if it may not be shown."""

    id: str
    rested_on: bool = False
    then: MemoryView | None
    now: ReplayNow | None
    changed: bool


class ReplayAnswer(View):
    decision: DecisionView
    at: Moment
    profile: str | None
    weights: dict[str, float] | None
    memories: list[ReplayMemory]


class FindingView(View):
    """``mend``: the call that puts it right, ``mends``: all that answer it. ``state`` since ``at``: of a proposal to forget
    ``proposed``, ``opposed``, ``done``, ``undone``, ``moot`` (settled otherwise); of a memory to review null,
    ``confirmed``, ``corrected``, ``forgotten``. ``value`` 0-1 of a memory proposed, made from ``parts``."""

    check: str
    severity: str
    detail: str
    refs: list[str]
    mend: str | None
    mends: list[str] = []
    state: str | None = None
    at: Moment | None = None
    by: str | None = None
    note: str | None = None
    value: float | None = None
    parts: dict[str, float] | None = None
    covered_by: str | None = None
    opinion: str | None = None


class AuditView(View):
    id: str
    namespace: str
    user_id: str | None
    kind: str = "audit"
    created_at: Moment
    finished_at: Moment
    checks: list[str]
    counts: dict[str, int]
    findings: list[FindingView]
    ok: bool


class AuditList(View):
    items: list[AuditView]
    next_cursor: str | None


class RedriveView(View):
    redriven: int
    more: bool


class KeyView(View):
    id: str
    name: str
    namespaces: list[str]
    permissions: list[str]
    default_namespace: str
    created_at: Moment
    created_by: str
    expires_at: Moment | None
    revoked_at: Moment | None


class NewKey(KeyView):
    """``key`` is shown in this answer and nowhere else; a replay of it has null."""

    key: str | None


class KeyList(View):
    items: list[KeyView]
    next_cursor: str | None


class Health(View):
    status: str


class Ready(View):
    """``checks``: part → ``ok``, or what is wrong with it. 503 while one is not ok."""

    status: str
    checks: dict[str, Any] = Field(examples=[{"store": "ok", "index": "ok", "embedder": "ok"}])
    degraded: list[str] = []
