"""The task that sends memories into the cold: those that nobody has used for as long as the policy says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from rearview.domain.lifecycle import goes_cold
from rearview.domain.memory import Memory
from rearview.domain.runs import Cadence
from rearview.domain.times import plus, to_text
from rearview.ports import Filter
from rearview.usecases import cold
from rearview.usecases.enrich import Enricher
from rearview.usecases.maintenance.task import Job, Result
from rearview.usecases.scans import memories_of
from rearview.usecases.services import Services
from rearview.usecases.stowing import fetch_back

#: Marks that are worked off here where no worker may be about.
DRAIN = 10_000


class ColdTask:
    """Implements :class:`rearview.usecases.maintenance.task.Task`."""

    name = "cold"
    cadence: Cadence = "daily"

    def __init__(self, services: Services) -> None:
        self.services = services

    def run(self, job: Job, stop: Callable[[], bool]) -> Result:
        """Ends what was interrupted, moves what is due, then keeps the packs in order."""
        services, days = self.services, job.policy.archiving.cold_days
        result = Result()
        if job.dry_run:
            for memory in self._due(job):
                _note(result, memory.id, days)
            return result

        def still(memory: Memory) -> bool:
            return days is not None and goes_cold(memory, job.as_of, days)

        moved = cold.resume(services, job.scope, still, stop)
        due = self._due(job) if moved.done else []
        if due:
            reason = f"not used for {days} days"
            more = cold.archive(services, due, because="cold", still=still, reason=reason, stop=stop)
            moved.ids += more.ids
            moved.done = more.done
        for memory_id in moved.ids:
            _note(result, memory_id, days)
        if moved.done:
            self._keep(job, stop, result)
        if services.inline and moved.ids:
            # The index is the smaller at once.
            Enricher(services).drain(job.scope.partition, DRAIN)
        result.done = result.done and moved.done
        return result

    def _keep(self, job: Job, stop: Callable[[], bool], result: Result) -> None:
        """What is in no pack goes into one, packs with many dead are rewritten, texts of what woke come back."""
        strays = cold.take_in(self.services, job.scope, stop)
        counts = {
            "strays_packed": len(strays.ids),
            "packs_rewritten": cold.tidy(self.services, job.scope),
            "texts_back": len(fetch_back(self.services, job.scope)),
        }
        result.counts.update({name: number for name, number in counts.items() if number})
        result.done = result.done and strays.done

    def _due(self, job: Job) -> list[Memory]:
        days = job.policy.archiving.cold_days
        if days is None:
            return []
        where = (
            Filter("status", "in", ["active", "tentative"]),
            Filter("memory_type", "in", ["short_term", "long_term"]),
            Filter("created_at", "le", to_text(plus(job.as_of, -timedelta(days=days)))),
        )
        found = memories_of(self.services.store, job.scope.partition, where)
        return [memory for memory in found if goes_cold(memory, job.as_of, days)]


def _note(result: Result, memory_id: str, days: int | None) -> None:
    undo = f'PATCH /v1/memories/{memory_id} {{"confirmed": true}}'
    result.note("archived", (memory_id,), f"not used for {days} days: found in the archive", undo)
