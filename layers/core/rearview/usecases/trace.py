"""Trace: decisions with their reasons, outcomes with their blame and credit, precedents, chains, replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.domain.precedents import Outcome as CaseOutcome
from rearview.domain.precedents import PastCase, same_action, warning, weigh
from rearview.domain.principal import Principal
from rearview.domain.records import Decision, Outcome
from rearview.domain.summary import cut, summarise
from rearview.domain.types import SUMMARY_LIMIT
from rearview.errors import InvalidInput, NotFound
from rearview.ports import Filter, Reading, UnitOfWork
from rearview.usecases.blame import apply, take_back
from rearview.usecases.book import Book
from rearview.usecases.commands import RecordDecision, RecordOutcome
from rearview.usecases.idempotency import Answer, Once
from rearview.usecases.questions import Precedents
from rearview.usecases.recall import open_recall_id
from rearview.usecases.services import Services
from rearview.usecases.similar import SimilarDecisions
from rearview.usecases.texts import full_or_bare
from rearview.usecases.trace_views import DecisionView, OutcomeView
from rearview.usecases.views import MemoryView, plain

CHAIN = 50


class Tracer:
    """The trace verbs."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.similar = SimilarDecisions(services)

    def decide(self, principal: Principal, request: RecordDecision, once: Once | None = None) -> Answer:
        """Records a decision. Memories named (or recalled, by ``recall_id``) must be what this user might recall: the
        user's own, or lessons; the parent is a decision of the same scope. Answers (201, DecisionView as JSON with a
        token)."""
        scope = principal.scope("trace", request.namespace, request.user_id)
        rested = list(dict.fromkeys(request.memory_ids))
        if request.recall_id is not None:
            recalled = open_recall_id(self.services, request.recall_id)
            if not principal.covers(recalled["n"]):
                raise InvalidInput.of("recall_id", "token", "belongs to a namespace that is not yours")
            rested = rested or [hit[0] for hit in recalled["h"]]
        for number, memory_id in enumerate(rested):
            field = f"memory_ids[{number}]" if request.memory_ids else "recall_id"
            self._check(principal, memory_id, keys.MEMORIES, field, user_id=scope.user_id)
        if request.parent_id is not None:
            self._check(principal, request.parent_id, keys.DECISIONS, "parent_id", scope.partition)

        def work(uow: UnitOfWork) -> tuple[int, Answer]:
            book = Book(uow, scope, self.services.now(), principal.id)
            at = book.tick()
            decision = book.put_decision(
                Decision(
                    id=book.new_id(at),
                    scope=scope,
                    context=request.context,
                    action=same_action(request.action),
                    created_at=at,
                    occurred_at=request.moment(request.occurred_at) or at,
                    created_by=principal.id,
                    seq=0,
                    reasoning=request.reasoning or "",
                    summary=cut(" ".join((request.reasoning or "").split()), SUMMARY_LIMIT)
                    or summarise(request.context, limit=SUMMARY_LIMIT),
                    options=tuple(dict.fromkeys(same_action(item) for item in request.options)),
                    memory_ids=tuple(rested),
                    recall_id=request.recall_id,
                    parent_id=request.parent_id,
                    agent_id=request.agent_id,
                    session_id=request.session_id,
                    tags=tuple(dict.fromkeys(request.tags)),
                    expected=request.expected,
                    outcome_due_at=request.moment(request.outcome_due_at, upper=True),
                    metadata=request.metadata,
                )
            )
            book.close()
            view = DecisionView.of(decision, token=self.services.token(scope, decision.seq))
            answer = 201, dict(plain(view))
            if once is not None:
                once.seal(uow, *answer)
            return decision.seq, answer

        seq, answer = self.services.store.transact(scope.partition, work)
        self.services.ring(scope.partition, seq)
        return answer

    def outcome(
        self, principal: Principal, decision_id: str, request: RecordOutcome, once: Once | None = None
    ) -> Answer:
        """Records how a decision went; the memories it rested on take their share of blame or credit."""
        at, found = self.find(principal, decision_id)

        def work(uow: UnitOfWork) -> tuple[int, Answer]:
            book = Book(uow, found.scope, self.services.now(), principal.id)
            moment = book.tick()
            outcome = Outcome(
                id=book.new_id(moment),
                decision_id=found.id,
                scope=found.scope,
                result=request.result,
                created_at=moment,
                at=request.moment(request.at) or moment,
                created_by=principal.id,
                score=request.score,
                note=request.note,
                evidence=tuple(request.evidence),
            )
            outcome = replace(outcome, effects=apply(book, found, outcome))
            seq = book.put_outcome(outcome, "outcome")
            book.close()
            answer = 201, dict(plain(OutcomeView.of(outcome, self.services.token(found.scope, seq))))
            if once is not None:
                once.seal(uow, *answer)
            return seq, answer

        seq, answer = self.services.store.transact(at.partition, work)
        self.services.ring(at.partition, seq)
        return answer

    def revert(self, principal: Principal, outcome_id: str) -> Answer:
        """Takes an outcome's blame or credit back; it no longer counts for precedents. A repeat changes nothing."""
        at = self.services.locate(outcome_id, keys.OUTCOMES, "outcome")

        def work(uow: UnitOfWork) -> tuple[int, Answer]:
            body = uow.get(at)
            if body is None:
                raise NotFound("no such outcome")
            outcome = decode(Outcome, body)
            principal.see("trace", outcome.scope.namespace, "outcome")
            book = Book(uow, outcome.scope, self.services.now(), principal.id)
            if outcome.reverted_at is None:
                take_back(book, outcome)
                outcome = replace(outcome, reverted_at=book.tick(), reverted_by=principal.id)
                book.put_outcome(outcome, "outcome_reverted")
                book.close()
            view = OutcomeView.of(outcome, self.services.token(outcome.scope, book.seq))
            return book.seq, (200, dict(plain(view)))

        seq, answer = self.services.store.transact(at.partition, work)
        self.services.ring(at.partition, seq)
        return answer

    def decision(self, principal: Principal, decision_id: str) -> DecisionView:
        """A decision with its outcomes, the memories it rested on, and its chain: parents first, then children."""
        at, decision = self.find(principal, decision_id)
        chain = self._parents(at.partition, decision) + self._children(at.partition, decision)
        found = (memory_by_id(self.services.store, item) for item in decision.memory_ids)
        now = self.services.now()
        visible = [item for item in found if item is not None and readable(principal, decision, item, now)]
        visible, _ = full_or_bare(self.services, visible)
        return DecisionView.of(
            decision,
            outcomes_of(self.services.store, at.partition, decision.id),
            memories=[MemoryView.of(item) for item in visible],
            chain=[
                DecisionView.of(item, outcomes_of(self.services.store, at.partition, item.id))
                for item in chain
            ],
        )

    def precedents(self, principal: Principal, request: Precedents) -> dict[str, Any]:
        """Earlier decisions of this user in like situations, and for each action how it went."""
        scope = principal.scope("trace", request.namespace, request.user_id)
        known_at = request.moment(request.known_at, upper=True)
        valid_at = request.moment(request.valid_at, upper=True)
        now = known_at or self.services.now()
        found, degraded = self.similar.find(
            scope, request.context, request.top_k, now, known_at, valid_at, request.agent_id
        )
        cases, views = [], []
        for item in found:
            outcomes = [
                one
                for one in outcomes_of(self.services.store, scope.partition, item.decision.id)
                if _counts(one, known_at)
            ]
            case = PastCase(
                decision_id=item.decision.id,
                action=item.decision.action,
                similarity=item.similarity,
                at=item.decision.occurred_at,
                outcomes=[CaseOutcome(one.result, one.score, one.at) for one in outcomes],
            )
            cases.append(case)
            views.append(
                {
                    "decision": dict(plain(DecisionView.of(item.decision))),
                    "similarity": round(item.similarity, 4),
                    "score": round(_score(case, now), 4),
                    "outcomes": [dict(plain(OutcomeView.of(one))) for one in outcomes],
                }
            )
        stats = weigh(cases, now=now, actions=[same_action(item) for item in request.actions] or None)
        views.sort(key=lambda view: (view["score"], view["similarity"]), reverse=True)
        return {
            "precedents": views[: request.top_k],
            "actions": [asdict(stat) for stat in stats],
            "warning": warning(stats),
            "abstained": not cases,
            "degraded": degraded,
        }

    # --- inside ---

    def _check(
        self,
        principal: Principal,
        record_id: str,
        prefix: str,
        field: str,
        partition: str | None = None,
        user_id: str | None = None,
    ) -> None:
        body = self.services.store.get(keys.locator(record_id))
        held = None
        if body is not None and body["sort"].startswith(prefix) and partition in (None, body["partition"]):
            held = self.services.store.get(keys.Key(body["partition"], body["sort"]))
        if held is None or not principal.covers(held["scope"]["namespace"]):
            raise InvalidInput.of(field, "unknown_id", "names nothing that you can see")
        if user_id not in (None, held["scope"]["user_id"]) and held.get("audience") != "namespace":
            raise InvalidInput.of(field, "foreign_user", "names a memory of another user")

    def find(self, principal: Principal, decision_id: str) -> tuple[keys.Key, Decision]:
        at = self.services.locate(decision_id, keys.DECISIONS, "decision")
        body = self.services.store.get(at)
        if body is None:
            raise NotFound("no such decision")
        decision = decode(Decision, body)
        principal.see("trace", decision.scope.namespace, "decision")
        return at, decision

    def _parents(self, partition: str, decision: Decision) -> list[Decision]:
        chain: list[Decision] = []
        current = decision
        while current.parent_id is not None and len(chain) < CHAIN:
            body = self.services.store.get(keys.decision(partition, current.parent_id))
            if body is None:
                break
            current = decode(Decision, body)
            chain.append(current)
        return chain

    def _children(self, partition: str, decision: Decision) -> list[Decision]:
        where = (Filter("parent_id", "eq", decision.id),)
        page = self.services.store.query(partition, keys.DECISIONS, where=where, limit=CHAIN)
        return [decode(Decision, body) for _, body in page.items]


def _counts(outcome: Outcome, known_at: datetime | None) -> bool:
    """Whether an outcome stood at that moment; without one, whether it stands (a clock that went back hides none)."""
    if known_at is None:
        return outcome.reverted_at is None
    return outcome.created_at <= known_at and (outcome.reverted_at is None or outcome.reverted_at > known_at)


def readable(principal: Principal, decision: Decision, memory: Memory, now: datetime) -> bool:
    """Whether a memory behind a decision may be shown: to whom might ask for it by its id, until it expires, and beside
    a decision for another user only if it is a lesson."""
    allowed = "read" in principal.permissions and principal.covers(memory.scope.namespace)
    own = memory.scope.user_id == decision.scope.user_id or memory.audience == "namespace"
    return allowed and own and not memory.expired(now)


def memory_by_id(reading: Reading, memory_id: str) -> Memory | None:
    """The memory of that id, whoever's it is; callers check what may be shown."""
    at = reading.get(keys.locator(memory_id))
    if at is None or not at["sort"].startswith(keys.MEMORIES):
        return None
    body = reading.get(keys.Key(at["partition"], at["sort"]))
    return None if body is None else decode(Memory, body)


def outcomes_of(reading: Reading, partition: str, decision_id: str) -> list[Outcome]:
    """All outcomes of a decision, oldest first."""
    page = reading.query(partition, keys.outcomes_of(decision_id))
    return [decode(Outcome, body) for _, body in page.items]


def _score(case: PastCase, now: Any) -> float:
    """Similarity × how it went: 1 worked, 0.5 unknown or mixed, 0 failed."""
    stats: Sequence[Any] = weigh([case], now=now, actions=None)
    rate = stats[0].rate if stats and stats[0].n > 0 and stats[0].rate is not None else 0.5
    return case.similarity * float(rate)
