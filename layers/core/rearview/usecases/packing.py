"""Packing: what the index holds of memories, made into entries of a pack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rearview.domain import keys
from rearview.domain.claims import claims_of
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.errors import Unavailable
from rearview.usecases.indexing import Prepared, contexts, embed, prepare, terms_of
from rearview.usecases.packs import Entry, Loose
from rearview.usecases.services import Services, told
from rearview.usecases.texts import full_or_bare

if TYPE_CHECKING:
    from rearview.ports.index import Vectors

#: Texts that are embedded in one call.
STEP = 32
#: Texts that are fetched in one go.
FETCHED = 16


def whole(services: Services, memories: Sequence[Memory]) -> Iterator[Memory]:
    """Memories with their texts, fetched some at a time: those that lie in the archive already weigh as much in a pack as
    the others."""
    for start in range(0, len(memories), FETCHED):
        yield from full_or_bare(services, memories[start : start + FETCHED])[0]


def loosen(services: Services, memories: Sequence[Memory], digests: Mapping[str, str]) -> list[Loose]:
    """The entries of these memories, in their order; one whose text cannot be had is left out.

    Words are those of the index, with what was said before in the session; vectors too, and embedded anew where it has
    none of this model. Raises Unavailable when the index or the model is away.
    """
    texts, _ = full_or_bare(services, memories)
    good = [item for item in texts if item.content]
    before = contexts(services, good)
    vectors = _vectors(services, good)
    return [
        Loose(
            Entry(item.id, digests[item.id], item.content, slots_of(services, item.content)),
            Counter(terms_of(item, before.get(item.id, ()))),
            vectors.get(item.id),
        )
        for item in good
    ]


def reworded(
    services: Services, partition: str, entries: Iterable[Loose], ids: Collection[str]
) -> list[Loose]:
    """The same entries, those of ``ids`` with the words that they have now: what was said before them in their session
    may have been forgotten since. Raises Unavailable while the archive is away."""
    some = list(entries)
    bodies = services.store.get_many(keys.memory(partition, one) for one in sorted(ids))
    records = {body["id"]: decode(Memory, body) for body in bodies.values()}
    before = contexts(services, records.values())
    out = []
    for one in some:
        memory = records.get(one.entry.id)
        if memory is not None:
            said = replace(memory, content=one.entry.text, text_archived=False)
            one = replace(one, words=Counter(terms_of(said, before.get(memory.id, ()))))  # noqa: PLW2901
        out.append(one)
    return out


def slots_of(services: Services, text: str) -> list[list[str]]:
    """``[subject, slot]`` of what a text claims: what a contradiction must have in common with it."""
    claims = claims_of(text, services.rules.slots)
    return [list(pair) for pair in dict.fromkeys((claim.subject, claim.slot) for claim in claims)]


def _vectors(services: Services, memories: Sequence[Memory]) -> dict[str, Vectors]:
    found: dict[str, Vectors] = {}
    if services.index.fingerprint() == services.embedder.fingerprint:
        # Without chunks in it: the record bears the stamp of this very text and model.
        known = [item.id for item in memories if not prepare(item, services.embedder).chunks]
        found = services.index.vectors(known)
    fresh = [item for item in memories if item.id not in found]
    rows = _embedded(services, [replace(item, embedding=None) for item in fresh])
    return found | {item.id: row for item, row in zip(fresh, rows, strict=True) if row is not None}


def embed_each(services: Services, prepared: Sequence[Prepared]) -> list[Vectors | None]:
    """The vectors of each; None for what the model cannot take, which words must find. Raises Unavailable."""
    try:
        return embed(prepared, services.embedder)
    except Unavailable:
        raise
    except Exception as error:
        if len(prepared) == 1:
            told("one record cannot be embedded", error)
            return [None]
        return [row for item in prepared for row in embed_each(services, [item])]


def embedded_anew(services: Services, partition: str, entries: Iterable[Loose]) -> list[Loose]:
    """The same entries with vectors of the model that runs."""
    some = list(entries)
    bodies = services.store.get_many(keys.memory(partition, one.entry.id) for one in some)
    records = {body["id"]: decode(Memory, body) for body in bodies.values()}
    alive = [one for one in some if one.entry.id in records]
    texts = [
        replace(records[one.entry.id], content=one.entry.text, text_archived=False, embedding=None)
        for one in alive
    ]
    rows = _embedded(services, texts)
    return [replace(one, vectors=row) for one, row in zip(alive, rows, strict=True)]


def _embedded(services: Services, memories: Sequence[Memory]) -> list[Vectors | None]:
    out: list[Vectors | None] = []
    for start in range(0, len(memories), STEP):
        some = memories[start : start + STEP]
        out += embed_each(services, [prepare(item, services.embedder) for item in some])
    return out
