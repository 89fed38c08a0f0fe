"""``profile``: what a user's memories say by slot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rearview.entrypoints.cli import options as o
from rearview.entrypoints.cli.output import show, table
from rearview.entrypoints.cli.session import given, guarded, store

if TYPE_CHECKING:
    from rich.console import Console


@guarded
def profile(
    user: o.User = o.DEFAULT_USER,
    namespace: o.Namespace = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="Entries at most.")] = 50,
    data: o.Data = None,
    json_: o.Json = False,
) -> int:
    """Shows what a user's memories say by slot, most certain first. Exit code 3 if there is nothing yet."""
    from rearview.domain.principal import LOCAL
    from rearview.usecases.fields import read
    from rearview.usecases.questions import ListOf

    request = read(ListOf, given(user_id=user, namespace=namespace, limit=limit))
    with store(data, existing=True) as app:
        answer = app.profiles.get(LOCAL, request)
    show(answer, json_, profiled)
    return o.OK if answer["items"] else o.NOTHING


def profiled(out: Console, answer: Mapping[str, Any]) -> None:
    """A profile as a table."""
    if not answer["items"]:
        out.print("no entry yet: nothing was said often enough in one way, or the daily round is to come")
        return
    table(
        out,
        ("what", "value", "share", "of", "last", "conflict"),
        [
            (
                item["key"],
                item["value"],
                f"{item['confidence']:.2f}",
                f"{item['count']} of {item['total']}",
                item["last_updated"][:10],
                item["conflict"] or "",
            )
            for item in answer["items"]
        ],
    )
    if answer["next_cursor"]:
        out.print("there is more; --limit shows up to 200")
