"""Reading by id and by list: memories, their history, conflicts, the ledger, the state of a write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import Body, decode, encode
from rearview.domain.ids import is_ulid
from rearview.domain.memory import Memory
from rearview.domain.principal import Principal
from rearview.domain.records import Conflict, LedgerEntry
from rearview.domain.scope import Scope
from rearview.domain.signing import seal, unseal
from rearview.domain.times import to_text
from rearview.domain.types import LIVE
from rearview.errors import Gone, InvalidInput, NotFound
from rearview.ports import Filter
from rearview.usecases.past import as_of, history_of
from rearview.usecases.questions import ListConflicts, ListMemories, ListOf
from rearview.usecases.services import Services
from rearview.usecases.trace_views import LedgerView
from rearview.usecases.views import ConflictView, HistoryView, MemoryView, plain

PURPOSE = "cursor"
Listing = dict[str, Any]


class Reader:
    """The read verbs other than recall."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def memory(self, principal: Principal, memory_id: str) -> MemoryView:
        """By id alone; whatever its status it answers, unless it expired (410) or is not the caller's to see (404)."""
        memory = self.find(principal, memory_id)
        if memory.expired(self.services.now()):
            raise Gone(f"this memory expired at {to_text(memory.expires_at or memory.updated_at)}")
        return MemoryView.of(memory)

    def find(self, principal: Principal, memory_id: str) -> Memory:
        """The memory behind an id that the caller may see."""
        if not is_ulid(memory_id):
            raise InvalidInput.of("id", "ulid", "must be a ULID (26 characters, Crockford base 32)")
        at = self.services.locate(memory_id, keys.MEMORIES, "memory")
        body = self.services.store.get(at)
        if body is None:
            raise NotFound("no such memory")
        memory = decode(Memory, body)
        principal.see("read", memory.scope.namespace, "memory")
        return memory

    def history(self, principal: Principal, memory_id: str) -> Listing:
        """All versions of a memory, oldest first, each with the time from which and until which it was known so."""
        memory = self.find(principal, memory_id)
        rows = history_of(self.services.store, memory.scope.partition, memory_id)
        ends = [row.known_from for row in rows[1:]] + [None]
        items = [plain(HistoryView.of(row, end)) for row, end in zip(rows, ends, strict=True)]
        return {"items": items, "next_cursor": None}

    def memories(self, principal: Principal, request: ListMemories) -> Listing:
        """A page of a user's memories, oldest first, filtered before the limit."""
        scope = principal.scope("read", request.namespace, request.user_id)
        now = self.services.now()
        known_at = request.moment(request.known_at, upper=True)
        valid_at = request.moment(request.valid_at, upper=True)
        statuses: Sequence[str] = request.status or sorted(LIVE | ({"superseded"} if valid_at else set()))
        where = [
            Filter("status", "in", list(statuses)),
            Filter("expires_at", "open_or_gt", to_text(known_at or now)),
        ]
        for field, value in (
            ("memory_type", request.memory_type),
            ("kind", request.kind),
            ("session_id", request.session_id),
        ):
            if value is not None:
                where.append(Filter(field, "eq", value))
        if request.tag is not None:
            where.append(Filter("tags", "has", request.tag))
        if valid_at is not None:
            where += [
                Filter("valid_from", "le", to_text(valid_at)),
                Filter("valid_to", "open_or_gt", to_text(valid_at)),
            ]
        if "deleted" in statuses and known_at is None:
            # What is deleted may be expired as well; it is listed until it is purged.
            where = [item for item in where if item.field != "expires_at"]
        mark = self._mark(scope, request, keys.MEMORIES)

        def view(body: Body) -> Any:
            return plain(MemoryView.of(decode(Memory, body)))

        if known_at is not None:
            return self._past(scope, request, mark, where, known_at)
        return self._page(scope, request, mark, keys.MEMORIES, where, view)

    def conflicts(self, principal: Principal, request: ListConflicts) -> Listing:
        """A page of a user's conflicts, oldest first; open ones unless asked otherwise."""
        scope = principal.scope("audit", request.namespace, request.user_id)
        where = [] if request.state == "all" else [Filter("state", "eq", request.state)]
        known_at = request.moment(request.known_at, upper=True)
        if known_at is not None:
            where.append(Filter("created_at", "le", to_text(known_at)))
        mark = self._mark(scope, request, keys.CONFLICTS)
        return self._page(
            scope,
            request,
            mark,
            keys.CONFLICTS,
            where,
            lambda body: plain(ConflictView.of(decode(Conflict, body))),
        )

    def ledger(self, principal: Principal, request: ListOf) -> Listing:
        """A page of a user's ledger, oldest first."""
        scope = principal.scope("audit", request.namespace, request.user_id)
        mark = self._mark(scope, request, keys.LEDGER)
        return self._page(
            scope,
            request,
            mark,
            keys.LEDGER,
            (),
            lambda body: plain(LedgerView.of(decode(LedgerEntry, body))),
        )

    def write(self, principal: Principal, token: str) -> dict[str, Any]:
        """How far the write behind a consistency token is: ``pending``, ``done`` or ``failed``."""
        namespace, partition, seq = self.services.open_token(token)
        principal.see("read", namespace, "write")
        entry = self.services.store.get(keys.ledger(partition, seq))
        if entry is None:
            raise NotFound("no such write")
        waiting = self.services.store.query(partition, keys.PENDING, limit=1).items
        first = waiting[0][1] if waiting else None
        state = "pending" if first is not None and first["seq"] <= seq else "done"
        memory = self.services.store.get(keys.memory(partition, entry["ref"]))
        if state == "done" and memory is not None and memory["enrichment"] == "failed":
            state = "failed"
        return {
            "token": token,
            "seq": seq,
            "state": state,
            "action": entry["action"],
            "ref": entry["ref"],
            "at": entry["at"],
            "attempts": first["attempts"] if first is not None and first["seq"] == seq else 0,
        }

    # --- pages ---

    def _mark(self, scope: Scope, request: ListOf | ListMemories, prefix: str) -> str | None:
        if request.cursor is None:
            return None
        payload = unseal(self.services.secret, PURPOSE, request.cursor, "cursor")
        if payload.get("p") != scope.partition or payload.get("x") != prefix:
            raise InvalidInput.of("cursor", "token", "belongs to another list")
        return str(payload["s"])

    def _cursor(self, scope: Scope, prefix: str, last: str) -> str:
        return seal(self.services.secret, PURPOSE, {"p": scope.partition, "x": prefix, "s": last})

    def _page(
        self,
        scope: Scope,
        request: ListOf | ListMemories,
        mark: str | None,
        prefix: str,
        where: Sequence[Filter],
        view: Callable[[Body], Any],
    ) -> Listing:
        # One more than asked tells whether there is a next page.
        page = self.services.store.query(
            scope.partition, prefix, after=mark, limit=request.limit + 1, where=where
        )
        shown = page.items[: request.limit]
        more = len(page.items) > request.limit
        return {
            "items": [view(body) for _, body in shown],
            "next_cursor": self._cursor(scope, prefix, shown[-1][0].sort) if more else None,
        }

    def _past(
        self,
        scope: Scope,
        request: ListMemories,
        mark: str | None,
        where: Sequence[Filter],
        known_at: datetime,
    ) -> Listing:
        def states() -> Iterable[Memory]:
            after = mark
            born = (Filter("created_at", "le", to_text(known_at)),)
            while True:
                page = self.services.store.query(
                    scope.partition, keys.MEMORIES, after=after, limit=500, where=born
                )
                for _, body in page.items:
                    then = as_of(self.services.store, decode(Memory, body), known_at)
                    if then is not None and all(item.holds(encode(then)) for item in where):
                        yield then
                after = page.last
                if after is None:
                    return

        found = list(islice(states(), request.limit + 1))
        shown = found[: request.limit]
        more = len(found) > request.limit
        last = keys.memory("", shown[-1].id).sort if more else ""
        return {
            "items": [plain(MemoryView.of(item)) for item in shown],
            "next_cursor": self._cursor(scope, keys.MEMORIES, last) if more else None,
        }
