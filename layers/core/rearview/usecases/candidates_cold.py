"""Candidates that are cold: searched in their packs, and ranked beside the hot ones as if one index held them all.

Meaning is compared exactly. Words are another matter: raw keyword scores of two engines, or of one engine over two
collections, do not compare. When cold candidates join, the keyword score of all of them, the hot ones' too, is computed
by the domain's BM25 over one base of statistics: the packs' documents and the hot candidates. Then each arm keeps its
best, as a single index would have done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rearview.domain import keys
from rearview.domain.bm25 import Words, joint_scores
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.domain.tokens import query_terms
from rearview.errors import Unavailable
from rearview.ports import Scored
from rearview.usecases.candidates import Asked, Pool, candidate
from rearview.usecases.indexing import contexts, terms_of
from rearview.usecases.packing import slots_of
from rearview.usecases.packs import Entry, Pack, load_all
from rearview.usecases.services import Services, told
from rearview.usecases.texts import AWAY, full_or_bare
from rearview.usecases.waking import sleeps

if TYPE_CHECKING:
    from rearview.ports import Vectors


@dataclass(slots=True)
class _Found:
    """An entry of a pack with its scores."""

    partition: str
    entry: Entry
    vector: float | None
    keyword: float | None


_Place = tuple[str, str, str]


def _place(item: _Found) -> _Place:
    return item.partition, item.entry.id, item.entry.digest


#: A score, the id that it belongs to, and the entry if that lies in a pack.
_Row = tuple[float, str, _Found | None]


@dataclass(slots=True)
class _Search:
    """What of some packs still stands: the records of the entries that were looked at, None where one does not count."""

    services: Services
    fits: Callable[[Memory], bool]
    memories: dict[_Place, Memory | None] = field(default_factory=dict)

    def best(self, rows: list[_Row], limit: int) -> list[_Row]:
        """The best ``limit`` of hot and cold together; whether a cold one counts is looked up before the limit."""
        rows.sort(key=lambda row: row[:2], reverse=True)
        out: list[_Row] = []
        for start in range(0, len(rows), limit):
            some = rows[start : start + limit]
            self._look(item for _, _, item in some if item is not None)
            out += [row for row in some if row[2] is None or self.memory(row[2]) is not None]
            if len(out) >= limit:
                break
        return out[:limit]

    def memory(self, item: _Found) -> Memory | None:
        """The record of an entry that counts."""
        return self.memories.get(_place(item))

    def _look(self, some: Iterable[_Found]) -> None:
        fresh = {
            keys.memory(item.partition, item.entry.id): item
            for item in some
            if _place(item) not in self.memories
        }
        bodies = self.services.store.get_many(fresh) if fresh else {}
        for at, item in fresh.items():
            body = bodies.get(at)
            memory = decode(Memory, body) if body is not None and body["status"] == "archived" else None
            stands = memory is not None and item.entry.of(memory) and self.fits(memory)
            self.memories[_place(item)] = memory if stands else None


def join(services: Services, asked: Asked, pool: Pool) -> bool:
    """Adds the cold candidates to a pool of hot ones; whether there were any packs to look in.

    A pack that cannot be had is told as ``archive`` in ``degraded``; one of another embedding model is searched by words.
    """
    packs, whole = load_all(services, [scope.partition for scope in asked.scopes])
    if not whole:
        pool.degraded.append(AWAY)
    if not packs:
        return False
    hot = [item for item in pool.candidates if not item.pending]
    words = _words(services, [pool.memories[item.id] for item in hot], asked.terms)
    *cold_words, hot_words = joint_scores([*(pack.words for _, pack in packs), words], asked.terms)
    vector = None if "vector" in pool.degraded else asked.vector
    cold = _scored(services, packs, vector, cold_words)
    search = _Search(services, lambda memory: asked.why_not(memory) is None)
    near: list[_Row] = [(item.vector, item.id, None) for item in hot if item.vector is not None]
    near += [(item.vector, item.entry.id, item) for item in cold if item.vector is not None]
    worded: list[_Row] = [(score, hot[number].id, None) for number, score in hot_words.items()]
    worded += [(item.keyword, item.entry.id, item) for item in cold if item.keyword is not None]
    near, worded = search.best(near, asked.limit), search.best(worded, asked.limit)
    # As in one engine's answer: who is not among the best by words has no keyword score.
    scores = {one: score for score, one, _ in worded}
    kept = {one: item for _, one, item in [*near, *worded]}
    candidates = [replace(item, keyword=scores.get(item.id)) for item in hot if item.id in kept]
    for one, item in kept.items():
        memory = None if item is None else search.memory(item)
        if item is None or memory is None:
            continue
        memory = pool.memories[one] = replace(memory, content=item.entry.text, text_archived=False)
        pool.dropped.pop(one, None)
        scored = Scored(one, item.partition, item.vector, scores.get(one))
        candidates.append(candidate(memory, scored, pending=False, coverage=0.0))
    pool.candidates = [*candidates, *(item for item in pool.candidates if item.pending)]
    return True


def revive(
    services: Services, asked: Asked, memories: Sequence[Memory], pool: Pool
) -> tuple[list[Memory], dict[str, float]]:
    """States of memories with the texts that packs hold of them, and the cosines of those that say the same there."""
    packs, whole = load_all(services, [scope.partition for scope in asked.scopes])
    if not whole:
        pool.degraded.append(AWAY)
    held = {
        item.entry.id: item
        for item in _scored(services, packs, asked.vector, [{} for _ in packs])
    }  # fmt: skip
    out: list[Memory] = []
    cosines: dict[str, float] = {}
    for memory in memories:
        item = held.get(memory.id)
        same = item is not None and (
            memory.text_digest == item.entry.digest
            if memory.text_archived
            else memory.content == item.entry.text
        )
        if item is None or not same:
            out.append(memory)
            continue
        out.append(replace(memory, content=item.entry.text, text_archived=False))
        if item.vector is not None:
            cosines[memory.id] = item.vector
    return out, cosines


def neighbours(services: Services, memory: Memory, vectors: Vectors | None, limit: int) -> list[Memory]:
    """Cold memories of the same user, with their texts, that a new one may repeat or contradict: the nearest by meaning
    and by words, and all that claim something of the same subject and slot. Raises Unavailable while the archive is away."""
    packs, _ = load_all(services, [memory.scope.partition], patient=True)
    if not packs:
        return []
    scores = joint_scores([pack.words for _, pack in packs], query_terms(memory.content))
    found = _scored(services, packs, None if vectors is None else vectors[0], scores)
    search = _Search(services, sleeps)
    slots = {tuple(pair) for pair in slots_of(services, memory.content)}
    arms: list[list[_Row]] = [
        search.best([(item.vector, item.entry.id, item) for item in found if item.vector is not None], limit),
        search.best(
            [(item.keyword, item.entry.id, item) for item in found if item.keyword is not None], limit
        ),
        search.best(
            [
                (0.0, item.entry.id, item)
                for item in found
                if slots and any(tuple(pair) in slots for pair in item.entry.slots)
            ],
            len(found),
        ),
    ]
    out: dict[str, Memory] = {}
    for _, one, item in [row for arm in arms for row in arm]:
        old = None if item is None else search.memory(item)
        if item is not None and old is not None:
            out[one] = replace(old, content=item.entry.text, text_archived=False)
    return list(out.values())


def _scored(
    services: Services,
    packs: Sequence[tuple[str, Pack]],
    vector: Vectors | None,
    words: Sequence[Mapping[int, float]],
) -> list[_Found]:
    found: list[_Found] = []
    for (partition, pack), scores in zip(packs, words, strict=True):
        ours = vector is not None and pack.fingerprint == services.embedder.fingerprint
        cosines = pack.cosines(vector) if ours and vector is not None else {}
        found += [
            _Found(partition, entry, cosines.get(number), scores.get(number))
            for number, entry in enumerate(pack.entries)
        ]
    return found


def _words(services: Services, memories: Sequence[Memory], terms: Sequence[str]) -> Words:
    """The words of hot candidates as the index has them, as far as ``terms`` are concerned. Each memory is counted once
    for as long as it stays as it is."""
    counts = {item.id: services.words.get((item.id, item.version)) for item in memories}
    fresh = [item for item in memories if counts[item.id] is None]
    if fresh:
        whole, _ = full_or_bare(services, fresh)
        try:
            before = contexts(services, fresh)
        except Unavailable as error:
            told("what was said before these memories cannot be had", error)
            before = {}
        for item in whole:
            counted: dict[str, int] = Counter(terms_of(item, before.get(item.id, ())))
            # Under a name that no term has.
            counts[item.id] = {**counted, "": sum(counted.values())}
            if item.content:
                services.words.put((item.id, item.version), counts[item.id] or {})
    held = [counts[item.id] or {} for item in memories]
    postings = {
        term: [part for number, one in enumerate(held) if term in one for part in (number, one[term])]
        for term in dict.fromkeys(terms)
    }
    return Words([one.get("", 0) for one in held], postings)
