"""One user's part of a run: its tasks, one after the other, each as far as the time goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.policy import Policy
from rearview.domain.runs import JobState
from rearview.domain.scope import Scope
from rearview.ports import UnitOfWork
from rearview.usecases.maintenance.task import LISTED, Job, Result, Task
from rearview.usecases.services import Services, log, told

#: Seconds for which whoever took a job up keeps others off it.
CLAIM_SECONDS = 120.0
#: Deaths in a row over one task after which it counts as failed, so that the run ends. Many: a process that is killed goes
#: on where it was, and what takes its memory or time each time (a day's worth of tries on Lambda) is told by an alarm.
DEATHS = 100


class Jobs:
    """Works off the jobs that a run left in a user's partition."""

    def __init__(self, services: Services, load: Callable[[], Iterable[Task]]) -> None:
        """``load`` makes the tasks at first use: most processes never do upkeep, and should not pay for its modules."""
        self.services, self._load = services, load

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """By name, in the order in which they are done."""
        return {task.name: task for task in self._load()}

    def waiting(self, partition: str) -> list[JobState]:
        """The user's unfinished jobs, oldest run first."""
        page = self.services.store.query(partition, keys.JOBS)
        found = (decode(JobState, body) for _, body in page.items)
        return [job for job in found if not job.done]

    def work(self, partition: str, stop: Callable[[], bool]) -> bool:
        """Goes on with the user's jobs until they are done or ``stop()``. True if none is left for us: a job that another
        one is at is left to that one. What was stopped belongs to nobody, so that whoever comes next goes on with it."""
        for waiting in self.waiting(partition):
            job = self._claim(partition, waiting.run_id)
            if job is None:
                continue
            for name in self.due(job.cadence):
                if job.tasks.get(name, {}).get("done"):
                    continue
                result = self.one(name, self.job(job), stop) if job.deaths < DEATHS else _died()
                kept = self._keep(partition, job, name, result)
                if kept is None:
                    break
                if not result.done:
                    return False
                job = kept
            else:
                self._finish(partition, job)
        return True

    def due(self, cadence: str) -> list[str]:
        """The names of the tasks of that cadence, in their order."""
        return [name for name, task in self.tasks.items() if task.cadence == cadence]

    def job(self, state: JobState) -> Job:
        """What a task is given."""
        policy: Policy = self.services.policies.of(state.namespace)
        scope = Scope(state.namespace, state.user_id)
        return Job(state.run_id, scope, state.as_of, policy, state.dry_run)

    def one(self, name: str, job: Job, stop: Callable[[], bool]) -> Result:
        """One task for one user. What fails is told, counted as ``failed`` and tried again by the next run: it must not
        keep the other tasks and users waiting."""
        try:
            return self.tasks[name].run(job, stop)
        except Exception as error:
            told(f"maintenance task {name} failed, the next run tries again", error)
            failed = Result()
            failed.note("failed", (), type(error).__name__)
            return failed

    # --- inside ---

    def _claim(self, partition: str, run_id: str) -> JobState | None:
        at = keys.job(partition, run_id)

        def work(uow: UnitOfWork) -> JobState | None:
            body = uow.get(at)
            job = None if body is None else decode(JobState, body)
            now = self.services.now()
            if job is None or job.done:
                return None
            held = (
                job.owner and job.owner != self.services.owner and job.until is not None and job.until > now
            )
            if held and self.services.alive(job.owner):
                return None
            until = now + timedelta(seconds=CLAIM_SECONDS)
            deaths = job.deaths + bool(job.owner)
            job = replace(job, owner=self.services.owner, until=until, turns=job.turns + 1, deaths=deaths)
            uow.put(at, encode(job))
            return job

        return self.services.store.transact(partition, work, durable=False)

    def _keep(self, partition: str, job: JobState, name: str, result: Result) -> JobState | None:
        """What a task did, told beside what it did in earlier turns of the same job; None if the job is ours no longer."""
        before = job.tasks.get(name, {"counts": {}, "changes": []})
        sum_ = Result(dict(before["counts"]), [], result.done)
        sum_.add(Result(result.counts, [], result.done))
        room = [*before["changes"], *encode_changes(result)]
        told_ = {"counts": sum_.counts, "changes": room[:LISTED], "done": result.done}
        until = self.services.now() + timedelta(seconds=CLAIM_SECONDS)
        kept = replace(job, tasks={**job.tasks, name: told_}, until=until, deaths=0)
        if not result.done:
            # On Lambda the next turn has another owner, and must not wait until this claim has run out.
            kept = replace(kept, owner="", until=None)
        return kept if self._put(partition, kept) else None

    def _finish(self, partition: str, job: JobState) -> None:
        self._put(partition, replace(job, done=True, owner="", until=None))

    def _put(self, partition: str, job: JobState) -> bool:
        """Puts the job back; False if somebody took it up after us, or it is done or gone."""
        at = keys.job(partition, job.run_id)

        def work(uow: UnitOfWork) -> bool:
            body = uow.get(at)
            held = None if body is None else decode(JobState, body)
            if held is None or held.done or held.turns != job.turns:
                return False
            # A reminder that was sent meanwhile stays noted.
            uow.put(at, encode(replace(job, rung_at=held.rung_at)))
            return True

        return self.services.store.transact(partition, work, durable=job.done)


def _died() -> Result:
    log.error("a maintenance task ended its process again and again, it is left to the next run")
    result = Result()
    result.note("failed", (), "its process ended each time")
    return result


def encode_changes(result: Result) -> list[dict[str, Any]]:
    """The listed changes as JSON types."""
    return [encode(change) for change in result.changes]
