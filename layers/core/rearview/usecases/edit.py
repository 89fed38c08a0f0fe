"""Edit and forget: changes to memories that are there. Soft, recorded, and undone by one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from rearview.domain.codec import decode
from rearview.domain.entities import find_entities
from rearview.domain.forgetting import stated
from rearview.domain.ledger import canonical, keyed, text_digest
from rearview.domain.lifecycle import never_cold, packed
from rearview.domain.memory import Memory, Repeat
from rearview.domain.principal import Principal
from rearview.domain.scope import Scope
from rearview.domain.summary import summarise
from rearview.domain.times import plus, to_text
from rearview.domain.types import SUMMARY_LIMIT, Status
from rearview.errors import Conflicting, Gone, InvalidInput, NotFound
from rearview.ports import Filter, UnitOfWork
from rearview.usecases.book import Book
from rearview.usecases.commands import Forget, PatchMemory
from rearview.usecases.confirm import repeated
from rearview.usecases.fields import METADATA_BYTES
from rearview.usecases.gone import locate_memory
from rearview.usecases.idempotency import Answer, Once
from rearview.usecases.moot import CHANGED, FORGOTTEN, in_pack, set_aside, take_up
from rearview.usecases.past import history_of
from rearview.usecases.reworded import times_reread
from rearview.usecases.scans import memories_of
from rearview.usecases.services import Services
from rearview.usecases.texts import full_or_bare
from rearview.usecases.views import MemoryView, plain
from rearview.usecases.waking import ACQUITTED, blamed, sleeps

#: Deletions per transaction: at most six items each, under the hundred that DynamoDB allows.
CHUNK = 15
Change = Callable[[Book, Memory], Memory]


class Editor:
    """PATCH, DELETE, restore and forget."""

    def __init__(
        self,
        services: Services,
        after: Callable[[Scope, Sequence[Memory]], None] = lambda _scope, _changed: None,
    ) -> None:
        """``after``: told of what was changed, for what was concluded from it."""
        self.services, self.after = services, after

    def patch(
        self, principal: Principal, memory_id: str, request: PatchMemory, once: Once | None = None
    ) -> Answer:
        """A new version; scope, creator and creation time never change. 409 if ``version`` is not the present one."""

        def change(book: Book, memory: Memory) -> Memory:
            if request.version is not None and request.version != memory.version:
                raise Conflicting(f"the memory is at version {memory.version}")
            if memory.status in ("deleted", "merged"):
                raise Conflicting(f"a {memory.status} memory cannot be edited")
            fields = _changes(book, memory, request)
            fields |= times_reread(self.services, memory, request, fields, book.now)
            return book.change(memory, "updated", reason=request.reason, **fields)

        return self._change(principal, memory_id, change, once)

    def delete(
        self, principal: Principal, memory_id: str, reason: str | None = None, once: Once | None = None
    ) -> Answer:
        """Soft deletion; a repeat changes nothing."""

        def change(book: Book, memory: Memory) -> Memory:
            return memory if memory.status == "deleted" else forget_one(book, memory, reason)

        return self._change(principal, memory_id, change, once)

    def restore(self, principal: Principal, memory_id: str, once: Once | None = None) -> Answer:
        """Takes a soft deletion back, within its grace period."""

        return self._change(principal, memory_id, restore_one, once)

    def forget(self, principal: Principal, request: Forget) -> Answer:
        """By filter. A dry run tells how many and a ``confirm`` code; with the code it is done, all of it."""
        scope = principal.scope("write", request.namespace, request.user_id)
        found = self._matching(scope, request)
        ids = [memory.id for memory in found]
        code = keyed(self.services.secret, ["forget", scope.partition, canonical(ids).decode()])[:16]
        body: dict[str, Any] = {
            "dry_run": request.dry_run,
            "count": len(ids),
            "ids": ids[:200],
            "confirm": code,
            "token": None,
        }
        if request.dry_run:
            body["memories"] = [
                {"id": item.id, "summary": item.summary, "kind": item.kind} for item in found[:50]
            ]
            return 200, body
        if request.confirm is None:
            raise InvalidInput.of("confirm", "required", "needs the code of a dry run with the same filter")
        if request.confirm != code:
            raise Conflicting("what the filter matches is not what the dry run showed; run it again")
        seq = 0
        for start in range(0, len(ids), CHUNK):
            seq = self._forget_some(principal, scope, ids[start : start + CHUNK], request.reason)
        if seq:
            self.services.ring(scope.partition, seq)
            body["token"] = self.services.token(scope, seq)
            self.after(scope, found)
        return 200, body

    # --- inside ---

    def _matching(self, scope: Scope, request: Forget) -> list[Memory]:
        where = []
        for field, values in (
            ("memory_type", request.memory_types),
            ("kind", request.kinds),
            ("origin", request.origins),
            ("id", request.ids),
        ):
            if values:
                where.append(Filter(field, "in", list(values)))
        where += [Filter("tags", "has", tag) for tag in request.tags]
        for field, value in (("session_id", request.session_id), ("agent_id", request.agent_id)):
            if value is not None:
                where.append(Filter(field, "eq", value))
        since, until = request.moment(request.since), request.moment(request.until, upper=True)
        if since is not None:
            where.append(Filter("valid_from", "ge", to_text(since)))
        if until is not None:
            where.append(Filter("valid_from", "le", to_text(until)))
        return [
            item
            for item in memories_of(self.services.store, scope.partition, where)
            if item.status != "deleted"
        ]

    def _forget_some(self, principal: Principal, scope: Scope, ids: Sequence[str], reason: str | None) -> int:
        def work(uow: UnitOfWork) -> int:
            book = Book(uow, scope, self.services.now(), principal.id)
            for memory_id in ids:
                memory = book.memory(memory_id)
                if memory.status != "deleted":
                    forget_one(book, memory, reason)
            book.close()
            return book.seq

        return self.services.store.transact(scope.partition, work)

    def _change(self, principal: Principal, memory_id: str, change: Change, once: Once | None) -> Answer:
        at = locate_memory(self.services, principal, "write", memory_id)

        def work(uow: UnitOfWork) -> tuple[Memory, int, Answer]:
            body = uow.get(at)
            if body is None:
                raise NotFound("no such memory")
            memory = decode(Memory, body)
            principal.see("write", memory.scope.namespace, "memory")
            if memory.expired(self.services.now()) and memory.status != "deleted":
                raise Gone("this memory has expired")
            book = Book(uow, memory.scope, self.services.now(), principal.id)
            changed = change(book, memory)
            book.close()
            token = self.services.token(memory.scope, changed.seq)
            # The change stands whether or not its text, if that lies in the archive, can be shown.
            shown = full_or_bare(self.services, [changed], uow)[0][0]
            answer = 200, {**plain(MemoryView.of(shown)), "token": token}
            if once is not None:
                once.seal(uow, *answer)
            return changed, changed.seq, answer

        changed, seq, answer = self.services.store.transact(at.partition, work)
        self.services.ring(at.partition, seq)
        self.after(changed.scope, [changed])
        return answer


def forget_one(book: Book, memory: Memory, reason: str | None, because: str | None = None) -> Memory:
    """Soft deletion of one memory: hash item released, open conflicts it was in settled by its going."""
    for conflict_id in memory.conflicts:
        set_aside(book, conflict_id, memory.id, FORGOTTEN)
    # The grace is promised at the deletion: a later change of the policy holds for later deletions.
    grace = timedelta(days=book.policy.archiving.purge_days)
    return book.change(
        book.memory(memory.id),
        "forgotten" if because is None else because,
        reason=reason,
        status="deleted",
        conflicts=(),
        deleted_at=book.now,
        deleted_by=book.by,
        deleted_because=because or reason or "asked",
        purge_at=None if because == "expired" else plus(book.now, grace),
    )


def restore_one(book: Book, memory: Memory) -> Memory:
    """Takes one soft deletion back; what is not deleted stays as it is. Raises Gone when its grace is over, Conflicting
    when the same content was written again."""
    if memory.status != "deleted":
        return memory
    if memory.due is not None and memory.due <= book.now:
        raise Gone("the time in which this deletion could be taken back is over")
    twin = book.twin(memory.content_hash) if not memory.verbatim else None
    if twin is not None:
        raise Conflicting(f"the same content was written again as {twin.id}")
    fields: dict[str, Any] = dict.fromkeys(("deleted_at", "deleted_by", "deleted_because", "purge_at"))
    if memory.expired(book.now):
        fields["expires_at"] = None
    restored = book.change(memory, "restored", status=_status_before(book, memory), **fields)
    if restored.live(book.now) or in_pack(restored):
        take_up(book, restored.id)
    return book.memory(restored.id)


def _status_before(book: Book, memory: Memory) -> Status:
    """The status before the deletion, from the history; a dispute comes back only with its conflict, and what was
    archived by a blame that was taken back is not archived."""
    rows = reversed(history_of(book.uow, book.partition, memory.id))
    status: Status = next((row.memory.status for row in rows if row.memory.status != "deleted"), "active")
    lifted = status == "archived" and memory.archived_because is None
    return "active" if status == "disputed" or lifted else status


def _says(book: Book, memory: Memory, content: str) -> bool:
    if memory.text_archived:
        return text_digest(book.key, content) == memory.text_digest
    return memory.content == content


def _changes(book: Book, memory: Memory, request: PatchMemory) -> dict[str, Any]:
    given = request.model_fields_set
    fields: dict[str, Any] = {}
    if request.content is not None and not _says(book, memory, request.content):
        fields |= {
            "text_archived": False,
            "text_digest": "",
            "content": request.content,
            "summary": summarise(request.content, limit=SUMMARY_LIMIT),
            "entities": tuple(find_entities(request.content)),
            "content_hash": book.digest(
                request.content, memory.memory_type, memory.session_id, memory.audience
            ),
            # What was repeated were the old words.
            "repeats": (),
        }
        twin = None if memory.verbatim else book.twin(fields["content_hash"])
        if twin is not None and twin.id != memory.id:
            raise Conflicting(f"memory {twin.id} says this already")
        # What it contradicted was its old content; the worker holds the new one against the others.
        for conflict_id in memory.conflicts:
            set_aside(book, conflict_id, memory.id, CHANGED)
        if memory.conflicts:
            fields |= {"conflicts": (), "status": "active" if memory.status == "disputed" else memory.status}
    for name in ("kind", "importance", "confidence"):
        if getattr(request, name) is not None:
            fields[name] = getattr(request, name)
    if request.importance is not None:
        fields["importance_stated"] = stated(request.importance)
    if "content" in fields or request.kind == "correction":
        fields["corrected"] = True
    if request.tags is not None:
        fields["tags"] = tuple(dict.fromkeys(request.tags))
    if request.valid_from is not None:
        fields["valid_from"] = request.moment(request.valid_from)
    if "valid_to" in given:
        fields["valid_to"] = request.moment(request.valid_to, upper=True)
    if "ttl_seconds" in given:
        seconds = request.ttl_seconds
        fields["expires_at"] = None if seconds is None else plus(book.now, timedelta(seconds=seconds))
    if request.metadata is not None:
        merged = {**memory.metadata, **request.metadata}
        fields["metadata"] = {key: value for key, value in merged.items() if value is not None}
        if len(canonical(fields["metadata"])) > METADATA_BYTES:
            raise InvalidInput.of(
                "metadata", "max_bytes", f"must stay under {METADATA_BYTES} bytes when merged"
            )
    if request.confirmed:
        fields |= {"confirmations": memory.confirmations + 1, "last_confirmed_at": book.now}
        fields["repeats"] = repeated(memory, Repeat(book.now, None, book.now))
        fields.setdefault("confidence", memory.confidence + (1 - memory.confidence) / 3)
        if memory.status == "tentative" or sleeps(memory):
            fields["status"] = "active"
    if blamed(memory) and (request.confirmed or "content" in fields):
        fields |= ACQUITTED
    if packed(memory) and {"content", "valid_from"} & fields.keys():
        # What its pack knows of it is no longer so.
        fields["status"] = "active"
    if sleeps(memory) and never_cold(memory.memory_type, fields.get("kind", memory.kind)):
        fields["status"] = "active"
    start, end = fields.get("valid_from", memory.valid_from), fields.get("valid_to", memory.valid_to)
    if end is not None and end < start and ({"valid_from", "valid_to"} & given):
        raise InvalidInput.of("valid_to", "after_valid_from", "must not lie before valid_from")
    return fields
