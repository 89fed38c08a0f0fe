"""Runs of maintenance: started by the clock or by a call, given out to users through the queue, gathered into a report.

A run lies in the directory of its namespace; each user's part lies in the user's own partition, so that no two users'
work meets at one item. Killed anywhere, the next step goes on where the store says it was.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.ids import next_ulid
from rearview.domain.runs import CADENCES, Cadence, JobState, Run, gather, merge, period
from rearview.domain.types import DEFAULT_NAMESPACE
from rearview.ports import UnitOfWork
from rearview.usecases.maintenance.work import Jobs, encode_changes
from rearview.usecases.services import Services, told

#: Users that are given work, and whose outcomes are gathered, in one transaction.
BATCH = 25
#: How long a report is kept.
KEPT = timedelta(days=400)
#: Seconds after which a job's message is taken for lost.
STALE = timedelta(seconds=300)


class Maintainer:
    """The maintenance verb."""

    def __init__(self, services: Services, jobs: Jobs) -> None:
        self.services, self.jobs = services, jobs

    # --- by the clock ---

    def step(self, stop: Callable[[], bool], *, inline: bool = False) -> dict[str, int]:
        """Starts what is due and moves all open runs on. ``inline``: does the users' work here instead of ringing.

        Answers ``{started, open, finished}``.
        """
        answer = {"started": 0, "open": 0, "finished": 0}
        for namespace in sorted(self.namespaces()):
            for cadence in CADENCES:
                answer["started"] += self._start_due(namespace, cadence)
            for run in self.open(namespace):
                if stop():
                    return answer
                done = self.advance(run, stop, inline=inline)
                answer["finished" if done else "open"] += 1
        return answer

    def start(
        self,
        namespace: str,
        cadence: Cadence,
        *,
        by: str,
        as_of: datetime | None = None,
        dry_run: bool = False,
    ) -> Run:
        """A new run, whatever has run before."""
        now = self.services.now()
        run = self._new(namespace, cadence, by, as_of or now, dry_run)
        self.services.store.transact(keys.directory(namespace), lambda uow: _put_new(uow, run))
        return run

    def advance(self, run: Run, stop: Callable[[], bool], *, inline: bool = False) -> bool:
        """Moves one run on: users get their jobs, done ones go into the report. True once it is finished."""
        while run.state == "handing_out":
            if stop():
                return False
            run = self._hand_out(run, ring=not inline)
        while run.state == "working":
            if inline:
                for partition in self._next(run):
                    if not self.jobs.work(partition, stop):
                        return False
            gathered = self._gather(run)
            if gathered is None:
                return False
            run = gathered
            if run.state != "done" and stop():
                return False
        return True

    def read(self, run: Run) -> Run:
        """The run as it stands in the store."""
        body = self.services.store.get(keys.run(run.namespace, run.id))
        return run if body is None else decode(Run, body)

    def preview(self, namespace: str, cadence: Cadence, as_of: datetime) -> dict[str, Any]:
        """What a run at that time would do. Nothing is written."""
        now = self.services.now()
        tasks: dict[str, dict[str, Any]] = {}
        users = 0
        for _, user_id in self._users(namespace, None):
            users += 1
            state = JobState("preview", namespace, user_id, cadence, as_of, dry_run=True)
            for name in self.jobs.due(cadence):
                result = self.jobs.one(name, self.jobs.job(state), lambda: False)
                into = tasks.setdefault(name, {"counts": {}, "changes": []})
                merge(into, {"counts": result.counts, "changes": encode_changes(result)}, user_id)
        run = Run("preview", namespace, cadence, as_of, now, "preview", "done", True)
        return encode(
            replace(run, users=users, users_done=users, tasks=tasks, finished_at=self.services.now())
        )

    def namespaces(self) -> set[str]:
        """All that somebody has written in or that a key covers."""
        found = {DEFAULT_NAMESPACE}
        for prefix, field in ((keys.NAMESPACES, "namespace"), (keys.API_KEYS, "namespaces")):
            after: str | None = None
            while True:
                page = self.services.store.query(keys.SERVICE, prefix, after=after)
                for _, body in page.items:
                    held = body[field]
                    found |= {held} if isinstance(held, str) else set(held)
                after = page.last
                if after is None:
                    break
        return found

    # --- inside ---

    def _new(self, namespace: str, cadence: Cadence, by: str, as_of: datetime, dry_run: bool) -> Run:
        now = self.services.now()
        return Run(
            id=next_ulid(None, now, secrets.token_bytes(10)),
            namespace=namespace,
            cadence=cadence,
            as_of=as_of,
            started_at=now,
            requested_by=by,
            dry_run=dry_run,
        )

    def _start_due(self, namespace: str, cadence: Cadence) -> int:
        """The run of this day or week, unless it was started already."""
        now = self.services.now()
        current = period(cadence, now, self.services.maintenance_hour)
        at = keys.schedule(namespace, cadence)
        held = self.services.store.get(at)
        if held is not None and held["period"] >= current:
            return 0
        run = self._new(namespace, cadence, "schedule", now, False)

        def work(uow: UnitOfWork) -> int:
            body = uow.get(at)
            if body is not None and body["period"] >= current:
                return 0
            uow.put(at, {"period": current, "run_id": run.id})
            _put_new(uow, run)
            return 1

        return self.services.store.transact(at.partition, work)

    def open(self, namespace: str) -> list[Run]:
        """The namespace's unfinished runs, oldest first."""
        page = self.services.store.query(keys.directory(namespace), keys.OPEN_RUNS)
        wanted = [keys.run(namespace, key.sort.removeprefix(keys.OPEN_RUNS)) for key, _ in page.items]
        found = self.services.store.get_many(wanted)
        return [decode(Run, found[at]) for at in wanted if at in found]

    def _users(self, namespace: str, after: str | None) -> Iterator[tuple[str, str]]:
        """(sort key, user id) of the users behind ``after``; the namespace's own scope is nobody's."""
        while True:
            page = self.services.store.query(keys.directory(namespace), keys.USERS, after=after)
            for key, body in page.items:
                if body["user_id"]:
                    yield key.sort, body["user_id"]
            after = page.last
            if after is None:
                return

    def _hand_out(self, run: Run, *, ring: bool) -> Run:
        """Puts the jobs of the next users into their partitions and rings for them."""
        some = []
        for sort, user_id in self._users(run.namespace, run.handed):
            some.append((sort, user_id))
            if len(some) == BATCH:
                break
        rung = self.services.now()
        jobs = [
            JobState(run.id, run.namespace, user_id, run.cadence, run.as_of, run.dry_run, rung_at=rung)
            for _, user_id in some
        ]
        last = some[-1][0] if some else run.handed
        at = keys.run(run.namespace, run.id)

        def work(uow: UnitOfWork) -> Run:
            current = decode(Run, uow.get(at) or encode(run))
            if current.state != "handing_out" or current.handed != run.handed:
                # Another one is giving out the same run.
                return current
            for sort, user_id in some:
                partition = sort.removeprefix(keys.USERS)
                state = next(job for job in jobs if job.user_id == user_id)
                uow.put(keys.job(partition, run.id), encode(state))
            full = len(some) == BATCH
            moved = replace(
                current,
                handed=last,
                users=current.users + len(some),
                state="handing_out" if full else "working",
            )
            _put(uow, moved)
            return moved

        moved = self.services.store.transact(at.partition, work)
        if ring:
            for sort, _ in some:
                self._ring(sort.removeprefix(keys.USERS), run.id, "0")
        return moved

    def _ring(self, partition: str, run_id: str, turn: str) -> None:
        try:
            body = {"partition": partition, "maintain": run_id}
            self.services.queue.send(partition, f"maintain-{run_id}-{turn}", body)
        except Exception as error:
            told("the queue refused maintenance work, the next step rings again", error)

    def _next(self, run: Run) -> list[str]:
        """Partitions of the users whose outcomes are gathered next."""
        found: list[str] = []
        for sort, _ in self._users(run.namespace, run.gathered):
            if run.handed is None or sort > run.handed or len(found) == BATCH:
                break
            found.append(sort.removeprefix(keys.USERS))
        return found

    def _gather(self, run: Run) -> Run | None:
        """The run with the next finished jobs in its report; None while the next one is not finished."""
        partitions = self._next(run)
        found = self.services.store.get_many(keys.job(item, run.id) for item in partitions)
        ready: list[tuple[str, JobState | None]] = []
        for partition in partitions:
            body = found.get(keys.job(partition, run.id))
            job = None if body is None else decode(JobState, body)
            if job is not None and not job.done:
                self._remind(partition, job)
                break
            # None: the user was erased meanwhile, and the job with it.
            ready.append((keys.USERS + partition, job))
        if partitions and not ready:
            return None
        at = keys.run(run.namespace, run.id)
        now = self.services.now()
        everybody = len(ready) == len(partitions) < BATCH

        def work(uow: UnitOfWork) -> Run:
            current = decode(Run, uow.get(at) or encode(run))
            if current.gathered != run.gathered or current.state == "done":
                return current
            for user, job in ready:
                current = replace(current, gathered=user) if job is None else gather(current, user, job)
                if job is not None:
                    uow.delete(keys.job(user.removeprefix(keys.USERS), run.id))
            if everybody:
                current = replace(current, state="done", finished_at=now)
                uow.delete(keys.open_run(run.namespace, run.id))
            _put(uow, current)
            return current

        return self.services.store.transact(at.partition, work)

    def _remind(self, partition: str, job: JobState) -> None:
        """Rings again for a job whose message seems lost."""
        now = self.services.now()
        if job.rung_at is None or now - job.rung_at < STALE:
            return
        at = keys.job(partition, job.run_id)

        def work(uow: UnitOfWork) -> bool:
            body = uow.get(at)
            if body is None or body["done"]:
                return False
            uow.put(at, {**body, "rung_at": encode(replace(job, rung_at=now))["rung_at"]})
            return True

        if self.services.store.transact(partition, work, durable=False):
            self._ring(partition, job.run_id, f"r{int(now.timestamp()) // 60}")


def _put(uow: UnitOfWork, run: Run) -> None:
    uow.put(keys.run(run.namespace, run.id), encode(run), expires_at=run.started_at + KEPT, ttl=True)


def _put_new(uow: UnitOfWork, run: Run) -> None:
    _put(uow, run)
    at, until = keys.run(run.namespace, run.id), run.started_at + KEPT
    uow.put(keys.locator(run.id), {"partition": at.partition, "sort": at.sort}, expires_at=until, ttl=True)
    uow.put(keys.open_run(run.namespace, run.id), {"id": run.id})
