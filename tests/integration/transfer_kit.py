"""Stores to move memories between, and the verbs that tests of moving need."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rearview.bootstrap import opened
from rearview.domain.principal import LOCAL
from rearview.settings import Settings
from rearview.usecases.app import Rearview
from rearview.usecases.commands import (
    EndSession,
    PatchMemory,
    RecordDecision,
    RecordOutcome,
    Resolve,
    WriteMemory,
    WriteTurns,
)
from rearview.usecases.fields import read
from rearview.usecases.importing import Defaults, Importer, ImportReport
from rearview.usecases.questions import ListMemories, Recall, RunAudit
from rearview.usecases.transcripts import read_records
from rearview.usecases.transfer import Exporter

Body = dict[str, Any]


class Clock:
    """A clock that moves a second at each look."""

    def __init__(self, start: datetime) -> None:
        self.time = start

    def now(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


Open = Callable[..., Rearview]


@contextmanager
def stores(folder: Path) -> Iterator[Open]:
    """Opens stores by name below that folder, and closes them all at the end."""
    with ExitStack() as stack:

        def make(name: str, policy: Any = "ask") -> Rearview:
            chosen = Settings(data=folder / name, embedder="hashing", conflict_policy=policy)
            # Longer names have later clocks.
            clock = Clock(datetime(2026, 5, 4, 9, tzinfo=UTC) + timedelta(minutes=10 * len(name)))
            return stack.enter_context(opened(chosen, clock=clock)).app

        yield make


def write(app: Rearview, content: str, user: str = "anna", **more: Any) -> Body:
    request = read(WriteMemory, {"user_id": user, "content": content, **more})
    return app.writer.write(LOCAL, request, wait=True)[1]


def lines_of(app: Rearview) -> list[Body]:
    return list(Exporter(app.services).export(LOCAL))[1:]


def stream(*values: Any) -> io.BytesIO:
    return io.BytesIO("\n".join(json.dumps(value, ensure_ascii=False) for value in values).encode())


def take(app: Rearview, raw: io.BytesIO, *, strict: bool = False, **defaults: Any) -> ImportReport:
    importer = Importer(app, LOCAL, Defaults(**{"user_id": "anna", **defaults}), strict=strict)
    report = importer.run(read_records(raw, name="chat"))
    for partition, seq in report.last.items():
        assert app.enricher.wait(partition, seq)
    return report


def restore(app: Rearview, lines: list[Body]) -> ImportReport:
    return take(app, stream({"type": "rearview_export", "format": 1}, *lines))


def contents(app: Rearview, user: str = "anna", **more: Any) -> list[str]:
    request = read(ListMemories, {"user_id": user, "limit": 200, **more})
    return [item["content"] for item in app.reader.memories(LOCAL, request)["items"]]


def is_sound(app: Rearview) -> bool:
    return bool(app.auditor.run(LOCAL, read(RunAudit, {}))["ok"])


def live_a_little(app: Rearview) -> dict[str, Any]:
    """Every kind of record, most statuses, both languages."""
    turns = [
        {"role": "user", "content": "我住在杭州。", "turn_id": "a"},
        {"role": "user", "content": "My locker number is 4471.", "at": "2026-01-02T03:04:05Z"},
        {"role": "assistant", "content": "Noted 👍🏽."},
    ]
    app.sessions.turns(
        LOCAL, read(WriteTurns, {"user_id": "anna", "session_id": "s/1", "turns": turns}), wait=True
    )
    moved = write(app, "我搬到上海了。")
    conflict = moved["conflicts"][0]
    app.settler.resolve(LOCAL, conflict["id"], read(Resolve, {"keep": moved["id"]}))
    write(app, "My phone number is 555 0101.")
    disputed = write(app, "My phone number is 555 0199.")
    assert disputed["conflicts"]
    gone = write(app, "The cat is called Mochi.")
    app.editor.delete(LOCAL, gone["id"], "no longer")
    edited = write(app, "I work at the harbour office.", tags=["work"], metadata={"a": {"id": 1}})
    app.editor.patch(LOCAL, edited["id"], read(PatchMemory, {"importance": 0.9}))
    write(app, "Gate code 77 until tonight", ttl_seconds=3600, memory_type="working", session_id="s/1")
    write(app, "逐字 verbatim ＡＢＣ é", admission="verbatim", occurred_at="2020-02-29")
    write(app, "Never phone before nine.", user="bo", audience="namespace", kind="instruction")
    app.session_ender.end(LOCAL, "s/1", read(EndSession, {"user_id": "anna"}))
    seen = app.recaller.recall(LOCAL, read(Recall, {"user_id": "anna", "query": "where is her office"}))
    decide = {"user_id": "anna", "context": "Where to meet", "recall_id": seen.recall_id}
    first = app.tracer.decide(LOCAL, read(RecordDecision, {**decide, "action": "harbour"}))[1]
    second = app.tracer.decide(
        LOCAL, read(RecordDecision, {**decide, "action": "station", "parent_id": first["id"]})
    )[1]
    app.tracer.outcome(LOCAL, first["id"], read(RecordOutcome, {"result": "success", "score": 0.5}))
    bad = app.tracer.outcome(LOCAL, second["id"], read(RecordOutcome, {"result": "failure"}))[1]
    app.tracer.revert(LOCAL, bad["id"])
    for line in lines_of(app):
        app.enricher.wait(LOCAL.scope("read", line["namespace"], line["user_id"]).partition, 2**53)
    return {"decision": first["id"], "edited": edited["id"], "conflict": conflict["id"], "gone": gone["id"]}
