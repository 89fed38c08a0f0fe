"""Covering: how far what a memory says is said by another, more valuable one of the same user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rearview.domain import keys
from rearview.domain.chunks import chunk
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.domain.relations import relate
from rearview.domain.tokens import query_terms, tokenise
from rearview.domain.types import LIVE
from rearview.errors import Unavailable
from rearview.ports import IndexQuery
from rearview.usecases.services import Services, log

if TYPE_CHECKING:
    from rearview.ports import Vectors

#: Neighbours by meaning and by words that a memory is held against.
NEIGHBOURS = 10
#: Shares of meaning and of words in how far one memory covers another.
MEANING, WORDS = 0.7, 0.3
#: Below ``COVERS`` two memories are about the same thing at most; below ``NEAR`` they are not even read together.
COVERS, NEAR = 0.5, 0.3


@dataclass(frozen=True, slots=True)
class Cover:
    """How far a memory is covered, 0-1, and by which one."""

    share: float = 0.0
    by: str | None = None


class Coverer:
    """Looks for covers in the index."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def covers(self, memories: Sequence[Memory], worth: Mapping[str, float]) -> list[Cover]:
        """The cover of each. ``worth``: id → value of the memories of this user that may cover; of two that say the
        same only the more valuable one does (of equals the later one), so that never both are covered."""
        vectors = self._vectors(memories)
        return [self._one(item, vector, worth) for item, vector in zip(memories, vectors, strict=True)]

    def _vectors(self, memories: Sequence[Memory]) -> list[Vectors | None]:
        """The vector of each one's text, or summary where the text is archived; without a model words decide."""
        services = self.services
        # Without the day and speaker in front: two memories of one day do not say the same for that.
        texts = [chunk(item.gist, max_chars_weight=services.embedder.max_weight)[0] for item in memories]
        try:
            if services.index.fingerprint() not in (None, services.embedder.fingerprint):
                return [None] * len(texts)
            return list(services.embedder.embed_passages(texts)) if texts else []
        except Exception as error:
            log.warning("covers are judged by words alone: %s", type(error).__name__)
            return [None] * len(texts)

    def _one(self, memory: Memory, vector: Vectors | None, worth: Mapping[str, float]) -> Cover:
        partition = memory.scope.partition
        said = memory.gist
        try:
            answer = self.services.index.search(
                IndexQuery(
                    partitions=[partition],
                    namespaces=[],
                    record="memory",
                    limit=NEIGHBOURS,
                    now=self.services.now(),
                    vector=vector,
                    text=said,
                    terms=query_terms(said),
                    statuses=sorted(LIVE),
                    exclude=[memory.id],
                )
            )
        except Unavailable as error:
            log.warning("nothing is taken for covered: %s", error.detail)
            return Cover()
        mine = (worth.get(memory.id, 0.0), memory.id)
        cosines = {
            item.id: item.vector
            for item in answer.candidates
            if item.id in worth and (worth[item.id], item.id) > mine
        }
        found = self.services.store.get_many(keys.memory(partition, item) for item in cosines)
        terms = set(tokenise(said))
        best = Cover()
        for body in found.values():
            other = decode(Memory, body)
            share = self._share(memory, terms, other, cosines[other.id])
            if share >= COVERS and share > best.share:
                best = Cover(share, other.id)
        return best

    def _share(self, memory: Memory, terms: set[str], other: Memory, cosine: float | None) -> float:
        """Calibrated cosine with the share of the memory's words that the other one holds, as far as it holds the same
        names and numbers too. What contradicts covers nothing, what says the same or more all of it."""
        said, theirs = memory.gist, other.gist
        share = len(terms & set(tokenise(theirs))) / len(terms) if terms else 0.0
        noise = self.services.embedder.noise
        if cosine is not None and noise is not None:
            # What unrelated texts reach now and then counts as nothing; of a model that is not measured, words decide.
            floor = noise[0] + 2 * noise[1]
            share = MEANING * min(1.0, max(0.0, (cosine - floor) / (1 - floor))) + WORDS * share
        if share < NEAR:
            return 0.0
        relation = relate(theirs, said, rules=self.services.rules.slots).relation
        if relation == "contradiction":
            return 0.0
        if relation in ("duplicate", "contained"):
            return 1.0
        names = set(memory.entities)
        return share * len(names & set(other.entities)) / len(names) if names else share
