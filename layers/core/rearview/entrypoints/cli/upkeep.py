"""``audit`` and ``reindex``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rearview.entrypoints.cli import options as o
from rearview.entrypoints.cli.cloud import Aws, installation
from rearview.entrypoints.cli.output import progress, safe, show, table
from rearview.entrypoints.cli.session import given, guarded, store

if TYPE_CHECKING:
    from rich.console import Console


@guarded
def audit(
    user: o.AnyUser = None,
    namespace: o.Namespace = None,
    check: Annotated[
        list[str] | None,
        typer.Option(
            "--check",
            help="orphans, open_conflicts, overdue_expiry, index_drift, ledger, failed_enrichment; may be repeated.",
        ),
    ] = None,
    data: o.Data = None,
    json_: o.Json = False,
) -> int:
    """Checks whether what is stored holds together. Exit code 4 if it found errors."""
    from rearview.domain.principal import LOCAL
    from rearview.usecases.fields import read
    from rearview.usecases.questions import RunAudit

    request = read(RunAudit, given(user_id=user, namespace=namespace, checks=check))
    with store(data, existing=True) as app:
        answer = app.auditor.run(LOCAL, request)
    show(answer, json_, audited)
    return o.OK if answer["ok"] else o.UNSOUND


@guarded
def reindex(data: o.Data = None, aws: Aws = False, json_: o.Json = False) -> int:
    """Fills the index anew from the store (after a change of the embedding model, or drift). Reads go on."""
    started = time.perf_counter()
    with installation(data, aws) as app, progress("reindex") as tell:
        count = app.reindexer.reindex(tell)
        embedder = app.services.embedder.fingerprint
    answer = {"records": count, "embedder": embedder, "seconds": round(time.perf_counter() - started, 3)}
    show(
        answer, json_, lambda out, value: out.print(f"{value['records']} records in {value['seconds']:.1f} s")
    )
    return o.OK


def audited(out: Console, answer: Mapping[str, Any]) -> None:
    """An audit's report: counts by check, then the findings."""
    counts = ", ".join(f"{name} {count}" for name, count in answer["counts"].items())
    out.print(
        f"audit {answer['id']} of {safe(answer['namespace'])}: {'sound' if answer['ok'] else 'errors'} ({counts})"
    )
    if answer["findings"]:
        table(
            out,
            ("severity", "check", "what", "records", "mend"),
            [
                (
                    item["severity"],
                    item["check"],
                    item["detail"],
                    " ".join(item["refs"][:3]) + (" …" if len(item["refs"]) > 3 else ""),
                    item["mend"] or "",
                )
                for item in answer["findings"]
            ],
        )
