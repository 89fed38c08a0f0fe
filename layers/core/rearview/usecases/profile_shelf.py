"""Where a profile lies in the store: its entries, who spoke of each topic lately, how far it was reckoned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from rearview.domain import keys, ledger
from rearview.domain.codec import Body, encode
from rearview.domain.mentions import Topic
from rearview.domain.profile import Entry
from rearview.domain.scope import Scope
from rearview.domain.times import to_text
from rearview.ports import MemoryStore, Reading, UnitOfWork
from rearview.usecases.paging import all_rows


@dataclass(frozen=True, slots=True)
class Step:
    """What became of one entry: ``written``, ``rewritten`` or ``removed``, and why. ``text`` goes into a report that is kept
    longer than the entry may be, so that neither key nor value stand in it."""

    action: str
    text: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to stand in the store about one family of topics: its entries by digest, and who spoke of it lately (nobody:
    that is not kept). Entries of the family that are not named go."""

    digest: str
    entries: Mapping[str, Entry | None]
    ids: tuple[str, ...]


#: Items of one transaction, under the hundred that DynamoDB allows; a plan counts its entries twice, because it may
#: put others in the place of as many.
ITEMS = 80
#: What the record of the state has for a digest.
STATE = "~"


class _Writing(Protocol):
    def put(self, key: keys.Key, body: Body) -> None: ...

    def delete(self, key: keys.Key) -> None: ...


class _Nothing:
    """Takes writes that are only to be shown."""

    def put(self, key: keys.Key, body: Body) -> None:
        pass

    def delete(self, key: keys.Key) -> None:
        pass


class ProfileShelf:
    """Reads and writes the records of profiles."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store

    def rest(self, partition: str, plans: Sequence[Plan]) -> list[Plan]:
        """Plans that clear away what the given ones do not speak of."""
        planned = {digest for plan in plans for digest in plan.entries}
        families = {plan.digest for plan in plans}
        cleared = [
            Plan(sort[len(keys.SAYING) :], dict.fromkeys(body["entries"]), ())
            for sort, body in all_rows(self.store, partition, keys.SAYING)
            if sort[len(keys.SAYING) :] not in families
        ]
        planned |= {digest for plan in cleared for digest in plan.entries}
        for sort, _ in all_rows(self.store, partition, keys.PROFILE):
            digest = sort[len(keys.PROFILE) :]
            if digest != STATE and digest not in planned:
                cleared.append(Plan(digest, {digest: None}, ()))
        return cleared

    def write(
        self, scope: Scope, plans: Sequence[Plan], seq: int, as_of: datetime, *, dry_run: bool = False
    ) -> list[Step]:
        """Brings the store to what is planned, but for topics that were reckoned from more than ``seq`` tells of."""
        partition = scope.partition
        tails = {plan.digest: keys.saying(partition, plan.digest) for plan in plans}

        def put(reading: Reading, into: _Writing) -> list[Step]:
            held = reading.get_many(tails.values())
            before = {plan.digest: held.get(tails[plan.digest], {}).get("entries", ()) for plan in plans}
            at = {
                digest: keys.profile_entry(partition, digest)
                for plan in plans
                for digest in (*before[plan.digest], *plan.entries)
            }
            stored = reading.get_many(at.values())
            steps = []
            for plan in plans:
                tail = held.get(tails[plan.digest])
                wanted = {**dict.fromkeys(before[plan.digest]), **plan.entries}
                old = {digest: stored.get(at[digest]) for digest in wanted}
                known = [item["seq"] for item in (tail, *old.values()) if item is not None]
                if max(known, default=0) > seq:
                    continue
                for digest, made in wanted.items():
                    step = _put_entry(into, at[digest], old[digest], made, seq, as_of)
                    if step is not None:
                        steps.append(step)
                _put_tail(into, tails[plan.digest], tail, plan, seq)
            return steps

        if dry_run:
            return put(self.store, _Nothing())

        def work(uow: UnitOfWork) -> list[Step]:
            return put(uow, uow)

        return self.store.transact(scope.partition, work, durable=False)

    def remember(self, partition: str, state: dict[str, Any]) -> None:
        """Keeps how far the profile was reckoned, unless more is told already."""
        at = keys.profile_state(partition)

        def work(uow: UnitOfWork) -> None:
            held = uow.get(at)
            if held is None or held["seq"] <= state["seq"]:
                uow.put(at, state)

        self.store.transact(partition, work, durable=False)


def digest_of(key: bytes, topic: Topic) -> str:
    """Where a topic's records lie; under the user's key, which erasure destroys."""
    return ledger.keyed(key, ["profile", topic.subject, topic.slot, topic.tag, topic.item])[:32]


def portions(plans: Iterable[Plan]) -> Iterator[list[Plan]]:
    """The plans in portions, each for one transaction."""
    some: list[Plan] = []
    items = 0
    for plan in plans:
        mine = 1 + 2 * len(plan.entries)
        if some and items + mine > ITEMS:
            yield some
            some, items = [], 0
        some.append(plan)
        items += mine
    if some:
        yield some


def _put_tail(into: _Writing, at: keys.Key, old: Body | None, plan: Plan, seq: int) -> None:
    body = {
        "ids": list(plan.ids),
        "entries": sorted(key for key, made in plan.entries.items() if made is not None),
    }
    if not plan.ids:
        if old is not None:
            into.delete(at)
    elif old is None or {**old, **body} != old:
        into.put(at, {**body, "seq": seq})


def _put_entry(
    into: _Writing, at: keys.Key, old: Body | None, made: Entry | None, seq: int, as_of: datetime
) -> Step | None:
    if made is None:
        if old is None:
            return None
        into.delete(at)
        return Step("removed", "no value has the share that the policy asks for", tuple(old["evidence"]))
    body = encode(made)
    if old is not None and {**old, **body} == old:
        return None
    into.put(at, {**body, "seq": seq, "at": to_text(as_of)})
    text = f"{made.count} of the last {made.total} tasks that spoke of it say the same"
    return Step("written" if old is None else "rewritten", text, made.evidence)
