"""Similar: earlier decisions of a user in like situations, those just acknowledged included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.records import Decision
from rearview.domain.scope import Scope
from rearview.domain.text import identity
from rearview.domain.times import to_text
from rearview.domain.tokens import query_terms, tokenise
from rearview.errors import Unavailable
from rearview.ports import Filter, IndexQuery
from rearview.usecases.paging import all_rows
from rearview.usecases.scans import pending_of
from rearview.usecases.services import Services, log

if TYPE_CHECKING:
    from rearview.ports import Vectors

#: Cases that are counted, and how alike a situation must at least be to count.
CASES = 100
#: Candidates that engines give at most.
MOST = 10_000
ALIKE = 0.25
#: Shares of meaning and of words in the similarity of two situations.
MEANING, WORDS = 0.7, 0.3


@dataclass(frozen=True, slots=True)
class Similar:
    """A decision and how alike its situation is, 0-1."""

    decision: Decision
    similarity: float


class SimilarDecisions:
    """Finds precedents."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def find(
        self,
        scope: Scope,
        context: str,
        top_k: int,
        now: datetime,
        known_at: datetime | None,
        valid_at: datetime | None,
        agent_id: str | None = None,
    ) -> tuple[list[Similar], list[str]]:
        """Cases most alike first, and what is degraded. Those of other agents, and later ones, take no place from
        them."""
        vector, degraded = self._vector(context)
        cosines: dict[str, float | None] = {}
        try:
            answer = self.services.index.search(
                IndexQuery(
                    partitions=[scope.partition],
                    namespaces=[],
                    record="decision",
                    limit=min(MOST, max(CASES, 10 * top_k) + self._later(scope.partition, known_at)),
                    now=now,
                    agent_id=agent_id,
                    until=valid_at,
                    vector=vector,
                    text=context,
                    terms=query_terms(context),
                )
            )
            cosines = {item.id: item.vector for item in answer.candidates}
            degraded += answer.degraded
        except Unavailable:
            degraded += ["vector", "keyword"]
        waiting = [
            mark.ref for mark in pending_of(self.services.store, scope.partition) if mark.what == "decision"
        ]
        ids = list(dict.fromkeys([*cosines, *waiting]))
        bodies = self.services.store.get_many(keys.decision(scope.partition, item) for item in ids)
        decisions = [decode(Decision, body) for body in bodies.values()]
        if vector is not None:
            self._embed_waiting([item for item in decisions if cosines.get(item.id) is None], vector, cosines)
        found = []
        for decision in decisions:
            if agent_id is not None and decision.agent_id != agent_id:
                continue
            if known_at is not None and decision.created_at > known_at:
                continue
            if valid_at is not None and decision.occurred_at > valid_at:
                continue
            similarity = self._similarity(context, decision, cosines.get(decision.id))
            if similarity >= ALIKE:
                found.append(Similar(decision, similarity))
        found.sort(key=lambda item: (item.similarity, item.decision.id), reverse=True)
        return found[:CASES], sorted(set(degraded))

    def _later(self, partition: str, known_at: datetime | None) -> int:
        """How many decisions were recorded after that moment; the index does not know when it learned of them."""
        if known_at is None:
            return 0
        where = [Filter("created_at", "gt", to_text(known_at))]
        return sum(1 for _ in all_rows(self.services.store, partition, keys.DECISIONS, where))

    def _vector(self, context: str) -> tuple[Vectors | None, list[str]]:
        try:
            filled = self.services.index.fingerprint()
        except Unavailable as error:
            log.warning("the index is away: %s", error.detail)
            return None, ["vector"]
        if filled not in (None, self.services.embedder.fingerprint):
            return None, ["vector"]
        try:
            return self.services.embedder.embed_queries([context])[0], []
        except Exception as error:
            log.warning("the embedder is away: %s", type(error).__name__)
            return None, ["vector"]

    def _embed_waiting(
        self, decisions: Sequence[Decision], vector: Vectors, cosines: dict[str, float | None]
    ) -> None:
        some = decisions[:50]
        if some:
            rows = self.services.embedder.embed_passages([item.context for item in some])
            cosines |= {item.id: float(row @ vector) for item, row in zip(some, rows, strict=True)}

    def _similarity(self, context: str, decision: Decision, cosine: float | None) -> float:
        """Calibrated cosine (the model's cosine of unrelated texts counts as 0) with the overlap of words (Dice)."""
        if identity(context) == identity(decision.context):
            return 1.0
        ours, theirs = set(tokenise(context)), set(tokenise(decision.context))
        words = 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours and theirs else 0.0
        if cosine is None:
            return words
        noise = self.services.embedder.noise
        floor = 0.0 if noise is None else noise[0]
        meaning = min(1.0, max(0.0, (cosine - floor) / (1 - floor)))
        return MEANING * meaning + WORDS * words
