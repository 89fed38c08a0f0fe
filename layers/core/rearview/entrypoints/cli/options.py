"""Options that several commands share, and the exit codes that all of them keep to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

OK: Final = 0
FAILED: Final = 1
BAD_INPUT: Final = 2
NOTHING: Final = 3
UNSOUND: Final = 4

EXIT_CODES: Final = """Exit codes:

0  done

1  failed: busy or damaged store, missing permission, a check of the demo or the doctor that does not hold

2  bad input: usage, a refused field, lines of an import that stayed out

3  nothing there: no such record or store, recall or precedents abstained, a write was dropped by a sieve

4  an audit found errors

130  interrupted"""

Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        envvar="REARVIEW_DATA",
        show_envvar=True,
        help="Folder of the store (default ./rearview-data). Other processes may have it open.",
        file_okay=False,
    ),
]
User = Annotated[str, typer.Option("--user", "-u", envvar="REARVIEW_USER", help="Whose memory it is.")]
AnyUser = Annotated[str | None, typer.Option("--user", "-u", help="Only this user; all of them without it.")]
Namespace = Annotated[
    str | None,
    typer.Option(
        "--namespace", "-n", envvar="REARVIEW_NAMESPACE", help="Agent's or team's room (`default`)."
    ),
]
AnyNamespace = Annotated[
    str | None, typer.Option("--namespace", "-n", help="Only this namespace; all of them without it.")
]
Json = Annotated[
    bool,
    typer.Option("--json", help="One JSON document on stdout and nothing else; problems as JSON on stderr."),
]
Agent = Annotated[str | None, typer.Option("--agent", help="Agent id.")]
InSession = Annotated[str | None, typer.Option("--session", help="Session id.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="May be repeated.")]
TopK = Annotated[int, typer.Option("--top-k", "-k", help="1-50.")]
Timezone = Annotated[
    str | None, typer.Option("--timezone", help="IANA zone in which times without an offset are read (UTC).")
]
KnownAt = Annotated[str | None, typer.Option("--known-at", help="As it was known then (time or date).")]
ValidAt = Annotated[str | None, typer.Option("--valid-at", help="What was true then (time or date).")]

DEFAULT_USER: Final = "me"
