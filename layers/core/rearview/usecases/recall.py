"""Recall: find what is known, with the parts of each score, its source and any open conflict; or abstain."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Any

from rearview.domain.lifecycle import PACKED
from rearview.domain.memory import Memory
from rearview.domain.principal import Principal
from rearview.domain.profiles import Profile, get_profile, with_weights
from rearview.domain.rank import Ranked, coverage, rank, should_abstain
from rearview.domain.scope import Scope
from rearview.domain.signing import seal, unseal
from rearview.domain.times import to_text
from rearview.domain.tokens import query_terms
from rearview.errors import NotFound, Unavailable
from rearview.usecases.candidates import Asked, Pool, present
from rearview.usecases.candidates_cold import join
from rearview.usecases.candidates_past import past
from rearview.usecases.enrich import Enricher
from rearview.usecases.indexing import terms_of
from rearview.usecases.open_questions import open_questions
from rearview.usecases.questions import Recall
from rearview.usecases.rerank import reranked
from rearview.usecases.services import Services, log
from rearview.usecases.texts import AWAY, full_or_bare, said_alike
from rearview.usecases.touch import Touches
from rearview.usecases.views import ConflictView, HitView, RecallAnswer, source_view

if TYPE_CHECKING:
    from rearview.ports import Vectors

BEHIND_SECONDS = 2.0
QUERY_CACHE = 512
PURPOSE = "recall id"


class Recaller:
    """The recall verb. Holds a small cache of query vectors, keyed per user."""

    def __init__(self, services: Services, enricher: Enricher, touches: Touches) -> None:
        self.services, self.enricher, self.touches = services, enricher, touches
        self._cache: OrderedDict[tuple[str, str], Vectors] = OrderedDict()
        self._lock = Lock()

    def recall(self, principal: Principal, request: Recall) -> RecallAnswer:
        """Raises InvalidInput, Forbidden; parts that are away are named in ``degraded`` instead."""
        started = time.perf_counter()
        scopes = self._scopes(principal, request)
        behind = self._behind(scopes, request)
        now = self.services.now()
        known_at = request.moment(request.known_at, upper=True)
        profile = _profile(request)
        vector, embed_ms, degraded = self._vector(scopes[0], request.query)
        asked = Asked(
            request=request,
            scopes=scopes,
            now=known_at or now,
            limit=max(100, 10 * request.top_k),
            terms=query_terms(request.query),
            vector=vector,
            archived=_archived(request),
        )
        pool = past(self.services, asked, known_at) if known_at else present(self.services, asked)
        if asked.archived and not known_at:
            join(self.services, asked, pool)
        ranked, unread, abstained, reason = self._ranked(asked, profile, pool)
        if not (asked.archived or known_at) and (abstained or len(ranked) < request.top_k):
            # Before it says that it knows nothing, or little, it looks among what is cold.
            there = frozenset() if abstained else frozenset(item.id for item in ranked)
            asked = replace(asked, archived=PACKED, stood_for=there)
            if join(self.services, asked, pool):
                ranked, unread, abstained, reason = self._ranked(asked, profile, pool)
        top, conflicts = self._with_mates(asked, ranked, pool)
        shown = self._shown(top, pool, request)
        hits = [self._hit(item, memory, request) for item, memory in zip(top, shown, strict=True)]
        if not (known_at or request.explain or abstained):
            self.touches.note([pool.memories[item.id] for item in top], now)
        return RecallAnswer(
            hits=hits,
            conflicts=conflicts,
            abstained=abstained,
            reason=reason,
            degraded=sorted({*degraded, *pool.degraded, *behind, *unread}),
            recall_id=self._recall_id(scopes[0], top, pool, request, profile, asked.now),
            took_ms=round((time.perf_counter() - started) * 1000, 3),
            cost={
                "embedded_queries": int(embed_ms > 0),
                "embed_ms": round(embed_ms, 3),
                "candidates": len(pool.candidates),
            },
            explain=_explanation(profile, ranked[len(top) :], pool) if request.explain else None,
        )

    # --- what is asked ---

    def _scopes(self, principal: Principal, request: Recall) -> list[Scope]:
        return [principal.scope("read", name, request.user_id) for name in request.asked_namespaces]

    def _behind(self, scopes: Sequence[Scope], request: Recall) -> list[str]:
        """Waits for the write that a token names; says ``behind`` when it did not get through in time."""
        if request.token is None:
            return []
        _, partition, seq = self.services.open_token(request.token)
        if partition not in {scope.partition for scope in scopes}:
            raise NotFound("the token belongs to another user or namespace")
        return [] if self.enricher.wait(partition, seq, BEHIND_SECONDS) else ["behind"]

    def _vector(self, scope: Scope, query: str) -> tuple[Vectors | None, float, list[str]]:
        """The query's vector, the milliseconds it took (0 from the cache), and what is degraded."""
        try:
            filled = self.services.index.fingerprint()
        except Unavailable as error:
            log.warning("the index is away: %s", error.detail)
            return None, 0.0, ["vector"]
        if filled not in (None, self.services.embedder.fingerprint):
            return None, 0.0, ["vector"]
        at = (scope.partition, query)
        with self._lock:
            held = self._cache.get(at)
            if held is not None:
                self._cache.move_to_end(at)
                return held, 0.0, []
        started = time.perf_counter()
        try:
            vector: Vectors = self.services.embedder.embed_queries([query])[0]
        except Exception as error:
            log.warning("the embedder is away: %s", type(error).__name__)
            return None, 0.0, ["vector"]
        with self._lock:
            self._cache[at] = vector
            while len(self._cache) > QUERY_CACHE:
                self._cache.popitem(last=False)
        return vector, (time.perf_counter() - started) * 1000, []

    # --- what is answered ---

    def _ranked(
        self, asked: Asked, profile: Profile, pool: Pool
    ) -> tuple[list[Ranked], list[str], bool, str | None]:
        """The pool's candidates, best first, what did not rerank them, whether to abstain and why."""
        query = asked.request.query
        ranked = rank(pool.candidates, profile=profile, now=asked.now, query=query)
        ranked = _distinct(ranked, said_alike(self.services, pool.memories), pool.memories)
        ranked, unread = reranked(self.services, query, ranked, pool.memories)
        return ranked, unread, *self._abstains(asked, ranked, pool)

    def _abstains(self, asked: Asked, ranked: Sequence[Ranked], pool: Pool) -> tuple[bool, str | None]:
        best = [pool.memories[item.id] for item in ranked[:5]]
        verdict = self._judged(asked, ranked, pool, best)
        if verdict[0] and any(item.text_archived and not item.content for item in best):
            # The words that a summary leaves out may be those that were asked for: before it says that it knows
            # nothing, the texts are worth fetching.
            best, whole = full_or_bare(self.services, best)
            if not whole:
                pool.degraded.append(AWAY)
            verdict = self._judged(asked, ranked, pool, best)
        return verdict

    def _judged(
        self, asked: Asked, ranked: Sequence[Ranked], pool: Pool, best: Sequence[Memory]
    ) -> tuple[bool, str | None]:
        covered = [coverage(asked.terms, set(terms_of(item))) for item in best]
        return should_abstain(
            ranked,
            pool.candidates,
            noise=self.services.embedder.noise if asked.vector is not None else None,
            best_coverage=max(covered, default=0.0),
            query=asked.request.query,
        )

    def _shown(self, top: Sequence[Ranked], pool: Pool, request: Recall) -> list[Memory]:
        """The memories of the hits, with their texts if those are wanted."""
        memories = [pool.memories[item.id] for item in top]
        if not request.include_content:
            return memories
        memories, whole = full_or_bare(self.services, memories)
        if not whole:
            pool.degraded.append(AWAY)
        return memories

    def _with_mates(
        self, asked: Asked, ranked: Sequence[Ranked], pool: Pool
    ) -> tuple[list[Ranked], list[ConflictView]]:
        """The top k; behind a disputed memory comes its counterpart, so that both sides are seen."""
        by_id, top_k = {item.id: item for item in ranked}, asked.request.top_k
        earlier = asked.request.known_at is not None
        top: list[Ranked] = []
        conflicts: dict[str, ConflictView] = {}
        for item in ranked:
            if len(top) >= top_k:
                break
            if item in top:
                continue
            top.append(item)
            memory = pool.memories[item.id]
            for conflict in open_questions(self.services.store, memory, asked.scopes, earlier=earlier):
                conflicts[conflict.id] = ConflictView.of(conflict)
                for mate in conflict.memory_ids:
                    if mate in by_id and by_id[mate] not in top and len(top) < top_k:
                        top.append(by_id[mate])
        return top, list(conflicts.values())

    def _hit(self, item: Ranked, memory: Memory, request: Recall) -> HitView:
        return HitView(
            id=memory.id,
            score=round(item.score, 6),
            parts={name: round(value, 6) for name, value in item.parts.items()},
            summary=memory.summary,
            content=(memory.content or None) if request.include_content else None,
            memory_type=memory.memory_type,
            kind=memory.kind,
            origin=memory.origin,
            audience=memory.audience,
            status=memory.status,
            namespace=memory.scope.namespace,
            user_id=memory.scope.user_id,
            importance=memory.importance,
            confidence=memory.confidence,
            created_at=memory.created_at,
            valid_from=memory.valid_from,
            valid_to=memory.valid_to,
            source=source_view(memory),
            conflicts=list(memory.conflicts),
            pending=memory.pending,
            tags=list(memory.tags),
            version=memory.version,
            metadata=dict(memory.metadata),
        )

    def _recall_id(
        self, scope: Scope, top: Sequence[Ranked], pool: Pool, request: Recall, profile: Profile, at: datetime
    ) -> str:
        payload = {
            "n": scope.namespace,
            "p": scope.partition,
            "t": to_text(at),
            "f": profile.name,
            "w": {name: round(value, 6) for name, value in profile.weights.items()},
            "k": request.top_k,
            "h": [[item.id, pool.memories[item.id].version, round(item.score, 4)] for item in top],
        }
        return seal(self.services.secret, PURPOSE, payload)


def open_recall_id(services: Services, recall_id: str) -> dict[str, Any]:
    """What a recall id vouches for: namespace ``n``, partition ``p``, time ``t``, profile ``f``, hits ``h``."""
    return unseal(services.secret, PURPOSE, recall_id, "recall_id")


def _archived(request: Recall) -> frozenset[str]:
    """The reasons for which what is archived counts from the outset: an earlier view has what is cold by now."""
    if request.include_archived:
        return PACKED
    return frozenset() if request.known_at is None and request.valid_at is None else frozenset({"cold"})


def _profile(request: Recall) -> Profile:
    profile = get_profile(request.profile)
    if request.weights is None:
        return profile
    given = {name: getattr(request.weights, name) for name in request.weights.model_fields_set - {"timezone"}}
    return with_weights(profile, given)


def _distinct(
    ranked: Sequence[Ranked], texts: Mapping[str, str], memories: Mapping[str, Memory]
) -> list[Ranked]:
    """One hit for several memories that say the same (``texts``) of the same moment."""
    seen: set[tuple[Any, ...]] = set()
    out: list[Ranked] = []
    for item in ranked:
        memory = memories[item.id]
        at = (texts[item.id], memory.valid_from, memory.source.speaker, memory.scope.namespace)
        if at not in seen:
            seen.add(at)
            out.append(item)
    return out


def _explanation(profile: Profile, rest: Sequence[Ranked], pool: Pool) -> dict[str, Any]:
    return {
        "profile": {"name": profile.name, "weights": dict(profile.weights), "decay": profile.decay},
        "next": [{"id": item.id, "score": round(item.score, 6), "parts": item.parts} for item in rest[:20]],
        "left_out": dict(list(pool.dropped.items())[:100]),
    }


__all__ = ["Recaller", "open_recall_id"]
