"""What a command shows: one JSON document, or text for people. Stored text is data here too, never markup."""

from __future__ import annotations

import json
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from rearview.errors import RearviewError

#: Columns where output goes to a file or a pipe.
PIPE_WIDTH = 120
#: Seconds between lines of progress where there is no terminal.
LINE_SECONDS = 2.0
_BIDI = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F)))


def console(*, stderr: bool = False) -> Console:
    """A console on the present stdout or stderr, without markup."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPE_WIDTH
    return Console(file=stream, markup=False, highlight=False, emoji=False, width=width)


def safe(text: Any) -> str:
    """A stored text as a terminal may show it: control characters (escape sequences) and direction overrides made
    visible, lines joined."""
    return "".join(
        " "
        if char in "\n\t\r"
        else "\ufffd"
        if char in _BIDI or unicodedata.category(char) in ("Cc", "Cs")
        else char
        for char in str(text)
    )


def document(value: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()


def show(
    value: Mapping[str, Any], as_json: bool, render: Callable[[Console, Mapping[str, Any]], None]
) -> None:
    """The answer of a command, as JSON or rendered."""
    if as_json:
        document(value)
    else:
        render(console(), value)


def report(error: RearviewError, as_json: bool) -> None:
    """A problem on stderr: title and detail, then each field with its rule."""
    if as_json:
        from rearview.usecases.problems import problem

        sys.stderr.write(json.dumps(problem(error), ensure_ascii=False) + "\n")
        return
    lines = [f"error: {error.title}: {error.detail}"]
    if error.errors:
        lines = [f"error: {error.title}"]
        lines += [f"  {safe(item.field)}: {item.message}  [{item.rule}]" for item in error.errors]
    sys.stderr.write("\n".join(lines) + "\n")


def table(
    out: Console, columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None
) -> None:
    """A plain table; the first columns keep their width, ids are never cut."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(*columns, box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for column in grid.columns:
        column.overflow = "fold"
        column.no_wrap = column.header in ("id", "score", "since")
    for row in rows:
        grid.add_row(*(Text(safe(cell)) for cell in row))
    out.print(grid)


@contextmanager
def progress(what: str) -> Iterator[Callable[..., None]]:
    """``tell(done, of=None, label=None)`` on stderr: a bar on a terminal, a line now and then otherwise."""
    if sys.stderr.isatty():
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console(stderr=True), transient=True) as bars:
            task = bars.add_task(what, total=None)

            def draw(done: int, of: int | None = None, label: str | None = None) -> None:
                bars.update(task, completed=done, total=of, description=safe(label or what))

            yield draw
        return
    last = [time.monotonic()]

    def line(done: int, of: int | None = None, label: str | None = None) -> None:
        now = time.monotonic()
        if now - last[0] >= LINE_SECONDS:
            last[0] = now
            sys.stderr.write(f"{safe(label or what)}: {done}{'' if of is None else f' of {of}'}\n")
            sys.stderr.flush()

    yield line
