"""Random histories of a user's memories, with everything that can happen to them, and what must be true all the way.

A history is a list of steps that hypothesis draws. :class:`Tale` acts them out and keeps a model of its own of what the
user confirmed, corrected or called important; after each upkeep it looks at what was forgotten without being asked.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st

from rearview.domain import keys
from rearview.domain.memory import Memory
from rearview.domain.scope import Scope
from rearview.errors import RearviewError
from rearview.usecases.fields import read
from rearview.usecases.forgetting import NOBODY, Decide
from rearview.usecases.maintenance.task import Job
from rearview.usecases.policy_commands import ChangePolicy
from rearview.usecases.questions import ListAudits, ListConflicts
from rearview.usecases.scans import memories_of
from tests.house import START, House

TEXTS = (
    "My favourite colour is {}.",
    "我最喜欢的颜色是{}。",
    "The old umbrella stood by the {} door.",
    "办公室靠近{}的那扇窗关不严。",
    "She mentioned the {} ferry once.",
    "他提过一次{}的渡轮。",
    "I live in {}.",
    "我住在{}。",
)
WORDS = ("blue", "red", "Lisbon", "Oslo", "蓝色", "红色", "里斯本", "奥斯陆")
ORIGINS = ("user", "agent", "tool", "document")
KINDS = ("fact", "preference", "event", "conclusion", "correction", "instruction")

_which = st.integers(0, 7)
_low = st.sampled_from((0.05, 0.3, 0.5))
STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("write"),
            _which,
            _which,
            st.one_of(st.none(), _low, st.just(0.8), st.just(0.95)),
            st.one_of(_low, st.just(0.69), st.just(0.9)),
            st.sampled_from(ORIGINS),
            st.sampled_from(KINDS),
        ),
        st.tuples(st.just("confirm"), _which),
        st.tuples(st.just("correct"), _which, _which, _which),
        st.tuples(st.just("state"), _which, st.sampled_from((0.1, 0.5, 0.8, 1.0))),
        st.tuples(st.just("doubt"), _which, st.sampled_from((0.1, 0.6))),
        st.tuples(st.just("outcome"), _which, st.sampled_from(("success", "failure", "failure", "mixed"))),
        st.tuples(st.just("recall"), _which, _which),
        st.tuples(st.just("delete"), _which),
        st.tuples(st.just("restore"), _which),
        st.tuples(st.just("resolve"), st.sampled_from(("first", "second", "both"))),
        st.tuples(st.just("reopen")),
        st.tuples(
            st.just("policy"), st.sampled_from((0.25, 1.0)), st.sampled_from((0.4, 0.7)), st.integers(1, 9)
        ),
        st.tuples(st.just("decide"), st.sampled_from(("approve", "oppose", "undo"))),
        st.tuples(st.just("wait"), st.sampled_from((1, 8, 40))),
        st.tuples(st.just("upkeep")),
    ),
    min_size=8,
    max_size=24,
)
_number = itertools.count()


class Tale:
    """One history, in a namespace of its own, so that many can be told in one house."""

    def __init__(self, house: House) -> None:
        self.house, self.app = house, house.app
        house.clock.at = START
        self.scope = Scope(f"tale-{next(_number)}", "mira")
        self.ids: list[str] = []
        #: Memory → why it must not be forgotten without being asked.
        self.sacred: dict[str, set[str]] = {}
        self.resolved: list[tuple[str, list[str]]] = []
        self.proposed: dict[str, Any] = {}
        self.forgotten: set[str] = set()
        self.auto_days = 1
        self.policy(1.0, 0.7, 1)
        # What nobody ever said anything about: there is always something to forget.
        for text in (2, 3, 4, 5):
            self.write(text, text, None, 0.5, "agent", "fact")

    def tell(self, steps: list[tuple[Any, ...]]) -> int:
        """Acts the steps out, then lets some weeks pass; answers how many memories were forgotten unasked."""
        for name, *arguments in steps:
            # A person may ask for anything, and be refused. What matters is what happens to the memories.
            with suppress(RearviewError):
                getattr(self, name)(*arguments)
            self.settle()
        for _ in range(3):
            self.house.clock.advance(days=10)
            self.upkeep()
        return len(self.forgotten)

    # --- what people do ---

    def write(
        self, text: int, word: int, importance: float | None, confidence: float, origin: str, kind: str
    ) -> None:
        more: dict[str, Any] = {} if importance is None else {"importance": importance}
        answer = self.house.write(
            TEXTS[text].format(WORDS[word]),
            self.scope.user_id,
            namespace=self.scope.namespace,
            confidence=confidence,
            origin=origin,
            kind=kind,
            admission="force",
            **more,
        )
        landed = answer["duplicate_of"] or answer["id"]
        if answer["id"] not in self.ids:
            self.ids.append(answer["id"])
        if answer["duplicate_of"]:
            self.because(landed, "confirmed")
        if origin == "user" and importance is not None and importance >= 0.8:
            self.because(landed, "important")
        if kind == "correction" and not answer["duplicate_of"]:
            self.because(landed, "corrected")

    def confirm(self, which: int) -> None:
        memory_id = self.pick(which)
        self.house.patch(memory_id, confirmed=True)
        self.because(memory_id, "confirmed")

    def correct(self, which: int, text: int, word: int) -> None:
        memory_id = self.pick(which)
        before = self.house.get(memory_id)["content"]
        after = self.house.patch(memory_id, content=TEXTS[text].format(WORDS[word]))["content"]
        if after != before:
            self.because(memory_id, "corrected")

    def state(self, which: int, importance: float) -> None:
        memory_id = self.pick(which)
        self.house.patch(memory_id, importance=importance)
        if importance >= 0.8:
            self.because(memory_id, "important")
        else:
            self.sacred.get(memory_id, set()).discard("important")

    def doubt(self, which: int, confidence: float) -> None:
        self.house.patch(self.pick(which), confidence=confidence)

    def outcome(self, which: int, result: str) -> None:
        decided = self.house.decide(
            "what to do about it",
            "wait",
            self.scope.user_id,
            namespace=self.scope.namespace,
            memory_ids=[self.pick(which)],
        )
        self.house.outcome(decided["id"], result)

    def recall(self, text: int, word: int) -> None:
        query = TEXTS[text].format(WORDS[word])
        self.house.recall(query, self.scope.user_id, namespace=self.scope.namespace)
        self.app.touches.flush()

    def delete(self, which: int) -> None:
        self.house.delete(self.pick(which))

    def restore(self, which: int) -> None:
        self.house.restore(self.pick(which))

    def resolve(self, how: str) -> None:
        asked = read(ListConflicts, {"user_id": self.scope.user_id, "namespace": self.scope.namespace})
        for conflict in self.app.reader.conflicts(self.house.principal, asked)["items"][:1]:
            first, second = conflict["memory_ids"]
            keep = {"first": [first], "second": [second], "both": [first, second]}[how]
            given: dict[str, Any] = {"keep_both": True} if how == "both" else {"keep": keep[0]}
            self.house.resolve(conflict["id"], **given)
            self.resolved.append((conflict["id"], keep))
            for memory_id in keep:
                self.because(memory_id, f"kept in {conflict['id']}")

    def reopen(self) -> None:
        if self.resolved:
            conflict_id, kept = self.resolved.pop()
            self.app.settler.undo(self.house.principal, conflict_id)
            for memory_id in kept:
                self.sacred.get(memory_id, set()).discard(f"kept in {conflict_id}")

    def policy(self, below: float, max_confidence: float, auto_days: int) -> None:
        rules = {"mode": "auto", "below": below, "max_confidence": max_confidence, "auto_days": auto_days}
        asked = read(ChangePolicy, {"namespace": self.scope.namespace, "forgetting": rules})
        self.app.policy_keeper.change(self.house.principal, asked)
        self.auto_days = auto_days

    def decide(self, verb: str) -> None:
        for report in self.reports():
            getattr(self.app.forgetter, verb)(self.house.principal, report["id"], read(Decide, {}))

    # --- what time does ---

    def wait(self, days: int) -> None:
        self.house.clock.advance(days=days)

    def upkeep(self) -> None:
        """A day's and a week's maintenance with all tasks that there are, and the sweep."""
        policy = self.app.services.policies.fresh(self.scope.namespace)
        for task in self.app.jobs.tasks.values():
            job = Job("run", self.scope, self.house.clock.now(), policy)
            assert task.run(job, lambda: False).done
        self.app.sweeper.sweep()
        self.settle()
        self.look()

    # --- what must be true ---

    def look(self) -> None:
        """What was forgotten unasked since the last look was not the user's to keep, and had stood long enough."""
        now = self.house.clock.at
        for memory in self.memories():
            if memory.deleted_by != NOBODY or memory.id in self.forgotten:
                continue
            self.forgotten.add(memory.id)
            reasons = self.sacred.get(memory.id)
            assert not reasons, f"{memory.id} was forgotten although {sorted(reasons)}: {memory}"
            assert memory.confidence < 0.7
            stood = now - self.proposed[memory.id]
            assert stood.days >= self.auto_days - 1, f"forgotten after {stood}"
        self.forgotten = {item.id for item in self.memories() if item.deleted_by == NOBODY} | {
            item for item in self.forgotten if self.purged(item)
        }
        for report in self.reports():
            for finding in report["findings"]:
                if finding["state"] == "proposed":
                    self.proposed.setdefault(finding["refs"][0], now)

    def settle(self) -> None:
        """Enriches what is pending; what was merged by that hands its reasons on."""
        self.app.enricher.drain(self.scope.partition, 10_000)
        for memory in self.memories():
            if memory.merged_into is not None and self.sacred.get(memory.id):
                self.because(memory.merged_into, *self.sacred.pop(memory.id))

    # --- what is there ---

    def because(self, memory_id: str, *reasons: str) -> None:
        self.sacred.setdefault(memory_id, set()).update(reasons)

    def pick(self, which: int) -> str:
        return self.ids[which % len(self.ids)]

    def memories(self) -> list[Memory]:
        return list(memories_of(self.app.services.store, self.scope.partition))

    def purged(self, memory_id: str) -> bool:
        return self.app.services.store.get(keys.memory(self.scope.partition, memory_id)) is None

    def reports(self) -> list[dict[str, Any]]:
        asked = read(ListAudits, {"namespace": self.scope.namespace, "kind": "forgetting"})
        items: list[dict[str, Any]] = self.app.lister.audits(self.house.principal, asked)["items"]
        return items


__all__ = ["STEPS", "Tale"]
