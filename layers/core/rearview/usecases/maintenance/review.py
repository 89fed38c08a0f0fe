"""The task ``review``: each week some of a namespace's important memories are drawn for people to look at.

A bottom-k sample (Cohen and Kaplan, "Summarizing Data Using Bottom-k Sketches", 2007): every memory has a rank, a hash
seeded by namespace and ISO week, and those of the smallest ranks are drawn. Each user's job brings its own smallest, and
whatever the order of the users the namespace's report ends with the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from heapq import nsmallest

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.forgetting import IMPORTANT
from rearview.domain.ledger import canonical
from rearview.domain.memory import Memory
from rearview.domain.records import AuditReport, Finding
from rearview.domain.runs import Cadence, period
from rearview.ports import UnitOfWork
from rearview.usecases.maintenance.task import Job, Result
from rearview.usecases.review import KIND
from rearview.usecases.scans import memories_of
from rearview.usecases.services import Services
from rearview.usecases.weekly import report_id


class ReviewTask:
    """See :class:`rearview.usecases.maintenance.task.Task`."""

    name: str = "review"
    cadence: Cadence = "weekly"

    def __init__(self, services: Services) -> None:
        self.services = services

    def run(self, job: Job, stop: Callable[[], bool]) -> Result:  # noqa: ARG002 - one look and one transaction
        """Offers the user's important memories for the week's sample, and leaves in it those that are drawn."""
        result = Result()
        size, namespace = job.policy.review_sample, job.scope.namespace
        if size == 0:
            return result
        week = period("weekly", job.as_of, self.services.maintenance_hour)
        at = keys.audit(namespace, report_id(KIND, namespace, None, week))
        body = self.services.store.get(at)
        held = None if body is None else decode(AuditReport, body)
        # A second run in a week draws from what the first one could draw from: what was shown is not pushed out.
        until = job.as_of if held is None or held.as_of is None else min(held.as_of, job.as_of)
        drawn = nsmallest(size, ((rank(week, item), item) for item in self._important(job, until)))
        findings = [self._finding(place, memory) for place, memory in drawn]
        if held is not None and not _merged(held, findings, size)[1]:
            return result
        if findings and not job.dry_run:
            findings = self._keep(at, job, until, findings, size)
        for finding in findings:
            result.note("drawn", finding.refs, "important, to be looked at by a person this week")
        return result

    def _important(self, job: Job, until: datetime) -> list[Memory]:
        return [
            memory
            for memory in memories_of(self.services.store, job.scope.partition)
            if memory.importance >= IMPORTANT
            and memory.created_at <= until
            and memory.live(job.as_of)
            and memory.memory_type != "working"
        ]

    def _finding(self, place: str, memory: Memory) -> Finding:
        # No word of its content: that is read from the memory itself, as long as it is there.
        return Finding(
            check=KIND,
            severity="info",
            detail="",
            refs=(memory.id,),
            mend=f"PATCH /v1/memories/{memory.id}",
            at=self.services.now(),
            digest=memory.content_hash,
            rank=place,
        )

    def _keep(
        self, at: keys.Key, job: Job, until: datetime, findings: Sequence[Finding], size: int
    ) -> list[Finding]:
        """Puts the user's memories into the report, as far as they are among the ``size`` of the smallest ranks; answers
        those that are new in it."""

        def work(uow: UnitOfWork) -> list[Finding]:
            body = uow.get(at)
            now = self.services.now()
            if body is None:
                report = AuditReport(
                    id=at.sort.removeprefix(keys.AUDITS),
                    namespace=job.scope.namespace,
                    user_id=None,
                    created_at=now,
                    finished_at=now,
                    checks=(KIND,),
                    counts={},
                    findings=(),
                    kind=KIND,
                    as_of=until,
                )
                uow.put(keys.locator(report.id), {"partition": at.partition, "sort": at.sort})
            else:
                report = decode(AuditReport, body)
            merged, fresh = _merged(report, findings, size)
            if fresh:
                counts = {"drawn": len(merged)}
                uow.put(at, encode(replace(report, findings=tuple(merged), counts=counts, finished_at=now)))
            return fresh

        return self.services.store.transact(at.partition, work)


def rank(week: str, memory: Memory) -> str:
    """The memory's place in the week's draw, 32 hex digits: the hash of what it is known by and the seed.

    What maintenance made is known by its evidence: its own id differs from run to run.
    """
    known = sorted(memory.evidence) if memory.evidence else [memory.id]
    seed = [KIND, memory.scope.namespace, week]
    return hashlib.sha256(canonical([*seed, memory.scope.user_id, *known])).hexdigest()[:32]


def _merged(
    report: AuditReport, findings: Sequence[Finding], size: int
) -> tuple[list[Finding], list[Finding]]:
    """The ``size`` findings of the smallest ranks in the order of their ranks, and which of them are new."""
    known = {item.refs for item in report.findings}
    fresh = [item for item in findings if item.refs not in known]
    merged = nsmallest(size, [*report.findings, *fresh], key=lambda item: (item.rank or "", item.refs))
    kept = {item.refs for item in merged}
    return merged, [item for item in fresh if item.refs in kept]
