"""``import`` and ``export``."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, TextIO, cast

import typer

from rearview.entrypoints.cli import options as o
from rearview.entrypoints.cli.output import console, progress, safe, show
from rearview.entrypoints.cli.session import given, guarded, store

if TYPE_CHECKING:
    from rich.console import Console

    from rearview.usecases.app import Rearview
    from rearview.usecases.importing import ImportReport
    from rearview.usecases.transcripts import Format

#: Seconds without any progress of enrichment after which an import no longer waits for it.
PATIENCE = 60.0
FORMATS = ("auto", "memories", "transcript", "export")


@guarded
def import_(
    files: Annotated[list[Path], typer.Argument(help="Files, `-` for standard input.", allow_dash=True)],
    format: Annotated[
        str,
        typer.Option("--format", help=f"{', '.join(FORMATS)}; auto tells each line by its shape."),
    ] = "auto",
    user: o.User = o.DEFAULT_USER,
    namespace: o.Namespace = None,
    agent: o.Agent = None,
    session: Annotated[
        str | None, typer.Option("--session", help="Session of turns that name none (the file's name).")
    ] = None,
    timezone: o.Timezone = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first refused line.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Until all of it is embedded.")] = True,
    data: o.Data = None,
    json_: o.Json = False,
) -> int:
    """Takes in memories, chat transcripts or an export. Importing twice changes nothing.

    JSONL of memories (the fields of POST /v1/memories, one a line); transcripts as a JSON list of
    {"role", "content"}, an object with "messages", or JSONL of turns {"role"/"speaker", "content", "at",
    "session_id"}; JSONL of `rearview export`. --user and --namespace are for lines that name none. Refused lines are
    shown with line number, field and rule; the rest goes in, and the exit code is 2.
    """
    from rearview.domain.principal import LOCAL
    from rearview.errors import InvalidInput
    from rearview.usecases.commands import Scoped
    from rearview.usecases.fields import read
    from rearview.usecases.importing import Defaults, Importer
    from rearview.usecases.transcripts import read_records

    if format not in FORMATS:
        raise InvalidInput.of("format", "literal_error", f"must be {', '.join(FORMATS)}")
    read(Scoped, given(user_id=user, namespace=namespace, timezone=timezone))
    for file in files:
        if str(file) != "-" and not file.is_file():
            raise InvalidInput.of("files", "file", f"{file} is no file")
    started = time.perf_counter()
    with store(data) as app:
        importer = Importer(app, LOCAL, Defaults(user, namespace, agent, timezone), strict=strict)
        told = 0
        for file in files:
            with _opened(file) as stream, progress("import") as tell:
                records = read_records(stream, name=session or _name(file), format=cast("Format", format))
                importer.run(records, lambda line, tell=tell: tell(line, None, "import: line"))  # type: ignore[misc]
            told = _refusals(importer.report, file, told, json_)
            if importer.report.stopped:
                break
        left = _enrich(app, importer.report) if wait else None
    answer = _summary(importer.report, left, round(time.perf_counter() - started, 3))
    show(answer, json_, _imported)
    return o.BAD_INPUT if importer.report.refused else o.OK


@guarded
def export(
    user: o.AnyUser = None,
    namespace: o.AnyNamespace = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File, `-` for standard output.", allow_dash=True)
    ] = Path("-"),
    data: o.Data = None,
    json_: o.Json = False,
) -> int:
    """Writes all memories with their history, conflicts, decisions, outcomes and sessions as JSONL.

    `rearview import` of it into an empty store gives the same state. What goes to standard output is the JSONL
    itself; with --out FILE a summary is shown. API keys, the ledger and the users' keys stay.
    """
    from rearview.domain.principal import LOCAL
    from rearview.errors import NotFound
    from rearview.usecases.transfer import Exporter

    counts: dict[str, int] = {}
    with store(data, existing=True) as app:
        exporter = Exporter(app.services)
        if not exporter.scopes(LOCAL, namespace, user):
            raise NotFound("nothing is stored for that user and namespace")
        to_stdout = str(out) == "-"
        target = nullcontext(sys.stdout) if to_stdout else _replacing(out)
        with target as stream, progress("export: users") as tell:
            for line in exporter.export(LOCAL, namespace=namespace, user_id=user, progress=tell):
                stream.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
                counts[line["type"]] = counts.get(line["type"], 0) + 1
            stream.flush()
    counts.pop("rearview_export", None)
    if not to_stdout:
        show({"out": str(out), "records": counts}, json_, _exported)
    return o.OK


@contextmanager
def _opened(file: Path) -> Iterator[BinaryIO]:
    if str(file) == "-":
        yield sys.stdin.buffer
    else:
        with file.open("rb") as stream:
            yield stream


@contextmanager
def _replacing(out: Path) -> Iterator[TextIO]:
    """A file beside the target that takes its place when it is whole: an export is never half there."""
    out.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as stream:
            yield stream
        os.replace(name, out)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _name(file: Path) -> str:
    """The session of turns that name none: the file's stem, as far as an id may hold it."""
    stem = (
        "import" if str(file) == "-" else re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]", "", file.stem).strip()
    )
    return stem[:200] or "import"


def _enrich(app: Rearview, report: ImportReport) -> int:
    """Embeds what came in, also beside a running server; answers how many records still wait."""
    store, waiting = app.services.store, dict(report.last)

    def left() -> int:
        return sum(len(store.query(at, "P#", limit=1_000_000).items) for at in waiting)

    total = remaining = left()
    moved = time.monotonic()
    with progress("embed") as tell:
        while remaining and time.monotonic() - moved < PATIENCE:
            worked = sum(app.enricher.drain(at) for at in waiting)
            now = left()
            if worked or now < remaining:
                moved = time.monotonic()
            else:
                time.sleep(0.1)
            remaining = now
            tell(max(0, total - remaining), total)
    return remaining


def _refusals(report: ImportReport, file: Path, told: int, as_json: bool) -> int:
    """Tells what this file's refused lines were."""
    if not as_json:
        err = console(stderr=True)
        for item in report.refusals[told:]:
            err.print(
                f"{safe(file)}:{item.line}: {safe(item.field)}: {item.message}  [{item.rule}]", soft_wrap=True
            )
    return len(report.refusals)


def _summary(report: ImportReport, left: int | None, seconds: float) -> dict[str, Any]:
    return {
        "lines": report.lines,
        "written": dict(report.written),
        "unchanged": report.unchanged,
        "duplicates": report.duplicates,
        "dropped": dict(report.dropped),
        "refused": report.refused,
        "refusals": [asdict(item) for item in report.refusals],
        "stopped": report.stopped,
        "pending": left,
        "seconds": seconds,
    }


def _imported(out: Console, answer: Mapping[str, Any]) -> None:
    written = (
        ", ".join(f"{count} {_plural(name, count)}" for name, count in answer["written"].items())
        or "nothing new"
    )
    out.print(f"{answer['lines']} lines: {written}")
    for name in ("unchanged", "duplicates", "refused"):
        if answer[name]:
            out.print(f"  {name}: {answer[name]}")
    for reason, count in answer["dropped"].items():
        out.print(f"  dropped ({reason}): {count}")
    if answer["stopped"]:
        out.print("  stopped at the first refused line; what came before is in")
    if answer["pending"]:
        out.print(
            f"  {answer['pending']} records are not embedded yet; they are found by their words meanwhile"
        )


def _exported(out: Console, answer: Mapping[str, Any]) -> None:
    counts = ", ".join(f"{count} {_plural(name, count)}" for name, count in answer["records"].items())
    out.print(f"{safe(answer['out'])}: {counts}")


def _plural(name: str, count: int) -> str:
    if count == 1:
        return name
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
