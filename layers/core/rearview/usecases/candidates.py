"""Candidates of now: from the index and from what is still pending."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.language import cjk_share
from rearview.domain.lifecycle import packed
from rearview.domain.memory import Memory
from rearview.domain.rank import Candidate, coverage
from rearview.domain.scope import Scope
from rearview.domain.types import LIVE
from rearview.errors import Unavailable
from rearview.ports import IndexQuery, Scored
from rearview.usecases.indexing import prepare, terms_of
from rearview.usecases.questions import Recall
from rearview.usecases.scans import pending_of
from rearview.usecases.services import Services, log

if TYPE_CHECKING:
    from rearview.ports import Vectors


@dataclass(slots=True)
class Pool:
    """The candidates of a recall with their memories, and what did not run."""

    memories: dict[str, Memory] = field(default_factory=dict)
    candidates: list[Candidate] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    dropped: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """A recall, read: whose memories, which, at which time. ``archived``: reasons for which archived ones count too;
    ``stood_for``: memories whose episodes do not, because what was made of them is there itself."""

    request: Recall
    scopes: Sequence[Scope]
    now: datetime
    limit: int
    terms: Sequence[str]
    vector: Vectors | None
    archived: frozenset[str] = frozenset()
    stood_for: frozenset[str] = frozenset()

    @property
    def statuses(self) -> frozenset[str]:
        """Statuses that may be returned."""
        allowed: set[str] = set(LIVE)
        if self.request.include_superseded or self.request.valid_at is not None:
            allowed.add("superseded")
        if self.archived:
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
            ("archived", memory.status != "archived" or (memory.archived_because or "cold") in self.archived),
            ("consolidated", memory.status != "archived" or memory.consolidated_into not in self.stood_for),
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
            # What is archived is not in the index, but for what was blamed, which nobody may recall.
            statuses=sorted(self.statuses - {"archived"}),
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
    # What has gone into a pack a moment ago is found there.
    reason = "archived" if packed(memory) else asked.why_not(memory)
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
    pool.candidates.append(candidate(memory, scored, pending=scored is None, coverage=covered))


def candidate(memory: Memory, scored: Scored | None, *, pending: bool, coverage: float) -> Candidate:
    """What the ranker is given of a memory."""
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
        # The summary tells the language as well as the text does, in a fraction of the time.
        cjk_share=cjk_share(memory.summary or memory.gist),
    )
