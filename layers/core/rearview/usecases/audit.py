"""Audit: does what is stored hold together? Findings name the call that mends them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, get_args

from rearview.domain import keys, ledger
from rearview.domain.codec import decode, encode
from rearview.domain.ids import next_ulid
from rearview.domain.lifecycle import packed
from rearview.domain.principal import Principal
from rearview.domain.records import AuditReport, Conflict, Finding, Head
from rearview.domain.scope import Scope
from rearview.domain.times import to_text
from rearview.errors import NotFound
from rearview.ports import Filter, UnitOfWork
from rearview.usecases.audit_archive import archive_check
from rearview.usecases.audit_views import shown, view
from rearview.usecases.questions import AuditCheck, RunAudit
from rearview.usecases.scans import histories_of, ledger_of, memories_of, pending_of, recorded_digest
from rearview.usecases.services import Services

CHECKS: tuple[str, ...] = get_args(AuditCheck)
#: Ids that one finding lists.
REFS = 50
#: Findings that a report keeps: with their ids they must fit into one item (400 KB on DynamoDB).
FINDINGS = 200
#: Hours after which an expired memory that is still there is overdue.
OVERDUE_HOURS = 1
Check = Callable[[Scope], Iterable[Finding]]
_WORDS_ONLY = (Filter("enrichment", "eq", "done"), Filter("embedding", "eq", ""))


class Auditor:
    """The audit verbs."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def run(self, principal: Principal, request: RunAudit) -> dict[str, Any]:
        """Audits one user, or every user of the namespace; the report is kept under its id."""
        principal.require("audit")
        namespace = request.namespace if request.namespace is not None else principal.default_namespace
        principal.scope("audit", namespace, request.user_id or "")
        checks = tuple(dict.fromkeys(request.checks)) or CHECKS
        scopes = [Scope(namespace, request.user_id)] if request.user_id else self._users(namespace)
        return view(self._report(namespace, request.user_id, checks, scopes))

    def piece(
        self, namespace: str, after: str | None, stop: Callable[[], bool]
    ) -> tuple[dict[str, Any] | None, str | None]:
        """Audits the users behind ``after`` until ``stop()``, at least one. Answers the report (None if there was
        nobody) and where to go on, None at the end."""
        at = keys.directory(namespace)
        seen: list[str] = []

        def some() -> Iterator[Scope]:
            here = after
            while True:
                page = self.services.store.query(at, keys.USERS, after=here, limit=100)
                for key, body in page.items:
                    if seen and stop():
                        return
                    seen.append(key.sort)
                    yield Scope(namespace, body["user_id"])
                here = page.last
                if here is None:
                    seen.append("")
                    return

        scopes = some()
        first = next(scopes, None)
        if first is None:
            return None, None
        # All the time and for everybody: that the archive's objects are there, not what each of them holds.
        report = self._report(namespace, None, CHECKS, chain([first], scopes), fetch=False)
        return view(report), seen[-1] or None

    def _report(
        self,
        namespace: str,
        user_id: str | None,
        checks: tuple[str, ...],
        scopes: Iterable[Scope],
        *,
        fetch: bool = True,
    ) -> AuditReport:
        started = self.services.now()
        counts = dict.fromkeys(checks, 0)
        findings: list[Finding] = []
        users = 0
        for scope in scopes:
            users += 1
            for name in checks:
                found = list(self._checks(fetch)[name](scope))
                counts[name] += len(found)
                findings += found[:REFS]
        # Errors first: what is cut off should not be the worst.
        findings.sort(key=lambda item: item.severity != "error")
        report = AuditReport(
            id=next_ulid(None, started, ledger.keyed(self.services.secret, to_text(started)).encode()[:10]),
            namespace=namespace,
            user_id=user_id,
            created_at=started,
            finished_at=self.services.now(),
            checks=checks,
            counts={"users": users, **counts},
            findings=tuple(findings[:FINDINGS]),
        )
        at = keys.audit(namespace, report.id)

        def work(uow: UnitOfWork) -> None:
            uow.put(at, encode(report))
            uow.put(keys.locator(report.id), {"partition": at.partition, "sort": at.sort})

        self.services.store.transact(at.partition, work)
        return report

    def get(self, principal: Principal, audit_id: str) -> dict[str, Any]:
        """A kept report."""
        at = self.services.locate(audit_id, keys.AUDITS, "audit")
        body = self.services.store.get(at)
        if body is None:
            raise NotFound("no such audit")
        principal.see("audit", body["namespace"], "audit")
        return shown(self.services.store, principal, decode(AuditReport, body))

    def _users(self, namespace: str) -> Iterable[Scope]:
        after: str | None = None
        while True:
            page = self.services.store.query(keys.directory(namespace), keys.USERS, after=after)
            for _, body in page.items:
                yield Scope(namespace, body["user_id"])
            after = page.last
            if after is None:
                return

    # --- the checks ---

    def _checks(self, fetch: bool) -> dict[str, Check]:
        return {
            "orphans": self._orphans,
            "open_conflicts": self._open_conflicts,
            "overdue_expiry": self._overdue,
            "index_drift": self._drift,
            "ledger": self._ledger,
            "failed_enrichment": self._failed,
            "archive": lambda scope: archive_check(self.services, scope, fetch=fetch),
        }

    def _orphans(self, scope: Scope) -> Iterable[Finding]:
        """Pointers that lead nowhere: superseded_by, merged_into, conflicts, sources of decisions."""
        store = self.services.store
        for memory in memories_of(store, scope.partition):
            wanted = [
                *(
                    keys.memory(scope.partition, item)
                    for item in (memory.superseded_by, memory.merged_into)
                    if item
                ),
                *(keys.conflict(scope.partition, item) for item in memory.conflicts),
            ]
            lost = set(wanted) - set(store.get_many(wanted)) if wanted else set()
            if lost:
                yield Finding(
                    "orphans", "warning", f"points at {len(lost)} records that are gone", (memory.id,)
                )

    def _open_conflicts(self, scope: Scope) -> Iterable[Finding]:
        page = self.services.store.query(
            scope.partition, keys.CONFLICTS, where=(Filter("state", "eq", "open"),)
        )
        for _, body in page.items:
            conflict = decode(Conflict, body)
            yield Finding(
                "open_conflicts",
                "info",
                f"open since {to_text(conflict.created_at)}",
                (conflict.id, *conflict.memory_ids),
                f"POST /v1/conflicts/{conflict.id}/resolve",
            )

    def _overdue(self, scope: Scope) -> Iterable[Finding]:
        now = self.services.now()
        for memory in memories_of(self.services.store, scope.partition):
            if memory.status == "deleted" or memory.expires_at is None:
                continue
            hours = (now - memory.expires_at).total_seconds() / 3600
            if hours > OVERDUE_HOURS:
                yield Finding(
                    "overdue_expiry", "warning", f"expired {hours:.1f} h ago, not swept", (memory.id,)
                )

    def _drift(self, scope: Scope) -> Iterable[Finding]:
        """Store and index disagree: missing, ghost or outdated documents."""
        found = self._suspects(scope)
        if any(found):
            # What was written while we looked is no finding: only what is off twice, in the same version.
            again = self._suspects(scope)
            found = [dict(one.items() & two.items()) for one, two in zip(found, again, strict=True)]
        names = ("missing from", "ghosts in", "outdated in")
        for what, ids in zip(names, map(list, found), strict=True):
            if ids:
                yield Finding(
                    "index_drift",
                    "error",
                    f"{len(ids)} records are {what} the index",
                    tuple(ids[:REFS]),
                    "rearview reindex",
                )

    def _suspects(self, scope: Scope) -> list[dict[str, int]]:
        """(id → version) of what is missing from, a ghost in, and outdated in the index."""
        store = self.services.store
        waiting = {mark.ref for mark in pending_of(store, scope.partition)}
        memories = list(memories_of(store, scope.partition))
        truth = {item.id: item.version for item in memories}
        # What lies in a pack is not in the index, or about to leave it.
        cold = {item.id for item in memories if packed(item)}
        after: str | None = None
        while True:
            page = store.query(scope.partition, keys.DECISIONS, after=after)
            truth |= {body["id"]: 1 for _, body in page.items}
            after = page.last
            if after is None:
                break
        held = self.services.index.versions(scope.partition)
        waiting |= {mark.ref for mark in pending_of(store, scope.partition)}
        settled = {item: version for item, version in truth.items() if item not in waiting | cold}
        missing = {item: version for item, version in settled.items() if item not in held}
        ghosts = {item: version for item, version in held.items() if item not in truth}
        stale = {item: version for item, version in settled.items() if held.get(item, version) < version}
        return [missing, ghosts, stale]

    def _ledger(self, scope: Scope) -> Iterable[Finding]:
        store = self.services.store
        # States before the head, the head before the entries: what is written meanwhile is no finding.
        states = list(self._states(scope))
        body = store.get(keys.head(scope.partition))
        if body is None:
            return
        head = decode(Head, body)
        entries = [entry for entry in ledger_of(store, scope.partition) if entry.seq <= head.seq]
        for seq, what in ledger.breaks(entries, head):
            yield Finding("ledger", "error", f"entry {seq}: {what}", (str(seq),))
        told = {(entry.ref, entry.digest) for entry in entries}
        wrong: dict[str, list[int]] = {}
        for memory_id, version, digest in states:
            if (memory_id, digest) not in told:
                wrong.setdefault(memory_id, []).append(version)
        for memory_id, versions in wrong.items():
            detail = f"versions {sorted(set(versions))} are not what the ledger recorded"
            yield Finding("ledger", "error", detail, (memory_id,))

    def _states(self, scope: Scope) -> Iterator[tuple[str, int, str]]:
        """(id, version, digest) of every state of every memory: the ledger must vouch for each."""
        store = self.services.store
        key = store.get(keys.Key(scope.partition, keys.USER_KEY))
        if key is None:
            return
        secret = base64.b64decode(key["key"])
        there = set()
        for memory in memories_of(store, scope.partition):
            there.add(memory.id)
            yield memory.id, memory.version, recorded_digest(secret, memory)
        # In one go: a query for each memory would take longer than a call of the API may.
        for row in histories_of(store, scope.partition):
            if row.memory.id in there:
                yield row.memory.id, row.memory.version, recorded_digest(secret, row.memory)

    def _failed(self, scope: Scope) -> Iterable[Finding]:
        where = (Filter("enrichment", "eq", "failed"),)
        failed = [memory.id for memory in memories_of(self.services.store, scope.partition, where)]
        if failed:
            yield Finding(
                "failed_enrichment",
                "error",
                f"{len(failed)} memories were not embedded; found by keyword only",
                tuple(failed[:REFS]),
                "rearview reindex",
            )
        # Enriched while another model filled the index: an empty stamp.
        words = [item.id for item in memories_of(self.services.store, scope.partition, _WORDS_ONLY)]
        if words:
            yield Finding(
                "failed_enrichment",
                "warning",
                f"{len(words)} memories came under another embedding model; found by keyword only",
                tuple(words[:REFS]),
                "rearview reindex",
            )


__all__ = ["CHECKS", "Auditor", "view"]
