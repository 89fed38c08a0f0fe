"""``doctor``: what is wrong with an installation, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rearview.entrypoints.cli import options as o
from rearview.entrypoints.cli.output import progress, safe, show, table
from rearview.entrypoints.cli.session import guarded, settings

if TYPE_CHECKING:
    from rich.console import Console


@guarded
def doctor(
    aws: Annotated[
        bool,
        typer.Option(
            "--aws",
            help="Looks at an AWS account instead: what REARVIEW_TABLE and its like name, or --stack.",
        ),
    ] = False,
    stack: Annotated[
        str, typer.Option("--stack", help="With --aws: the deployed stack whose settings are looked up.")
    ] = "",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Where `serve` listens.")] = 8787,
    data: o.Data = None,
    json_: o.Json = False,
) -> int:
    """Checks this installation or, with --aws, a live account. Changes nothing. Exit code 1 if something failed."""
    from rearview import bootstrap_doctor
    from rearview.usecases.doctor import examine, verdict

    checks = bootstrap_doctor.aws(stack) if aws or stack else bootstrap_doctor.local(settings(data), port)
    found = []
    with progress("doctor") as tell:
        for result in examine(checks):
            found.append(result)
            tell(len(found), label=result.check)
    answer = verdict(found)
    show(answer, json_, examined)
    return o.OK if answer["ok"] else o.FAILED


def examined(out: Console, answer: Mapping[str, Any]) -> None:
    """The findings as a table, then what to do about those that need it."""
    rows = [
        (item["status"], item["check"], item["seen"], _took(item["took_ms"])) for item in answer["findings"]
    ]
    table(out, ("status", "check", "what was seen", "ms"), rows)
    todo = [item for item in answer["findings"] if item["advice"]]
    for item in todo:
        out.print(f"{item['status']:<4} {item['check']}: {safe(item['advice'])}")
    counts = answer["counts"]
    if todo:
        out.print()
    out.print(f"{counts['ok']} ok, {counts['warn']} to look at, {counts['fail']} failed")


def _took(milliseconds: float | None) -> str:
    return "" if milliseconds is None else f"{milliseconds:.0f}"
