"""Rounds: upkeep of everybody, a piece at a time. Where a round stopped is kept in the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rearview.domain import keys
from rearview.domain.times import from_text
from rearview.domain.types import DRAIN_LIMIT
from rearview.ports import UnitOfWork
from rearview.usecases.audit import Auditor
from rearview.usecases.enrich import Enricher
from rearview.usecases.scans import namespaces_of
from rearview.usecases.services import Services

#: Where the audit's round is; one item for all namespaces.
AUDIT_ROUND = keys.Key(keys.SERVICE, "ROUND#audit")
#: Seconds after which a message is taken for stuck. That of a worker that died comes again only when the queue's
#: visibility time-out is over, and until then no later message of its user gets past it.
LATE = 60.0
#: Users in a row for whom nothing went: the index or the model is away.
MISSES = 3


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is pending: for how many users, the seconds the longest has been there, and the partitions that are late,
    the longest waiting first."""

    users: int
    oldest: float
    late: Sequence[str]


class Rounds:
    """What a schedule asks for."""

    def __init__(self, services: Services, auditor: Auditor) -> None:
        self.services, self.auditor = services, auditor

    # --- what waits ---

    def ring_pending(self, limit: int) -> Waiting:
        """Rings for users whose marks may have lost their message; answers who waits."""
        partitions = self.services.store.pending_partitions(limit)
        oldest, late = 0.0, []
        minute = int(self.services.now().timestamp()) // 60
        for partition in partitions:
            marks = self.services.store.query(partition, keys.PENDING, limit=1).items
            if not marks:
                continue
            mark = marks[0][1]
            # A repeat within five minutes of the first message would not be delivered: the minute tells them apart.
            self.services.ring(partition, int(mark["seq"]), minute)
            age = self._age(partition, mark)
            oldest = max(oldest, age)
            if age >= LATE:
                late.append(partition)
        return Waiting(len(partitions), oldest, late)

    def drain_late(self, enricher: Enricher, late: Sequence[str], stop: Callable[[], bool]) -> int:
        """Enriches for users whom no message reaches, beside the workers; answers how many items went."""
        done = misses = 0
        for partition in late:
            went = DRAIN_LIMIT
            while went >= DRAIN_LIMIT:
                if stop() or misses == MISSES:
                    return done
                went = enricher.drain(partition)
                done += went
                misses = 0 if went else misses + 1
        return done

    def _age(self, partition: str, mark: dict[str, Any]) -> float:
        at = keys.memory if mark["what"] == "memory" else keys.decision
        body = self.services.store.get(at(partition, str(mark["ref"])))
        if body is None:
            return 0.0
        since = from_text(body.get("updated_at") or body["created_at"])
        return max(0.0, (self.services.now() - since).total_seconds())

    # --- audits ---

    def audit(self, stop: Callable[[], bool]) -> dict[str, Any]:
        """Goes on with the round of audits until it is done or ``stop()``; each piece leaves a report.

        Answers ``{reports[], users, errors, failed_enrichment, done}``.
        """
        state = self.services.store.get(AUDIT_ROUND) or {}
        namespace, after = state.get("namespace"), state.get("after")
        answer: dict[str, Any] = {
            "reports": [],
            "users": 0,
            "errors": 0,
            "failed_enrichment": 0,
            "done": True,
        }
        names = sorted(namespaces_of(self.services.store))
        names = [name for name in names if namespace is None or name >= namespace]
        for number, name in enumerate(names, 1):
            resumed = after if name == namespace else None
            report, went = self.auditor.piece(name, resumed, stop)
            if report is not None:
                answer["reports"].append(report["id"])
                answer["users"] += report["counts"]["users"]
                answer["errors"] += sum(item["severity"] == "error" for item in report["findings"])
                answer["failed_enrichment"] += report["counts"].get("failed_enrichment", 0)
            left = names[number:]
            if went is not None or (left and stop()):
                self._remember({"namespace": name if went else left[0], "after": went})
                return {**answer, "done": False}
        self._remember({})
        return answer

    def _remember(self, state: dict[str, Any]) -> None:
        def work(uow: UnitOfWork) -> None:
            uow.put(AUDIT_ROUND, state)

        self.services.store.transact(keys.SERVICE, work)
