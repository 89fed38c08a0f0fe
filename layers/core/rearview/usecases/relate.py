"""Relate: does a new memory say what an older one says, or can it not hold beside it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.domain.records import Decision, Lease, Pending
from rearview.domain.relations import Judgement, relate
from rearview.domain.tokens import query_terms
from rearview.domain.types import LIVE, ConflictPolicy
from rearview.ports import IndexQuery, UnitOfWork
from rearview.usecases import lease as leases
from rearview.usecases.book import Book
from rearview.usecases.candidates_cold import neighbours
from rearview.usecases.confirm import confirm, said_of
from rearview.usecases.moot import CHANGED, conflicts_with
from rearview.usecases.services import Services
from rearview.usecases.settle import open_conflict
from rearview.usecases.texts import full_or_gist, said
from rearview.usecases.waking import sleeps, wake

if TYPE_CHECKING:
    from rearview.ports import Vectors

#: Neighbours that a new memory is held against, by meaning and by words.
NEIGHBOURS = 20
#: Conflicts opened, and perhaps settled, in one transaction: settling one may set others aside, each some six items
#: of the hundred that DynamoDB allows.
CONFLICTS = 1


class Companion(Protocol):
    """Another record of the same step."""

    @property
    def mark(self) -> Pending: ...

    @property
    def record(self) -> Memory | Decision | None: ...


@dataclass(frozen=True, slots=True)
class Related:
    """An older memory and how the new one stands to it."""

    memory: Memory
    judged: Judgement


class Relater:
    """Finds and applies relations of new memories to those of the same user."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def concerns(self, memory: Memory) -> bool:
        """Whether a memory takes part: only live, lasting ones that were not written verbatim."""
        return (
            memory.pending
            and not memory.verbatim
            and memory.memory_type in ("short_term", "long_term")
            and memory.live(self.services.now())
        )

    def find(self, memory: Memory, vectors: Vectors | None, companions: Sequence[Companion]) -> list[Related]:
        """The older live memories of the same user and audience that the new one repeats or contradicts, strongest
        first."""
        now = self.services.now()
        # Claims are compared, not texts: the speaker and date in front of an indexed text are noise here.
        answer = self.services.index.search(
            IndexQuery(
                partitions=[memory.scope.partition],
                namespaces=[],
                record="memory",
                limit=NEIGHBOURS,
                now=now,
                vector=None if vectors is None else vectors[0],
                text=memory.content,
                terms=query_terms(memory.content),
                statuses=sorted(LIVE),
                exclude=[memory.id],
            )
        )
        at = [keys.memory(memory.scope.partition, item.id) for item in answer.candidates]
        found = {key.sort: decode(Memory, body) for key, body in self.services.store.get_many(at).items()}
        for other in companions:
            if isinstance(other.record, Memory) and other.mark.seq < memory.seq:
                fresh = self.services.store.get(keys.memory(memory.scope.partition, other.record.id))
                if fresh is not None:
                    found[keys.MEMORIES + other.record.id] = decode(Memory, fresh)
        for cold in neighbours(self.services, memory, vectors, NEIGHBOURS):
            found[keys.MEMORIES + cold.id] = cold
        related = []
        for old in full_or_gist(self.services, found.values()):
            if old.id == memory.id or old.seq > memory.seq or old.verbatim:
                continue
            # Whoever recalls a lesson must neither lose it to what one user alone may see, nor be asked about that.
            if old.audience != memory.audience:
                continue
            if not old.live(now) and (old.expired(now) or not sleeps(old)):
                continue
            if old.memory_type not in ("short_term", "long_term"):
                continue
            judged = relate(old.content, memory.content, rules=self.services.rules.slots)
            if judged.relation != "none":
                related.append(Related(old, judged))
        order = {"duplicate": 0, "contained": 1, "contradiction": 2}
        related.sort(key=lambda item: (order[item.judged.relation], item.memory.seq))
        return related

    def apply(
        self, partition: str, memory: Memory, related: Sequence[Related], mark: Pending, lease: Lease
    ) -> None:
        """Merges the memory into the one that says the same, or opens conflicts by the policy, a few a transaction."""
        for start in range(0, len(related), CONFLICTS):
            self._apply_some(partition, memory, related[start : start + CONFLICTS], mark, lease)

    def _apply_some(
        self, partition: str, memory: Memory, related: Sequence[Related], mark: Pending, lease: Lease
    ) -> None:
        chosen = mark.conflict_policy or self.services.policies.of(memory.scope.namespace).conflicts
        policy = cast("ConflictPolicy", chosen or self.services.conflict_policy)

        def work(uow: UnitOfWork) -> None:
            leases.renew(self.services, uow, partition, lease)
            book = Book(uow, memory.scope, self.services.now(), "worker")
            asked = _asked(uow, partition, memory.id)
            for item in related:
                new, old = book.memory(memory.id), book.memory(item.memory.id)
                if sleeps(old) and new.live(book.now) and old.id not in asked:
                    # It is spoken of again.
                    old = wake(book, old, reason=new.id)
                if not (new.live(book.now) and old.live(book.now)):
                    continue
                if item.judged.relation == "contradiction":
                    if old.id not in asked:
                        texts = said(old, item.memory), said(new, memory)
                        open_conflict(book, old, new, item.judged, policy, texts)
                elif not new.conflicts:
                    reason = f"says the same as {old.id}"
                    book.change(
                        new, "merged", index=False, reason=reason, status="merged", merged_into=old.id
                    )
                    confirm(book, old, "confirmed", **said_of(new, old))
                    break
            book.close()

        self.services.store.transact(partition, work, durable=False)


def _asked(uow: UnitOfWork, partition: str, memory_id: str) -> set[str]:
    """The memories that this one contradicted before: a step that is done again asks nothing twice."""
    found = conflicts_with(uow, partition, memory_id)
    return {item for conflict in found if conflict.resolution != CHANGED for item in conflict.memory_ids}
