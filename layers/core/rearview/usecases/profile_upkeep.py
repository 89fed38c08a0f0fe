"""Profile upkeep: entries that follow from a user's memories, all of them anew or those of a few topics at once.

Entries are derived: they have no history and no ledger entry, and whatever is lost of them comes back with the next
round. Each is written with the sequence number up to which the user's memories had been read; what was reckoned from
less never takes the place of what was reckoned from more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.domain.mentions import Mentions, Topic, collect, lasting, topics_of
from rearview.domain.policy import ProfileRules
from rearview.domain.profile import entry
from rearview.domain.records import Conflict
from rearview.domain.sayings import rules_stamp, sayings_of
from rearview.domain.scope import Scope
from rearview.domain.times import optional_text, to_text
from rearview.ports import Filter
from rearview.usecases.past import history_of
from rearview.usecases.profile_shelf import Plan, ProfileShelf, Step, digest_of, portions
from rearview.usecases.scans import memories_of
from rearview.usecases.services import Services
from rearview.usecases.texts import user_key

#: Things that one choice is told apart by at most, the latest ones: they are written in one transaction.
THINGS = 30
#: Memories that are remembered to have spoken of a topic lately, for each task of the window, and at most.
TASKS, MOST = 4, 200
#: Kinds that say what the user wants: what they speak of is reckoned as soon as they are enriched.
_WANTS = frozenset({"preference", "correction", "instruction"})
_LASTING = Filter("memory_type", "in", ["short_term", "long_term"])


@dataclass(slots=True)
class Refreshed:
    """What a round did; ``done`` False: it was asked to stop and goes on when it is called again."""

    steps: list[Step] = field(default_factory=list)
    done: bool = True


class ProfileKeeper:
    """Writes and removes profile entries."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.shelf = ProfileShelf(services.store)

    def refresh(
        self,
        scope: Scope,
        rules: ProfileRules,
        as_of: datetime,
        stop: Callable[[], bool] = lambda: False,
        *,
        dry_run: bool = False,
    ) -> Refreshed:
        """All entries of a user anew. Reads two items where nothing has changed since; a repeat changes nothing."""
        store, partition = self.services.store, scope.partition
        head = store.get(keys.head(partition))
        if head is None or store.get(keys.Key(partition, keys.USER_KEY)) is None:
            return Refreshed()
        about = [rules.window, rules.threshold, rules_stamp(self.services.rules.slots)]
        state = store.get(keys.profile_state(partition))
        same = state is not None and state["seq"] == head["seq"] and state["about"] == about
        if state is not None and same and (state["until"] is None or to_text(as_of) < state["until"]):
            return Refreshed()
        memories = [item for item in memories_of(store, partition, [_LASTING]) if lasting(item)]
        plans = self._plans(scope, memories, rules, as_of)
        plans += self.shelf.rest(partition, plans)
        answer = Refreshed()
        for number, some in enumerate(portions(plans)):
            if number and stop():
                answer.done = False
                return answer
            answer.steps += self.shelf.write(scope, some, head["seq"], as_of, dry_run=dry_run)
        if not dry_run:
            ends = [end for item in memories for end in (item.expires_at, item.valid_to)]
            until = min((end for end in ends if end is not None and end > as_of), default=None)
            self.shelf.remember(
                partition,
                {"seq": head["seq"], "about": about, "until": optional_text(until), "at": to_text(as_of)},
            )
        return answer

    def touch(self, partition: str, records: Iterable[Memory]) -> None:
        """The entries that memories of one user which were just written or changed speak of, if they say what the user
        wants; all others wait for the daily round."""
        rules = self.services.rules.slots
        topics: dict[Topic, set[str]] = {}
        scope: Scope | None = None
        for memory in records:
            if not lasting(memory) or memory.evidence:
                continue
            said = sayings_of(memory, rules)
            if memory.kind in _WANTS or any(item.habit or item.switch for item in said):
                scope = memory.scope
                for item in said:
                    for topic in topics_of(memory, item):
                        topics.setdefault(topic.family, set()).add(memory.id)
        if scope is None or not topics:
            return
        policy = self.services.policies.of(scope.namespace).profile
        now = self.services.now()
        head = self.services.store.get(keys.head(partition))
        if head is None:
            return
        if self.services.store.get(keys.profile_state(partition)) is None:
            self.refresh(scope, policy, now)
            return
        self._touch(scope, topics, policy, head["seq"], now)

    # --- inside ---

    def _touch(
        self, scope: Scope, topics: Mapping[Topic, set[str]], policy: ProfileRules, seq: int, now: datetime
    ) -> None:
        store, partition = self.services.store, scope.partition
        key = user_key(store, partition)
        digests = {family: digest_of(key, family) for family in topics}
        tails = store.get_many([keys.saying(partition, digest) for digest in digests.values()]).values()
        # What only facts spoke of has no record of who did: the entry names some of them.
        entries = {*digests.values(), *(item for tail in tails for item in tail["entries"])}
        known = store.get_many([keys.profile_entry(partition, digest) for digest in entries]).values()
        ids = {item for some in topics.values() for item in some}
        ids |= {item for tail in tails for item in tail["ids"]}
        ids |= {item for body in known for item in body["evidence"]}
        plans = self._plans(scope, self._with_successors(partition, ids), policy, now, frozenset(topics))
        there = {plan.digest for plan in plans}
        plans += [Plan(digest, {digest: None}, ()) for digest in digests.values() if digest not in there]
        for some in portions(plans):
            self.shelf.write(scope, some, seq, now)

    def _with_successors(self, partition: str, ids: set[str]) -> list[Memory]:
        """The memories, and those that took their place."""
        found: dict[str, Memory] = {}
        wanted = set(ids)
        while wanted:
            bodies = self.services.store.get_many([keys.memory(partition, item) for item in wanted])
            for body in bodies.values():
                memory = decode(Memory, body)
                found[memory.id] = memory
            after = {other for item in found.values() for other in (item.merged_into, item.superseded_by)}
            wanted = {item for item in after if item is not None and item not in found} - wanted
        return [item for item in found.values() if lasting(item)]

    def _plans(
        self,
        scope: Scope,
        memories: Sequence[Memory],
        rules: ProfileRules,
        as_of: datetime,
        only: frozenset[Topic] | None = None,
    ) -> list[Plan]:
        slots = self.services.rules.slots
        said = collect(memories, slots, as_of, self._corrected(memories), only)
        conflicts = self._conflicts(scope.partition, memories)
        wanting = {item.id for item in memories if item.kind in _WANTS}
        key = user_key(self.services.store, scope.partition)
        families: dict[Topic, dict[Topic, Mentions]] = {}
        for topic, mentions in said.items():
            families.setdefault(topic.family, {})[topic] = mentions
        plans = []
        for family, members in families.items():
            latest = sorted(members, key=lambda one: _latest(members[one]), reverse=True)[:THINGS]
            entries = {
                digest_of(key, topic): entry(topic, members[topic], rules, conflicts) for topic in latest
            }
            spoke = {item for mentions in members.values() for item in mentions.memory_ids}
            kept = family.tag or family.slot in slots.habits or spoke & wanting
            plans.append(Plan(digest_of(key, family), entries, _lately(spoke, rules) if kept else ()))
        return plans

    def _corrected(self, memories: Sequence[Memory]) -> dict[str, datetime]:
        """When the user reworded a memory that says something by slot."""
        times: dict[str, datetime] = {}
        for memory in memories:
            if (
                not memory.corrected
                or memory.version == 1
                or not sayings_of(memory, self.services.rules.slots)
            ):
                continue
            rows = history_of(self.services.store, memory.scope.partition, memory.id)
            for before, after in pairwise(rows):
                if before.memory.content_hash != after.memory.content_hash:
                    times[memory.id] = after.known_from
        return times

    def _conflicts(self, partition: str, memories: Sequence[Memory]) -> list[Conflict]:
        wanted = {item for memory in memories for item in memory.conflicts}
        found = self.services.store.get_many([keys.conflict(partition, item) for item in sorted(wanted)])
        return [decode(Conflict, body) for body in found.values()]


def _latest(mentions: Mentions) -> tuple[datetime, datetime]:
    """When a topic was spoken of last; before all others if it was only ended."""
    return mentions.of[-1].place if mentions.of else min(mentions.starts)


def _lately(ids: Iterable[str], rules: ProfileRules) -> tuple[str, ...]:
    """The newest of the memories that spoke of a family: ids sort by time."""
    return tuple(sorted(ids, reverse=True)[: min(MOST, TASKS * rules.window)])
