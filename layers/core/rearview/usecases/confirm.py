"""What a repetition does to a memory."""

from __future__ import annotations

from typing import Any

from rearview.domain.memory import Memory
from rearview.usecases.book import Book


def confirm(book: Book, memory: Memory, change: str, **more: Any) -> Memory:
    """Said again: confidence rises by a third of what is missing, and the clock of recency restarts."""
    fields: dict[str, Any] = {
        "confidence": memory.confidence + (1 - memory.confidence) / 3,
        "confirmations": memory.confirmations + 1,
        "last_confirmed_at": book.now,
        **more,
    }
    if memory.status == "archived" and memory.archived_because != "blame":
        fields |= {"status": "active", "archived_because": None}
    return book.change(memory, change, **fields)
