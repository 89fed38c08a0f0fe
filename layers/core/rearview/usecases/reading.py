"""Reading by id and by list: memories, their history, conflicts, the ledger, the state of a write."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.ids import is_ulid
from rearview.domain.memory import Memory
from rearview.domain.principal import Principal
from rearview.domain.records import Conflict, LedgerEntry
from rearview.domain.times import to_text
from rearview.domain.types import Permission
from rearview.errors import Gone, InvalidInput, NotFound
from rearview.ports import Filter
from rearview.usecases.gone import locate_memory
from rearview.usecases.lists import Lister
from rearview.usecases.paging import Listing, Pager
from rearview.usecases.past import history_of
from rearview.usecases.questions import ListConflicts, ListLedger, ListMemories
from rearview.usecases.services import Services
from rearview.usecases.texts import full, full_many
from rearview.usecases.trace_views import LedgerView
from rearview.usecases.views import ConflictView, HistoryView, MemoryView, plain

#: Permissions whose routes answer with consistency tokens, or take them.
_TOKENS: tuple[Permission, ...] = ("read", "write", "trace")


class Reader:
    """The read verbs other than recall."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._lister = Lister(services)

    def memory(self, principal: Principal, memory_id: str) -> MemoryView:
        """By id alone; whatever its status it answers, unless it expired or was purged (410) or is not the caller's to
        see (404). A text that lies in the archive is fetched; Unavailable while that is away."""
        return MemoryView.of(full(self.services, self._unexpired(principal, memory_id)))

    def _unexpired(self, principal: Principal, memory_id: str) -> Memory:
        memory = self.find(principal, memory_id)
        if memory.expired(self.services.now()):
            raise Gone(f"this memory expired at {to_text(memory.expires_at or memory.updated_at)}")
        return memory

    def find(self, principal: Principal, memory_id: str) -> Memory:
        """The memory behind an id that the caller may see."""
        if not is_ulid(memory_id):
            raise InvalidInput.of("id", "ulid", "must be a ULID (26 characters, Crockford base 32)")
        at = locate_memory(self.services, principal, "read", memory_id)
        body = self.services.store.get(at)
        if body is None:
            raise NotFound("no such memory")
        memory = decode(Memory, body)
        principal.see("read", memory.scope.namespace, "memory")
        return memory

    def history(self, principal: Principal, memory_id: str) -> Listing:
        """All versions of a memory, oldest first, each with the time from which and until which it was known so. Like
        the memory itself they answer until it expires (410)."""
        memory = self._unexpired(principal, memory_id)
        rows = history_of(self.services.store, memory.scope.partition, memory_id)
        states = full_many(self.services, [row.memory for row in rows])
        rows = [replace(row, memory=state) for row, state in zip(rows, states, strict=True)]
        ends = [row.known_from for row in rows[1:]] + [None]
        items = [plain(HistoryView.of(row, end)) for row, end in zip(rows, ends, strict=True)]
        return {"items": items, "next_cursor": None}

    def memories(self, principal: Principal, request: ListMemories) -> Listing:
        """A page of a user's memories: see :meth:`rearview.usecases.lists.Lister.memories`."""
        return self._lister.memories(principal, request)

    def conflicts(self, principal: Principal, request: ListConflicts) -> Listing:
        """A page of a user's conflicts, oldest first; open ones unless asked otherwise."""
        scope = principal.scope("audit", request.namespace, request.user_id)
        where = [] if request.state == "all" else [Filter("state", "eq", request.state)]
        known_at = request.moment(request.known_at, upper=True)
        if known_at is not None:
            where.append(Filter("created_at", "le", to_text(known_at)))
        pager = Pager(self.services, scope.partition, keys.CONFLICTS, request)
        return pager.answer(
            pager.stored(where),
            lambda bodies: [plain(ConflictView.of(decode(Conflict, body))) for body in bodies],
        )

    def ledger(self, principal: Principal, request: ListLedger) -> Listing:
        """A page of a user's ledger, or of the namespace's own, oldest first."""
        scope = principal.scope("audit", request.namespace, request.user_id or "")
        pager = Pager(self.services, scope.partition, keys.LEDGER, request)
        return pager.answer(
            pager.stored(()),
            lambda bodies: [plain(LedgerView.of(decode(LedgerEntry, body))) for body in bodies],
        )

    def write(self, principal: Principal, token: str) -> dict[str, Any]:
        """How far the write behind a consistency token is: ``pending``, ``done`` or ``failed``; for whoever may have got
        the token with an answer."""
        namespace, partition, seq = self.services.open_token(token)
        held = [item for item in _TOKENS if item in principal.permissions]
        principal.see(held[0] if held else "read", namespace, "write")
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
