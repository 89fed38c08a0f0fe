"""Maintenance runs: when one is due, and how what was done for each user becomes one report. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal

Cadence = Literal["daily", "weekly"]
RunState = Literal["handing_out", "working", "done"]

CADENCES: tuple[Cadence, ...] = ("daily", "weekly")
#: Changes that a report lists for one task, and their bytes as JSON: with all tasks it must fit into one item (400 KB on
#: DynamoDB), whatever ids and names are in them. Beyond, they are only counted.
LISTED, LISTED_BYTES = 100, 40_000
#: Records that a listed change names: what became one memory of hundreds names those as its evidence.
NAMED = 20


@dataclass(frozen=True, slots=True)
class Run:
    """One round of upkeep over a namespace's users.

    ``handed`` and ``gathered``: sort keys of the last user that was given work, and whose outcome is in ``tasks`` (task →
    ``{counts, changes}``).
    """

    id: str
    namespace: str
    cadence: Cadence
    as_of: datetime
    started_at: datetime
    requested_by: str
    state: RunState = "handing_out"
    dry_run: bool = False
    finished_at: datetime | None = None
    users: int = 0
    users_done: int = 0
    handed: str | None = None
    gathered: str | None = None
    tasks: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JobState:
    """One user's part of a run. ``tasks``: name → ``{counts, changes, done}`` of those begun; ``owner`` works on it until
    ``until``; ``turns`` counts how often it was taken up, ``deaths`` how often in a row whoever was at it ended in the middle
    of a task."""

    run_id: str
    namespace: str
    user_id: str
    cadence: Cadence
    as_of: datetime
    dry_run: bool = False
    done: bool = False
    owner: str = ""
    until: datetime | None = None
    turns: int = 0
    deaths: int = 0
    rung_at: datetime | None = None
    tasks: Mapping[str, Any] = field(default_factory=dict)


def period(cadence: Cadence, now: datetime, hour: int) -> str:
    """The name of the day (``2026-11-30``) or ISO week (``2026-W49``) that ``now`` belongs to; both begin at ``hour`` UTC."""
    day = now - timedelta(hours=hour)
    if cadence == "daily":
        return f"{day:%Y-%m-%d}"
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02d}"


def gather(run: Run, user: str, job: JobState) -> Run:
    """The run with one finished job in its report. ``user``: the sort key of the user in the directory."""
    tasks = {
        name: {"counts": dict(one["counts"]), "changes": list(one["changes"])}
        for name, one in run.tasks.items()
    }
    for name, one in job.tasks.items():
        into = tasks.setdefault(name, {"counts": {}, "changes": []})
        merge(into, one, job.user_id)
    return replace(run, tasks=tasks, users_done=run.users_done + 1, gathered=user)


def merge(into: dict[str, Any], one: Mapping[str, Any], user_id: str) -> None:
    """Adds one user's ``{counts, changes}`` of a task to those of all; each listed change says whose it is."""
    for action, number in one["counts"].items():
        into["counts"][action] = into["counts"].get(action, 0) + number
    room = LISTED_BYTES - sum(_bytes(change) for change in into["changes"]) if one["changes"] else 0
    for change in one["changes"][: max(0, LISTED - len(into["changes"]))]:
        listed = {"user_id": user_id, **change, "refs": list(change["refs"][:NAMED])}
        room -= _bytes(listed)
        if room < 0:
            return
        into["changes"].append(listed)


def failures(run: Run) -> int:
    """For how many users a task failed."""
    return sum(one["counts"].get("failed", 0) for one in run.tasks.values())


def _bytes(change: Mapping[str, Any]) -> int:
    return len(json.dumps(change, ensure_ascii=False).encode())
