"""Waking: a cold memory that is used is a hot one again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import History, Memory
from rearview.domain.types import Status
from rearview.usecases.book import Book

#: States looked at for the one before the archive; memories change seldom while they are cold.
ROWS = 20


def sleeps(memory: Memory) -> bool:
    """Whether use wakes it: it lies in the archive because nobody used it. What was consolidated stays there, since its
    abstraction stands for it; and so does what was blamed."""
    return memory.status == "archived" and memory.archived_because == "cold"


def blamed(memory: Memory) -> bool:
    """Whether failures archived it. No use wakes it; the user's own word does, or that the outcome is taken back."""
    return memory.status == "archived" and memory.archived_because == "blame"


#: What a memory is once the user stands by it, or put it right, after it was blamed.
ACQUITTED: Final[Mapping[str, Any]] = {"status": "active", "archived_because": None, "failures_in_a_row": 0}


def wake(
    book: Book, memory: Memory, change: str = "woken", *, reason: str | None = None, **fields: Any
) -> Memory:
    """The memory as it was before it was archived, marked for the worker, who embeds and indexes it again.

    Its text stays where it is unless the caller brings it (``content``, ``text_archived=False``); the worker fetches it
    to index it. Not held against the others again: it says nothing new.
    """
    fields = {"status": status_before(book, memory), "archived_because": None, **fields}
    return book.change(memory, change, reason=reason, **fields)


def status_before(book: Book, memory: Memory) -> Status:
    """``tentative`` if that is what it was when it was archived, else ``active``."""
    page = book.uow.query(book.partition, keys.history_of(memory.id), reverse=True, limit=ROWS)
    states = (decode(History, body).memory.status for _, body in page.items)
    before = next((status for status in states if status not in ("archived", "deleted")), "active")
    return "tentative" if before == "tentative" else "active"
