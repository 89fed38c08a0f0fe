"""The shelf: packs declared in the store, written to the archive, replaced and removed, so that a kill loses nothing."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.ids import next_ulid
from rearview.domain.lifecycle import packed
from rearview.domain.memory import Memory
from rearview.errors import Unavailable
from rearview.ports import Reading, UnitOfWork
from rearview.usecases.indexing import followers
from rearview.usecases.packing import loosen, reworded
from rearview.usecases.packs import Loose, PackItem, items_of, load, object_key, to_bytes, weight_of
from rearview.usecases.portions import PORTION_BYTES
from rearview.usecases.services import Services

#: Entries of a pack. Few objects to fetch for a search, and little to rewrite when one of them goes.
CAPACITY = 256
#: Attempts to replace a pack that others are changing too.
TRIES = 5


def fill(
    services: Services,
    memories: Sequence[Memory],
    digests: Mapping[str, str],
    left: Mapping[str, Any],
    *,
    because: str | None = None,
    reason: str | None = None,
    fields: Mapping[str, Mapping[str, Any]] | None = None,
) -> PackItem | None:
    """An open pack with these memories of one user, and with those of a pack that had room for them.

    ``digests``: of the texts, by memory id; ``left`` and what follows: see :class:`PackItem`. None when no text can be
    had, or others keep changing the packs.
    """
    partition = memories[0].scope.partition
    entries = loosen(services, memories, digests)
    ids = {one.entry.id for one in entries}
    weight = _weight(entries)
    for _ in range(TRIES if entries else 0):
        base = roomy(services, partition, len(entries), weight)
        kept = alive(services, partition, base[1]) if base else []
        both = [*(one for one in kept if one.entry.id not in ids), *entries]
        item = PackItem(
            id=fresh_id(services),
            state="new",
            ids=tuple(one.entry.id for one in both),
            fingerprint=services.embedder.fingerprint,
            left={one: what for one, what in left.items() if one in ids},
            because=because,
            reason=reason,
            fields=fields or {},
            weight=_weight(both),
        )
        place(services, partition, item, both)
        opened = open_pack(services, partition, item, None if base is None else base[0])
        if opened is not None:
            if base is not None:
                remove(services, partition, base[0])
            return opened
        remove(services, partition, item.id)
    return None


def close(services: Services, partition: str, pack_id: str) -> None:
    """Nothing more is to follow into a pack."""

    def work(uow: UnitOfWork) -> None:
        held = pack_item(uow, partition, pack_id)
        if held is not None and held.state == "open":
            done = PackItem(held.id, "done", held.ids, held.fingerprint, weight=held.weight)
            uow.put(keys.pack(partition, held.id), encode(done))

    services.store.transact(partition, work)


def rewrite(
    services: Services,
    partition: str,
    pack_id: str,
    change: Callable[[list[Loose]], list[Loose]],
    fingerprint: str | None = None,
) -> bool:
    """Puts a new pack in the place of one, with what ``change`` makes of its entries; whether that was done.

    False when it was replaced or removed by somebody else. One without entries, or whose object is lost, goes.
    ``fingerprint``: of the model of the new vectors, if they are new.
    """
    pack = load(services, partition, pack_id)
    entries = [] if pack is None else change(pack.loose())
    ids = tuple(one.entry.id for one in entries)
    if pack is None or not entries:
        if _switch(services, partition, pack_id, None):
            remove(services, partition, pack_id)
            return True
        return False
    model = fingerprint or pack.fingerprint
    item = PackItem(fresh_id(services), "new", ids, model, weight=_weight(entries))
    fresh = place(services, partition, item, entries)
    if not _switch(services, partition, pack_id, fresh):
        remove(services, partition, fresh.id)
        return False
    remove(services, partition, pack_id)
    return True


def reword(services: Services, memory: Memory) -> None:
    """Takes a deleted memory's words out of the entries of those that were written after it in its session, which are
    found by them too. For purges: idempotent.

    Raises Unavailable when the archive is away, or others keep changing the packs: try again.
    """
    partition = memory.scope.partition
    late = {item.id for item in followers(services.store, memory) if packed(item)}
    for _ in range(TRIES if late else 0):
        done = True
        for item in items_of(services.store, partition):
            pack = load(services, partition, item.id) if late & set(item.ids) else None
            if pack is None or item.state not in ("open", "done"):
                continue
            held = pack.loose()
            words = [one.words for one in reworded(services, partition, held, late)]
            if words != [one.words for one in held]:
                done &= rewrite(
                    services, partition, item.id, lambda some: reworded(services, partition, some, late)
                )
        if done:
            return
    if late:
        raise Unavailable("the packs of this user are being changed; try again")


def roomy(services: Services, partition: str, needed: int, weight: int = 0) -> tuple[str, list[Loose]] | None:
    """The smallest pack of this model that has room for so many entries of this weight, with its own."""
    model = services.embedder.fingerprint
    fitting = [
        item
        for item in items_of(services.store, partition)
        if item.state == "done"
        and item.fingerprint == model
        and len(item.ids) + needed <= CAPACITY
        and item.weight + weight <= PORTION_BYTES
    ]
    for item in sorted(fitting, key=lambda one: len(one.ids)):
        pack = load(services, partition, item.id)
        if pack is not None:
            return item.id, pack.loose()
    return None


def place(services: Services, partition: str, item: PackItem, entries: Sequence[Loose]) -> PackItem:
    """Declares a pack as on its way, and writes its object."""
    services.store.transact(partition, lambda uow: uow.put(keys.pack(partition, item.id), encode(item)))
    services.archive.put(object_key(partition, item.id), to_bytes(item.fingerprint, entries))
    return item


def open_pack(services: Services, partition: str, item: PackItem, base: str | None) -> PackItem | None:
    """The pack, open, in the place of ``base``; None if either has been changed by others meanwhile."""

    def work(uow: UnitOfWork) -> PackItem | None:
        mine = pack_item(uow, partition, item.id)
        held = None if base is None else pack_item(uow, partition, base)
        if (
            mine is None
            or mine.state != "new"
            or (base is not None and (held is None or held.state != "done"))
        ):
            return None
        opened = replace(item, state="open")
        uow.put(keys.pack(partition, item.id), encode(opened))
        if held is not None:
            uow.put(keys.pack(partition, held.id), encode(_gone(held)))
        return opened

    return services.store.transact(partition, work)


def _switch(services: Services, partition: str, old: str, fresh: PackItem | None) -> bool:
    """``fresh`` takes the place of ``old`` and what was to follow that; False if others changed either meanwhile."""

    def work(uow: UnitOfWork) -> bool:
        held = pack_item(uow, partition, old)
        if held is None or held.state not in ("open", "done"):
            return False
        if fresh is not None:
            mine = pack_item(uow, partition, fresh.id)
            if mine is None or mine.state != "new":
                return False
            left = {one: what for one, what in held.left.items() if one in fresh.ids}
            new = replace(
                held,
                id=fresh.id,
                ids=fresh.ids,
                fingerprint=fresh.fingerprint,
                left=left,
                weight=fresh.weight,
            )
            uow.put(keys.pack(partition, fresh.id), encode(new))
        uow.put(keys.pack(partition, old), encode(_gone(held)))
        return True

    return services.store.transact(partition, work)


def remove(services: Services, partition: str, pack_id: str) -> None:
    """Object first: as long as the item is there, a later run knows of it."""
    services.archive.delete(object_key(partition, pack_id))
    services.store.transact(partition, lambda uow: uow.delete(keys.pack(partition, pack_id)))
    services.packs.forget(pack_id)


def alive(services: Services, partition: str, entries: Sequence[Loose]) -> list[Loose]:
    """Those entries that still stand for an archived memory, or for a deleted one that may come back as such."""
    records = records_of(services, partition, [one.entry.id for one in entries])
    return [one for one in entries if one.entry.of(records.get(one.entry.id))]


def living(services: Services, partition: str, ids: set[str], packs: Sequence[PackItem]) -> set[str]:
    """Those of ``ids`` that one of these packs has a living entry for: what woke and slept again, or was packed by two
    processes at once."""
    found: set[str] = set()
    for item in packs:
        some = ids.intersection(item.ids)
        pack = load(services, partition, item.id) if some else None
        if pack is not None:
            records = records_of(services, partition, sorted(some))
            found |= {entry.id for entry in pack.entries if entry.of(records.get(entry.id))}
    return found


def records_of(services: Services, partition: str, ids: Sequence[str]) -> dict[str, Memory]:
    """By id, the records of a user's memories as they are now."""
    bodies = services.store.get_many(keys.memory(partition, one) for one in ids)
    return {body["id"]: decode(Memory, body) for body in bodies.values()}


def pack_item(reading: Reading, partition: str, pack_id: str) -> PackItem | None:
    """What the store knows of a pack."""
    body = reading.get(keys.pack(partition, pack_id))
    return None if body is None else decode(PackItem, body)


def _weight(entries: Sequence[Loose]) -> int:
    return sum(weight_of(one.entry.text) for one in entries)


def _gone(item: PackItem) -> PackItem:
    return PackItem(item.id, "gone", item.ids, item.fingerprint)


def fresh_id(services: Services) -> str:
    """An id for a pack; they sort by time."""
    return next_ulid(None, services.now(), secrets.token_bytes(10))
