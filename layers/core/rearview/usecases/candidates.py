"""Candidates: from the index and from what is still pending, or, for an earlier view, from the history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from rearview.domain import keys
from rearview.domain.bm25 import Bm25
from rearview.domain.codec import decode
from rearview.domain.language import cjk_share
from rearview.domain.memory import Memory
from rearview.domain.rank import Candidate, coverage
from rearview.domain.scope import Scope
from rearview.domain.types import LIVE
from rearview.errors import Unavailable
from rearview.ports import IndexQuery, Scored
from rearview.usecases.indexing import prepare, terms_of, text_of
from rearview.usecases.past import as_of, memories_as_of
from rearview.usecases.questions import Recall
from rearview.usecases.scans import pending_of
from rearview.usecases.services import Services, log

if TYPE_CHECKING:
    from rearview.ports import Vectors

#: Pending texts whose vectors are computed on the fly for an earlier view; beyond, the words must do.
REEMBED = 200


@dataclass(slots=True)
class Pool:
    """The candidates of a recall with their memories, and what did not run."""

    memories: dict[str, Memory] = field(default_factory=dict)
    candidates: list[Candidate] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    dropped: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """A recall, read: whose memories, which, at which time."""

    request: Recall
    scopes: Sequence[Scope]
    now: datetime
    limit: int
    terms: Sequence[str]
    vector: Vectors | None

    @property
    def statuses(self) -> frozenset[str]:
        """Statuses that may be returned."""
        allowed: set[str] = set(LIVE)
        if self.request.include_superseded or self.request.valid_at is not None:
            allowed.add("superseded")
        if self.request.include_archived:
            allowed.add("archived")
        return frozenset(allowed)

    def why_not(self, memory: Memory) -> str | None:
        """Why a memory may not be a hit; None if it may. The same conditions as in the index query."""
        request = self.request
        valid_at = request.moment(request.valid_at, upper=True)
        since, until = request.moment(request.since), request.moment(request.until, upper=True)
        own = memory.scope in self.scopes
        lesson = memory.audience == "namespace" and memory.scope.namespace in {
            s.namespace for s in self.scopes
        }
        checks = (
            ("foreign", own or lesson),
            (memory.status, memory.status in self.statuses),
            ("archived", memory.archived_because != "blame"),
            ("expired", not memory.expired(self.now)),
            ("memory_type", not request.memory_types or memory.memory_type in request.memory_types),
            ("kind", not request.kinds or memory.kind in request.kinds),
            ("origin", not request.origins or memory.origin in request.origins),
            ("tags", set(request.tags) <= set(memory.tags)),
            ("agent_id", request.agent_id is None or memory.agent_id == request.agent_id),
            ("session_id", request.session_id is None or memory.session_id == request.session_id),
            ("since", since is None or memory.valid_from >= since),
            ("until", until is None or memory.valid_from <= until),
            ("valid_at", valid_at is None or memory.true_at(valid_at)),
            ("importance", request.min_importance is None or memory.importance >= request.min_importance),
        )
        return next((name for name, holds in checks if not holds), None)

    def index_query(self, exclude: Sequence[str]) -> IndexQuery:
        """The same conditions for the engine, applied before its limits."""
        request = self.request
        return IndexQuery(
            partitions=[scope.partition for scope in self.scopes],
            namespaces=sorted({scope.namespace for scope in self.scopes}),
            record="memory",
            limit=self.limit,
            now=self.now,
            vector=self.vector,
            text=request.query,
            terms=self.terms,
            recent=0,
            statuses=sorted(self.statuses),
            memory_types=request.memory_types,
            kinds=request.kinds,
            tags=request.tags,
            origins=request.origins,
            agent_id=request.agent_id,
            session_id=request.session_id,
            since=request.moment(request.since),
            until=request.moment(request.until, upper=True),
            valid_at=request.moment(request.valid_at, upper=True),
            min_importance=request.min_importance,
            exclude=exclude,
        )


def present(services: Services, asked: Asked) -> Pool:
    """Candidates of now: both arms of the index, and what the store holds that is still pending.

    A pending memory whose text the index knows already (only its status, weight or tags changed) keeps its vector
    and words there; one that is new, reworded or gone is left out of the search and scored by its words.
    """
    pool = Pool()
    waiting = _pending(services, asked)
    known = {
        memory.id
        for memory in waiting.values()
        if asked.why_not(memory) is None and not prepare(memory, services.embedder).chunks
    }
    scored: list[Scored] = []
    try:
        answer = services.index.search(asked.index_query([item for item in waiting if item not in known]))
        scored, pool.degraded = answer.candidates, list(answer.degraded)
    except Unavailable as error:
        log.warning("the index is away: %s", error.detail)
        pool.degraded = ["vector", "keyword"]
        waiting |= _recent(services, asked)
    absent = [item for item in scored if item.id not in waiting]
    found = services.store.get_many(keys.memory(item.partition, item.id) for item in absent)
    for item in scored:
        memory = waiting.pop(item.id, None)
        if memory is None:
            body = found.get(keys.memory(item.partition, item.id))
            memory = None if body is None else decode(Memory, body)
        if memory is None:
            pool.dropped[item.id] = "orphan"
        else:
            _offer(pool, asked, memory, item)
    for memory in waiting.values():
        _offer(pool, asked, memory, None)
    return pool


def _pending(services: Services, asked: Asked) -> dict[str, Memory]:
    wanted = [
        keys.memory(scope.partition, mark.ref)
        for scope in asked.scopes
        for mark in pending_of(services.store, scope.partition)
        if mark.what == "memory"
    ]
    bodies = services.store.get_many(dict.fromkeys(wanted)).values() if wanted else ()
    return {body["id"]: decode(Memory, body) for body in bodies}


def _recent(services: Services, asked: Asked) -> dict[str, Memory]:
    """Without an index: the newest memories of the store, found by their words."""
    found: dict[str, Memory] = {}
    for scope in asked.scopes:
        page = services.store.query(scope.partition, keys.MEMORIES, reverse=True, limit=asked.limit * 5)
        found |= {body["id"]: decode(Memory, body) for _, body in page.items}
    return found


def _offer(pool: Pool, asked: Asked, memory: Memory, scored: Scored | None) -> None:
    reason = asked.why_not(memory)
    if reason is not None:
        pool.dropped[memory.id] = reason
        return
    covered = 0.0
    if scored is None and asked.terms:
        covered = coverage(asked.terms, set(terms_of(memory)))
        if covered == 0:
            # Without a shared word there is nothing yet to find it by.
            pool.dropped[memory.id] = "pending"
            return
    pool.memories[memory.id] = memory
    pool.candidates.append(_candidate(memory, scored, pending=scored is None, coverage=covered))


def _candidate(memory: Memory, scored: Scored | None, *, pending: bool, coverage: float) -> Candidate:
    return Candidate(
        id=memory.id,
        vector=None if scored is None else scored.vector,
        keyword=None if scored is None else scored.keyword,
        valid_from=memory.valid_from,
        last_confirmed_at=memory.last_confirmed_at,
        importance=memory.importance,
        confidence=memory.confidence,
        origin=memory.origin,
        status=memory.status,
        in_conflict=bool(memory.conflicts),
        pending=pending,
        coverage=coverage,
        speaker=memory.source.speaker,
        cjk_share=cjk_share(memory.content),
    )


def past(services: Services, asked: Asked, known_at: datetime) -> Pool:
    """Candidates of an earlier view, rebuilt from the history: exact, and as slow as the user's store is large.

    Words are scored by BM25 over the texts as they were; meaning by the index's vectors where the text is still the
    same, else by embedding it anew.
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
    kept = list(memories.values())
    words = Bm25([terms_of(item) for item in kept]).scores(asked.terms) if kept else []
    for memory, score in zip(kept, words, strict=True):
        vector = cosines.get(memory.id)
        if score <= 0 and vector is None:
            continue
        scored = Scored(memory.id, memory.scope.partition, vector, score if score > 0 else None)
        pool.memories[memory.id] = memory
        pool.candidates.append(_candidate(memory, scored, pending=False, coverage=0.0))
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
    stale: list[Memory] = []
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
        if then.content == now.content:
            cosines[item.id] = item.vector
    if "vector" not in answer.degraded:
        stale = [item for item in memories.values() if item.id not in cosines][:REEMBED]
    if stale:
        vectors = services.embedder.embed_passages([text_of(item) for item in stale])
        cosines |= {item.id: float(row @ asked.vector) for item, row in zip(stale, vectors, strict=True)}
    return cosines
