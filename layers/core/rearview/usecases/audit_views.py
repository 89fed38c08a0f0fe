"""What callers get of an audit's report."""

from __future__ import annotations

from typing import Any

from rearview.domain.codec import encode
from rearview.domain.principal import Principal
from rearview.domain.records import AuditReport, Finding
from rearview.ports import Reading
from rearview.usecases.review import KIND, reviewed

#: What is nobody's business: how a sample is kept together.
_INSIDE = ("digest", "rank")


def view(report: AuditReport) -> dict[str, Any]:
    """A report as JSON types."""
    body = encode(report)
    body.pop("as_of")
    body["findings"] = [_finding(report, item) for item in report.findings]
    body["ok"] = not any(item.severity == "error" for item in report.findings)
    return body


def shown(reading: Reading, principal: Principal, report: AuditReport) -> dict[str, Any]:
    """A report as JSON types, with what is only known when it is looked at: what became of a sample's memories."""
    if report.kind == KIND:
        report = reviewed(reading, report, words="read" in principal.permissions)
    return view(report)


def _finding(report: AuditReport, finding: Finding) -> dict[str, Any]:
    body = {name: value for name, value in encode(finding).items() if name not in _INSIDE}
    return {**body, "mends": _mends(report, finding)}


def _mends(report: AuditReport, finding: Finding) -> list[str]:
    """Every call that answers the finding, the first one being ``mend``."""
    if finding.check == "review" and finding.refs:
        at = f"/v1/memories/{finding.refs[0]}"
        if finding.state == "forgotten":
            return [f"POST {at}/restore"]
        return [f'PATCH {at} {{"confirmed": true}}', f'PATCH {at} {{"content": "…"}}', f"DELETE {at}"]
    if finding.check == "forgetting" and finding.refs:
        at = f"/v1/audits/{report.id}"
        body = f'{{"memory_ids": ["{finding.refs[0]}"]}}'
        verbs = {"proposed": ("approve", "oppose"), "done": ("undo",)}.get(finding.state or "", ("approve",))
        return [] if finding.state == "moot" else [f"POST {at}/{verb} {body}" for verb in verbs]
    return [] if finding.mend is None else [finding.mend]
