"""Forgetting: proposals to forget, decided by people or, where the policy says so, by nobody's objection.

The proposals of a user and week are one audit report. It lies in the directory of its namespace, but everything that
changes it is a transaction on the user's own partition: so what a finding says and what was done to the memory never
come apart, and two callers who decide at once meet there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar

from pydantic import Field

from rearview.domain import forgetting, keys
from rearview.domain.codec import decode, encode
from rearview.domain.memory import Memory
from rearview.domain.policy import Policy
from rearview.domain.principal import Principal
from rearview.domain.records import AuditReport, Finding, FindingState
from rearview.domain.scope import Scope
from rearview.domain.times import to_text
from rearview.errors import Conflicting, Gone, InvalidInput, NotFound, RearviewError
from rearview.ports import Filter, Reading, UnitOfWork
from rearview.usecases.audit import view
from rearview.usecases.book import Book
from rearview.usecases.edit import forget_one, restore_one
from rearview.usecases.fields import Request, Ulid
from rearview.usecases.services import Services
from rearview.usecases.waking import sleeps

KIND = "forgetting"
#: Deletions, and restorations (which may open conflicts again), per transaction, under the hundred items of DynamoDB.
CHUNK, RESTORE_CHUNK = 14, 4
#: Who carries out what nobody opposed.
NOBODY = "policy:forgetting"
PURGED = "it was purged and cannot be restored"
Step = Callable[[Book, Finding, Memory | None], Finding]


class Decide(Request):
    """Which proposals of the report; without ``memory_ids`` all that the call can apply to. An empty list is refused: who
    chose nothing does not mean everything."""

    BODY_OPTIONAL: ClassVar[bool] = True

    memory_ids: Annotated[list[Ulid], Field(default_factory=list, min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True)
class Verb:
    """``without``: states of the findings that the call means when it names none; ``named``: of those it may name."""

    step: Step
    chunk: int
    without: frozenset[FindingState]
    named: frozenset[FindingState]


class Forgetter:
    """The verbs of proposals to forget. Each of them, done again, changes nothing."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def approve(self, principal: Principal, audit_id: str, request: Decide) -> dict[str, Any]:
        """Forgets what is proposed, softly; by name also what was opposed or taken back. What must not be forgotten by
        now (confirmed, corrected, called important since) is left alone, and its finding says why. The report."""
        report, scope = self._find(principal, audit_id)

        def step(book: Book, finding: Finding, memory: Memory | None) -> Finding:
            return self._forget(book, report.id, finding, memory)

        verb = Verb(step, CHUNK, frozenset({"proposed"}), frozenset({"proposed", "opposed", "undone"}))
        return view(self.decide(scope, report.id, verb, principal.id, request.memory_ids))

    def oppose(self, principal: Principal, audit_id: str, request: Decide) -> dict[str, Any]:
        """Refuses proposals: they are never carried out by themselves, and not made again for a while. The report.
        Raises Conflicting when one that is named was carried out already."""
        report, scope = self._find(principal, audit_id)
        wanted = set(request.memory_ids)
        if any(item.state == "done" and wanted & set(item.refs) for item in report.findings):
            raise Conflicting("one of these memories is forgotten already; undo that instead")

        def step(book: Book, finding: Finding, memory: Memory | None) -> Finding:  # noqa: ARG001
            return _decided(finding, "opposed", book)

        verb = Verb(step, 200, frozenset({"proposed"}), frozenset({"proposed"}))
        return view(self.decide(scope, report.id, verb, principal.id, request.memory_ids))

    def undo(self, principal: Principal, audit_id: str, request: Decide) -> dict[str, Any]:
        """Restores what the report's proposals had forgotten. The report; what cannot be restored says why. Raises Gone
        (purged) or Conflicting when nothing could be restored at all."""
        report, scope = self._find(principal, audit_id)
        trouble: dict[str, RearviewError] = {}

        def step(book: Book, finding: Finding, memory: Memory | None) -> Finding:
            trouble.pop(finding.refs[0], None)
            try:
                return self._restore(book, report.id, finding, memory)
            except (Gone, Conflicting) as error:
                trouble[finding.refs[0]] = error
                return replace(finding, note=error.detail)

        verb = Verb(step, RESTORE_CHUNK, frozenset({"done"}), frozenset({"done"}))
        asked = [item.refs[0] for item in _chosen(report, verb, request.memory_ids)]
        done = self.decide(scope, report.id, verb, principal.id, request.memory_ids)
        if asked and all(item in trouble for item in asked):
            gone = next((item for item in trouble.values() if isinstance(item, Gone)), None)
            raise gone or trouble[asked[0]]
        return view(done)

    # --- what the task shares ---

    def carry_out(self, scope: Scope, report: AuditReport, policy: Policy, ids: Sequence[str]) -> AuditReport:
        """Forgets those of the proposals that still may be forgotten and are still worth little; the others are settled
        with a note, or wait while they are being enriched."""

        def step(book: Book, finding: Finding, memory: Memory | None) -> Finding:
            if finding.opinion == "keep" or (memory is not None and memory.pending):
                return finding
            there = memory is not None and (forgetting.stands(memory) or sleeps(memory))
            if memory is not None and there and forgetting.protected(memory) is None:
                if memory.confidence >= policy.forgetting.max_confidence:
                    return _decided(finding, "moot", book, f"its confidence is {memory.confidence:.2f}")
                now = self._worth(book, finding, memory)
                if now >= policy.forgetting.below:
                    return _decided(finding, "moot", book, f"it is worth {now:.2f} by now")
                if finding.at is not None and restored_since(book.uow, memory, finding.at):
                    return _decided(finding, "opposed", book, "it was deleted and restored meanwhile")
            return self._forget(book, report.id, finding, memory)

        verb = Verb(step, CHUNK, frozenset(), frozenset({"proposed"}))
        return self.decide(scope, report.id, verb, NOBODY, ids)

    def decide(
        self, scope: Scope, audit_id: str, verb: Verb, by: str, memory_ids: Sequence[str]
    ) -> AuditReport:
        """Applies a verb to findings, some in a transaction; answers the report as it stands then."""
        report = read_report(self.services.store, scope.namespace, audit_id)
        wanted = [item.refs[0] for item in _chosen(report, verb, memory_ids)]
        for start in range(0, len(wanted), verb.chunk):
            some = wanted[start : start + verb.chunk]
            report, seq = self._some(scope, audit_id, verb, by, some)
            if seq:
                self.services.ring(scope.partition, seq)
        return report

    def _some(
        self, scope: Scope, audit_id: str, verb: Verb, by: str, ids: Sequence[str]
    ) -> tuple[AuditReport, int]:
        def work(uow: UnitOfWork) -> tuple[AuditReport, int]:
            book = Book(uow, scope, self.services.now(), by)
            before = book.seq
            report = read_report(uow, scope.namespace, audit_id)
            bodies = uow.get_many(keys.memory(scope.partition, item) for item in ids)
            findings = list(report.findings)
            for number, finding in enumerate(findings):
                ref = finding.refs[0]
                if ref in ids and finding.state in verb.named:
                    body = bodies.get(keys.memory(scope.partition, ref))
                    findings[number] = verb.step(
                        book, finding, None if body is None else decode(Memory, body)
                    )
            changed = counted(replace(report, findings=tuple(findings)))
            if changed != report:
                changed = replace(changed, finished_at=book.now)
                uow.put(keys.audit(scope.namespace, audit_id), encode(changed))
            book.close()
            return changed, book.seq if book.seq > before else 0

        return self.services.store.transact(scope.partition, work)

    # --- one finding ---

    @staticmethod
    def _forget(book: Book, audit_id: str, finding: Finding, memory: Memory | None) -> Finding:
        if memory is None or memory.status == "deleted":
            return _decided(finding, "moot", book, "it was forgotten already")
        if memory.expired(book.now):
            return _decided(finding, "moot", book, "its shelf life is over")
        kept = forgetting.protected(memory)
        if kept is not None:
            return _decided(finding, "opposed", book, f"not forgotten: {kept}")
        # What went cold while people thought about it is still what they were asked about.
        if not (forgetting.stands(memory) or sleeps(memory)):
            return _decided(finding, "moot", book, f"it is {memory.status} by now")
        forget_one(book, memory, f"forgotten: {finding.detail} (audit {audit_id})")
        return _decided(finding, "done", book)

    @staticmethod
    def _restore(book: Book, audit_id: str, finding: Finding, memory: Memory | None) -> Finding:
        if memory is None:
            raise Gone(PURGED)
        if memory.status != "deleted":
            return _decided(finding, "undone", book, "it was restored already")
        if audit_id not in (memory.deleted_because or ""):
            return _decided(finding, "moot", book, "it was restored, and then forgotten for another reason")
        restore_one(book, memory)
        return _decided(finding, "undone", book)

    def _worth(self, book: Book, finding: Finding, memory: Memory) -> float:
        """The value now: outcomes and cover as they were found, the cover only while what covers it stands."""
        parts = dict(finding.parts or {})
        covered = 0.0
        if finding.covered_by is not None:
            body = book.uow.get(keys.memory(book.partition, finding.covered_by))
            if body is not None and decode(Memory, body).live(book.now):
                covered = 1.0 - parts.get("own", 1.0)
        now = forgetting.value(memory, book.now, covered=covered)
        outcomes = min(now.parts["outcomes"], parts.get("outcomes", 0.5))
        return forgetting.total_of({**now.parts, "outcomes": outcomes}).total

    def _find(self, principal: Principal, audit_id: str) -> tuple[AuditReport, Scope]:
        at = self.services.locate(audit_id, keys.AUDITS, "audit")
        body = self.services.store.get(at)
        if body is None:
            raise NotFound("no such audit")
        principal.see("audit", body["namespace"], "audit")
        principal.require("write")
        report = decode(AuditReport, body)
        if report.kind != KIND or report.user_id is None:
            raise Conflicting("this audit proposes nothing to forget")
        return report, Scope(report.namespace, report.user_id)


def read_report(reading: Reading, namespace: str, audit_id: str) -> AuditReport:
    """The kept report; NotFound otherwise."""
    body = reading.get(keys.audit(namespace, audit_id))
    if body is None:
        raise NotFound("no such audit")
    return decode(AuditReport, body)


def restored_since(reading: Reading, memory: Memory, since: datetime) -> bool:
    """Whether somebody took a deletion of the memory back after that time: by undoing a report or by ``restore``."""
    if memory.version == 1:
        return False
    where = (Filter("change", "eq", "restored"), Filter("known_from", "gt", to_text(since)))
    prefix = keys.history_of(memory.id)
    return bool(reading.query(memory.scope.partition, prefix, limit=1, where=where).items)


def counted(report: AuditReport) -> AuditReport:
    """The report with its findings counted by state."""
    counts = {name: number for name, number in report.counts.items() if name in ("users", "left_out")}
    for state in ("proposed", "opposed", "done", "undone", "moot"):
        number = sum(item.state == state for item in report.findings)
        if number or state == "proposed":
            counts[state] = number
    return replace(report, counts=counts)


def due(report: AuditReport, before: Any, days: int) -> Iterable[str]:
    """The memories whose proposals have stood unopposed for ``days`` at ``before``, unless a model would keep them."""
    for item in report.findings:
        ripe = item.at is not None and item.at + timedelta(days=days) <= before
        if item.state == "proposed" and ripe and item.opinion != "keep":
            yield item.refs[0]


def _chosen(report: AuditReport, verb: Verb, memory_ids: Sequence[str]) -> list[Finding]:
    known = {item.refs[0]: item for item in report.findings}
    for number, memory_id in enumerate(memory_ids):
        if memory_id not in known:
            raise InvalidInput.of(f"memory_ids[{number}]", "member", "must be a memory of this report")
    if not memory_ids:
        return [item for item in report.findings if item.state in verb.without]
    return [known[item] for item in dict.fromkeys(memory_ids) if known[item].state in verb.named]


def _decided(finding: Finding, state: FindingState, book: Book, note: str | None = None) -> Finding:
    return replace(finding, state=state, at=book.now, by=book.by, note=note)
