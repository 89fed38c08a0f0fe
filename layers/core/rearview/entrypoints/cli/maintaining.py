"""``maintain``: the upkeep of all memories, now."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rearview.entrypoints.cli import options as o
from rearview.entrypoints.cli.cloud import Aws, installation
from rearview.entrypoints.cli.output import progress, safe, show
from rearview.entrypoints.cli.session import guarded
from rearview.errors import InvalidInput

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import Console

    from rearview.domain.runs import Run
    from rearview.usecases.app import Rearview
    from rearview.usecases.sweep import Swept

#: Seconds that a job which another process has taken up is waited for.
PATIENCE = 150.0
#: Items of one sweep, and those that a preview looks at.
SWEPT, FORESEEN = 500, 10_000
#: Changes of a task, and records of a change, that are shown to people.
SHOWN, REFS = 20, 3


@guarded
def maintain(
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of", help="Take ages at this time (RFC 3339). In the future: with --dry-run only."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what would be done, write nothing.")
    ] = False,
    cadence: Annotated[
        str | None, typer.Option(help="Only the daily or the weekly tasks; both without it.")
    ] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Only this namespace; all that hold something without it.")
    ] = None,
    data: o.Data = None,
    aws: Aws = False,
    json_: o.Json = False,
) -> int:
    """Does maintenance now: expire, archive, forget, consolidate, aggregate. Tells what was done and how to undo it."""
    from rearview.domain.codec import encode
    from rearview.domain.runs import CADENCES
    from rearview.domain.scope import check_namespace
    from rearview.domain.times import to_text
    from rearview.usecases.maintenance.reports import view

    if cadence not in (None, *CADENCES):
        raise InvalidInput.of("cadence", "enum", "must be daily or weekly")
    with installation(data, aws) as app, progress("maintain") as tell:
        now = app.services.now()
        at = now if as_of is None else _time(as_of)
        if at > now and not dry_run:
            raise InvalidInput.of("as_of", "not_in_the_future", "may lie in the future with --dry-run only")
        names = sorted(app.maintainer.namespaces()) if namespace is None else [check_namespace(namespace)]
        chosen = CADENCES if cadence is None else tuple(item for item in CADENCES if item == cadence)
        plans = [(name, kind) for name in names for kind in chosen]
        reports: list[dict[str, Any]] = []
        swept = app.sweeper.preview(at, FORESEEN) if dry_run else _catch_up(app, names)
        for number, (name, kind) in enumerate(plans, 1):
            if dry_run:
                reports.append(view(app.maintainer.preview(name, kind, at)))
            else:
                run = app.maintainer.start(name, kind, by="command line", as_of=at)
                _finish(app, run)
                reports.append(view(encode(app.maintainer.read(run))))
            tell(number, len(plans))
    sweep = {"expired": swept.expired, "purged": swept.purged}
    show({"as_of": to_text(at), "dry_run": dry_run, "sweep": sweep, "runs": reports}, json_, told)
    return o.OK


def _time(text: str) -> datetime:
    from datetime import UTC

    from rearview.domain.times import parse

    try:
        return parse(text, UTC, upper=True)
    except (ValueError, OverflowError):
        raise InvalidInput.of("as_of", "rfc3339", "must be an RFC 3339 time or a date") from None


def _catch_up(app: Rearview, names: Sequence[str]) -> Swept:
    """What is due goes first, in all namespaces, and runs that a killed process left are brought to their end."""
    from rearview.usecases.sweep import Swept

    swept = Swept()
    while app.sweeper.sweep(SWEPT, swept) >= SWEPT:
        pass
    for name in names:
        for run in app.maintainer.open(name):
            _finish(app, run)
    return swept


def _finish(app: Rearview, run: Run) -> None:
    """Moves a run on to its end; what another process is working on is waited for."""
    until = time.monotonic() + PATIENCE
    while not app.maintainer.advance(app.maintainer.read(run), lambda: False, inline=True):
        if time.monotonic() > until:
            return
        time.sleep(0.2)


def told(out: Console, answer: Mapping[str, Any]) -> None:
    """The reports: what was due, then counts by task, what was changed and how to take it back."""
    title = "would be done" if answer["dry_run"] else "done"
    for name, undo in (("expired", "POST /v1/memories/ID/restore"), ("purged", "")):
        if ids := answer["sweep"][name]:
            _change(out, "sweep", {"action": name, "refs": ids, "reason": f"due, {title}", "undo": undo})
    for run in answer["runs"]:
        counts = ", ".join(f"{name} {number}" for name, number in run["counts"].items()) or "nothing to do"
        title = "would be done" if run["dry_run"] else "done"
        out.print(
            f"{safe(run['namespace'])}, {run['cadence']}, {run['users']} users, {title}: {safe(counts)}"
        )
        for task, one in run["tasks"].items():
            for change in one["changes"][:SHOWN]:
                _change(out, task, change)
            left = sum(one["counts"].values()) - min(SHOWN, len(one["changes"]))
            if one["changes"] and left > 0:
                out.print(f"  {task}: and {left} more; --json lists up to a hundred")


def _change(out: Console, task: str, change: Mapping[str, Any]) -> None:
    """One change; ids and calls are never broken, so that they can be copied."""
    refs = change["refs"]
    named = " ".join(refs[:REFS]) + (f" and {len(refs) - REFS} more" if len(refs) > REFS else "")
    out.print(safe(f"  {task} {change['action']} {named}: {change['reason']}"), soft_wrap=True)
    if change["undo"]:
        out.print(safe(f"    undo: {change['undo']}"), soft_wrap=True)


__all__ = ["maintain"]
