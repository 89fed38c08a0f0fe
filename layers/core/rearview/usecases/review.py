"""Review: the weekly sample as people see it, each memory beside what became of it since it was drawn."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.domain.records import AuditReport, Finding
from rearview.ports import Reading

KIND = "review"


def reviewed(reading: Reading, report: AuditReport, *, words: bool) -> AuditReport:
    """The report with the state of each finding. ``words``: with the memories' summaries, for callers who may read."""
    found = _memories(reading, [item.refs[0] for item in report.findings])
    findings = tuple(_seen(item, found.get(item.refs[0]), words) for item in report.findings)
    counts = {"drawn": len(findings)}
    for state in ("confirmed", "corrected", "forgotten"):
        number = sum(item.state == state for item in findings)
        if number:
            counts[state] = number
    return replace(report, findings=findings, counts=counts)


def _seen(finding: Finding, memory: Memory | None, words: bool) -> Finding:
    since = finding.at
    if memory is None:
        return replace(finding, state="forgotten", detail="purged")
    detail = memory.summary if words and memory.status != "deleted" else f"importance {memory.importance:.2f}"
    if memory.status == "deleted":
        return replace(finding, state="forgotten", at=memory.deleted_at, by=memory.deleted_by, detail=detail)
    if memory.status == "superseded" or memory.content_hash != finding.digest:
        return replace(finding, state="corrected", at=memory.updated_at, by=memory.updated_by, detail=detail)
    if _later(memory.last_confirmed_at, since):
        return replace(finding, state="confirmed", at=memory.last_confirmed_at, detail=detail)
    return replace(finding, detail=detail)


def _later(moment: datetime | None, than: datetime | None) -> bool:
    return moment is not None and than is not None and moment > than


def _memories(reading: Reading, ids: list[str]) -> dict[str, Memory]:
    """By id, of whichever users; those that are gone are missing."""
    places = reading.get_many(keys.locator(item) for item in ids) if ids else {}
    at = [keys.Key(body["partition"], body["sort"]) for body in places.values()]
    at = [key for key in at if key.sort.startswith(keys.MEMORIES)]
    found = reading.get_many(at) if at else {}
    memories = (decode(Memory, body) for body in found.values())
    return {memory.id: memory for memory in memories}
