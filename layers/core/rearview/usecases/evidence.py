"""Evidence: which memories are episodes, which of them an abstraction rests on, and what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rearview.domain import keys
from rearview.domain.consolidation import Episode
from rearview.domain.consolidation_text import Abstraction
from rearview.domain.entities import find_entities
from rearview.domain.memory import Memory, Source
from rearview.ports import Filter, UnitOfWork
from rearview.usecases.admit import Draft
from rearview.usecases.book import Book

#: What an abstraction's certainty approaches as episodes come.
CERTAIN = 0.95
_TOLD = frozenset({"event", "fact", "conclusion", "summary"})
_LONG_TERM = frozenset({"event", "summary"})


def is_episode(memory: Memory) -> bool:
    """Whether a memory may become evidence.

    A live one of a user's own: short_term (no preference, instruction or correction), or long_term of kind event or
    summary. What was stated to be important, or reworded, stays as the user has it; what has a date to go is not made to
    last; what is in a conflict or not yet enriched waits.
    """
    kinds = _TOLD if memory.memory_type == "short_term" else _LONG_TERM
    return (
        memory.memory_type in ("short_term", "long_term")
        and memory.kind in kinds
        and memory.status in ("active", "tentative")
        and memory.enrichment == "done"
        and memory.audience == "user"
        and memory.expires_at is None
        and not (memory.conflicts or memory.evidence or memory.importance_stated or memory.corrected)
    )


def confidence_of(count: int) -> float:
    """Laplace's rule of succession, (n + 1) / (n + 2) after n of n, and never certain."""
    return min(CERTAIN, (count + 1) / (count + 2))


def bears(memory_id: str) -> Filter:
    """Episodes that an abstraction stands for."""
    return Filter("consolidated_into", "eq", memory_id)


def belongs(episode: Memory, memory: Memory) -> bool:
    """Whether an episode is evidence of an abstraction that names it, or that it bears the id of."""
    if episode.corrected or episode.importance_stated:
        return False  # as the user has it, it is no longer one of many
    if episode.status == "archived":
        if episode.archived_because != "consolidated" or episode.consolidated_into != memory.id:
            return False
        # What the user has since made a preference, say, is none: it must not lie in the archive.
        episode = replace(episode, status="active")
    return episode.consolidated_into in (None, memory.id) and is_episode(replace(episode, enrichment="done"))


def changed(uow: UnitOfWork, memories: Sequence[Memory]) -> bool:
    """Whether one of them is no longer as it was read."""
    found = uow.get_many(keys.memory(item.scope.partition, item.id) for item in memories)
    versions = {body["id"]: (body["version"], body["status"]) for body in found.values()}
    return any(versions.get(item.id) != (item.version, item.status) for item in memories)


def figures(metadata: Any) -> tuple[Any, ...]:
    """Count and dates that an abstraction bears."""
    held = metadata if isinstance(metadata, dict) else {}
    return tuple(held.get(name) for name in ("count", "since", "until"))


def drafted(book: Book, group: Sequence[tuple[Memory, Episode]], plain: Abstraction) -> Memory:
    """The abstraction, not yet written: a conclusion of the service's own, which therefore never goes cold."""
    memories = [memory for memory, _ in group]
    first = memories[0]
    speaker = first.source.speaker
    agents = {memory.agent_id for memory in memories}
    draft = Draft(
        scope=book.scope,
        verdict="admit",
        reasons=(),
        content=plain.content,
        summary=plain.summary,
        memory_type="long_term",
        kind="conclusion",
        importance=max(memory.importance for memory in memories),
        confidence=confidence_of(plain.count),
        origin="agent",
        audience="user",
        source=Source(speaker=speaker),
        valid_from=plain.since,
        valid_to=None,
        expires_at=None,
        agent_id=first.agent_id if len(agents) == 1 else None,
        tags=tuple(tag for tag in first.tags if all(tag in memory.tags for memory in memories)),
        entities=tuple(find_entities(plain.base)),
        metadata={"consolidation": plain.metadata()},
        # Never taken for a repetition of what it is made of, nor for a contradiction.
        verbatim=True,
    )
    return replace(draft.place(book), evidence=tuple(memory.id for memory in memories))
