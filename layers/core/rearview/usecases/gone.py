"""Gone: what is left of a memory after its purge. No content; when it went, why, and on whose behalf."""

from __future__ import annotations

from rearview.domain import keys
from rearview.domain.memory import Memory
from rearview.domain.principal import Principal
from rearview.domain.times import optional_text, to_text
from rearview.domain.types import Permission
from rearview.errors import Gone, NotFound
from rearview.ports import UnitOfWork
from rearview.usecases.book import Book
from rearview.usecases.services import Services


def mark(book: Book, memory: Memory) -> None:
    """In the purge's transaction: the memory's id leads to what is told of it from now on."""
    at = keys.gone(book.partition, memory.id)
    book.uow.put(
        at,
        {
            "id": memory.id,
            "namespace": memory.scope.namespace,
            "at": to_text(book.now),
            "because": memory.deleted_because,
            "by": memory.deleted_by,
            "deleted_at": optional_text(memory.deleted_at),
        },
    )
    book.uow.put(keys.locator(memory.id), {"partition": at.partition, "sort": at.sort})


def unmark(uow: UnitOfWork, partition: str, memory_id: str) -> None:
    """An import brought the memory back."""
    uow.delete(keys.gone(partition, memory_id))


def is_gone(place: dict[str, str], partition: str, memory_id: str) -> bool:
    """Whether a locator leads to what is left of a purged memory of that partition."""
    at = keys.gone(partition, memory_id)
    return (place["partition"], place["sort"]) == (at.partition, at.sort)


def locate_memory(
    services: Services, principal: Principal, permission: Permission, memory_id: str
) -> keys.Key:
    """The address of a memory. Gone, with when and why, once it was purged; NotFound if there never was one, or it was
    erased, or what is left of it is not the caller's to see."""
    place = services.store.get(keys.locator(memory_id))
    if place is not None and place["sort"].startswith(keys.GONE):
        left = services.store.get(keys.Key(place["partition"], place["sort"]))
        if left is None:
            raise NotFound("no such memory")
        principal.see(permission, left["namespace"], "memory")
        raise Gone(
            f"this memory was purged at {left['at']}: it was deleted at {left['deleted_at']} "
            f"by {left['by']}, because: {left['because']}"
        )
    if place is None or not place["sort"].startswith(keys.MEMORIES):
        raise NotFound("no such memory")
    return keys.Key(place["partition"], place["sort"])
