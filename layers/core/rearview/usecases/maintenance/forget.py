"""The task ``forget``: proposals once a week, and, where the policy says ``auto``, what nobody opposed is carried out.

It runs daily, so that the days of ``auto_days`` are counted in days; the proposals of an ISO week are made by whichever
run of it comes first. How far they have come lies in the user's partition, beside the ids of the reports in which
proposals still stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rearview.domain import forgetting, keys
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.domain.records import AuditReport, Finding, Outcome
from rearview.domain.runs import Cadence, period
from rearview.usecases.covering import Coverer
from rearview.usecases.forgetting import KIND, Forgetter, due, restored_since
from rearview.usecases.maintenance.proposals import REST, Progress, Proposals, Step, at_rest, full_at
from rearview.usecases.maintenance.task import Job, Result
from rearview.usecases.opinions import opinions
from rearview.usecases.scans import memories_of
from rearview.usecases.services import Services
from rearview.usecases.weekly import report_id

#: Memories that are looked at in one step, between which the task can be stopped.
STEP = 16
#: How many proposals may stand undecided: more than people look at is no help to them.
UNDECIDED = 1000


@dataclass(frozen=True, slots=True)
class Looked:
    """One memory and what was found of its worth."""

    memory: Memory
    value: forgetting.Value
    covered_by: str | None


class ForgetTask:
    """See :class:`rearview.usecases.maintenance.task.Task`."""

    name: str = "forget"
    cadence: Cadence = "daily"

    def __init__(self, services: Services) -> None:
        self.services = services
        self.forgetter = Forgetter(services)
        self.coverer = Coverer(services)
        self.proposals = Proposals(services)

    def run(self, job: Job, stop: Callable[[], bool]) -> Result:
        """Carries out what is due, then proposes, a step at a time."""
        result = Result()
        if job.policy.forgetting.mode == "off":
            return result
        store = self.services.store
        progress = self.proposals.progress(store, job.scope)
        reports = self.proposals.reports(store, job.scope, progress.reports)
        if job.policy.forgetting.mode == "auto":
            self._carry_out(job, reports, result, stop)
        if result.done:
            self._propose(job, progress, reports, result, stop)
        return result

    # --- carrying out ---

    def _carry_out(
        self, job: Job, reports: Sequence[AuditReport], result: Result, stop: Callable[[], bool]
    ) -> None:
        # A run as of some past day must not shorten the time that people have to object, nor one as of a day to come.
        before = job.as_of if job.dry_run else min(job.as_of, self.services.now())
        for report in reports:
            ids = list(due(report, before, job.policy.forgetting.auto_days))
            if not ids:
                continue
            if stop():
                result.done = False
                return
            findings = {item.refs[0]: item for item in report.findings}
            if not job.dry_run:
                done = self.forgetter.carry_out(job.scope, report, job.policy, ids)
                findings = {item.refs[0]: item for item in done.findings}
            for memory_id in ids:
                finding = findings[memory_id]
                undo = f"POST /v1/audits/{report.id}/undo"
                if job.dry_run or finding.state == "done":
                    result.note("forgotten", (memory_id,), finding.detail, undo)
                elif finding.state != "proposed":
                    result.note("spared", (memory_id,), finding.note or "")

    # --- proposing ---

    def _propose(
        self,
        job: Job,
        progress: Progress,
        reports: Sequence[AuditReport],
        result: Result,
        stop: Callable[[], bool],
    ) -> None:
        week = period("weekly", job.as_of, self.services.maintenance_hour)
        after, done = progress.place(week)
        if done:
            return
        audit_id = report_id(KIND, job.scope.namespace, job.scope.user_id, week)
        resting = at_rest(reports, self.services.now(), audit_id)
        undecided = sum(item.state == "proposed" for report in reports for item in report.findings)
        bare = self._bare(job) if undecided < UNDECIDED else {}
        # What is gone within the hour covers nothing.
        worth = {memory.id: value.total for memory, value in bare if memory.memory_type != "working"}
        rules = job.policy.forgetting
        wanted = [
            (memory, value)
            for memory, value in bare
            if memory.id not in resting
            and (after is None or memory.id > after)
            and forgetting.candidate(memory, rules.max_confidence, job.as_of)
            and forgetting.at_least(value) < rules.below
        ]
        held = [item for report in reports if report.id == audit_id for item in report.findings]
        fresh: list[Finding] = []
        for start in range(0, max(1, len(wanted)), STEP):
            some = wanted[start : start + STEP]
            if some and stop():
                result.done = False
                break
            reached = some[-1][0].id if some else after
            step = Step(week, audit_id, after, reached, last=start + STEP >= len(wanted))
            # In a full report only what is worth less than the most valuable one finds room.
            bar = min(rules.below, full_at([*held, *fresh]))
            hopeful = [
                item for item in some if forgetting.at_least(item[1]) < bar and not self._taken_back(item[0])
            ]
            found = [item for item in self._look(hopeful, worth) if item.value.total < rules.below]
            findings: list[Finding] | None = self._findings(job, audit_id, found)
            if not job.dry_run:
                findings = self.proposals.keep(job, step, findings or [])
            if findings is None:
                # Another run of the same week was here meanwhile, and goes on with it.
                break
            fresh += findings
            after = reached
        for finding in self._kept(job, audit_id, fresh):
            undo = f"POST /v1/audits/{audit_id}/oppose"
            result.note("proposed", finding.refs, finding.detail, undo)

    def _taken_back(self, memory: Memory) -> bool:
        """Whether somebody restored it lately. Its history tells, since the report that it was forgotten by may have left
        the progress by then, and ``restore`` leaves no trace in it."""
        return restored_since(self.services.store, memory, self.services.now() - REST)

    def _kept(self, job: Job, audit_id: str, fresh: list[Finding]) -> list[Finding]:
        """Those of the new proposals that no other one has pushed out of the report."""
        bar = full_at(fresh)
        if job.dry_run:
            return [item for item in fresh if item.value is not None and item.value <= bar]
        reports = self.proposals.reports(self.services.store, job.scope, [audit_id]) if fresh else []
        there = {item.refs for report in reports for item in report.findings}
        return [item for item in fresh if item.refs in there]

    def _bare(self, job: Job) -> list[tuple[Memory, forgetting.Value]]:
        """All that stand, in the order of their ids, each with its value without regard to the others."""
        outcomes = self._outcomes(job.scope.partition)
        found = []
        for memory in memories_of(self.services.store, job.scope.partition):
            if memory.live(job.as_of) or forgetting.stands(memory):
                good, bad = outcomes.get(memory.id, (0, 0))
                found.append((memory, forgetting.value(memory, job.as_of, good=good, bad=bad)))
        return found

    def _outcomes(self, partition: str) -> dict[str, tuple[int, int]]:
        """Memory → how many outcomes spoke for it and against it; those that were taken back do not count."""
        counts: dict[str, tuple[int, int]] = {}
        after: str | None = None
        while True:
            page = self.services.store.query(partition, keys.OUTCOMES, after=after, limit=500)
            for _, body in page.items:
                outcome = decode(Outcome, body)
                for effect in () if outcome.reverted_at is not None else outcome.effects:
                    good, bad = counts.get(effect.memory_id, (0, 0))
                    well, badly = effect.after > effect.before, effect.after < effect.before
                    counts[effect.memory_id] = (good + well, bad + badly)
            after = page.last
            if after is None:
                return counts

    def _look(
        self, some: Sequence[tuple[Memory, forgetting.Value]], worth: Mapping[str, float]
    ) -> list[Looked]:
        """The same with regard to the others."""
        covers = self.coverer.covers([memory for memory, _ in some], worth)
        found = []
        for (memory, value), cover in zip(some, covers, strict=True):
            own = max(forgetting.OWN_FLOOR, 1 - cover.share)
            found.append(Looked(memory, forgetting.total_of({**value.parts, "own": own}), cover.by))
        return found

    def _findings(self, job: Job, audit_id: str, found: Sequence[Looked]) -> list[Finding]:
        asked = None if job.dry_run else self.services.language_model
        thought = opinions(asked, [item.memory for item in found])
        return [
            Finding(
                check=KIND,
                severity="info",
                detail=forgetting.reason(item.value, item.memory, job.as_of, item.covered_by),
                refs=(item.memory.id,),
                mend=f"POST /v1/audits/{audit_id}/approve",
                state="proposed",
                at=self.services.now(),
                value=round(item.value.total, 6),
                parts={name: round(part, 6) for name, part in item.value.parts.items()},
                covered_by=item.covered_by,
                opinion=thought.get(item.memory.id),
            )
            for item in found
        ]
