"""Profiles from generated logs: is each entry there with the right share, and when is a switch seen?

Logs are written as an agent would write them, duplicates and conflicts included; the daily task then runs as of the
morning after. Needs no data folder.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from rearview.domain.principal import LOCAL
from rearview.domain.scope import Scope
from rearview.domain.types import DEFAULT_NAMESPACE
from rearview.evaluation.profiling_data import FIRST, LANGUAGES, SHARES, SLOTS, Log, Maker
from rearview.evaluation.report import Row, Table, share
from rearview.evaluation.stage import Stage
from rearview.usecases.app import Rearview
from rearview.usecases.fields import read
from rearview.usecases.maintenance.profile import ProfileTask
from rearview.usecases.maintenance.task import Job
from rearview.usecases.profile_upkeep import ProfileKeeper
from rearview.usecases.questions import ListOf

COLUMNS: Final = ("right", "none wrong", "none below .6")
#: Sessions before and after the user changes his ways.
BEFORE, AFTER = 10, 7


def run(stage: Stage) -> Table:
    """The table: logs with known shares, then switches. ``limit``: the first so many slots."""
    started = time.perf_counter()
    slots = SLOTS[: stage.limit]
    logs = [
        (name, Maker(slot, language, name).shuffled(tasks))
        for name, tasks in SHARES.items()
        for slot in slots
        for language in LANGUAGES
        if len(tasks) <= len(slot.values)
    ]
    rows: list[Row] = []
    with stage.opened() as app:
        stage.batches(app, [item for _, log in logs for item in log.writes()], "profile: logs", wait=True)
        judged = [(name, log.language, judge(app, log)) for name, log in logs]
        rows += [_row(f"share {name}", [made for one, _, made in judged if one == name]) for name in SHARES]
        rows += [
            _row(f"shares, {tongue}", [made for _, one, made in judged if one == tongue])
            for tongue in LANGUAGES
        ]
        rows.append(_row("shares, all", [made for _, _, made in judged]))
        makers = [Maker(slot, language, "switch") for slot in slots for language in LANGUAGES]
        quiet = replace(stage, progress=None)
        seen = []
        for number, maker in enumerate(makers, 1):
            seen.append(implicit(quiet, app, maker))
            stage.tell("profile: implicit switches", number, len(makers))
        rows.append(_switches("implicit switch, the day after the sixth", seen, 6))
        makers = [Maker(slot, language, "from now on") for slot in slots for language in LANGUAGES]
        at_once = [explicit(quiet, app, maker) for maker in makers]
        rows.append(_switches("explicit switch, at once", at_once, 0))
    return Table(
        "profile",
        "profiles from generated logs with known shares",
        COLUMNS,
        tuple(rows),
        dict(stage.skipped),
        (
            "right: the entry has the value, count and total of the log's last ten sessions; absent if none has .6",
            "switches: right if seen then, neither earlier nor later",
        ),
        time.perf_counter() - started,
    )


def judge(app: Rearview, log: Log) -> dict[str, bool]:
    """After the daily round, whether the slot's entry is as the log has it, and whether there is any below .6."""
    refresh(app, log.user, FIRST + timedelta(days=len(log.sessions)))
    items = entries(app, log.user)
    value, count, total = log.share()
    mine = [item for item in items if item["key"] == log.slot.key]
    wanted = [(value, count, total, round(count / total, 4))] if count >= 0.6 * total else []
    got = [(item["canonical"], item["count"], item["total"], item["confidence"]) for item in mine]
    return {
        "right": got == wanted,
        "none wrong": all(item["canonical"] == value for item in mine),
        "none below .6": all(item["confidence"] >= 0.6 for item in items),
    }


def implicit(stage: Stage, app: Rearview, maker: Maker) -> int | None:
    """Ten sessions of one value, then of another without a word: after how many of them the morning's profile has it;
    None if never, -1 if an entry between was wrong."""
    stage.batches(app, maker.log([0] * BEFORE).writes(), "profile: before", wait=True)
    for number in range(1, AFTER + 1):
        stage.batches(app, list(maker.session(1)), "profile: after", wait=True)
        refresh(app, maker.user, FIRST + timedelta(days=maker.day))
        value = _value(app, maker)
        if value == maker.name(1):
            return number
        if value != (maker.name(0) if number <= 4 else None):
            return -1
    return None


def explicit(stage: Stage, app: Rearview, maker: Maker) -> int | None:
    """Ten sessions of one value, then one that says that it is another from now on: 0 if the entry follows at once."""
    stage.batches(app, maker.log([0] * BEFORE).writes(), "profile: before", wait=True)
    if _value(app, maker) != maker.name(0):
        return -1
    stage.batches(app, list(maker.session(1, switch=True)), "profile: from now on", wait=True)
    return 0 if _value(app, maker) == maker.name(1) else None


def refresh(app: Rearview, user: str, as_of: datetime) -> None:
    """The daily round of one user."""
    scope = Scope(DEFAULT_NAMESPACE, user)
    job = Job("eval", scope, as_of.replace(hour=3), app.services.policies.of(scope.namespace))
    ProfileTask(ProfileKeeper(app.services)).run(job, lambda: False)


def entries(app: Rearview, user: str) -> list[dict[str, Any]]:
    """The user's profile."""
    items: list[dict[str, Any]] = app.profiles.get(LOCAL, read(ListOf, {"user_id": user, "limit": 200}))[
        "items"
    ]
    return items


def _value(app: Rearview, maker: Maker) -> str | None:
    mine = [item for item in entries(app, maker.user) if item["key"] == maker.slot.key]
    return str(mine[0]["canonical"]) if mine else None


def _row(label: str, found: Sequence[dict[str, bool]]) -> Row:
    return Row(
        label, len(found), {name: share(sum(one[name] for one in found), len(found)) for name in COLUMNS}
    )


def _switches(label: str, seen: Sequence[int | None], wanted: int) -> Row:
    return Row(label, len(seen), {"right": share(sum(one == wanted for one in seen), len(seen))})
