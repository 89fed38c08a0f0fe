"""Task ``profile``: every day each user's profile anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rearview.domain.runs import Cadence
from rearview.usecases.maintenance.task import Job, Result
from rearview.usecases.profile_upkeep import ProfileKeeper


class ProfileTask:
    """Writes the entries that changed and removes those that fell below the threshold."""

    name: Final = "profile"
    cadence: Final[Cadence] = "daily"

    def __init__(self, keeper: ProfileKeeper) -> None:
        self.keeper = keeper

    def run(self, job: Job, stop: Callable[[], bool]) -> Result:
        """One user's entries as of ``job.as_of``."""
        made = self.keeper.refresh(job.scope, job.policy.profile, job.as_of, stop, dry_run=job.dry_run)
        result = Result(done=made.done)
        for step in made.steps:
            # Nothing to undo: an entry follows from the memories it names, and changes with them.
            result.note(step.action, step.evidence, step.text)
        return result
