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
from rearview.usecases.maintenance.task import Job, Result, Task
from rearview.usecases.services import Services, told

#: Seconds for which whoever took a job up keeps others off it.
CLAIM_SECONDS = 120.0


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
        """Goes on with the user's jobs until they are done or ``stop()``. True if none is left for us."""
        for waiting in self.waiting(partition):
            job = self._claim(partition, waiting.run_id)
            if job is None:
                continue
            for name in self.due(job.cadence):
                if job.tasks.get(name, {}).get("done"):
                    continue
                result = self.one(name, self.job(job), stop)
                job = self._keep(partition, job, name, result)
                if not result.done:
                    return False
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
            job = replace(job, owner=self.services.owner, until=until, turns=job.turns + 1)
            uow.put(at, encode(job))
            return job

        return self.services.store.transact(partition, work, durable=False)

    def _keep(self, partition: str, job: JobState, name: str, result: Result) -> JobState:
        """What a task did, told beside what it did in earlier turns of the same job."""
        before = job.tasks.get(name, {"counts": {}, "changes": []})
        sum_ = Result(dict(before["counts"]), [], result.done)
        sum_.add(Result(result.counts, [], result.done))
        room = [*before["changes"], *(_plain(change) for change in encode_changes(result))]
        told_ = {"counts": sum_.counts, "changes": room[:50], "done": result.done}
        until = self.services.now() + timedelta(seconds=CLAIM_SECONDS)
        job = replace(job, tasks={**job.tasks, name: told_}, until=until)
        self._put(partition, job)
        return job

    def _finish(self, partition: str, job: JobState) -> None:
        self._put(partition, replace(job, done=True, owner="", until=None))

    def _put(self, partition: str, job: JobState) -> None:
        at = keys.job(partition, job.run_id)

        def work(uow: UnitOfWork) -> None:
            if uow.get(at) is not None:
                uow.put(at, encode(job))

        self.services.store.transact(partition, work, durable=job.done)


def encode_changes(result: Result) -> list[dict[str, Any]]:
    """The listed changes as JSON types."""
    return [encode(change) for change in result.changes]


def _plain(change: dict[str, Any]) -> dict[str, Any]:
    return {**change, "refs": list(change["refs"])}
