"""Reindex: the index filled anew from the store, while reads and writes go on, then swapped in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.lifecycle import packed
from rearview.domain.memory import Memory
from rearview.domain.records import Decision
from rearview.errors import Unavailable
from rearview.ports import UnitOfWork
from rearview.usecases.indexing import Prepared, contexts, document, embed, prepare
from rearview.usecases.packing import embedded_anew
from rearview.usecases.packs import PackItem, items_of
from rearview.usecases.services import Services, told
from rearview.usecases.shelf import rewrite
from rearview.usecases.texts import full_or_gist

if TYPE_CHECKING:
    from rearview.ports import Vectors

STEP = 32
Record = Memory | Decision


class Reindexer:
    """The reindex verb."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def reindex(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Embeds and indexes every record; answers how many. ``progress(done, of)`` is called as it goes.

        Packs of cold memories follow once the new index answers: until then words find what they hold.
        """
        partitions = [item for item in self.services.store.partitions() if not item.startswith("@")]
        packs = [(partition, item) for partition in partitions for item in self._packs(partition)]
        total = sum(1 for partition in partitions for _ in self._records(partition))
        total += sum(len(item.ids) for _, item in packs)
        handle = self.services.index.begin_rebuild(self.services.embedder.fingerprint)
        done = 0
        stamps: list[dict[keys.Key, str]] = []
        try:
            for partition in partitions:
                for batch in _batches(self._records(partition)):
                    stamps.append(self._fill(handle.upsert, batch))
                    done += len(batch)
                    if progress:
                        progress(done, total)
            # What was written meanwhile by a worker on the old model has no vectors here yet.
            before: list[tuple[str, str]] = []
            while (missing := handle.missing(STEP)) and missing != before:
                before, late = missing, self._by_id(missing)
                stamps += [self._fill(handle.upsert, batch) for batch in _batches(late)]
            handle.commit()
        except BaseException:
            handle.abort()
            raise
        for some in stamps:
            for partition in {at.partition for at in some}:
                self._stamp(partition, {at: stamp for at, stamp in some.items() if at.partition == partition})
        for partition in partitions:
            for item in self._packs(partition):
                done += self._repack(partition, item)
                if progress:
                    progress(min(done, total), total)
        return done

    def _packs(self, partition: str) -> list[PackItem]:
        """The user's packs with vectors of another model."""
        model = self.services.embedder.fingerprint
        found = items_of(self.services.store, partition)
        return [item for item in found if item.state in ("open", "done") and item.fingerprint != model]

    def _repack(self, partition: str, item: PackItem) -> int:
        """Puts a pack with vectors of this model in the place of one; answers for how many memories."""
        services = self.services
        model = services.embedder.fingerprint
        anew = rewrite(
            services,
            partition,
            item.id,
            lambda entries: embedded_anew(services, partition, entries),
            fingerprint=model,
        )
        return len(item.ids) if anew else 0

    def _records(self, partition: str) -> Iterable[Record]:
        kinds: tuple[tuple[str, type[Record]], ...] = ((keys.MEMORIES, Memory), (keys.DECISIONS, Decision))
        for prefix, kind in kinds:
            after: str | None = None
            while True:
                page = self.services.store.query(partition, prefix, after=after, limit=500)
                for _, body in page.items:
                    record = decode(kind, body)
                    if not (isinstance(record, Memory) and packed(record)):
                        yield record
                after = page.last
                if after is None:
                    break

    def _by_id(self, missing: Sequence[tuple[str, str]]) -> list[Record]:
        at = [make(partition, one) for partition, one in missing for make in (keys.memory, keys.decision)]
        found = self.services.store.get_many(at)
        return [
            decode(Memory, body) if key.sort.startswith(keys.MEMORIES) else decode(Decision, body)
            for key, body in found.items()
        ]

    def _fill(self, upsert: Callable[..., list[str]], batch: list[Record]) -> dict[keys.Key, str]:
        memories = [item for item in batch if isinstance(item, Memory)]
        whole = {item.id: item for item in full_or_gist(self.services, memories)}
        batch = [whole.get(item.id, item) for item in batch]
        before = contexts(self.services, batch)
        prepared = [prepare(_unstamped(item), self.services.embedder) for item in batch]
        vectors = self._embed(prepared)
        upsert(
            [
                document(item, text, rows, before.get(item.id, ()))
                for item, text, rows in zip(batch, prepared, vectors, strict=True)
            ]
        )
        return {
            _key(item): text.stamp
            for item, text, rows in zip(batch, prepared, vectors, strict=True)
            if rows is not None
        }

    def _embed(self, prepared: Sequence[Prepared]) -> list[Vectors | None]:
        """The vectors of each; what the model cannot take is indexed by its words only and stays as it was."""
        try:
            return embed(prepared, self.services.embedder)
        except Unavailable:
            raise
        except Exception as error:
            if len(prepared) == 1:
                told("one record cannot be embedded", error)
                return [None]
            return [rows for item in prepared for rows in self._embed([item])]

    def _stamp(self, partition: str, stamps: dict[keys.Key, str]) -> None:
        """Records what was embedded under which stamp; what had failed or was indexed by words only is done now."""

        def work(uow: UnitOfWork) -> None:
            for at, stamp in stamps.items():
                body = uow.get(at)
                if body is None:
                    continue
                state = "done" if body["enrichment"] == "failed" else body["enrichment"]
                fresh = {**body, "embedding": stamp, "enrichment": state}
                if at.sort.startswith(keys.MEMORIES):
                    memory = decode(Memory, fresh)
                    uow.put(at, encode(memory), expires_at=memory.due, ttl=memory.expires_at is not None)
                else:
                    uow.put(at, fresh)

        self.services.store.transact(partition, work)


def _key(record: Record) -> keys.Key:
    make = keys.memory if isinstance(record, Memory) else keys.decision
    return make(record.scope.partition, record.id)


def _unstamped(record: Record) -> Record:
    return replace(record, embedding=None)


def _batches(records: Iterable[Record]) -> Iterable[list[Record]]:
    batch: list[Record] = []
    for record in records:
        batch.append(record)
        if len(batch) == STEP:
            yield batch
            batch = []
    if batch:
        yield batch
