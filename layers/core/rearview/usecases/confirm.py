"""What a repetition does to a memory."""

from __future__ import annotations

from typing import Any

from rearview.domain.memory import REPEATS_KEPT, Memory, Repeat
from rearview.usecases.book import Book
from rearview.usecases.waking import ACQUITTED, blamed, sleeps


def confirm(
    book: Book,
    memory: Memory,
    change: str,
    *,
    repeat: Repeat | None = None,
    by_user: bool = False,
    **more: Any,
) -> Memory:
    """Said again: confidence rises by a third of what is missing, and the clock of recency restarts.

    ``repeat``: when and where it was said again, unless a memory of its own (a merged one) tells that. ``by_user``: the
    user said it, which outweighs failures that had archived it; an agent that repeats itself does not.
    """
    fields: dict[str, Any] = {
        "confidence": memory.confidence + (1 - memory.confidence) / 3,
        "confirmations": memory.confirmations + 1,
        "last_confirmed_at": book.now,
        **more,
    }
    if repeat is not None:
        fields["repeats"] = repeated(memory, repeat)
    if sleeps(memory):
        # Of an episode that was consolidated the repetition counts where it lies: its abstraction stands for it.
        fields |= {"status": "active", "archived_because": None}
    if by_user and blamed(memory):
        fields |= ACQUITTED
    return book.change(memory, change, **fields)


def said_of(goes: Memory, stays: Memory) -> dict[str, Any]:
    """What the user said of a memory, as fields of the one that it is merged into; empty if nothing changes."""
    return {
        name: True
        for name in ("importance_stated", "corrected")
        if getattr(goes, name) and not getattr(stays, name)
    }


def inherited(goes: Memory, stays: Memory) -> dict[str, Any]:
    """:func:`said_of` with the confirmations, for a merge that confirms nothing by itself."""
    fields = said_of(goes, stays)
    if goes.confirmations > stays.confirmations:
        fields["confirmations"] = goes.confirmations
        times = [item for item in (goes.last_confirmed_at, stays.last_confirmed_at) if item is not None]
        fields["last_confirmed_at"] = max(times, default=None)
    return fields


def repeated(memory: Memory, repeat: Repeat) -> tuple[Repeat, ...]:
    """The memory's repetitions with one more."""
    return (*memory.repeats, repeat)[-REPEATS_KEPT:]
