"""``rearview``: the command line. Each command loads what it needs when it runs, so that help is quick."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from rearview.entrypoints.cli import (
    cloud,
    doctor,
    maintaining,
    measuring,
    memories,
    moving,
    profile,
    serving,
    traces,
    upkeep,
)
from rearview.entrypoints.cli.options import EXIT_CODES, FAILED, Json
from rearview.entrypoints.cli.session import debugging

app = typer.Typer(
    name="rearview",
    help="Memory and decision traces for LLM agents: what was known, what was decided, how it went.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("rearview-memory")
    except PackageNotFoundError:
        return "unknown"


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"rearview {_version()}\n")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
def version(json_: Json = False) -> None:
    """Shows the version."""
    if json_:
        from rearview.entrypoints.cli.output import document

        document({"rearview": _version(), "python": sys.version.split()[0]})
    else:
        sys.stdout.write(f"rearview {_version()}\n")


for _name, _command in (
    ("serve", serving.serve),
    ("demo", measuring.demo),
    ("mcp", serving.mcp),
    ("write", memories.write),
    ("recall", memories.recall),
    ("profile", profile.profile),
    ("decide", traces.decide),
    ("outcome", traces.outcome),
    ("precedents", traces.precedents),
    ("audit", upkeep.audit),
    ("import", moving.import_),
    ("export", moving.export),
    ("reindex", upkeep.reindex),
    ("redrive", cloud.redrive),
    ("maintain", maintaining.maintain),
    ("doctor", doctor.doctor),
    ("eval", measuring.eval_),
    ("bench", measuring.bench),
):
    app.command(_name)(_command)
app.command("local-aws", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    cloud.local_aws
)


def run() -> None:
    """The console entry: runs the command line and ends the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # Memories hold any Unicode; a pipe under LANG=C must not end in a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = app(standalone_mode=False)
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        # Whoever read us has what it wanted; nothing more may be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED
    except Exception as error:
        code = _failed(error)
    sys.exit(code if isinstance(code, int) else 0)


def _failed(error: Any) -> int:
    """Usage errors as they are (JSON with ``--json``); anything else is ours, and said without a traceback."""
    from rearview.entrypoints.cli.output import report
    from rearview.errors import InvalidInput, RearviewError

    if type(error).__name__ == "Abort":
        return 130
    if hasattr(error, "exit_code") and hasattr(error, "format_message"):
        if "--json" in sys.argv:
            parameter = getattr(error, "param", None)
            field = getattr(parameter, "name", None) or getattr(error, "option_name", None) or "arguments"
            report(InvalidInput.of(str(field).strip("-"), "usage", error.format_message()), True)
        else:
            error.show()
        return int(error.exit_code)
    if debugging():
        raise error
    what = f"{type(error).__name__}: {error}"
    report(RearviewError(f"{what} (REARVIEW_DEBUG=1 shows where)"), "--json" in sys.argv)
    return FAILED


if __name__ == "__main__":
    run()
