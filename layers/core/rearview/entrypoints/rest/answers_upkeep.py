"""What the API answers about policies and maintenance."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from rearview.usecases.views import Moment, View


class PolicyView(View):
    """How a namespace's memories age. Days and seconds that are null switch a step off."""

    namespace: str
    version: int
    updated_at: Moment | None
    updated_by: str | None
    conflicts: str | None
    shelf_lives: dict[str, int | None]
    archiving: dict[str, int | None]
    forgetting: dict[str, Any]
    consolidation: dict[str, Any]
    profile: dict[str, Any]
    review_sample: int


class PolicyList(View):
    items: list[PolicyView]
    next_cursor: str | None


class ChangeView(View):
    """One thing that was done (or, in a dry run, would be); ``undo`` is the call that takes it back."""

    user_id: str
    action: str
    refs: list[str]
    reason: str
    undo: str | None


class TaskView(View):
    """``counts``: how often by action; ``changes``: the first hundred."""

    counts: dict[str, int]
    changes: list[ChangeView]


class RunView(View):
    """A maintenance run. ``counts``: task.action → how often."""

    id: str
    namespace: str
    cadence: str
    as_of: Moment
    started_at: Moment
    finished_at: Moment | None
    requested_by: str
    state: str = Field(examples=["running", "done"])
    dry_run: bool
    users: int
    users_done: int
    counts: dict[str, int]
    tasks: dict[str, TaskView]


class RunList(View):
    items: list[RunView]
    next_cursor: str | None
