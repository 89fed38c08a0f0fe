"""What callers get of decisions, outcomes and the ledger."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from rearview.domain.records import Decision, LedgerEntry, Outcome
from rearview.usecases.views import MemoryView, Moment, View


class EffectView(View):
    """What an outcome did to one memory: its importance before and after, and whether it was archived."""

    memory_id: str
    before: float
    after: float
    archived: bool


class OutcomeView(View):
    """How a decision turned out (``score`` from −1 to 1), with what it did to the memories behind it."""

    id: str
    decision_id: str
    result: str
    score: float | None
    note: str | None
    evidence: list[str]
    at: Moment
    created_at: Moment
    created_by: str
    effects: list[EffectView]
    reverted_at: Moment | None
    token: str | None = None

    @classmethod
    def of(cls, outcome: Outcome, token: str | None = None) -> OutcomeView:
        """The view of an outcome."""
        own = {name: getattr(outcome, name) for name in cls.model_fields if hasattr(outcome, name)}
        own["evidence"] = list(outcome.evidence)
        own["effects"] = [
            EffectView(memory_id=item.memory_id, before=item.before, after=item.after, archived=item.archived)
            for item in outcome.effects
        ]
        return cls(token=token, **own)


class DecisionView(View):
    """A decision; outcomes, memories and the chain are filled where a single one is asked for."""

    id: str
    namespace: str
    user_id: str
    context: str
    action: str
    reasoning: str
    summary: str
    options: list[str]
    memory_ids: list[str]
    recall_id: str | None
    parent_id: str | None
    agent_id: str | None
    session_id: str | None
    tags: list[str]
    expected: str | None
    outcome_due_at: Moment | None
    occurred_at: Moment
    created_at: Moment
    created_by: str
    enrichment: str
    metadata: dict[str, Any]
    outcomes: list[OutcomeView] = []
    memories: list[MemoryView] = []
    chain: list[DecisionView] = Field(default=[], description="parents, nearest first, then children")
    token: str | None = None

    @classmethod
    def of(cls, decision: Decision, outcomes: list[Outcome] | None = None, **more: Any) -> DecisionView:
        """The view of a decision."""
        own = {name: getattr(decision, name) for name in cls.model_fields if hasattr(decision, name)}
        for name in ("options", "memory_ids", "tags"):
            own[name] = list(own[name])
        own["metadata"] = dict(decision.metadata)
        return cls(
            namespace=decision.scope.namespace,
            user_id=decision.scope.user_id,
            outcomes=[OutcomeView.of(item) for item in outcomes or []],
            **own,
            **more,
        )


class PrecedentView(View):
    """An earlier decision in a like situation: ``similarity`` and ``score`` (similarity × how it went) lie in 0-1."""

    decision: DecisionView
    similarity: float
    score: float
    outcomes: list[OutcomeView]


class ActionView(View):
    """One action over its cases: ``n successes failures mixed`` are weighted by similarity and recency, ``cases`` is the
    plain number."""

    action: str
    cases: int
    n: float
    successes: float
    failures: float
    mixed: float
    rate: float | None
    low: float | None
    high: float | None
    best_example: str | None
    worst_example: str | None


class LedgerView(View):
    """One entry of a scope's hash chain; digests and hashes are hexadecimal."""

    seq: int
    at: Moment
    action: str
    ref: str
    by: str
    digest: str
    previous: str
    hash: str

    @classmethod
    def of(cls, entry: LedgerEntry) -> LedgerView:
        """The view of a ledger entry."""
        return cls(**{name: getattr(entry, name) for name in cls.model_fields})
