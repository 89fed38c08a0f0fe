"""Candidates of an earlier view, rebuilt from the history."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rearview.domain import keys
from rearview.domain.bm25 import Bm25
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.errors import Unavailable
from rearview.ports import IndexQuery, Scored
from rearview.usecases.candidates import Asked, Pool, candidate
from rearview.usecases.candidates_cold import revive
from rearview.usecases.indexing import terms_of, text_of
from rearview.usecases.past import as_of, memories_as_of
from rearview.usecases.services import Services
from rearview.usecases.texts import AWAY, full_or_bare, same_text

#: Texts whose vectors are computed on the fly; beyond, the words must do.
REEMBED = 200


def past(services: Services, asked: Asked, known_at: datetime) -> Pool:
    """Candidates of an earlier view, rebuilt from the history: exact, and as slow as the user's store is large.

    Words are scored by BM25 over the texts as they were; meaning by the vectors of the index, or of a pack, where the
    text is still the same, else by embedding it anew.
    """
    pool = Pool()
    memories: dict[str, Memory] = {}
    for scope in asked.scopes:
        memories |= {item.id: item for item in memories_as_of(services.store, scope.partition, known_at)}
    cosines = _past_vectors(services, asked, memories, known_at, pool)
    for memory in list(memories.values()):
        reason = asked.why_not(memory)
        if reason is not None:
            pool.dropped[memory.id] = reason
            del memories[memory.id]
    kept, cold = revive(services, asked, list(memories.values()), pool)
    kept, whole = full_or_bare(services, kept)
    if not whole:
        pool.degraded.append(AWAY)
    cosines |= {memory_id: value for memory_id, value in cold.items() if memory_id not in cosines}
    cosines |= _embedded_anew(services, asked, [item for item in kept if item.id not in cosines], pool)
    words = Bm25([terms_of(item) for item in kept]).scores(asked.terms) if kept else []
    for memory, score in zip(kept, words, strict=True):
        vector = cosines.get(memory.id)
        if score <= 0 and vector is None:
            continue
        scored = Scored(memory.id, memory.scope.partition, vector, score if score > 0 else None)
        pool.memories[memory.id] = memory
        pool.candidates.append(candidate(memory, scored, pending=False, coverage=0.0))
    return pool


def _past_vectors(
    services: Services, asked: Asked, memories: dict[str, Memory], known_at: datetime, pool: Pool
) -> dict[str, float]:
    if asked.vector is None:
        return {}
    query = IndexQuery(
        partitions=[scope.partition for scope in asked.scopes],
        namespaces=sorted({scope.namespace for scope in asked.scopes}),
        record="memory",
        limit=max(asked.limit, len(memories)),
        now=known_at,
        vector=asked.vector,
    )
    try:
        answer = services.index.search(query)
    except Unavailable:
        pool.degraded.append("vector")
        return {}
    pool.degraded += answer.degraded
    cosines: dict[str, float] = {}
    found = services.store.get_many(keys.memory(item.partition, item.id) for item in answer.candidates)
    for item in answer.candidates:
        body = found.get(keys.memory(item.partition, item.id))
        if body is None or item.vector is None:
            continue
        now = decode(Memory, body)
        then = memories.get(item.id) or as_of(services.store, now, known_at)
        if then is None:
            continue
        memories[item.id] = then
        if same_text(then, now):
            cosines[item.id] = item.vector
    return cosines


def _embedded_anew(services: Services, asked: Asked, stale: Sequence[Memory], pool: Pool) -> dict[str, float]:
    """The cosines of texts that the index does not hold any more."""
    if asked.vector is None or not stale or "vector" in pool.degraded:
        return {}
    vectors = services.embedder.embed_passages([text_of(item) for item in stale[:REEMBED]])
    return {item.id: float(row @ asked.vector) for item, row in zip(stale, vectors, strict=False)}
