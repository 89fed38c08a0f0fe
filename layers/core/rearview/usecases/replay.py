"""Replay: what a decision saw, beside what has become of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from rearview.domain.memory import Memory
from rearview.domain.principal import Principal
from rearview.domain.times import from_text, to_text
from rearview.usecases.past import as_of, history_of
from rearview.usecases.recall import open_recall_id
from rearview.usecases.services import Services
from rearview.usecases.texts import full_or_bare
from rearview.usecases.trace import Tracer, memory_by_id, outcomes_of, readable
from rearview.usecases.trace_views import DecisionView
from rearview.usecases.views import MemoryView, plain


class Replayer:
    """The replay verb."""

    def __init__(self, services: Services, tracer: Tracer) -> None:
        self.services, self.tracer = services, tracer

    def replay(self, principal: Principal, decision_id: str) -> dict[str, Any]:
        """What the decision saw: each memory it rested on as it stood then, beside what has become of it."""
        at, decision = self.tracer.find(principal, decision_id)
        recalled = open_recall_id(self.services, decision.recall_id) if decision.recall_id else None
        versions = {hit[0]: int(hit[1]) for hit in recalled["h"]} if recalled else {}
        then_at = from_text(recalled["t"]) if recalled else decision.created_at
        memories = []
        for memory_id in dict.fromkeys([*decision.memory_ids, *versions]):
            now = memory_by_id(self.services.store, memory_id)
            rested_on = memory_id in decision.memory_ids
            if now is None or not readable(principal, decision, now, self.services.now()):
                gone = {"id": memory_id, "rested_on": rested_on, "then": None, "now": None, "changed": True}
                memories.append(gone)
                continue
            then = self._then(now, versions.get(memory_id), then_at)
            if then is not None:
                then = full_or_bare(self.services, [then])[0][0]
            memories.append(
                {
                    "id": memory_id,
                    "rested_on": rested_on,
                    "then": None if then is None else dict(plain(MemoryView.of(then))),
                    "now": {"status": now.status, "version": now.version, "superseded_by": now.superseded_by},
                    "changed": then is None or then.version != now.version,
                }
            )
        outcomes = outcomes_of(self.services.store, at.partition, decision.id)
        return {
            "decision": dict(plain(DecisionView.of(decision, outcomes))),
            "at": recalled["t"] if recalled else to_text(decision.created_at),
            "profile": recalled["f"] if recalled else None,
            "weights": recalled["w"] if recalled else None,
            "memories": memories,
        }

    def _then(self, now: Memory, version: int | None, at: datetime) -> Memory | None:
        if version is None:
            return as_of(self.services.store, now, at)
        rows = history_of(self.services.store, now.scope.partition, now.id)
        return next((row.memory for row in rows if row.memory.version == version), None)
