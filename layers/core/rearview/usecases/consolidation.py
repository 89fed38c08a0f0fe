"""Consolidation's steps: an abstraction is made or revised in one transaction, then its episodes follow into the archive.

What an abstraction rests on is told by its ``evidence``, and by the episodes that bear its id. :meth:`Consolidator.settle`
brings the two together, whatever happened in between: an episode that is still to follow follows, one that was deleted or
reworded counts no more, and when too few are left, or the abstraction was deleted, the episodes are as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.consolidation import Episode
from rearview.domain.lifecycle import packed
from rearview.domain.memory import Memory
from rearview.domain.scope import Scope
from rearview.domain.types import LIVE
from rearview.ports import UnitOfWork
from rearview.usecases import cold
from rearview.usecases.book import Book
from rearview.usecases.edit import forget_one
from rearview.usecases.evidence import bears, belongs, changed, confidence_of, drafted, figures, is_episode
from rearview.usecases.scans import memories_of
from rearview.usecases.services import Services, told
from rearview.usecases.tellings import Tellings
from rearview.usecases.waking import wake

BY = "maintain"
#: Why an abstraction is deleted when its evidence is.
WITHDRAWN = "evidence_gone"
#: Episodes that come back in one transaction: at most seven items each, under the hundred that DynamoDB allows.
CHUNK = 10
#: Attempts to revise an abstraction that others are changing too.
TRIES = 5


class Consolidator:
    """Makes, revises and takes back abstractions of one user's episodes."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.tellings = Tellings(services)

    # --- making ---

    def form(
        self, scope: Scope, group: Sequence[tuple[Memory, Episode]], smallest: int, turn: int
    ) -> tuple[str | None, int]:
        """A new memory for a group, and its episodes into the archive. Answers its id and the user's next turn.

        None if an episode changed meanwhile and too few are left, or somebody else consolidated for this user since
        ``turn`` was read.
        """
        plain = self.tellings.worded([episode for _, episode in group])

        def work(uow: UnitOfWork) -> tuple[str | None, int]:
            book = Book(uow, scope, self.services.now(), BY)
            if turn_of(uow, scope.partition) != turn or changed(uow, [memory for memory, _ in group]):
                return None, turn
            memory = book.add(drafted(book, group, plain), "consolidated", reason="like episodes")
            uow.put(keys.consolidating(scope.partition), {"turn": turn + 1})
            book.close()
            return memory.id, turn + 1

        if sum(episode.count for _, episode in group) < smallest:
            return None, turn
        made, turn = self.services.store.transact(scope.partition, work)
        if made is not None:
            self.services.ring(scope.partition, self._seq(scope))
            self.settle(scope, made, smallest)
        return made, turn

    def extend(self, scope: Scope, memory_id: str, more: Sequence[Memory], smallest: int) -> bool:
        """Lets more episodes join an abstraction. False if it is no longer there."""
        ids = [item.id for item in more]

        def work(uow: UnitOfWork) -> bool:
            book = Book(uow, scope, self.services.now(), BY)
            memory = book.memory(memory_id)
            if memory.status not in LIVE or changed(uow, more):
                return False
            fresh = tuple(dict.fromkeys((*memory.evidence, *ids)))
            book.change(memory, "joined", index=False, evidence=fresh)
            book.close()
            return True

        return self.services.store.transact(scope.partition, work) and bool(
            self.settle(scope, memory_id, smallest)
        )

    # --- keeping true ---

    def after(self, scope: Scope, memories: Iterable[Memory]) -> None:
        """What a change of these memories means for abstractions, at once. The change stands whatever comes of this: what
        cannot be done now the next run does. So does what episodes that join again need, index and archive, where that
        is a worker's business (``inline`` False) and not that of a caller who waits."""
        ids = {item.id for item in memories if item.evidence}
        ids |= {item.consolidated_into for item in memories if item.consolidated_into is not None}
        smallest = self.services.policies.of(scope.namespace).consolidation.smallest_group if ids else 0
        for memory_id in sorted(ids):
            try:
                self.settle(scope, memory_id, smallest, follow=self.services.inline)
            except Exception as error:
                told("a consolidated memory could not be settled, the next run does it", error)

    def settle(
        self,
        scope: Scope,
        memory_id: str,
        smallest: int,
        known: Sequence[Memory] | None = None,
        *,
        follow: bool = True,
    ) -> str | None:
        """Brings an abstraction and its episodes together; answers what became of it: ``kept``, ``revised``,
        ``withdrawn``, ``released``. ``known``: all memories of the user, for who has just read them. ``follow``: whether
        live episodes go into the archive now."""
        for _ in range(TRIES):
            body = self.services.store.get(keys.memory(scope.partition, memory_id))
            memory = None if body is None else decode(Memory, body)
            if memory is None or memory.status in ("deleted", "merged", "superseded"):
                self._release(scope, memory_id, memory, known)
                return "released"
            rows = self._rows(scope, memory, known)
            stays = [item for item in rows if belongs(item, memory)]
            episodes = self.tellings.episodes(scope, stays, known)
            if sum(episode.count for episode in episodes) < smallest:
                if self._withdraw(scope, memory):
                    self._release(scope, memory_id, None, None)
                    return "withdrawn"
                known = None
                continue
            if known is None:
                self._wanted_again(scope, memory_id)
            revised = self._revise(scope, memory, stays, episodes)
            if revised is None:
                known = None
                continue
            self._free(scope, memory_id, [item.id for item in rows if item not in stays])
            if follow:
                self._follow(scope, memory, [item for item in stays if item.status in LIVE])
            return "revised" if revised else "kept"
        return None

    def _rows(self, scope: Scope, memory: Memory, known: Sequence[Memory] | None) -> list[Memory]:
        """The episodes that it names, and those that bear its id (one that was deleted and came back)."""
        store, partition = self.services.store, scope.partition
        at = [keys.memory(partition, item) for item in memory.evidence]
        named = {body["id"]: decode(Memory, body) for body in store.get_many(at).values()}
        bear = known if known is not None else memories_of(store, partition, (bears(memory.id),))
        for item in bear:
            if item.consolidated_into == memory.id:
                named.setdefault(item.id, item)
        return sorted(named.values(), key=lambda item: (item.valid_from, item.id))

    def _revise(
        self, scope: Scope, memory: Memory, stays: Sequence[Memory], episodes: Sequence[Episode]
    ) -> bool | None:
        """True if its text or evidence changed, None if somebody else changed it at the same time."""
        ids = tuple(item.id for item in stays)
        held = memory.metadata.get("consolidation")
        plain = self.tellings.summed(episodes)
        if ids == memory.evidence and figures(held) == figures(plain.metadata()):
            return False
        worded = self.tellings.worded(episodes)
        fields: dict[str, Any] = {
            "evidence": ids,
            "metadata": {**memory.metadata, "consolidation": worded.metadata()},
            "valid_from": worded.since,
        }
        if not memory.corrected:
            fields |= {
                "content": worded.content,
                "summary": worded.summary,
                "confidence": confidence_of(worded.count),
                "text_archived": False,
                "text_digest": "",
            }

        def work(uow: UnitOfWork) -> int | None:
            book = Book(uow, scope, self.services.now(), BY)
            now = book.memory(memory.id)
            if now.version != memory.version:
                return None
            if "content" in fields:
                fields["content_hash"] = book.digest(worded.content, now.memory_type, None, now.audience)
            # One that went cold (the user made it an event) comes out: its pack knows the old words and figures.
            change = wake if packed(now) and now.status != "deleted" else Book.change
            change(book, now, "revised", reason=f"{worded.count} episodes", **fields)
            book.close()
            return book.seq

        seq = self.services.store.transact(scope.partition, work)
        if seq is None:
            return None
        self.services.ring(scope.partition, seq)
        return True

    def _withdraw(self, scope: Scope, memory: Memory) -> bool:
        def work(uow: UnitOfWork) -> int | None:
            book = Book(uow, scope, self.services.now(), BY)
            now = book.memory(memory.id)
            if now.version != memory.version:
                return None
            forget_one(book, now, "too few of its episodes are left", WITHDRAWN)
            book.close()
            return book.seq

        seq = self.services.store.transact(scope.partition, work)
        if seq is not None:
            self.services.ring(scope.partition, seq)
        return seq is not None

    # --- episodes ---

    def _follow(self, scope: Scope, memory: Memory, live: Sequence[Memory]) -> None:
        if not live:
            return
        fields = {item.id: {"consolidated_into": memory.id} for item in live}
        reason = f"consolidated into {memory.id}"
        cold.archive(
            self.services, live, because="consolidated", still=is_episode, reason=reason, fields=fields
        )
        body = self.services.store.get(keys.memory(scope.partition, memory.id))
        if body is None or body["status"] == "deleted":  # taken back while they were on their way
            self._release(scope, memory.id, None if body is None else decode(Memory, body), None)

    def _release(
        self, scope: Scope, memory_id: str, memory: Memory | None, known: Sequence[Memory] | None
    ) -> None:
        """The episodes of what is no longer there come back. What the user took back is noted: the same evidence makes
        no group again."""
        if memory is not None and memory.evidence and memory.deleted_because != WITHDRAWN:
            at = keys.unwanted(scope.partition, memory_id)
            ids = list(memory.evidence)
            if self.services.store.get(at) is None:
                self.services.store.transact(scope.partition, lambda uow: uow.put(at, {"evidence": ids}))
        bear = (
            known
            if known is not None
            else memories_of(self.services.store, scope.partition, (bears(memory_id),))
        )
        self._free(scope, memory_id, [item.id for item in bear if item.consolidated_into == memory_id])

    def _wanted_again(self, scope: Scope, memory_id: str) -> None:
        """It stands: a deletion that was noted has been taken back."""
        at = keys.unwanted(scope.partition, memory_id)
        if self.services.store.get(at) is not None:
            self.services.store.transact(scope.partition, lambda uow: uow.delete(at))

    def _free(self, scope: Scope, memory_id: str, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), CHUNK):

            def work(uow: UnitOfWork, some: Sequence[str] = ids[start : start + CHUNK]) -> int:
                book = Book(uow, scope, self.services.now(), BY)
                seq = 0
                for episode_id in some:
                    body = uow.get(keys.memory(scope.partition, episode_id))
                    memory = None if body is None else decode(Memory, body)
                    if memory is None or memory.consolidated_into != memory_id or memory.status != "archived":
                        continue
                    wake(
                        book,
                        memory,
                        "released",
                        reason=f"no longer part of {memory_id}",
                        consolidated_into=None,
                    )
                    seq = book.seq
                book.close()
                return seq

            seq = self.services.store.transact(scope.partition, work)
            if seq:
                self.services.ring(scope.partition, seq)

    def _seq(self, scope: Scope) -> int:
        body = self.services.store.get(keys.head(scope.partition))
        return 0 if body is None else int(body["seq"])


def turn_of(reading: Any, partition: str) -> int:
    """How many abstractions were made for a user: two runs at once must not make the same one twice."""
    body = reading.get(keys.consolidating(partition))
    return 0 if body is None else int(body["turn"])
