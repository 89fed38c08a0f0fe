"""The weekly task that turns like episodes into one long-term memory; see ``usecases/consolidation.py`` for its steps.

Existing abstractions are settled first, then what is new joins them, then new groups are formed. Cosines are computed in
blocks from the vectors that the index holds; texts are fetched and judged only of episodes that are near another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rearview.domain import keys
from rearview.domain.consolidation import MOST, Episode, alike, group, near, rooms
from rearview.domain.consolidation_reading import profile
from rearview.domain.memory import Memory
from rearview.domain.runs import Cadence
from rearview.domain.types import LIVE
from rearview.usecases import cold
from rearview.usecases.consolidation import WITHDRAWN, Consolidator, turn_of
from rearview.usecases.evidence import is_episode
from rearview.usecases.maintenance.nearness import bags, close, pairs, spread, stacked, touching
from rearview.usecases.maintenance.task import Job, Result
from rearview.usecases.scans import memories_of
from rearview.usecases.services import Services

if TYPE_CHECKING:
    from rearview.usecases.maintenance.nearness import Matrix

#: Episodes of one user that are compared in one run, the latest ones.
EPISODES: Final = 3000
#: Members of an abstraction that something new is held against.
HELD_AGAINST: Final = 40


@dataclass(frozen=True, slots=True)
class Field:
    """The candidates of one user: memory, episode and row of ``vectors`` (n, dims) by id; ``floor``: what is near."""

    memories: Mapping[str, Memory]
    episodes: Mapping[str, Episode]
    row: Mapping[str, int]
    vectors: Matrix
    floor: float


class ConsolidateTask:
    """Implements :class:`rearview.usecases.maintenance.task.Task`."""

    name: str = "consolidate"
    cadence: Cadence = "weekly"

    def __init__(self, services: Services) -> None:
        self.services = services
        self.steps = Consolidator(services)

    def run(self, job: Job, stop: Callable[[], bool]) -> Result:
        """See :class:`rearview.usecases.maintenance.task.Task`."""
        result = Result()
        if not job.dry_run:
            cold.resume(self.services, job.scope, stop=stop)
            self._settle(job, result, stop)
        if result.done and job.policy.consolidation.enabled:
            turn = turn_of(self.services.store, job.scope.partition)
            known = list(memories_of(self.services.store, job.scope.partition))
            field = self._field(job, known)
            if field is not None:
                left = self._join(job, known, field, result, stop)
                if result.done:
                    self._form(job, left, field, turn, result, stop)
        return result

    # --- what is there already ---

    def _settle(self, job: Job, result: Result, stop: Callable[[], bool]) -> None:
        known = list(memories_of(self.services.store, job.scope.partition))
        bearers = {
            item.consolidated_into for item in known if item.consolidated_into and item.status == "archived"
        }
        for memory_id in sorted(bearers | {item.id for item in known if item.evidence}):
            if stop():
                result.done = False
                return
            memory = next((item for item in known if item.id == memory_id), None)
            if memory_id not in bearers and memory is not None and self._over(memory):
                continue
            smallest = job.policy.consolidation.smallest_group
            became = self.steps.settle(job.scope, memory_id, smallest, known)
            if became in ("revised", "withdrawn"):
                result.note(became, (memory_id,), "its evidence changed")
            elif became == "released" and memory_id in bearers:
                result.note(became, (memory_id,), "its episodes came back")

    def _over(self, memory: Memory) -> bool:
        """Whether it was deleted, and all that follows from it is done."""
        at = keys.unwanted(memory.scope.partition, memory.id)
        done = memory.deleted_because == WITHDRAWN or self.services.store.get(at) is not None
        return memory.status == "deleted" and done

    # --- what is new ---

    def _field(self, job: Job, known: Sequence[Memory]) -> Field | None:
        import numpy as np

        candidates = [item for item in known if is_episode(item) and item.created_at <= job.as_of]
        candidates = sorted(candidates, key=lambda item: (item.created_at, item.id))[-EPISODES:]
        services = self.services
        if not candidates or services.index.fingerprint() != services.embedder.fingerprint:
            return None  # a model change is under way: vectors of two models do not compare
        found = services.index.vectors([item.id for item in candidates])
        candidates = [item for item in candidates if item.id in found]
        if not candidates:
            return None
        vectors = stacked([found[item.id] for item in candidates])
        floor = near(services.embedder.noise or spread(vectors))
        # A summary stands for a text that lies in the archive: fetched are only those that may have a like.
        words = bags([item.gist for item in candidates])
        kept = close(vectors, floor, words) | np.array([item.confirmations > 0 for item in candidates])
        bases = [_base(item) for item in known if item.evidence and item.status in LIVE]
        if bases:
            kept |= touching(words, bags(bases))
        at = np.flatnonzero(kept)
        candidates, vectors = [candidates[number] for number in at], vectors[at]
        told = self.steps.tellings.episodes(job.scope, candidates, known)
        return Field(
            {item.id: item for item in candidates},
            {item.id: item for item in told},
            {item.id: at for at, item in enumerate(candidates)},
            vectors,
            floor,
        )

    def _join(
        self,
        job: Job,
        known: Sequence[Memory],
        field: Field,
        result: Result,
        stop: Callable[[], bool],
    ) -> list[Episode]:
        """Episodes that are like all those of an abstraction join it; answers the others.

        Only abstractions from before this run: what a run makes must not depend on where it was interrupted.
        """
        rules, left = self.services.rules.slots, dict(field.episodes)
        by_id = {item.id: item for item in known}
        for memory in known:
            if not memory.evidence or memory.status not in LIVE or memory.created_at >= job.as_of:
                continue
            members = [by_id[item] for item in memory.evidence if item in by_id]
            if len(members) >= MOST:
                continue
            if stop():
                result.done = False
                break
            base = set(profile(_base(memory), memory.valid_from, rules).keys)
            some = [
                item
                for item in left.values()
                if item.id not in memory.evidence
                and len(base & set(profile(item.text, item.at, rules).keys)) >= len(base) / 2
            ]
            if not some:
                continue
            shown = members[: HELD_AGAINST // 2] + members[HELD_AGAINST // 2 :][-HELD_AGAINST // 2 :]
            told = self.steps.tellings.episodes(job.scope, shown, known)
            more = [item for item in some if all(alike(item, one, rules) for one in told)][
                : MOST - len(members)
            ]
            if not more:
                continue
            for item in more:
                del left[item.id]
            ids = tuple(item.id for item in more)
            if job.dry_run or self.steps.extend(
                job.scope,
                memory.id,
                [field.memories[item] for item in ids],
                job.policy.consolidation.smallest_group,
            ):
                reason = f"like the episodes behind it: {_figures(more)}"
                result.note("joined", (memory.id, *ids), reason, f"DELETE /v1/memories/{memory.id}")
        return list(left.values())

    def _form(
        self,
        job: Job,
        episodes: Sequence[Episode],
        field: Field,
        turn: int,
        result: Result,
        stop: Callable[[], bool],
    ) -> None:
        smallest = job.policy.consolidation.smallest_group
        unwanted, rules = self._unwanted(job), self.services.rules.slots
        for room in rooms(episodes, rules):
            if sum(item.count for item in room) < smallest:
                continue
            at = [field.row[item.id] for item in room]
            words = bags([profile(item.text, item.at, rules).core for item in room])
            linked = pairs(field.vectors[at], words, [item.id for item in room], field.floor)
            for some in group(room, linked, rules, smallest):
                ids = tuple(item.id for item in some)
                if _taken_back(some, unwanted, smallest):
                    continue
                if stop():
                    result.done = False
                    return
                made: str | None = ids[0]
                if not job.dry_run:
                    both = [(field.memories[item.id], item) for item in some]
                    made, turn = self.steps.form(job.scope, both, smallest, turn)
                if made is not None:
                    undo = None if job.dry_run else f"DELETE /v1/memories/{made}"
                    reason = f"like episodes: {_figures(some)}"
                    result.note("consolidated", ids if job.dry_run else (made, *ids), reason, undo)

    def _unwanted(self, job: Job) -> list[frozenset[str]]:
        page = self.services.store.query(job.scope.partition, keys.UNWANTED)
        return [frozenset(body["evidence"]) for _, body in page.items]


def _base(memory: Memory) -> str:
    held = memory.metadata.get("consolidation")
    return str(held.get("base", memory.content)) if isinstance(held, dict) else memory.content


def _taken_back(some: Sequence[Episode], unwanted: Sequence[frozenset[str]], smallest: int) -> bool:
    """Whether the user took this group back once: then as much new evidence is needed as makes a group by itself."""
    ids = {item.id for item in some}
    for evidence in unwanted:
        if ids & evidence and sum(item.count for item in some if item.id not in evidence) < smallest:
            return True
    return False


def _figures(episodes: Sequence[Episode]) -> str:
    """What a report says of episodes. No word of theirs: it is kept longer than they may be, and read by those who may not
    read them."""
    times = sorted(at for item in episodes for at in (item.times or (item.at,)))
    return f"{sum(item.count for item in episodes)} times, {times[0]:%Y-%m-%d} to {times[-1]:%Y-%m-%d}"
