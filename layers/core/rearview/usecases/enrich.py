"""Enrich: what the worker does with what is pending for a user, in sequence order.

Embed, look for what says the same or cannot hold beside it, index, mark done. The order of steps is chosen so that a
kill at any line leaves marks that lead to the same end: relations are decided in a transaction, the index is written
(idempotent, by version), and only then the marks go.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.lifecycle import packed
from rearview.domain.memory import Memory
from rearview.domain.records import Decision, Lease, Pending
from rearview.domain.sayings import read_into
from rearview.domain.types import DRAIN_LIMIT, MAX_ATTEMPTS
from rearview.errors import LeaseLost, Unavailable
from rearview.ports import UnitOfWork
from rearview.usecases import lease as leases
from rearview.usecases.book import Book
from rearview.usecases.indexing import Prepared, contexts, document, embed, followers, prepare, text_of
from rearview.usecases.profile_upkeep import ProfileKeeper
from rearview.usecases.relate import Relater
from rearview.usecases.scans import pending_of
from rearview.usecases.services import Services, log, told
from rearview.usecases.stamping import in_pack, stamp
from rearview.usecases.texts import full_or_gist

if TYPE_CHECKING:
    from rearview.ports import Vectors

Record = Memory | Decision
#: Records per step: small enough to renew the lease well before it ends.
STEP = 16


@dataclass(slots=True)
class Item:
    """One pending mark on its way through a step."""

    mark: Pending
    record: Record | None
    prepared: Prepared | None = None
    vectors: Vectors | None = None


class Enricher:
    """The worker's verb, also called inline by writers that wait."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.relater = Relater(services)
        self.profiles = ProfileKeeper(services)

    # --- waiting ---

    def wait(self, partition: str, seq: int, seconds: float | None = None) -> bool:
        """Until enrichment of everything up to ``seq`` is done, or time is up. True if done.

        Where there is no worker beside us (``inline``), the waiting thread does the work itself.
        """
        return self.wait_all({partition: seq}, seconds)

    def wait_all(self, wanted: Mapping[str, int], seconds: float | None = None) -> bool:
        """:meth:`wait` for several users at once."""
        patience = self.services.wait_seconds if seconds is None else seconds
        deadline = time.monotonic() + max(0.0, min(patience, self.services.seconds_left()))
        left = dict(wanted)
        pause, longest = self.services.poll_seconds
        while True:
            left = {at: seq for at, seq in left.items() if self.waits(at, seq)}
            if not left:
                return True
            worked = 0
            if self.services.inline:
                worked = sum(self.drain(at) for at in left)
            if time.monotonic() >= deadline:
                return not any(self.waits(at, seq) for at, seq in left.items())
            if not worked:
                time.sleep(pause)
                pause = min(pause * 1.5, longest)

    def waits(self, partition: str, seq: int) -> bool:
        """Whether something up to ``seq`` is still pending."""
        page = self.services.store.query(partition, keys.PENDING, limit=1)
        return bool(page.items) and page.items[0][1]["seq"] <= seq

    # --- the work ---

    def drain(self, partition: str, limit: int = DRAIN_LIMIT) -> int:
        """Works off up to ``limit`` pending marks of a user; answers how many went (0 if another has the lease)."""
        if not self.services.store.query(partition, keys.PENDING, limit=1).items:
            return 0
        lease = leases.acquire(self.services, partition)
        if lease is None:
            return 0
        done = 0
        try:
            while done < limit:
                marks = pending_of(self.services.store, partition, min(STEP, limit - done))
                if not marks:
                    break
                went = self._step(partition, marks, lease)
                done += went
                if not went:
                    break
        except LeaseLost:
            log.info("lease lost; the new holder goes on")
            return done
        finally:
            leases.release(self.services, partition, lease)
        return done

    def _step(self, partition: str, marks: Sequence[Pending], lease: Lease) -> int:
        items = self._load(partition, marks)
        try:
            self._fetch(items)
            self._embed(items)
            self._settle(partition, items, lease)
            refused = self._index(items)
            good = [item for item in items if item.record is None or item.record.id not in refused]
            self._profile(partition, good)
            self._done(partition, good, lease)
            trouble: Exception = RuntimeError("the index refused the document")
        except Unavailable as error:
            # The index or the model is away: nobody's fault, nothing is counted, enrichment waits.
            log.warning("enrichment waits: %s", error.detail)
            return 0
        except LeaseLost:
            raise
        except Exception as error:
            good, trouble = [], error
        if good:
            return len(good)
        if len(items) > 1:
            return self._step(partition, marks[:1], lease)
        told(f"enrichment of one item failed (attempt {items[0].mark.attempts + 1})", trouble)
        return self._failed(partition, items[0], lease, trouble)

    def _load(self, partition: str, marks: Sequence[Pending]) -> list[Item]:
        make = {"memory": keys.memory, "decision": keys.decision}
        at = {mark.seq: make[mark.what](partition, mark.ref) for mark in marks}
        found = self.services.store.get_many(at.values())
        items: list[Item] = []
        for mark in marks:
            body = found.get(at[mark.seq])
            if body is None:
                items.append(Item(mark, None))
            elif mark.what == "memory":
                items.append(Item(mark, decode(Memory, body)))
            else:
                items.append(Item(mark, decode(Decision, body)))
        return items

    def _fetch(self, items: Sequence[Item]) -> None:
        """The index is written from the whole texts, wherever they lie."""
        records = (item.record for item in items)
        held = [one for one in records if isinstance(one, Memory) and not packed(one)]
        whole = {memory.id: memory for memory in full_or_gist(self.services, held)}
        for item in items:
            if isinstance(item.record, Memory):
                item.record = whole.get(item.record.id, item.record)

    def _embed(self, items: Sequence[Item]) -> None:
        """Fills in texts and vectors; a mark whose record another mark of this step brings too is embedded once."""
        for item in items:
            if leases.gives_up(item.mark):
                raise RuntimeError("this item ended its worker too often")
        # Under a foreign embedding model only the words are indexed; `reindex` embeds everything anew.
        foreign = self.services.index.fingerprint() not in (None, self.services.embedder.fingerprint)
        seen: dict[str, Item] = {}
        for item in items:
            if item.record is not None and item.record.id not in seen and not in_pack(item.record):
                item.prepared = prepare(item.record, self.services.embedder)
                if foreign:
                    item.prepared = Prepared(item.prepared.text, "", ())
                seen[item.record.id] = item
        fresh = list(seen.values())
        prepared = [cast("Prepared", item.prepared) for item in fresh]
        for item, vectors in zip(fresh, embed(prepared, self.services.embedder), strict=True):
            item.vectors = vectors

    def _settle(self, partition: str, items: Sequence[Item], lease: Lease) -> None:
        """Duplicates and conflicts of what is new, one by one in order; later items see what earlier ones did."""
        for item in items:
            record = item.record
            if not isinstance(record, Memory) or item.prepared is None or not item.mark.relate:
                continue
            if not self.relater.concerns(record):
                continue
            related = self.relater.find(record, item.vectors, items)
            if related:
                self.relater.apply(partition, record, related, item.mark, lease)
        changed = self._load(partition, [item.mark for item in items])
        self._fetch(changed)
        for item, now in zip(items, changed, strict=True):
            item.record = now.record

    def _index(self, items: Sequence[Item]) -> set[str]:
        store = self.services.store
        fresh = [
            (item.record, item.prepared, item.vectors)
            for item in items
            if item.record and item.prepared and not in_pack(item.record)
        ]
        if away := [item.record.id for item in items if item.record and in_pack(item.record)]:
            self.services.index.delete(away)
        # A memory's keywords hold some of those before it in its session: when one changes, so do the next ones'.
        known = {record.id for record, _, _ in fresh}
        for record, _, _ in list(fresh):
            if isinstance(record, Memory) and record.version > 1:
                for other in full_or_gist(self.services, followers(store, record)):
                    if other.id not in known and not other.pending and not packed(other):
                        known.add(other.id)
                        fresh.append((other, Prepared(text_of(other), "", ()), None))
        before = contexts(self.services, [record for record, _, _ in fresh])
        documents = [
            document(record, prepared, vectors, before.get(record.id, ()))
            for record, prepared, vectors in fresh
        ]
        return set(self.services.index.upsert(documents)) if documents else set()

    def _profile(self, partition: str, items: Sequence[Item]) -> None:
        """Before the marks go: who waited for them finds the profile up to date. Trouble here keeps nothing waiting,
        the daily round makes up for it."""
        try:
            self.profiles.touch(partition, [item.record for item in items if isinstance(item.record, Memory)])
        except Exception as error:
            told("the profile was not brought up to date", error)

    def _done(self, partition: str, items: Sequence[Item], lease: Lease) -> None:
        """Marks go, records are stamped: unless they changed meanwhile, in which case a later mark is waiting."""
        stamps = {
            item.record.id: item.prepared.stamp
            for item in items
            if item.record is not None and item.prepared is not None
        }
        slots = self.services.rules.slots
        read = {
            item.record.id: read_into(item.record, item.record.content, slots)
            for item in items
            if isinstance(item.record, Memory)
        }

        def work(uow: UnitOfWork) -> None:
            leases.renew(self.services, uow, partition, lease)
            for item in items:
                uow.delete(keys.pending(partition, item.mark.seq))
            for item in items:
                if item.record is not None and (item.prepared is not None or in_pack(item.record)):
                    stamp(uow, read.get(item.record.id, item.record), stamps.get(item.record.id, ""))

        self.services.store.transact(partition, work, durable=False)

    def _failed(self, partition: str, item: Item, lease: Lease, error: Exception) -> int:
        """Counts an attempt; after the fifth the item is ``enrichment: failed`` and the next one goes on."""
        mark = replace(item.mark, attempts=item.mark.attempts + 1, error=type(error).__name__)
        final = mark.attempts >= MAX_ATTEMPTS or leases.gives_up(mark)

        def work(uow: UnitOfWork) -> None:
            leases.renew(self.services, uow, partition, lease)
            at = keys.pending(partition, mark.seq)
            body = uow.get(at)
            if not final and body is not None:
                uow.put(at, {**body, "attempts": mark.attempts, "error": mark.error})
                return
            uow.delete(at)
            record = item.record
            if isinstance(record, Memory):
                now = Book(uow, record.scope, self.services.now(), "worker")
                now.save(replace(now.memory(record.id), enrichment="failed"))
            elif record is not None:
                failed = replace(record, enrichment="failed")
                uow.put(keys.decision(partition, record.id), encode(failed))

        if final and item.record is not None and not in_pack(item.record):
            # What cannot be embedded is still found by its words.
            words = Prepared(text_of(item.record), "", ())
            self.services.index.upsert([document(item.record, words, None)])
        self.services.store.transact(partition, work, durable=False)
        if final:
            what = {"seq": mark.seq, "what": mark.what, "ref": mark.ref, "error": mark.error}
            self.services.gave_up(partition, what)
            return 1
        return self._step(partition, [mark], lease)


__all__ = ["Enricher", "Item"]
