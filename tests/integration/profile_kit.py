"""Short names for profiles over a house."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from rearview.domain import keys
from rearview.domain.policy import Policy, ProfileRules
from rearview.domain.scope import Scope
from rearview.usecases.fields import read
from rearview.usecases.maintenance.profile import ProfileTask
from rearview.usecases.maintenance.task import Job, Result
from rearview.usecases.paging import all_rows
from rearview.usecases.profile_upkeep import ProfileKeeper
from rearview.usecases.questions import ListOf
from tests.house import House


def get(h: House, user: str = "u", **more: Any) -> dict[str, Any]:
    return h.app.profiles.get(h.principal, read(ListOf, {"user_id": user, **more}))


def items(h: House, user: str = "u") -> dict[str, dict[str, Any]]:
    return {item["key"]: item for item in get(h, user, limit=200)["items"]}


def daily(
    h: House,
    user: str = "u",
    *,
    as_of: datetime | None = None,
    policy: ProfileRules | None = None,
    keeper: ProfileKeeper | None = None,
    dry_run: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> Result:
    rules = Policy("default", profile=policy or ProfileRules())
    job = Job("run", Scope("default", user), as_of or h.clock.now(), rules, dry_run)
    return ProfileTask(keeper or ProfileKeeper(h.app.services)).run(job, stop)


def kept(h: House, user: str = "u") -> dict[str, Any]:
    """Everything that profiles leave in the store."""
    partition = Scope("default", user).partition
    rows = [*all_rows(h.app.services.store, partition, keys.PROFILE)]
    rows += all_rows(h.app.services.store, partition, keys.SAYING)
    return dict(rows)


def log(h: House, *contents: str, user: str = "u", first: int = 0, **more: Any) -> list[dict[str, Any]]:
    answers = []
    for number, content in enumerate(contents, first):
        answers.append(h.write(content, user, session_id=f"s{number}", admission="force", **more))
        h.clock.advance(days=1)
    return answers
