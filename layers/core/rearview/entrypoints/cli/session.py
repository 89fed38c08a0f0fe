"""What every command does around its work: open the folder, turn errors into exit codes."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import typer

from rearview.entrypoints.cli.options import BAD_INPUT, FAILED, NOTHING
from rearview.entrypoints.cli.output import report
from rearview.errors import InvalidInput, NotFound, RearviewError

if TYPE_CHECKING:
    from rearview.bootstrap import Runtime
    from rearview.settings import Settings
    from rearview.usecases.app import Rearview

P = ParamSpec("P")
#: Bytes of a text read from standard input.
MAX_INPUT = 4 * 1024 * 1024


def settings(data: Path | None = None) -> Settings:
    """Settings of the environment, with the folder that was given. InvalidInput names a variable that is wrong."""
    from pydantic import ValidationError

    from rearview.settings import Settings
    from rearview.usecases.fields import field_error

    try:
        return Settings() if data is None else Settings(data=data)
    except ValidationError as error:
        found = [field_error(dict(item)) for item in error.errors(include_url=False, include_input=False)]
        broken = found[0]
        raise InvalidInput.of(f"REARVIEW_{broken.field.upper()}", broken.rule, broken.message) from None


@contextmanager
def runtime(data: Path | None, *, existing: bool = False) -> Iterator[Runtime]:
    """The runtime over the folder. With ``existing`` a folder without a store is NotFound, and none is made."""
    from rearview.bootstrap import opened

    chosen = settings(data)
    if existing and not any(chosen.data.glob("*.db")):
        raise NotFound(f"no store in {chosen.data}; write something first, or name its folder with --data")
    with opened(chosen) as made:
        yield made


@contextmanager
def store(data: Path | None, *, existing: bool = False) -> Iterator[Rearview]:
    """The use cases over the folder."""
    with runtime(data, existing=existing) as made:
        yield made.app


def guarded(command: Callable[P, int | None]) -> Callable[P, None]:
    """Runs a command that answers its exit code; errors go to stderr, as JSON if ``json_`` was asked for."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        as_json = bool(kwargs.get("json_"))
        try:
            code = command(*args, **kwargs)
        except RearviewError as error:
            report(error, as_json)
            raise typer.Exit(code_of(error)) from None
        except BrokenPipeError:
            raise
        except OSError as error:
            # A file that cannot be read or written; the store's own troubles come as Unavailable.
            where = f"{error.filename}: " if error.filename else ""
            report(RearviewError(f"{where}{error.strerror or type(error).__name__}"), as_json)
            raise typer.Exit(FAILED) from None
        raise typer.Exit(code or 0)

    return run


def code_of(error: RearviewError) -> int:
    """The exit code of an error."""
    if error.status in (400, 413, 422):
        return BAD_INPUT
    return NOTHING if error.status in (404, 410) else FAILED


def given(**fields: Any) -> dict[str, Any]:
    """The fields that were given: what is None or an empty list is left to the request's defaults."""
    return {name: value for name, value in fields.items() if value is not None and value != []}


def text(argument: str, field: str) -> str:
    """The argument itself; ``-`` reads standard input."""
    if argument != "-":
        return argument
    raw = sys.stdin.buffer.read(MAX_INPUT + 1)
    if len(raw) > MAX_INPUT:
        raise InvalidInput.of(field, "max_bytes", f"must be at most {MAX_INPUT} bytes")
    try:
        return raw.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise InvalidInput.of(field, "utf8", "must be UTF-8 text") from None


def settle(app: Rearview, token: str | None) -> None:
    """Waits until what a token stands for is enriched: a command may be the only process there is."""
    if token is not None:
        _, partition, seq = app.services.open_token(token)
        app.enricher.wait(partition, seq)


def debugging() -> bool:
    """Whether unexpected errors show where they came from."""
    return bool(os.environ.get("REARVIEW_DEBUG"))
