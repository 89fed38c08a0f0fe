"""A whole Rearview on a temporary folder, with a clock that tests set and an embedder that needs no model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rearview.adapters.models.hashing import HashingEmbedder
from rearview.bootstrap import Runtime, embedded
from rearview.domain.principal import LOCAL, Principal
from rearview.domain.scope import Scope
from rearview.settings import Settings
from rearview.usecases.commands import (
    EndSession,
    Forget,
    PatchMemory,
    RecordDecision,
    RecordOutcome,
    Resolve,
    WriteBatch,
    WriteMemory,
    WriteTurns,
)
from rearview.usecases.fields import read
from rearview.usecases.questions import Context, ListMemories, Precedents, Recall, RunAudit
from rearview.usecases.trace_views import DecisionView
from rearview.usecases.views import RecallAnswer

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class FakeClock:
    """Stands still until it is told to go on; each look moves it by a microsecond, as a real one would."""

    def __init__(self, at: datetime = START) -> None:
        self.at = at

    def now(self) -> datetime:
        self.at += timedelta(microseconds=1)
        return self.at

    def advance(self, **delta: float) -> None:
        self.at += timedelta(**delta)


class House:
    """Short names for the verbs, over one runtime."""

    def __init__(self, runtime: Runtime, clock: FakeClock, principal: Principal = LOCAL) -> None:
        self.runtime, self.app, self.clock, self.principal = runtime, runtime.app, clock, principal

    def write(self, content: str, user: str = "u", wait: bool = True, **more: Any) -> dict[str, Any]:
        request = read(WriteMemory, {"user_id": user, "content": content, **more})
        return self.app.writer.write(self.principal, request, wait=wait)[1]

    def batch(self, items: list[dict[str, Any]], wait: bool = True) -> list[dict[str, Any]]:
        request = read(WriteBatch, {"items": items})
        results: list[dict[str, Any]] = self.app.writer.batch(self.principal, request, wait=wait)[1][
            "results"
        ]
        return results

    def turns(
        self, turns: list[dict[str, Any]], user: str = "u", wait: bool = True, **more: Any
    ) -> dict[str, Any]:
        request = read(WriteTurns, {"user_id": user, "turns": turns, **more})
        return self.app.sessions.turns(self.principal, request, wait=wait)[1]

    def end(self, session_id: str, user: str = "u") -> dict[str, Any]:
        return self.app.session_ender.end(self.principal, session_id, read(EndSession, {"user_id": user}))[1]

    def patch(self, memory_id: str, **fields: Any) -> dict[str, Any]:
        return self.app.editor.patch(self.principal, memory_id, read(PatchMemory, fields))[1]

    def delete(self, memory_id: str, reason: str | None = None) -> dict[str, Any]:
        return self.app.editor.delete(self.principal, memory_id, reason)[1]

    def restore(self, memory_id: str) -> dict[str, Any]:
        return self.app.editor.restore(self.principal, memory_id)[1]

    def forget(self, user: str = "u", **filters: Any) -> dict[str, Any]:
        """Dry run and the real thing in one."""
        asked = {"user_id": user, **filters}
        dry = self.app.editor.forget(self.principal, read(Forget, asked))[1]
        real = read(Forget, {**asked, "dry_run": False, "confirm": dry["confirm"]})
        return self.app.editor.forget(self.principal, real)[1]

    def recall(self, query: str, user: str = "u", **more: Any) -> RecallAnswer:
        return self.app.recaller.recall(
            self.principal, read(Recall, {"user_id": user, "query": query, **more})
        )

    def contents(self, query: str, user: str = "u", **more: Any) -> list[str | None]:
        return [hit.content for hit in self.recall(query, user, **more).hits]

    def context(self, query: str, user: str = "u", **more: Any) -> str:
        return self.app.context.context(
            self.principal, read(Context, {"user_id": user, "query": query, **more})
        ).text

    def memories(self, user: str = "u", **more: Any) -> list[dict[str, Any]]:
        asked = read(ListMemories, {"user_id": user, "limit": 200, **more})
        items: list[dict[str, Any]] = self.app.reader.memories(self.principal, asked)["items"]
        return items

    def get(self, memory_id: str) -> dict[str, Any]:
        return self.app.reader.memory(self.principal, memory_id).model_dump(mode="json")

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.app.reader.history(self.principal, memory_id)["items"]
        return items

    def resolve(self, conflict_id: str, **how: Any) -> Any:
        return self.app.settler.resolve(self.principal, conflict_id, read(Resolve, how))

    def decide(self, context: str, action: str, user: str = "u", **more: Any) -> dict[str, Any]:
        request = read(RecordDecision, {"user_id": user, "context": context, "action": action, **more})
        return self.app.tracer.decide(self.principal, request)[1]

    def outcome(self, decision_id: str, result: str, **more: Any) -> dict[str, Any]:
        return self.app.tracer.outcome(
            self.principal, decision_id, read(RecordOutcome, {"result": result, **more})
        )[1]

    def precedents(self, context: str, user: str = "u", **more: Any) -> dict[str, Any]:
        return self.app.tracer.precedents(
            self.principal, read(Precedents, {"user_id": user, "context": context, **more})
        )

    def decision(self, decision_id: str) -> DecisionView:
        return self.app.tracer.decision(self.principal, decision_id)

    def audit(self, user: str | None = "u", *checks: str) -> dict[str, Any]:
        asked: dict[str, Any] = {"checks": list(checks)}
        if user is not None:
            asked["user_id"] = user
        return self.app.auditor.run(self.principal, read(RunAudit, asked))

    def drain(self, user: str = "u", namespace: str = "default") -> int:
        return self.app.enricher.drain(Scope(namespace, user).partition, 10_000)


@contextmanager
def house(
    folder: Path, *, clock: FakeClock | None = None, embedder: Any = None, **settings: Any
) -> Iterator[House]:
    """A house on that folder; several may stand on one."""
    clock = clock or FakeClock()
    runtime = embedded(Settings(data=folder, **settings), embedder=embedder or HashingEmbedder(), clock=clock)
    try:
        yield House(runtime, clock)
    finally:
        runtime.close()
