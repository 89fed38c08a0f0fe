"""``decide``, ``outcome`` and ``precedents``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rearview.entrypoints.cli import options as o
from rearview.entrypoints.cli.output import safe, show, table
from rearview.entrypoints.cli.session import given, guarded, settle, store, text

if TYPE_CHECKING:
    from rich.console import Console


@guarded
def decide(
    context: Annotated[str, typer.Argument(help="The situation; `-` reads it from standard input.")],
    action: Annotated[str, typer.Argument(help="What was decided.")],
    user: o.User = o.DEFAULT_USER,
    namespace: o.Namespace = None,
    because: Annotated[str | None, typer.Option("--because", help="The reason, in a sentence.")] = None,
    option: Annotated[
        list[str] | None, typer.Option("--option", help="What was possible; may be repeated.")
    ] = None,
    memory: Annotated[
        list[str] | None, typer.Option("--memory", help="Id of a memory it rests on; may be repeated.")
    ] = None,
    recall_id: Annotated[
        str | None, typer.Option("--recall-id", help="Of the recall it rests on, instead of --memory.")
    ] = None,
    parent: Annotated[
        str | None, typer.Option("--parent", help="Id of the decision it follows from.")
    ] = None,
    tag: o.Tags = None,
    expected: Annotated[str | None, typer.Option("--expected", help="What should come of it.")] = None,
    due: Annotated[str | None, typer.Option("--due", help="When the outcome should be known.")] = None,
    occurred_at: Annotated[str | None, typer.Option("--occurred-at", help="When it was decided.")] = None,
    agent: o.Agent = None,
    session: o.InSession = None,
    timezone: o.Timezone = None,
    data: o.Data = None,
    json_: o.Json = False,
) -> int:
    """Records a decision with its reasons and the memories it rests on."""
    from rearview.domain.principal import LOCAL
    from rearview.usecases.commands import RecordDecision
    from rearview.usecases.fields import read

    request = read(
        RecordDecision,
        given(
            user_id=user,
            namespace=namespace,
            context=text(context, "context"),
            action=action,
            reasoning=because,
            options=option,
            memory_ids=memory,
            recall_id=recall_id,
            parent_id=parent,
            tags=tag,
            expected=expected,
            outcome_due_at=due,
            occurred_at=occurred_at,
            agent_id=agent,
            session_id=session,
            timezone=timezone,
        ),
    )
    with store(data) as app:
        _, answer = app.tracer.decide(LOCAL, request)
        settle(app, answer["token"])
    show(answer, json_, _decided)
    return o.OK


@guarded
def outcome(
    decision: Annotated[str, typer.Argument(help="Id of the decision.")],
    result: Annotated[str, typer.Argument(help="success, failure, mixed or unknown.")],
    score: Annotated[float | None, typer.Option("--score", help="-1 to 1.")] = None,
    note: Annotated[str | None, typer.Option("--note")] = None,
    evidence: Annotated[list[str] | None, typer.Option("--evidence", help="May be repeated.")] = None,
    at: Annotated[str | None, typer.Option("--at", help="When it was seen.")] = None,
    timezone: o.Timezone = None,
    data: o.Data = None,
    json_: o.Json = False,
) -> int:
    """Records how a decision went; the memories it rested on take their share."""
    from rearview.domain.principal import LOCAL
    from rearview.usecases.commands import RecordOutcome
    from rearview.usecases.fields import read

    request = read(
        RecordOutcome,
        given(result=result, score=score, note=note, evidence=evidence, at=at, timezone=timezone),
    )
    with store(data, existing=True) as app:
        _, answer = app.tracer.outcome(LOCAL, decision, request)
        settle(app, answer["token"])
    show(answer, json_, _went)
    return o.OK


@guarded
def precedents(
    context: Annotated[str, typer.Argument(help="The situation; `-` reads it from standard input.")],
    action: Annotated[
        list[str] | None, typer.Option("--action", help="What is possible; may be repeated.")
    ] = None,
    user: o.User = o.DEFAULT_USER,
    namespace: o.Namespace = None,
    top_k: o.TopK = 5,
    agent: o.Agent = None,
    known_at: o.KnownAt = None,
    valid_at: o.ValidAt = None,
    timezone: o.Timezone = None,
    data: o.Data = None,
    json_: o.Json = False,
) -> int:
    """Earlier decisions in like situations, and how they went. Exit code 3 if there are none."""
    from rearview.domain.principal import LOCAL
    from rearview.usecases.fields import read
    from rearview.usecases.questions import Precedents

    request = read(
        Precedents,
        given(
            user_id=user,
            namespace=namespace,
            context=text(context, "context"),
            actions=action,
            top_k=top_k,
            agent_id=agent,
            known_at=known_at,
            valid_at=valid_at,
            timezone=timezone,
        ),
    )
    with store(data, existing=True) as app:
        answer = app.tracer.precedents(LOCAL, request)
    show(answer, json_, preceded)
    return o.NOTHING if answer["abstained"] else o.OK


def _decided(out: Console, answer: Mapping[str, Any]) -> None:
    out.print(f"decision {answer['id']}: {safe(answer['action'])}")
    if answer["memory_ids"]:
        out.print(f"  rests on {', '.join(answer['memory_ids'])}")
    out.print(f"  how did it go? rearview outcome {answer['id']} success|failure|mixed|unknown")


def _went(out: Console, answer: Mapping[str, Any]) -> None:
    out.print(f"outcome {answer['id']}: {answer['result']}")
    for effect in answer["effects"]:
        archived = ", archived" if effect["archived"] else ""
        out.print(
            f"  memory {effect['memory_id']}: importance {effect['before']:.2f} → {effect['after']:.2f}{archived}"
        )


def preceded(out: Console, answer: Mapping[str, Any]) -> None:
    """Precedents as two tables: by action, then case by case."""
    if answer["abstained"]:
        out.print("no earlier decision in a like situation")
        return
    table(
        out,
        ("action", "cases", "worked", "rate", "range"),
        [
            (
                item["action"],
                item["cases"],
                f"{item['successes']:.1f} of {item['n']:.1f}",
                "-" if item["rate"] is None else f"{item['rate']:.2f}",
                "-" if item["low"] is None else f"{item['low']:.2f}–{item['high']:.2f}",
            )
            for item in answer["actions"]
        ],
    )
    table(
        out,
        ("score", "similar", "situation", "action", "went", "id"),
        [
            (
                f"{item['score']:.3f}",
                f"{item['similarity']:.3f}",
                item["decision"]["context"],
                item["decision"]["action"],
                ", ".join(one["result"] for one in item["outcomes"]) or "not known",
                item["decision"]["id"],
            )
            for item in answer["precedents"]
        ],
    )
    if answer["warning"]:
        out.print(f"warning: {answer['warning']}")
