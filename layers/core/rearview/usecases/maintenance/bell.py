"""The bell of maintenance: messages that say that a job waits for a user, and reminders of those that were lost."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from itertools import islice

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.runs import JobState
from rearview.domain.times import to_text
from rearview.ports import UnitOfWork
from rearview.usecases.services import Services, told

#: Age at which a job's message is taken for lost.
STALE = timedelta(seconds=300)
#: Users of a run that are looked after in one step: a queue that was away loses the messages of many at once.
LOOKED_AFTER = 500
#: Messages in the queue from which nobody is given more upkeep: writes wait behind them.
BACKLOG = 1000
#: Jobs that are read in one go.
CHUNK = 100


class Bell:
    """Rings for users' jobs."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def busy(self) -> bool:
        """Whether the workers have enough to do, or the queue is away."""
        try:
            waiting, _ = self.services.queue.depth()
        except Exception as error:
            told("the queue does not tell how long it is, the next step asks again", error)
            return True
        return waiting >= BACKLOG

    def ring(self, partition: str, run_id: str, turn: str) -> None:
        """One message; a queue that refuses is told, and a later reminder rings again."""
        try:
            body = {"partition": partition, "maintain": run_id}
            self.services.queue.send(partition, f"maintain-{run_id}-{turn}", body)
        except Exception as error:
            told("the queue refused maintenance work, the next step rings again", error)

    def remind(self, run_id: str, partitions: Iterable[str]) -> int:
        """Rings again for the first :data:`LOOKED_AFTER` of these users, where a job is unfinished and its message old.
        Answers for how many."""
        waiting = list(islice(partitions, LOOKED_AFTER))
        rung = 0
        for start in range(0, len(waiting), CHUNK):
            at = {keys.job(partition, run_id): partition for partition in waiting[start : start + CHUNK]}
            for key, body in self.services.store.get_many(at).items():
                rung += self._again(at[key], decode(JobState, body))
        return rung

    def _again(self, partition: str, job: JobState) -> bool:
        now = self.services.now()
        if job.done or job.rung_at is None or now - job.rung_at < STALE:
            return False
        at = keys.job(partition, job.run_id)

        def work(uow: UnitOfWork) -> bool:
            body = uow.get(at)
            if body is None or body["done"]:
                return False
            uow.put(at, {**body, "rung_at": to_text(now)})
            return True

        if not self.services.store.transact(partition, work, durable=False):
            return False
        self.ring(partition, job.run_id, f"r{int(now.timestamp()) // 60}")
        return True
