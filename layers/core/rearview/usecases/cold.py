"""Cold: memories leave the hot store for packs in the archive, and packs are kept small, current and free of the dead.

Kill it anywhere, run it again, and the end is the same: a pack's object is written before anything points at it, the
pack is then declared in the store with what is to follow, and each transaction looks again at what it changes. What was
on its way (``new``) is thrown away and made again, what had begun to follow (``open``) is finished, what was replaced
(``gone``) is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.lifecycle import PACKED, packed
from rearview.domain.memory import Memory
from rearview.domain.scope import Scope
from rearview.domain.types import LIVE, ArchivedBecause
from rearview.errors import Unavailable
from rearview.ports import Filter, UnitOfWork
from rearview.usecases.book import Book
from rearview.usecases.packing import whole
from rearview.usecases.packs import Loose, PackItem, items_of, object_key, weight_of
from rearview.usecases.portions import portions
from rearview.usecases.services import Services, log
from rearview.usecases.shelf import (
    CAPACITY,
    TRIES,
    alive,
    close,
    fill,
    living,
    pack_item,
    remove,
    rewrite,
)
from rearview.usecases.stowing import stow_all

#: Memories per transaction: at most seven items each, under the hundred that DynamoDB allows.
CHUNK = 10
#: Share of dead entries from which a pack is rewritten.
DEAD = 0.3

Still = Callable[[Memory], bool]


@dataclass(slots=True)
class Archived:
    """Which memories were archived; ``done`` False: it was stopped, or another process was at the same packs."""

    ids: list[str] = field(default_factory=list)
    done: bool = True


def archive(
    services: Services,
    memories: Sequence[Memory],
    *,
    because: ArchivedBecause,
    still: Still | None = None,
    reason: str | None = None,
    fields: Mapping[str, Mapping[str, Any]] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Archived:
    """Moves live memories of one user into packs: status archived, text in the archive, out of the index.

    ``still`` looks once more, in the transaction, whether a memory is to go; it also stays when it has changed since it
    was read, or is in an open conflict. ``fields``: by memory id what else to set (``{"consolidated_into": …}``). Call
    :func:`resume` before, which ends what an earlier call left unfinished.
    """
    out = Archived()
    for some in portions(whole(services, memories), CAPACITY, _weight):
        if stop is not None and stop():
            out.done = False
            return out
        digests = stow_all(services, some)
        left = {item.id: [item.version, digests[item.id]] for item in some}
        more = {item.id: dict(fields[item.id]) for item in some if fields and item.id in fields}
        item = fill(services, some, digests, left, because=because, reason=reason, fields=more)
        if item is not None and not _follow(services, some[0].scope, item, still, stop, out):
            return out
    return out


def resume(
    services: Services,
    scope: Scope,
    still: Still | None = None,
    stop: Callable[[], bool] | None = None,
    out: Archived | None = None,
) -> Archived:
    """Ends what was interrupted: packs that are on their way, that their memories are to follow, or that are replaced.

    ``still`` is asked of memories that were going cold, which without it are left to who can tell; those archived for
    another reason go if they are unchanged.
    """
    out = out or Archived()
    for item in items_of(services.store, scope.partition):
        if item.state in ("new", "gone"):
            remove(services, scope.partition, item.id)
        elif item.state == "open" and (still is not None or item.because != "cold"):
            look = still if item.because == "cold" else None
            if not _follow(services, scope, item, look, stop, out):
                break
    return out


def take_in(services: Services, scope: Scope, stop: Callable[[], bool] | None = None) -> Archived:
    """Puts archived memories that are in no pack into one: those of an import, and of a pack that was lost."""
    out = Archived()
    held = {one for item in _present(services, scope.partition) for one in item.ids}
    strays = list(_strays(services, scope, held))
    for some in portions(whole(services, strays), CAPACITY, _weight):
        if stop is not None and stop():
            out.done = False
            return out
        digests = stow_all(services, some)
        item = fill(services, some, digests, {})
        if item is not None:
            out.ids += item.ids
            close(services, scope.partition, item.id)
            for start in range(0, len(some), CHUNK):
                _let_go(services, scope, some[start : start + CHUNK], digests)
    return out


def _strays(services: Services, scope: Scope, held: Collection[str]) -> Iterator[Memory]:
    where = (Filter("status", "eq", "archived"), Filter("archived_because", "in", sorted(PACKED)))
    after: str | None = None
    while True:
        page = services.store.query(scope.partition, keys.MEMORIES, after=after, limit=500, where=where)
        for _, body in page.items:
            # Most are where they belong: not even read into records.
            if body["id"] not in held or not body["text_archived"]:
                yield decode(Memory, body)
        after = page.last
        if after is None:
            return


def _weight(memory: Memory) -> int:
    return weight_of(memory.content)


def _lies(body: Mapping[str, Any]) -> bool:
    """:func:`packed` of a record that is not decoded."""
    return body["archived_because"] in PACKED and body["status"] in ("archived", "deleted")


def _present(services: Services, partition: str) -> list[PackItem]:
    """The packs whose objects are there; what the store says of others is taken back."""
    items = [item for item in items_of(services.store, partition) if item.state in ("open", "done")]
    there = set(services.archive.keys(object_key(partition, ""))) if items else set()
    # An item comes before its object: what has none was written by a process that died over what another threw away.
    for key in there - {object_key(partition, item.id) for item in items_of(services.store, partition)}:
        services.archive.delete(key)
    for item in items:
        if object_key(partition, item.id) not in there:
            log.warning("a pack of cold memories is lost and will be made again")
            remove(services, partition, item.id)
    return [item for item in items if object_key(partition, item.id) in there]


def _let_go(services: Services, scope: Scope, memories: Sequence[Memory], digests: Mapping[str, str]) -> None:
    """Their texts leave the store: no change to anybody, so no version and no ledger entry."""

    def work(uow: UnitOfWork) -> None:
        book = Book(uow, scope, services.now(), "maintain")
        for held in memories:
            memory = book.memory(held.id)
            if packed(memory) and not memory.text_archived and memory.version == held.version:
                book.save(replace(memory, text_archived=True, text_digest=digests[memory.id]))

    services.store.transact(scope.partition, work)


def forget(services: Services, memory: Memory) -> int:
    """Takes every trace of a memory out of its user's packs; answers how many held it. For purges: idempotent.

    Raises Unavailable when the archive is away, or others keep changing the packs: try again.
    """
    partition = memory.scope.partition
    done = 0
    for _ in range(TRIES):
        found = [item for item in items_of(services.store, partition) if memory.id in item.ids]
        if not found:
            return done
        for item in found:
            if item.state in ("new", "gone"):
                remove(services, partition, item.id)
            else:
                done += rewrite(
                    services,
                    partition,
                    item.id,
                    lambda some: [one for one in some if one.entry.id != memory.id],
                )
    raise Unavailable("the packs of this user are being changed; try again")


def tidy(services: Services, scope: Scope) -> int:
    """Rewrites packs of which more than :data:`DEAD` is dead, or in a later pack too; answers how many."""
    done = 0
    items = [item for item in items_of(services.store, scope.partition) if item.state == "done"]
    for number, item in enumerate(items, 1):
        # Told by the records alone, so that no pack is fetched for nothing.
        bodies = services.store.get_many(keys.memory(scope.partition, one) for one in item.ids)
        twice = living(services, scope.partition, set(item.ids), items[number:])
        dead = len(item.ids) - sum(_lies(body) and body["id"] not in twice for body in bodies.values())
        # Of what has no record any more nothing may stay.
        if dead > DEAD * len(item.ids) or len(bodies) < len(item.ids):

            def kept(some: list[Loose], twice: set[str] = twice) -> list[Loose]:
                return [one for one in alive(services, scope.partition, some) if one.entry.id not in twice]

            done += rewrite(services, scope.partition, item.id, kept)
    return done


# --- inside ---


def _follow(
    services: Services,
    scope: Scope,
    item: PackItem,
    still: Still | None,
    stop: Callable[[], bool] | None,
    out: Archived,
) -> bool:
    """Archives the memories that an open pack holds, then closes it; False when stopped or the pack was replaced."""
    left = sorted(item.left)
    seq = 0
    for start in range(0, len(left), CHUNK):
        some = left[start : start + CHUNK]
        if stop is not None and stop():
            out.done = False
            break

        def work(uow: UnitOfWork, some: Sequence[str] = some) -> tuple[list[str], int] | None:
            return _archive_some(services, uow, scope, item, some, still)

        went = services.store.transact(scope.partition, work)
        if went is None:
            out.done = False
            break
        out.ids += went[0]
        seq = max(seq, went[1])
    if seq:
        services.ring(scope.partition, seq)
    if out.done:
        close(services, scope.partition, item.id)
    return out.done


def _archive_some(
    services: Services,
    uow: UnitOfWork,
    scope: Scope,
    item: PackItem,
    ids: Sequence[str],
    still: Still | None,
) -> tuple[list[str], int] | None:
    held = pack_item(uow, scope.partition, item.id)
    if held is None or held.state != "open":
        return None
    book = Book(uow, scope, services.now(), "maintain")
    went: list[str] = []
    for memory_id in ids:
        body = uow.get(keys.memory(scope.partition, memory_id))
        memory = None if body is None else decode(Memory, body)
        version, digest = held.left.get(memory_id, (0, ""))
        if memory is None or memory.version != version or memory.status not in LIVE or memory.conflicts:
            continue
        if still is not None and not still(memory):
            continue
        if not _wanted(uow, scope.partition, held.fields.get(memory_id, {}).get("consolidated_into")):
            continue
        more = {"text_archived": True, "text_digest": digest, **held.fields.get(memory_id, {})}
        book.change(
            memory,
            "archived",
            reason=held.reason,
            status="archived",
            archived_because=held.because,
            **more,
        )
        went.append(memory_id)
    book.close()
    return went, book.seq if went else 0


def _wanted(uow: UnitOfWork, partition: str, into: str | None) -> bool:
    """Whether the abstraction that a memory is to go into has not been taken back meanwhile."""
    body = None if into is None else uow.get(keys.memory(partition, into))
    return body is None or body["status"] in LIVE
