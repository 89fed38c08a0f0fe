"""Proposals: where a user's proposals to forget are kept, and how far this week's have come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from heapq import nsmallest

from rearview.domain import forgetting, keys
from rearview.domain.codec import decode, encode
from rearview.domain.memory import Memory
from rearview.domain.records import AuditReport, Finding
from rearview.domain.scope import Scope
from rearview.ports import Reading, UnitOfWork
from rearview.usecases.forgetting import KIND, counted
from rearview.usecases.maintenance.task import Job
from rearview.usecases.services import Services

#: Proposals of one week: a report must fit into one item (400 KB on DynamoDB).
MOST = 200
#: How long what was opposed, or taken back, is not proposed again.
REST = timedelta(days=90)
#: Reports that are remembered for a user; what stands in older ones can still be decided there.
REPORTS = 60
_RESTING = frozenset({"opposed", "undone"})


@dataclass(frozen=True, slots=True)
class Step:
    """One step through a user's memories in the order of their ids: for which week and report, from behind which memory
    up to which, and whether nothing is left then."""

    week: str
    audit_id: str
    after: str | None
    reached: str | None
    last: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the proposals of a week have come: behind which memory, or to the end; and the ids of the user's reports in
    which something stands undecided or rests, oldest first."""

    week: str = ""
    after: str | None = None
    done: bool = False
    reports: tuple[str, ...] = ()

    def place(self, week: str) -> tuple[str | None, bool]:
        """(behind which memory that week goes on, whether there is nothing left to do for it)."""
        if self.week == week:
            return self.after, self.done
        return None, self.week > week


class Proposals:
    """The progress lies in the user's partition; the reports in the directory, changed by transactions of that
    partition."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def progress(self, reading: Reading, scope: Scope) -> Progress:
        """Where the user's proposals stand."""
        body = reading.get(keys.forgetting(scope.partition))
        return Progress() if body is None else decode(Progress, body)

    def reports(self, reading: Reading, scope: Scope, ids: Sequence[str]) -> list[AuditReport]:
        """Those of the reports that are there."""
        wanted = [keys.audit(scope.namespace, item) for item in ids]
        found = reading.get_many(wanted) if wanted else {}
        return [decode(AuditReport, found[at]) for at in wanted if at in found]

    def keep(self, job: Job, step: Step, findings: Sequence[Finding]) -> list[Finding] | None:
        """One step's proposals, in one transaction with how far it came. Answers those that went in; None if another
        run moved on from the same place."""
        scope = job.scope
        at = keys.audit(scope.namespace, step.audit_id)

        def work(uow: UnitOfWork) -> list[Finding] | None:
            progress = self.progress(uow, scope)
            if progress.place(step.week) != (step.after, False):
                return None
            fresh = self._still(uow, job, findings)
            body = uow.get(at)
            report = None if body is None else decode(AuditReport, body)
            if fresh:
                now = self.services.now()
                if report is None:
                    report = AuditReport(
                        id=step.audit_id,
                        namespace=scope.namespace,
                        user_id=scope.user_id,
                        created_at=now,
                        finished_at=now,
                        checks=(KIND,),
                        counts={"users": 1},
                        findings=(),
                        kind=KIND,
                    )
                    uow.put(keys.locator(step.audit_id), {"partition": at.partition, "sort": at.sort})
                report = _merged(replace(report, finished_at=now), fresh)
                uow.put(at, encode(report))
            ids = [item for item in progress.reports if item != step.audit_id]
            if report is not None:
                ids.append(step.audit_id)
            if step.last:
                ids = self._standing(uow, scope, ids)
            moved = Progress(step.week, step.reached, step.last, tuple(ids))
            uow.put(keys.forgetting(scope.partition), encode(moved))
            return fresh

        return self.services.store.transact(scope.partition, work)

    def _still(self, uow: UnitOfWork, job: Job, findings: Sequence[Finding]) -> list[Finding]:
        """Those whose memory may be proposed as it stands in this transaction."""
        at = {item.refs[0]: keys.memory(job.scope.partition, item.refs[0]) for item in findings}
        found = uow.get_many(at.values()) if at else {}
        most = job.policy.forgetting.max_confidence
        return [
            item
            for item in findings
            if (body := found.get(at[item.refs[0]])) is not None
            and forgetting.candidate(decode(Memory, body), most, job.as_of)
        ]

    def _standing(self, reading: Reading, scope: Scope, ids: Sequence[str]) -> list[str]:
        """The reports that still matter."""
        since = self.services.now() - REST
        kept = [
            report.id
            for report in self.reports(reading, scope, ids)
            if any(item.state == "proposed" or _rests(item, since) for item in report.findings)
        ]
        return kept[-REPORTS:]


def _merged(report: AuditReport, fresh: Sequence[Finding]) -> AuditReport:
    """The report with more proposals: what was decided stays, of the others those worth least."""
    known = {item.refs[0] for item in report.findings}
    decided = [item for item in report.findings if item.state != "proposed"]
    open_ = [item for item in report.findings if item.state == "proposed"]
    open_ += [item for item in fresh if item.refs[0] not in known]
    open_.sort(key=lambda item: (item.value if item.value is not None else 1.0, item.refs))
    room = max(0, MOST - len(decided))
    counts = {**report.counts}
    if len(open_) > room:
        counts["left_out"] = counts.get("left_out", 0) + len(open_) - room
    return counted(replace(report, findings=(*open_[:room], *decided), counts=counts))


def full_at(findings: Sequence[Finding]) -> float:
    """The value from which a proposal finds no room in a report with these any more; above all while it has room."""
    values = nsmallest(MOST, (item.value for item in findings if item.value is not None))
    return values[-1] if len(values) == MOST else 1.0


def at_rest(reports: Sequence[AuditReport], now: datetime, current: str) -> set[str]:
    """What is not proposed again: it stands undecided in some report, or was opposed or taken back lately, or this
    week's report (``current``) has it."""
    return {
        item.refs[0]
        for report in reports
        for item in report.findings
        if item.state == "proposed" or report.id == current or _rests(item, now - REST)
    }


def _rests(finding: Finding, since: datetime) -> bool:
    return finding.state in _RESTING and finding.at is not None and finding.at > since
