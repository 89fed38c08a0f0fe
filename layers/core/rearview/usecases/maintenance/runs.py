"""Runs of maintenance: started by the clock or by a call, given out to users through the queue, gathered into a report.

A run lies in the directory of its namespace; each user's part lies in the user's own partition, so that no two users'
work meets at one item. Killed anywhere, the next step goes on where the store says it was.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.ids import next_ulid
from rearview.domain.runs import Cadence, JobState, Run, gather, merge, period
from rearview.ports import UnitOfWork
from rearview.usecases.maintenance.bell import Bell
from rearview.usecases.maintenance.step import step
from rearview.usecases.maintenance.work import Jobs, encode_changes
from rearview.usecases.scans import namespaces_of
from rearview.usecases.services import Services

#: Users that are given work in one transaction, and whose outcomes are gathered in one: DynamoDB allows a hundred items.
#: Each time the report is written anew, so the more outcomes at once the better.
BATCH, GATHERED = 25, 80
#: How long a report is kept.
KEPT = timedelta(days=400)


class Maintainer:
    """The maintenance verb."""

    def __init__(self, services: Services, jobs: Jobs) -> None:
        self.services, self.jobs, self.bell = services, jobs, Bell(services)

    # --- by the clock ---

    def step(self, stop: Callable[[], bool], *, inline: bool = False) -> dict[str, float]:
        """Starts what is due and moves all open runs on, see :func:`rearview.usecases.maintenance.step.step`. ``inline``:
        does the users' work here instead of ringing."""
        return step(self, stop, inline)

    def start_due(self, namespace: str, cadence: Cadence) -> int:
        """Starts the run of this day or week, unless it was started already; answers how many it started."""
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
            if stop() or (not inline and self.bell.busy()):
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
        return namespaces_of(self.services.store)

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

    def open(self, namespace: str) -> list[Run]:
        """The namespace's unfinished runs, oldest first."""
        page = self.services.store.query(keys.directory(namespace), keys.OPEN_RUNS)
        wanted = [keys.run(namespace, key.sort.removeprefix(keys.OPEN_RUNS)) for key, _ in page.items]
        found = self.services.store.get_many(wanted)
        return [decode(Run, found[at]) for at in wanted if at in found]

    def _users(self, namespace: str, after: str | None, some: int = 1000) -> Iterator[tuple[str, str]]:
        """(sort key, user id) of the users behind ``after``, read ``some`` at a time; the namespace's own scope is
        nobody's."""
        while True:
            page = self.services.store.query(keys.directory(namespace), keys.USERS, after=after, limit=some)
            for key, body in page.items:
                if body["user_id"]:
                    yield key.sort, body["user_id"]
            after = page.last
            if after is None:
                return

    def _hand_out(self, run: Run, *, ring: bool) -> Run:
        """Puts the jobs of the next users into their partitions and rings for them."""
        some = []
        for sort, user_id in self._users(run.namespace, run.handed, BATCH):
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
                self.bell.ring(sort.removeprefix(keys.USERS), run.id, "0")
        return moved

    def _waiting(self, run: Run, some: int) -> Iterator[str]:
        """Partitions of the users that were given work and whose outcomes are not gathered, read ``some`` at a time."""
        for sort, _ in self._users(run.namespace, run.gathered, some):
            if run.handed is None or sort > run.handed:
                return
            yield sort.removeprefix(keys.USERS)

    def _next(self, run: Run) -> list[str]:
        """Partitions of the users whose outcomes are gathered next."""
        return list(islice(self._waiting(run, GATHERED), GATHERED))

    def _gather(self, run: Run) -> Run | None:
        """The run with the next finished jobs in its report; None while the next one is not finished."""
        partitions = self._next(run)
        found = self.services.store.get_many(keys.job(item, run.id) for item in partitions)
        ready: list[tuple[str, JobState | None]] = []
        for partition in partitions:
            body = found.get(keys.job(partition, run.id))
            job = None if body is None else decode(JobState, body)
            if job is not None and not job.done:
                break
            # None: the user was erased meanwhile, and the job with it.
            ready.append((keys.USERS + partition, job))
        if len(ready) < len(partitions):
            self.bell.remind(run.id, self._waiting(run, 1000))
        if partitions and not ready:
            return None
        at = keys.run(run.namespace, run.id)
        now = self.services.now()
        everybody = len(ready) == len(partitions) < GATHERED

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


def _put(uow: UnitOfWork, run: Run) -> None:
    uow.put(keys.run(run.namespace, run.id), encode(run), expires_at=run.started_at + KEPT, ttl=True)


def _put_new(uow: UnitOfWork, run: Run) -> None:
    _put(uow, run)
    at, until = keys.run(run.namespace, run.id), run.started_at + KEPT
    uow.put(keys.locator(run.id), {"partition": at.partition, "sort": at.sort}, expires_at=until, ttl=True)
    uow.put(keys.open_run(run.namespace, run.id), {"id": run.id})
