"""``write`` and ``recall``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rearview.entrypoints.cli import options as o
from rearview.entrypoints.cli.output import safe, show, table
from rearview.entrypoints.cli.session import given, guarded, store, text

if TYPE_CHECKING:
    from rich.console import Console


@guarded
def write(
    content: Annotated[str, typer.Argument(help="What to remember; `-` reads it from standard input.")],
    user: o.User = o.DEFAULT_USER,
    namespace: o.Namespace = None,
    memory_type: Annotated[
        str | None, typer.Option("--type", help="working, short_term, long_term or trace (long_term).")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="preference, fact, conclusion, correction, event, instruction, summary."),
    ] = None,
    tag: o.Tags = None,
    importance: Annotated[float | None, typer.Option("--importance", help="0-1.")] = None,
    confidence: Annotated[float | None, typer.Option("--confidence", help="0-1.")] = None,
    origin: Annotated[
        str | None, typer.Option("--origin", help="user, agent, tool, document, import.")
    ] = None,
    occurred_at: Annotated[
        str | None, typer.Option("--occurred-at", help="When it was said or happened.")
    ] = None,
    valid_to: Annotated[str | None, typer.Option("--valid-to", help="Until when it is true.")] = None,
    ttl: Annotated[int | None, typer.Option("--ttl", help="Seconds until it expires.")] = None,
    agent: o.Agent = None,
    session: o.InSession = None,
    speaker: Annotated[str | None, typer.Option("--speaker", help="Who said it.")] = None,
    audience: Annotated[
        str | None, typer.Option("--audience", help="user, or namespace for lessons that all may recall.")
    ] = None,
    metadata: Annotated[str | None, typer.Option("--metadata", help="A JSON object.")] = None,
    admission: Annotated[
        str | None,
        typer.Option(
            "--admission", help="auto, force (no sieves) or verbatim (no duplicates, no conflicts)."
        ),
    ] = None,
    timezone: o.Timezone = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Until it is embedded and compared.")] = True,
    data: o.Data = None,
    json_: o.Json = False,
) -> int:
    """Remembers one thing. Exit code 3 if a sieve dropped it; the reason is shown."""
    from rearview.domain.principal import LOCAL
    from rearview.usecases.commands import WriteMemory
    from rearview.usecases.fields import read
    from rearview.usecases.jsonlines import strict_json

    request = read(
        WriteMemory,
        given(
            user_id=user,
            namespace=namespace,
            content=text(content, "content"),
            memory_type=memory_type,
            kind=kind,
            tags=tag,
            importance=importance,
            confidence=confidence,
            origin=origin,
            occurred_at=occurred_at,
            valid_to=valid_to,
            ttl_seconds=ttl,
            agent_id=agent,
            session_id=session,
            source=None if speaker is None else {"speaker": speaker},
            audience=audience,
            metadata=None if metadata is None else strict_json(metadata, "metadata"),
            admission=admission,
            timezone=timezone,
        ),
    )
    with store(data) as app:
        _, answer = app.writer.write(LOCAL, request, wait=wait)
    show(answer, json_, _written)
    return o.NOTHING if answer["verdict"] == "drop" else o.OK


@guarded
def recall(
    query: Annotated[str, typer.Argument(help="The question; `-` reads it from standard input.")],
    user: o.User = o.DEFAULT_USER,
    namespace: o.Namespace = None,
    also: Annotated[
        list[str] | None, typer.Option("--also", help="Another namespace to search; may be repeated.")
    ] = None,
    top_k: o.TopK = 5,
    memory_type: Annotated[list[str] | None, typer.Option("--type", help="May be repeated.")] = None,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="May be repeated.")] = None,
    tag: o.Tags = None,
    origin: Annotated[list[str] | None, typer.Option("--origin", help="May be repeated.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="True since, at the earliest.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="True since, at the latest.")] = None,
    min_importance: Annotated[float | None, typer.Option("--min-importance", help="0-1.")] = None,
    include_superseded: Annotated[bool, typer.Option("--include-superseded")] = False,
    include_archived: Annotated[bool, typer.Option("--include-archived")] = False,
    known_at: o.KnownAt = None,
    valid_at: o.ValidAt = None,
    profile: Annotated[
        str | None, typer.Option("--profile", help="assistant, hindsight, episodic, support, experience.")
    ] = None,
    agent: o.Agent = None,
    session: o.InSession = None,
    timezone: o.Timezone = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Parts of each score, and what came next.")
    ] = False,
    context: Annotated[
        bool, typer.Option("--context", help="A block for a prompt instead of a table.")
    ] = False,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", help="Budget of that block (1000).")
    ] = None,
    data: o.Data = None,
    json_: o.Json = False,
) -> int:
    """Finds what is known. Exit code 3 if it abstains: what it then shows is only the nearest."""
    from rearview.domain.principal import LOCAL
    from rearview.errors import InvalidInput
    from rearview.usecases.fields import read
    from rearview.usecases.questions import Context, Recall
    from rearview.usecases.views import plain

    asked = given(
        user_id=user,
        namespace=namespace,
        namespaces=also,
        query=text(query, "query"),
        top_k=top_k,
        memory_types=memory_type,
        kinds=kind,
        tags=tag,
        origins=origin,
        since=since,
        until=until,
        min_importance=min_importance,
        include_superseded=include_superseded,
        include_archived=include_archived,
        known_at=known_at,
        valid_at=valid_at,
        profile=profile,
        agent_id=agent,
        session_id=session,
        timezone=timezone,
        explain=explain,
    )
    if also and namespace is None:
        # What is searched besides must not replace the default room.
        asked["namespace"] = LOCAL.default_namespace
    if max_tokens is not None and not context:
        raise InvalidInput.of("max_tokens", "needs_context", "belongs to --context")
    if context:
        block = read(Context, {**asked, **given(max_tokens=max_tokens)})
        with store(data, existing=True) as app:
            answer = dict(plain(app.context.context(LOCAL, block)))
        show(answer, json_, lambda out, value: out.out(value["text"]))
    else:
        question = read(Recall, asked)
        with store(data, existing=True) as app:
            answer = dict(plain(app.recaller.recall(LOCAL, question)))
        show(answer, json_, recalled)
    return o.NOTHING if answer["abstained"] else o.OK


def _written(out: Console, answer: Mapping[str, Any]) -> None:
    verdict, reasons = answer["verdict"], ", ".join(answer["reasons"])
    if answer["id"] is None:
        out.print(f"dropped: {reasons}")
        return
    of = f" of {answer['duplicate_of']}" if answer["duplicate_of"] else ""
    out.print(f"{verdict}{of}: {answer['id']}" + (f" ({reasons})" if reasons else ""))
    memory = answer["memory"]
    out.print(
        f"  {memory['memory_type']} {memory['kind']}, importance {memory['importance']:.2f}, "
        f"confidence {memory['confidence']:.2f}, {memory['status']}, version {memory['version']}"
    )
    for conflict in answer["conflicts"]:
        if conflict["state"] == "open":
            out.print(f"  conflict {conflict['id']}: {safe(conflict['question'])}")
    for other in answer["supersedes"]:
        out.print(f"  supersedes {other}")


def recalled(out: Console, answer: Mapping[str, Any]) -> None:
    """A recall's answer as a table with its conflicts."""
    if answer["abstained"]:
        out.print(
            f"nothing that answers this ({answer['reason']})" + ("; nearest:" if answer["hits"] else "")
        )
    if answer["hits"]:
        table(
            out,
            ("score", "since", "memory", "kind", "status", "id"),
            [
                (
                    f"{hit['score']:.3f}",
                    hit["valid_from"][:10],
                    hit["summary"],
                    hit["kind"],
                    "pending" if hit["pending"] else hit["status"],
                    hit["id"],
                )
                for hit in answer["hits"]
            ],
        )
    if answer.get("explain"):
        for hit in answer["hits"]:
            parts = ", ".join(f"{name} {value:.3f}" for name, value in hit["parts"].items())
            out.print(f"{hit['id']}: {parts}")
    for conflict in answer["conflicts"]:
        out.print(f"open conflict {conflict['id']}: {safe(conflict['question'])}")
    if answer["degraded"]:
        out.print(f"degraded: {', '.join(answer['degraded'])}")
