"""Stowing: texts of earlier states follow their memory into the archive, and come back with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.memory import History, Memory
from rearview.domain.scope import Scope
from rearview.domain.types import LIVE
from rearview.ports import Filter, UnitOfWork
from rearview.usecases.book import Book
from rearview.usecases.past import history_of
from rearview.usecases.portions import portions
from rearview.usecases.scans import memories_of
from rearview.usecases.services import Services
from rearview.usecases.texts import full_or_bare, stow_many, user_key

#: Items of one transaction: under the hundred of DynamoDB.
CHUNK = 60


def stow_all(services: Services, memories: Sequence[Memory]) -> dict[str, str]:
    """Puts the texts of one user's memories, and of all their earlier states, into the archive; answers the digests of
    the present ones by memory id. Those of the earlier states leave the store, which nobody notices."""
    if not memories:
        return {}
    partition = memories[0].scope.partition
    key = user_key(services.store, partition)
    states: dict[tuple[str, str], Memory] = {}
    earlier: list[tuple[keys.Key, tuple[str, str]]] = []
    for memory in memories:
        states[memory.id, memory.content] = memory
        for row in history_of(services.store, partition, memory.id):
            if row.memory.content and not row.memory.text_archived:
                said = memory.id, row.memory.content
                states.setdefault(said, row.memory)
                earlier.append((keys.history(partition, memory.id, row.memory.version), said))
    stowed = dict(zip(states, stow_many(services, list(states.values()), key), strict=True))
    steps = [(at, stowed[said]) for at, said in earlier]
    digests = {memory.id: stowed[memory.id, memory.content] for memory in memories}
    for start in range(0, len(steps), CHUNK):
        some = steps[start : start + CHUNK]

        def work(uow: UnitOfWork, some: Sequence[tuple[keys.Key, str]] = some) -> None:
            for at, digest in some:
                body = uow.get(at)
                row = None if body is None else decode(History, body)
                # History rows never change but for this: the row is the one that was read, or has been stowed.
                if row is not None and not row.memory.text_archived:
                    state = replace(row.memory, content="", text_archived=True, text_digest=digest)
                    uow.put(at, encode(replace(row, memory=state)))

        services.store.transact(partition, work)
    return digests


def fetch_back(services: Services, scope: Scope) -> list[str]:
    """Texts of long_term memories that woke come back into the store; answers whose. (Of short_term ones the summary is
    enough at that age, see the policy.)"""
    where = (
        Filter("memory_type", "eq", "long_term"),
        Filter("status", "in", sorted(LIVE)),
        Filter("text_archived", "eq", True),
    )
    whole, _ = full_or_bare(services, list(memories_of(services.store, scope.partition, where)))
    found = [memory for memory in whole if memory.content]
    back: list[str] = []
    for some in portions(found, CHUNK, lambda item: len(item.content.encode()) + 2000):

        def work(uow: UnitOfWork, some: Sequence[Memory] = some) -> list[str]:
            book = Book(uow, scope, services.now(), "maintain")
            done = []
            for held in some:
                memory = book.memory(held.id)
                if memory.text_archived and memory.status in LIVE and memory.text_digest == held.text_digest:
                    book.save(replace(memory, content=held.content, text_archived=False, text_digest=""))
                    done.append(memory.id)
            return done

        back += services.store.transact(scope.partition, work)
    return back
