"""Profile: what a user's memories say by slot, each value with its share of the last tasks and its evidence. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rearview.domain.mentions import Mention, Mentions, Topic, by_task, plain_keys, since_switch
from rearview.domain.policy import ProfileRules
from rearview.domain.records import Conflict

#: Memories and times that an entry names at most.
NAMED = 20


@dataclass(frozen=True, slots=True)
class Count:
    """``count``: tasks of the window that had this value; ``ever``: all tasks that are known."""

    value: str
    canonical: str
    count: int
    ever: int
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one topic. ``confidence`` = ``count`` / ``total``: the share of ``value`` in the last tasks.

    ``value`` as it was said last, ``canonical`` the same in every wording and language. ``conflict``: an open one about this
    topic; then ``counts`` has what was said last in front, else the most frequent. ``latest``: what was said last.
    ``item``: the value that is affirmed or denied, where the slot holds many (what one likes).
    ``confirmations``: when its own words came again; ``origins``: who said so.
    """

    key: str
    subject: str
    slot: str | None
    tag: str | None
    item: str | None
    value: str
    canonical: str
    confidence: float
    count: int
    total: int
    counts: tuple[Count, ...]
    latest: str
    evidence: tuple[str, ...]
    confirmations: tuple[datetime, ...]
    origins: tuple[str, ...]
    last_updated: datetime
    conflict: str | None = None


def entry(
    topic: Topic, mentions: Mentions, policy: ProfileRules, conflicts: Sequence[Conflict] = ()
) -> Entry | None:
    """The entry of a topic; None if no value has the share that the policy wants, or the leading one is a denial of the
    only value that the slot could hold."""
    counted = since_switch(mentions)
    window = by_task(counted)[-policy.window :]
    if not window:
        return None
    shares: defaultdict[tuple[str, bool], list[Mention]] = defaultdict(list)
    for mention in window:
        shares[mention.said].append(mention)
    lead = max(shares.values(), key=lambda same: (len(same), same[-1].place))
    last = lead[-1]
    if len(lead) < policy.threshold * len(window) - 1e-9 or (last.denied and not topic.item):
        return None
    ever: defaultdict[tuple[str, bool], int] = defaultdict(int)
    for mention in by_task(mentions.of):
        ever[mention.said] += 1
    conflict = _conflict(topic, mentions, conflicts)
    counts = [
        Count(_shown(same[-1]), _canonical(same[-1]), len(same), ever[said], same[-1].place[0])
        for said, same in shares.items()
    ]
    counts.sort(key=lambda one: (0 if conflict else -one.count, -one.last_at.timestamp()))
    same_value = [mention for mention in counted if mention.said == last.said]
    return Entry(
        key=topic.key,
        subject=topic.subject,
        slot=topic.slot or None,
        tag=topic.tag or None,
        item=plain_keys(topic.item) or None,
        value=_shown(last),
        canonical=_canonical(last),
        confidence=round(len(lead) / len(window), 4),
        count=len(lead),
        total=len(window),
        counts=tuple(counts),
        latest=_shown(window[-1]),
        evidence=tuple(dict.fromkeys(mention.memory_id for mention in reversed(lead)))[:NAMED],
        confirmations=tuple(mention.place[0] for mention in same_value if mention.confirms)[-NAMED:],
        origins=tuple(sorted({mention.origin for mention in lead})),
        last_updated=window[-1].place[0],
        conflict=conflict,
    )


def _shown(mention: Mention) -> str:
    return f"not {mention.raw}" if mention.denied else mention.raw


def _canonical(mention: Mention) -> str:
    value = plain_keys(mention.value)
    return f"not {value}" if mention.denied else value


def _conflict(topic: Topic, mentions: Mentions, conflicts: Sequence[Conflict]) -> str | None:
    """The open conflict about the topic: between two memories that speak of it, or of its slot with one that does."""
    for conflict in conflicts:
        if conflict.state != "open":
            continue
        sides = sum(item in mentions.memory_ids for item in conflict.memory_ids)
        if sides > 1 or (sides and (conflict.subject, conflict.slot) == (topic.subject, topic.slot)):
            return conflict.id
    return None
