"""Lists of whole records: memories, decisions with their outcomes, audits. Filters come before the limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import Body, decode, encode
from rearview.domain.memory import Memory
from rearview.domain.precedents import same_action
from rearview.domain.principal import Principal
from rearview.domain.records import AuditReport, Decision, Outcome
from rearview.domain.times import to_text
from rearview.domain.types import LIVE
from rearview.ports import Filter
from rearview.usecases.audit_views import shown as audit_shown
from rearview.usecases.paging import Listing, Pager, Row, all_rows
from rearview.usecases.past import states_as_of
from rearview.usecases.questions import ListAudits, ListDecisions, ListMemories
from rearview.usecases.services import Services
from rearview.usecases.texts import full_or_bare
from rearview.usecases.trace import outcomes_of
from rearview.usecases.trace_views import DecisionView
from rearview.usecases.views import MemoryView, plain

#: Decisions up to which a query for each one's outcomes is cheaper than one over all outcomes between them.
FEW = 10
#: Memories that a look at the past takes from the store at once.
PORTION = 500


class Lister:
    """The verbs that list."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def memories(self, principal: Principal, request: ListMemories) -> Listing:
        """A page of a user's memories: oldest first, or as ``sort`` says.

        In the order of ``created_at`` a page costs its own records (and those that the filters pass over). By
        importance every page reads all of the user's memories; with ``known_at`` it goes by what their importance
        was then.
        """
        scope = principal.scope("read", request.namespace, request.user_id)
        known_at = request.moment(request.known_at, upper=True)
        where = _conditions(request, known_at, self.services.now())
        pager = Pager(self.services, scope.partition, keys.MEMORIES, request, request.sort)
        if request.sort in ("importance", "-importance"):
            store = self.services.store
            rows = (
                all_rows(store, scope.partition, keys.MEMORIES, where)
                if known_at is None
                else self._past(scope.partition, where, known_at)
            )
            return pager.answer(pager.ranked(rows, "importance"), self._memory_views, "importance")
        if known_at is None:
            return pager.answer(pager.stored(where), self._memory_views)
        past = self._past(scope.partition, where, known_at, pager.after, pager.reverse)
        return pager.answer(list(islice(past, request.limit + 1)), self._memory_views)

    def decisions(self, principal: Principal, request: ListDecisions) -> Listing:
        """A page of a user's decisions with their outcomes: oldest first, or newest with ``-created_at``.

        ``since`` and ``until`` are on ``occurred_at``. With ``known_at``: the decisions that were recorded by then,
        each with the outcomes that stood then.
        """
        scope = principal.scope("trace", request.namespace, request.user_id)
        known_at = request.moment(request.known_at, upper=True)
        since, until = request.moment(request.since), request.moment(request.until, upper=True)
        where = [
            *([] if request.action is None else [Filter("action", "eq", same_action(request.action))]),
            *([] if request.tag is None else [Filter("tags", "has", request.tag)]),
            *([] if request.session_id is None else [Filter("session_id", "eq", request.session_id)]),
            *between("occurred_at", since, until),
            *between("created_at", None, known_at),
        ]
        pager = Pager(self.services, scope.partition, keys.DECISIONS, request, request.sort)

        def views(bodies: list[Body]) -> list[Any]:
            decisions = [decode(Decision, body) for body in bodies]
            outcomes = self._outcomes(scope.partition, decisions, known_at)
            return [plain(DecisionView.of(item, outcomes.get(item.id))) for item in decisions]

        return pager.answer(pager.stored(where), views)

    def audits(self, principal: Principal, request: ListAudits) -> Listing:
        """A page of a namespace's kept reports. Newest first, unlike other lists, because the last report is what one
        comes for; ``sort=created_at`` turns it about."""
        principal.require("audit")
        namespace = request.namespace if request.namespace is not None else principal.default_namespace
        principal.scope("audit", namespace, request.user_id or "")
        where = [] if request.user_id is None else [Filter("user_id", "eq", request.user_id)]
        if request.kind is not None:
            # Reports from before there were kinds have none.
            kinds = [request.kind, None] if request.kind == "audit" else [request.kind]
            where.append(Filter("kind", "in", kinds))
        pager = Pager(self.services, keys.directory(namespace), keys.AUDITS, request, request.sort)
        report = partial(audit_shown, self.services.store, principal)
        return pager.answer(
            pager.stored(where), lambda bodies: [report(decode(AuditReport, body)) for body in bodies]
        )

    # --- inside ---

    def _memory_views(self, bodies: list[Body]) -> list[Any]:
        # One text that is lost must not take the page with it: such a record has an empty content and says why.
        shown, _ = full_or_bare(self.services, [decode(Memory, body) for body in bodies])
        return [plain(MemoryView.of(item)) for item in shown]

    def _past(
        self,
        partition: str,
        where: Sequence[Filter],
        known_at: datetime,
        after: str | None = None,
        reverse: bool = False,
    ) -> Iterable[Row]:
        """The memories as they stood at ``known_at``, those whose state then passes the filters."""
        born = between("created_at", None, known_at)
        while True:
            page = self.services.store.query(
                partition, keys.MEMORIES, after=after, limit=PORTION, reverse=reverse, where=born
            )
            now = [decode(Memory, body) for _, body in page.items]
            states = states_as_of(self.services.store, partition, now, known_at)
            for (key, _), then in zip(page.items, states, strict=True):
                body = None if then is None else encode(then)
                if body is not None and all(item.holds(body) for item in where):
                    yield key.sort, body
            after = page.last
            if after is None:
                return

    def _outcomes(
        self, partition: str, decisions: Sequence[Decision], known_at: datetime | None
    ) -> dict[str, list[Outcome]]:
        """Decision → its outcomes, oldest first; with ``known_at`` as they stood then."""
        store = self.services.store
        found: dict[str, list[Outcome]] = {}
        if len(decisions) <= FEW:
            found = {item.id: outcomes_of(store, partition, item.id) for item in decisions}
        else:
            wanted = {item.id for item in decisions}
            for outcome in outcomes_between(store, partition, min(wanted), max(wanted)):
                if outcome.decision_id in wanted:
                    found.setdefault(outcome.decision_id, []).append(outcome)
        if known_at is None:
            return found
        return {
            decision_id: [_as_known(one, known_at) for one in outcomes if one.created_at <= known_at]
            for decision_id, outcomes in found.items()
        }


def outcomes_between(reading: Any, partition: str, first: str, last: str) -> Iterable[Outcome]:
    """The outcomes of the decisions whose ids lie from ``first`` to ``last``, in the order of the decisions."""
    after: str | None = keys.outcomes_of(first)
    while after is not None:
        page = reading.query(partition, keys.OUTCOMES, after=after, limit=500)
        for _, body in page.items:
            outcome = decode(Outcome, body)
            if outcome.decision_id > last:
                return
            yield outcome
        after = page.last


def _as_known(outcome: Outcome, known_at: datetime) -> Outcome:
    if outcome.reverted_at is not None and outcome.reverted_at > known_at:
        return replace(outcome, reverted_at=None, reverted_by=None)
    return outcome


def between(field: str, since: datetime | None, until: datetime | None) -> list[Filter]:
    """Filters of a time field that lies from ``since`` to ``until``, both included; None is no bound."""
    return [
        *([] if since is None else [Filter(field, "ge", to_text(since))]),
        *([] if until is None else [Filter(field, "le", to_text(until))]),
    ]


def _conditions(request: ListMemories, known_at: datetime | None, now: datetime) -> list[Filter]:
    """What a memory must meet to be listed; of an earlier view, in its state then."""
    valid_at = request.moment(request.valid_at, upper=True)
    since, until = request.moment(request.since), request.moment(request.until, upper=True)
    statuses: Sequence[str] = request.status or sorted(LIVE | ({"superseded"} if valid_at else set()))
    where = [Filter("status", "in", list(statuses)), *between("valid_from", since, until)]
    if "deleted" not in statuses or known_at is not None:
        # What is deleted may be expired as well; it is listed until it is purged.
        where.append(Filter("expires_at", "open_or_gt", to_text(known_at or now)))
    for field, value in (
        ("memory_type", request.memory_type),
        ("kind", request.kind),
        ("session_id", request.session_id),
    ):
        if value is not None:
            where.append(Filter(field, "eq", value))
    if request.origin:
        where.append(Filter("origin", "in", list(request.origin)))
    if request.tag is not None:
        where.append(Filter("tags", "has", request.tag))
    if valid_at is not None:
        where += [
            Filter("valid_from", "le", to_text(valid_at)),
            Filter("valid_to", "open_or_gt", to_text(valid_at)),
        ]
    return where
