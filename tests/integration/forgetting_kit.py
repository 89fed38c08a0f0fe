"""Houses with something to forget, and short names for deciding about it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from rearview.domain.scope import Scope
from rearview.usecases.fields import read
from rearview.usecases.forgetting import Decide
from rearview.usecases.maintenance.task import Job, Result
from rearview.usecases.policy_commands import ChangePolicy
from rearview.usecases.questions import ListAudits
from tests.house import House

FERRY = "She once asked about the ferry to the island."
UMBRELLA = "办公室门口曾经放过一把旧雨伞。"


def passing(h: House, content: str, **more: Any) -> str:
    """A memory of little weight, in passing, that an agent noted; its id."""
    fields = {"importance": 0.3, "confidence": 0.5, "origin": "agent", "kind": "event", "admission": "force"}
    memory_id: str = h.write(content, **{**fields, **more})["id"]
    return memory_id


def policy(h: House, **rules: Any) -> None:
    asked = read(ChangePolicy, {"forgetting": rules})
    h.app.policy_keeper.change(h.principal, asked)


def run(
    h: House,
    task: str = "forget",
    user: str = "u",
    *,
    as_of: datetime | None = None,
    dry_run: bool = False,
    stop: Callable[[], bool] = lambda: False,
) -> Result:
    job = Job(
        "run",
        Scope("default", user),
        as_of or h.clock.now(),
        h.app.services.policies.fresh("default"),
        dry_run,
    )
    return h.app.jobs.tasks[task].run(job, stop)


def reports(h: House, kind: str = "forgetting") -> list[dict[str, Any]]:
    """Newest first."""
    asked = read(ListAudits, {"kind": kind, "limit": 200})
    items: list[dict[str, Any]] = h.app.lister.audits(h.principal, asked)["items"]
    return items


def decide(h: House, verb: str, audit_id: str, *memory_ids: str) -> dict[str, Any]:
    request = read(Decide, {"memory_ids": list(memory_ids)} if memory_ids else {})
    answer: dict[str, Any] = getattr(h.app.forgetter, verb)(h.principal, audit_id, request)
    return answer


def states(report: dict[str, Any]) -> dict[str, str]:
    return {item["refs"][0]: item["state"] for item in report["findings"]}


def finding(report: dict[str, Any], memory_id: str) -> dict[str, Any]:
    found: dict[str, Any] = next(item for item in report["findings"] if item["refs"] == [memory_id])
    return found


def everything(h: House) -> list[Any]:
    """All that the store holds, to compare before and after."""
    store = h.app.services.store
    found = []
    for partition in sorted(store.partitions()):
        page = store.query(partition, "", limit=100_000)
        found += [(key, body) for key, body in page.items]
    return found
