"""What a maintenance task is given and what it answers. The runner (``runs``) cuts runs into jobs, one a user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from rearview.domain.policy import Policy
from rearview.domain.runs import Cadence
from rearview.domain.scope import Scope

#: Changes that a report lists for one user; beyond, they are only counted.
LISTED = 50


@dataclass(frozen=True, slots=True)
class Job:
    """One user's part of one run. ``as_of`` is the time that ages are taken at; with ``dry_run`` nothing is written."""

    run_id: str
    scope: Scope
    as_of: datetime
    policy: Policy
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that was done, or would be: to what, why, and the call that takes it back."""

    action: str
    refs: tuple[str, ...]
    reason: str
    undo: str | None = None


@dataclass(slots=True)
class Result:
    """What a task did for one user. ``done`` False: it was asked to stop and goes on when it is called again.

    ``counts``: by action, all of them; ``changes``: the first :data:`LISTED`.
    """

    counts: dict[str, int] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    done: bool = True

    def note(self, action: str, refs: tuple[str, ...], reason: str, undo: str | None = None) -> None:
        """Counts one change and lists it while there is room."""
        self.counts[action] = self.counts.get(action, 0) + 1
        if len(self.changes) < LISTED:
            self.changes.append(Change(action, refs, reason, undo))

    def add(self, other: Result) -> None:
        """Takes another result in."""
        for action, number in other.counts.items():
            self.counts[action] = self.counts.get(action, 0) + number
        self.changes += other.changes[: max(0, LISTED - len(self.changes))]
        self.done = self.done and other.done


class Task(Protocol):
    """One kind of upkeep. Each step is a transaction that looks again at what it changes: killed anywhere and run again,
    the end is the same, and done twice it does nothing twice."""

    @property
    def name(self) -> str: ...

    @property
    def cadence(self) -> Cadence: ...

    def run(self, job: Job, stop: Callable[[], bool]) -> Result:
        """Does the task for one user until it is done or ``stop()``."""
        ...


Tasks = Mapping[str, Task]
