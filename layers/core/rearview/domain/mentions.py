"""Mentions: each time that a user's memories said something of one topic, in order. Pure.

A task is a session; a memory or repetition without one is a task of its own. In one task the latest mention counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from rearview.domain.claims_rules import SlotRules
from rearview.domain.memory import REPEATS_KEPT, Memory, Said
from rearview.domain.sayings import sayings_of
from rearview.domain.text import identity
from rearview.domain.types import LIVE

_TYPED = re.compile(r"(?<!\S)=[a-z_]+:")
_LASTING = ("short_term", "long_term")
#: When something was said, then when it was written.
Place = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True, order=True)
class Topic:
    """What an entry is about: a slot of a subject or a tag of the user's preferences. ``item``: the value itself where
    the slot holds many ("likes": coffee), so that what is counted is yes or no."""

    subject: str
    slot: str
    tag: str = ""
    item: str = ""

    @property
    def family(self) -> Topic:
        """What is reckoned together: one choice about several things ("sort order: order", "sort order: file")."""
        return Topic(self.subject, self.slot.partition(": ")[0], self.tag, self.item)

    @property
    def key(self) -> str:
        """The topic as one text for people and programs."""
        if self.tag:
            return f"tag: {self.tag}"
        name = self.slot if self.subject == "user" else f"{self.subject}: {self.slot}"
        return f"{name}: {plain_keys(self.item)}" if self.item else name


@dataclass(frozen=True, slots=True)
class Mention:
    """One time that a value was said. ``place`` orders mentions: when it was said, then when it was written."""

    place: Place
    task: str
    value: str
    raw: str
    denied: bool
    memory_id: str
    origin: str
    switch: bool = False
    confirms: bool = False

    @property
    def said(self) -> tuple[str, bool]:
        """What is counted."""
        return self.value, self.denied


@dataclass(frozen=True, slots=True)
class Mentions:
    """Everything that is said of one topic, in order; ``starts``: places from which it is counted anew."""

    of: tuple[Mention, ...]
    starts: tuple[Place, ...] = ()
    memory_ids: frozenset[str] = frozenset()


def plain_keys(value: str) -> str:
    """A canonical value without the marks of typed values: "=n:41" is 41."""
    return _TYPED.sub("", value)


def topics_of(memory: Memory, said: Said) -> tuple[Topic, ...]:
    """The topics that one saying of a memory belongs to; none for a whole preference without a tag."""
    if said.slot:
        return (Topic(said.subject, said.slot, item="" if said.single else said.value),)
    if memory.kind != "preference":
        return ()
    return tuple(dict.fromkeys(Topic("user", "", identity(tag).casefold()) for tag in memory.tags))


def lasting(memory: Memory) -> bool:
    """Whether a memory is of the sort that a profile rests on: what lasts, of this user alone."""
    return memory.memory_type in _LASTING and memory.audience == "user"


def collect(
    memories: Iterable[Memory],
    rules: SlotRules,
    as_of: datetime,
    corrected: Mapping[str, datetime] | None = None,
    only: frozenset[Topic] | None = None,
) -> dict[Topic, Mentions]:
    """What the memories of one user say by topic (``only`` those of these families, if given).

    Live memories count, and archived ones unless they were blamed; a merged one counts as long as what it was merged
    into does; a superseded one as the past, which what superseded it ended. Of a consolidated memory its episodes
    count, not it. ``corrected``: memory id → when the user reworded it.
    """
    by_id = {memory.id: memory for memory in memories}
    mentions: defaultdict[Topic, list[Mention]] = defaultdict(list)
    starts: defaultdict[Topic, list[Place]] = defaultdict(list)
    involved: defaultdict[Topic, set[str]] = defaultdict(set)
    merges: defaultdict[str, int] = defaultdict(int)
    for memory in by_id.values():
        if memory.merged_into is not None and memory.status == "merged":
            merges[memory.merged_into] += 1 + memory.confirmations
    for memory in by_id.values():
        stands = _stands(memory, by_id, as_of)
        if stands is None:
            continue
        end = _ended(stands, by_id, as_of)
        for said in sayings_of(memory, rules):
            over = memory.valid_to is not None and memory.valid_to <= as_of
            if over and not said.habit and memory.status != "superseded":
                continue
            for topic in topics_of(memory, said):
                if only is not None and topic.family not in only:
                    continue
                if end is not None:
                    starts[topic].append(end)
                elif stands.status == "superseded":
                    continue
                involved[topic].add(memory.id)
                mentions[topic] += _mentions(
                    memory, said, stands.id, (corrected or {}).get(memory.id), merges[memory.id]
                )
    return _joined(
        {
            topic: Mentions(
                tuple(sorted(mentions[topic], key=lambda item: item.place)),
                tuple(starts[topic]),
                frozenset(involved[topic]),
            )
            for topic in {**mentions, **starts}
        }
    )


def _joined(found: dict[Topic, Mentions]) -> dict[Topic, Mentions]:
    """A choice that does not say about what ("sort by date") is about the one thing of which it is made otherwise, if
    there is just one; else it stands for itself."""
    members: defaultdict[Topic, list[Topic]] = defaultdict(list)
    for topic in found:
        if topic != topic.family:
            members[topic.family].append(topic)
    for family, topics in members.items():
        if family in found and len(topics) == 1:
            one, other = found[topics[0]], found.pop(family)
            found[topics[0]] = Mentions(
                tuple(sorted((*one.of, *other.of), key=lambda item: item.place)),
                one.starts + other.starts,
                one.memory_ids | other.memory_ids,
            )
    return found


def _mentions(
    memory: Memory, said: Said, evidence: str, corrected_at: datetime | None, merges: int
) -> Iterable[Mention]:
    at = memory.valid_from if corrected_at is None else max(memory.valid_from, corrected_at)
    switch = said.switch or memory.kind == "correction" or corrected_at is not None

    def mention(place: Place, task: str, *, confirms: bool) -> Mention:
        return Mention(
            place=place,
            task=task,
            value=said.value,
            raw=said.raw,
            denied=not said.polarity,
            memory_id=evidence,
            origin=memory.origin,
            switch=switch,
            confirms=confirms,
        )

    own = _task(memory.session_id or memory.source.session_id, memory.id)
    yield mention((at, memory.created_at), own, confirms=False)
    for number, repeat in enumerate(memory.repeats):
        task = _task(repeat.session_id, f"{memory.id}#{number}")
        yield mention((repeat.at, repeat.written_at or repeat.at), task, confirms=True)
    # Confirmed otherwise (by settling a conflict): of those only the last has a date.
    others = memory.confirmations - len(memory.repeats) - merges
    at = memory.last_confirmed_at or at
    if others > 0 and len(memory.repeats) < REPEATS_KEPT:
        yield mention((at, at), f"m#{memory.id}#", confirms=True)


def _task(session_id: str | None, own: str) -> str:
    return f"m#{own}" if session_id is None else f"s#{session_id}"


def _stands(memory: Memory, by_id: Mapping[str, Memory], as_of: datetime) -> Memory | None:
    """The memory as whose evidence this one counts: itself, or what it was merged into; None if it does not count."""
    seen = set()
    while memory.status == "merged" and memory.merged_into is not None:
        if memory.id in seen or memory.merged_into not in by_id:
            return None
        seen.add(memory.id)
        memory = by_id[memory.merged_into]
    return memory if _counts(memory, by_id, as_of) else None


def _counts(memory: Memory, by_id: Mapping[str, Memory], as_of: datetime) -> bool:
    if not lasting(memory) or memory.expired(as_of):
        return False
    if memory.evidence and any(item in by_id for item in memory.evidence):
        return False
    if memory.status == "archived":
        return memory.archived_because != "blame"
    return memory.status in LIVE or memory.status == "superseded"


def _ended(memory: Memory, by_id: Mapping[str, Memory], as_of: datetime) -> Place | None:
    """From where on a topic of a superseded memory counts anew: from what superseded it, if that came later."""
    if memory.status != "superseded" or memory.superseded_by is None:
        return None
    winner = by_id.get(memory.superseded_by)
    if winner is None or _stands(winner, by_id, as_of) is None:
        return None
    place = (winner.valid_from, winner.created_at)
    return place if place > (memory.valid_from, memory.created_at) else None


def since_switch(mentions: Mentions) -> list[Mention]:
    """The mentions since the last explicit switch, which is the first of them."""
    since = max(
        [*mentions.starts, *(item.place for item in mentions.of if item.switch)],
        default=None,
    )
    return [item for item in mentions.of if since is None or item.place >= since]


def by_task(mentions: Sequence[Mention]) -> list[Mention]:
    """The last mention of each task, in order."""
    last: dict[str, Mention] = {}
    for mention in mentions:
        last.pop(mention.task, None)
        last[mention.task] = mention
    return list(last.values())
