"""``demo``, ``eval`` and ``bench``."""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rearview.entrypoints.cli import options as o
from rearview.entrypoints.cli.output import console, document, progress, safe
from rearview.entrypoints.cli.session import guarded, runtime, settings

if TYPE_CHECKING:
    from rich.console import Console

    from rearview.evaluation.demo import Step


@guarded
def demo(
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Keep the store in this folder (a temporary one).", file_okay=False),
    ] = None,
    json_: o.Json = False,
) -> int:
    """Shows what Rearview does, on a short conversation in Chinese and English; checks what it shows."""
    from rearview.evaluation.demo import Demo

    out = console()
    folder = tempfile.TemporaryDirectory(prefix="rearview-demo-") if data is None else nullcontext(str(data))
    steps = []
    with folder as name, runtime(Path(name)) as made:
        play = Demo(made.app)
        for number, step in enumerate(play.run(), 1):
            steps.append(step)
            if not json_:
                _step(out, number, step)
    failed = [claim for step in steps for claim, holds in step.checks if not holds]
    seconds = round(sum(step.seconds for step in steps), 3)
    if json_:
        shown = [{**step.as_json(), "number": number} for number, step in enumerate(steps, 1)]
        document({"ok": not failed, "failed": failed, "seconds": seconds, "steps": shown})
    elif failed:
        out.print(f"{len(failed)} of the expected results did not come:")
        for claim in failed:
            out.print(f"  - {claim}")
    else:
        checks = sum(len(step.checks) for step in steps)
        out.print(f"All {checks} checks hold, {seconds:.1f} s. Next: rearview serve")
        if data is not None:
            out.print(
                f"The store is kept in {data}; try: rearview recall '住在哪里' --user {play.user} --data {data}"
            )
    return o.FAILED if failed else o.OK


@guarded
def eval_(
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Folder with the sets; its README says how each is scored."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Argument(
            help="Sets to run, as with --set; `years`, `profile` and `consolidation` only when named."
        ),
    ] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="Only this set; may be repeated.")] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", help="Only the first so many conversations, users or rows of each."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the figures as JSON to this file too.")
    ] = None,
    aws: Annotated[
        bool,
        typer.Option("--aws", help="Live the year of `years` on the installation that REARVIEW_… names."),
    ] = False,
    json_: o.Json = False,
) -> int:
    """Measures recall, filter, conflicts and extraction on sets of questions, beside a BM25 floor."""
    from rearview.evaluation import eval as evaluation

    with progress("eval") as tell:
        report = evaluation.run(
            data,
            settings(),
            [*(only or ()), *(set_ or ())],
            lambda what, done, of: tell(done, of, what),
            limit,
            aws=aws,
        )
    return _report(report, out, json_)


@guarded
def bench(
    memories: Annotated[int, typer.Option("--memories", min=1, help="Size of the store.")] = 1000,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the figures as JSON to this file too.")
    ] = None,
    json_: o.Json = False,
) -> int:
    """Measures latencies, lag, memory and size on this machine, as ratios to bare numpy and FTS5."""
    from rearview.evaluation import bench as benchmark

    with progress("bench") as tell:
        report = benchmark.run(settings(), memories, lambda what, done, of: tell(done, of, what))
    return _report(report, out, json_)


def _report(report: Any, out: Path | None, as_json: bool) -> int:
    figures = report.as_json()
    if out is not None:
        out.write_text(json.dumps(figures, ensure_ascii=False, indent=2) + "\n", "utf-8")
    if as_json:
        document(figures)
    else:
        sys.stdout.write(report.as_text() + "\n")
    return o.OK


def _step(out: Console, number: int, step: Step) -> None:
    out.rule(f"{number}. {step.title}  ({step.seconds:.2f} s)", align="left", characters="─")
    for line in step.lines:
        out.print(f"  {safe(line)}", soft_wrap=True)
    for claim, holds in step.checks:
        out.print(f"  {'✓' if holds else '✗ NOT SO:'} {safe(claim)}", style="green" if holds else "bold red")
    out.print()
