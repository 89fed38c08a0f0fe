"""Book: one scope's part of a transaction. Whatever changes a user's records goes through it.

It gives out monotonic times, ids and sequence numbers, appends the ledger entry and the history row that belong to a
change, keeps the hash items that decide duplicates, and moves the head: in one transaction, or not at all.
"""

from __future__ import annotations

import base64
import secrets
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from rearview.domain import keys, ledger
from rearview.domain.codec import decode, encode
from rearview.domain.ids import next_ulid
from rearview.domain.lifecycle import packed
from rearview.domain.memory import History, Memory
from rearview.domain.policy import Policy
from rearview.domain.records import Conflict, Decision, Head, Outcome
from rearview.domain.scope import Scope
from rearview.domain.text import identity
from rearview.domain.types import Audience, MemoryType
from rearview.errors import NotFound
from rearview.ports import UnitOfWork
from rearview.usecases.scans import recorded

_TICK = timedelta(microseconds=1)
#: Statuses whose hash item stands: a repeat of their content lands on them.
_CLAIMS = frozenset({"active", "tentative", "disputed", "archived", "quarantined"})


class Book:
    """Opened at the start of a transaction's work, closed (:meth:`close`) at its end."""

    def __init__(self, uow: UnitOfWork, scope: Scope, now: datetime, by: str) -> None:
        self.uow, self.scope, self.by = uow, scope, by
        self.partition = scope.partition
        body = uow.get(keys.head(self.partition))
        self._fresh = body is None
        self._head = Head(scope) if body is None else decode(Head, body)
        last = self._head.last_at
        #: The time of this transaction: never before the last one of this scope, whatever the clock says.
        self.now = now.astimezone(UTC) if last is None or now > last else last + _TICK
        self._at = self.now
        self._moved = False
        self._key: bytes | None = None
        self._policy: Policy | None = None

    # --- ids, times, key ---

    @property
    def seq(self) -> int:
        """The last sequence number given out."""
        return self._head.seq

    def tick(self) -> datetime:
        """A time of its own for one more record of this transaction, so that (created_at, id) sort as written."""
        moment = self._at
        self._at += _TICK
        self._head = replace(self._head, last_at=moment)
        self._moved = True
        return moment

    def new_id(self, at: datetime) -> str:
        """A ULID later than all before it in this scope."""
        fresh = next_ulid(self._head.last_id, at, secrets.token_bytes(10))
        self._head = replace(self._head, last_id=fresh)
        self._moved = True
        return fresh

    def pass_by(self, at: datetime, record_id: str | None = None) -> None:
        """Moves the head past a time and an id given out elsewhere (import): whatever follows here comes later."""
        self._at = max(self._at, at + _TICK)
        self.now = max(self.now, at)
        last_at, last_id = self._head.last_at, self._head.last_id
        if last_at is None or at > last_at:
            self._head = replace(self._head, last_at=at)
        if record_id is not None and (last_id is None or record_id > last_id):
            self._head = replace(self._head, last_id=record_id)
        self._moved = True

    @property
    def key(self) -> bytes:
        """The user's HMAC key, made on first use; erasure destroys it."""
        if self._key is None:
            at = keys.Key(self.partition, keys.USER_KEY)
            body = self.uow.get(at)
            if body is None:
                body = {"key": base64.b64encode(secrets.token_bytes(32)).decode()}
                self.uow.put(at, body)
            self._key = base64.b64decode(body["key"])
        return self._key

    @property
    def policy(self) -> Policy:
        """The namespace's policy, as this transaction sees it."""
        if self._policy is None:
            at = keys.policy(self.scope.namespace, 0).partition
            page = self.uow.query(at, keys.POLICIES, limit=1, reverse=True)
            self._policy = decode(Policy, page.items[0][1]) if page.items else Policy(self.scope.namespace)
        return self._policy

    # --- ledger ---

    def record(self, action: str, ref: str, what: Any) -> int:
        """Appends a ledger entry about ``what`` (JSON types; only its HMAC is kept) and answers its number."""
        digest = ledger.keyed(self.key, what)
        entry, self._head = ledger.link(
            self._head, at=self.tick(), action=action, ref=ref, by=self.by, digest=digest
        )
        self.uow.put(keys.ledger(self.partition, entry.seq), encode(entry), absent=True)
        return entry.seq

    # --- memories ---

    def digest(self, content: str, kept: MemoryType, session_id: str | None, audience: Audience) -> str:
        """The duplicate identity of a content: by layer, working memory by session too, lessons apart from one's own."""
        room = (kept, session_id if kept == "working" else None, *([] if audience == "user" else [audience]))
        return ledger.keyed(self.key, ["content", *room, identity(content)])

    def memory(self, memory_id: str) -> Memory:
        """The memory of that id in this scope; NotFound otherwise."""
        body = self.uow.get(keys.memory(self.partition, memory_id))
        if body is None:
            raise NotFound("no such memory")
        return decode(Memory, body)

    def twin(self, digest: str) -> Memory | None:
        """The live memory that holds this content already."""
        body = self.uow.get(keys.content_hash(self.partition, digest))
        found = None if body is None else self.uow.get(keys.memory(self.partition, body["id"]))
        if found is None:
            return None
        memory = decode(Memory, found)
        return memory if memory.status in _CLAIMS and not memory.expired(self.now) else None

    def add(self, memory: Memory, change: str, *, enrich: bool = True, reason: str | None = None) -> Memory:
        """A new memory with history, locator, hash, ledger entry and pending mark; answers it with its ``seq``."""
        memory = self._linked(memory)
        seq = self.record(change, memory.id, recorded(memory, self.key))
        memory = replace(memory, seq=seq)
        self.uow.put(
            keys.locator(memory.id), {"partition": self.partition, "sort": keys.MEMORIES + memory.id}
        )
        self._write(memory, change, reason)
        if not memory.verbatim and memory.status in _CLAIMS:
            self.uow.put(keys.content_hash(self.partition, memory.content_hash), {"id": memory.id})
        if enrich:
            self.mark(memory.id, "memory", seq)
        return memory

    def _linked(self, memory: Memory) -> Memory:
        """The memory, joined to the one written before it in its session."""
        if memory.session_id is None:
            return memory
        latest = keys.latest(self.partition, memory.session_id)
        before = self.uow.get(latest)
        self.uow.put(latest, {"id": memory.id})
        if before is None:
            return memory
        self.uow.put(keys.following(self.partition, before["id"]), {"id": memory.id})
        return replace(memory, follows=before["id"])

    def change(
        self, memory: Memory, change: str, *, reason: str | None = None, index: bool = True, **fields: Any
    ) -> Memory:
        """A new version of a memory: fields, history row, ledger entry, hash item, and a mark for the index."""
        before = memory
        memory = replace(
            memory, version=memory.version + 1, updated_at=self.tick(), updated_by=self.by, **fields
        )
        if packed(before) and not packed(memory):
            # Back from the archive, which counts as use; the index has nothing of it any more.
            memory = replace(memory, archived_because=None, embedding=None, last_used_at=self.now)
        seq = self.record(change, memory.id, recorded(memory, self.key))
        if index:
            memory = replace(memory, seq=seq, enrichment="pending")
            # Only what it says is held against the others of its user, and only when that is new, or was away.
            self.mark(memory.id, "memory", seq, relate=self._says_more(before, memory))
        self._hash_item(before, memory)
        self._write(memory, change, reason)
        return memory

    def _says_more(self, before: Memory, after: Memory) -> bool:
        """A text that only comes back from the archive is none that is new."""
        if before.text_archived and after.content:
            return ledger.text_digest(self.key, after.content) != before.text_digest
        return after.content != before.content or before.status == "deleted" != after.status

    def save(self, memory: Memory) -> None:
        """Writes what is no change to the user (enrichment state, last recall): no version, no ledger."""
        memory = _bare(memory)
        self.uow.put(
            keys.memory(self.partition, memory.id),
            encode(memory),
            expires_at=memory.due,
            ttl=memory.expires_at is not None,
        )

    def _write(self, memory: Memory, change: str, reason: str | None) -> None:
        self.save(memory)
        row = History(_bare(memory), memory.updated_at, change, self.by, reason)
        # History keeps no TTL of its own while its memory lives; an expired memory's rows go with it.
        self.uow.put(
            keys.history(self.partition, memory.id, memory.version),
            encode(row),
            expires_at=None,
        )

    def _hash_item(self, before: Memory, after: Memory) -> None:
        if after.verbatim:
            return
        if after.status == "merged" and after.merged_into is not None:
            # The same words again land on the survivor.
            self.uow.put(keys.content_hash(self.partition, after.content_hash), {"id": after.merged_into})
            return
        claims = after.status in _CLAIMS and not after.expired(self.now)
        if before.content_hash != after.content_hash or not claims:
            self.release(before)
        if claims:
            at = keys.content_hash(self.partition, after.content_hash)
            held = self.uow.get(at)
            if held is None or held["id"] in (after.id, before.id) or self.twin(after.content_hash) is None:
                self.uow.put(at, {"id": after.id})

    def claim(self, memory: Memory) -> None:
        """Puts the hash item that an imported memory's status calls for, unless another memory holds it."""
        holder = None if memory.verbatim else self.twin(memory.content_hash)
        if holder is None:
            self._hash_item(memory, memory)

    def release(self, memory: Memory) -> None:
        """Gives a memory's hash item back, if it is the one that holds it."""
        at = keys.content_hash(self.partition, memory.content_hash)
        held = self.uow.get(at)
        if held is not None and held["id"] == memory.id:
            self.uow.delete(at)

    # --- marks and other records ---

    def mark(self, ref: str, what: str, seq: int, policy: str | None = None, *, relate: bool = True) -> None:
        """A pending mark: enrichment is due for ``ref``; without ``relate`` the index only."""
        mark = {
            "seq": seq,
            "ref": ref,
            "what": what,
            "attempts": 0,
            "conflict_policy": policy,
            "relate": relate,
        }
        body = {**mark, "namespace": self.scope.namespace, "user_id": self.scope.user_id}
        self.uow.put(keys.pending(self.partition, seq), body)

    def put_conflict(self, conflict: Conflict, action: str) -> Conflict:
        """Writes a conflict with its ledger entry."""
        self.record(action, conflict.id, encode(conflict))
        if action == "conflict_opened":
            at = {"partition": self.partition, "sort": keys.CONFLICTS + conflict.id}
            self.uow.put(keys.locator(conflict.id), at)
        self.uow.put(keys.conflict(self.partition, conflict.id), encode(conflict))
        return conflict

    def put_decision(self, decision: Decision) -> Decision:
        """A new decision with locator, ledger entry and pending mark."""
        seq = self.record("decision", decision.id, encode(decision))
        decision = replace(decision, seq=seq)
        at = {"partition": self.partition, "sort": keys.DECISIONS + decision.id}
        self.uow.put(keys.locator(decision.id), at)
        self.uow.put(keys.decision(self.partition, decision.id), encode(decision))
        self.mark(decision.id, "decision", seq)
        return decision

    def put_outcome(self, outcome: Outcome, action: str) -> int:
        """Writes an outcome with its ledger entry; answers the sequence number."""
        at = keys.outcome(self.partition, outcome.decision_id, outcome.id)
        if action == "outcome":
            self.uow.put(keys.locator(outcome.id), {"partition": at.partition, "sort": at.sort})
        self.uow.put(at, encode(outcome))
        return self.record(action, outcome.id, encode(outcome))

    def close(self) -> None:
        """Moves the head; a new user gets a line in the namespace's directory."""
        if not self._moved:
            return
        self.uow.put(keys.head(self.partition), encode(self._head))
        if self._fresh:
            body = {
                "namespace": self.scope.namespace,
                "user_id": self.scope.user_id,
                "partition": self.partition,
            }
            self.uow.put(keys.user(self.scope), body)
            self.uow.put(keys.namespace(self.scope.namespace), {"namespace": self.scope.namespace})


def _bare(memory: Memory) -> Memory:
    """Without a text that lies in the archive: one that was fetched for reading must not come back into the store."""
    return replace(memory, content="") if memory.text_archived and memory.content else memory
