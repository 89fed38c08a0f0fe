"""Random lives of a user's memories: everything that people, time and upkeep can do to them, and what must stay true.

A life is a list of steps that hypothesis draws. :class:`Life` acts them out on a folder of its own and keeps its own
books: which text every acknowledged memory bears, what it bore at earlier moments, what people stand by.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from unicodedata import normalize

from hypothesis import strategies as st

from rearview.domain.principal import LOCAL
from rearview.errors import RearviewError
from rearview.usecases.fields import read
from rearview.usecases.forgetting import Decide
from rearview.usecases.importing import Defaults, Importer
from rearview.usecases.policy_commands import ChangePolicy
from rearview.usecases.questions import ListConflicts
from rearview.usecases.transcripts import read_records
from rearview.usecases.transfer import Exporter
from tests.house import FakeClock, house
from tests.integration.lifecycle_state import MORE, TEXTS, USER, Books

_text = st.integers(0, len(TEXTS) - 1)
_which = st.integers(0, 40)

STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("write"),
            _text,
            st.sampled_from(("short_term", "short_term", "long_term", "working")),
            st.sampled_from(("event", "event", "fact", "preference", "summary")),
            st.sampled_from(("auto", "force", "force", "verbatim")),
            st.sampled_from((None, 0.2, 0.5, 0.9)),
            st.sampled_from(("user", "agent")),
        ),
        st.tuples(st.just("flock"), st.sampled_from((0, 3)), st.integers(3, 6)),
        st.tuples(st.just("turns"), st.integers(0, 2), st.lists(_text, min_size=1, max_size=3)),
        st.tuples(st.just("edit"), _which, _text, st.integers(0, len(MORE) - 1)),
        st.tuples(st.just("weigh"), _which, st.sampled_from((0.1, 0.85))),
        st.tuples(st.just("recast"), _which, st.sampled_from(("preference", "event", "fact"))),
        st.tuples(st.just("confirm"), _which),
        st.tuples(st.just("delete"), _which),
        st.tuples(st.just("restore"), _which),
        st.tuples(st.just("restore"), _which),
        st.tuples(st.just("resolve"), st.sampled_from(("first", "second", "both"))),
        st.tuples(st.just("reopen")),
        st.tuples(
            st.just("decide"), _which, st.sampled_from(("success", "failure", "failure")), st.integers(1, 3)
        ),
        st.tuples(st.just("revert")),
        st.tuples(st.just("recall"), _text, st.booleans()),
        st.tuples(st.just("proposals"), st.sampled_from(("approve", "oppose", "undo"))),
        st.tuples(st.just("separate")),
        st.tuples(st.just("policy"), st.booleans(), st.sampled_from((1, 30))),
        st.tuples(st.just("reindex")),
        st.tuples(st.just("sweep")),
        st.tuples(st.just("away"), st.booleans()),
        st.tuples(st.just("wait"), st.sampled_from((1, 9, 35, 95, 130))),
        st.tuples(st.just("wait"), st.sampled_from((35, 95))),
        st.tuples(st.just("back"), st.sampled_from((1, 40))),
        st.tuples(st.just("winter"), st.integers(31, 120)),
        st.tuples(st.just("winter"), st.integers(91, 120)),
        st.tuples(st.just("daily")),
        st.tuples(st.just("upkeep")),
        st.tuples(st.just("upkeep")),
        st.tuples(st.just("remember")),
    ),
    min_size=8,
    max_size=26,
)


class Life(Books):
    """One life, acted out."""

    def live(self, steps: list[tuple[Any, ...]]) -> None:
        """Acts the steps out, and looks at everything after each upkeep and at the end."""
        for name, *arguments in steps:
            # People may ask for anything, and be refused. What matters is what happens to the memories.
            with suppress(RearviewError):
                getattr(self, name)(*arguments)
        self.away(False)
        self.upkeep()

    # --- what people do ---

    def write(
        self, text: int, layer: str, kind: str, admission: str, importance: float | None, origin: str
    ) -> None:
        more: dict[str, Any] = {} if importance is None else {"importance": importance}
        answer = self.home.write(
            TEXTS[text], USER, memory_type=layer, kind=kind, admission=admission, origin=origin, **more
        )
        self.heard(answer, normalize("NFC", TEXTS[text]))
        if importance == 0.9 and origin == "user" and answer["id"] is not None:
            self.sacred.add(answer["duplicate_of"] or answer["id"])

    def flock(self, first: int, number: int) -> None:
        """Like episodes, some days apart."""
        for count in range(number):
            self.write(first + count % 2, "short_term", "event", "verbatim", None, "user")
            self.home.clock.advance(days=2)

    def turns(self, session: int, texts: list[int]) -> None:
        said = [{"role": "user", "content": TEXTS[text]} for text in texts]
        answer = self.home.turns(said, USER, session_id=f"s{session}")
        for result in answer["results"]:
            for item in result["memories"]:
                self.heard(item, None)

    def edit(self, which: int, text: int, more: int) -> None:
        memory_id, said = self.pick(which), normalize("NFC", f"{TEXTS[text]} {MORE[more]}")
        answer = self.home.patch(memory_id, content=said)
        self.texts[memory_id] = said
        self.sacred.add(memory_id)
        assert answer["content"] == said

    def weigh(self, which: int, importance: float) -> None:
        self.home.patch(self.pick(which), importance=importance)
        if importance >= 0.8:
            self.sacred.add(self.pick(which))

    def recast(self, which: int, kind: str) -> None:
        self.home.patch(self.pick(which), kind=kind)

    def confirm(self, which: int) -> None:
        self.home.patch(self.pick(which), confirmed=True)
        self.sacred.add(self.pick(which))

    def delete(self, which: int) -> None:
        self.home.delete(self.pick(which), "no longer wanted")
        self.dead.add(self.pick(which))

    def restore(self, which: int) -> None:
        """Of what is deleted, if anything is."""
        gone = [item["id"] for item in self.home.memories(USER, status=["deleted"])]
        if gone:
            self.home.restore(gone[which % len(gone)])

    def resolve(self, how: str) -> None:
        asked = read(ListConflicts, {"user_id": USER})
        for conflict in self.app.reader.conflicts(self.home.principal, asked)["items"][:1]:
            first, second = conflict["memory_ids"]
            given: dict[str, Any] = (
                {"keep_both": True} if how == "both" else {"keep": first if how == "first" else second}
            )
            self.home.resolve(conflict["id"], **given)
            self.resolved.append(conflict["id"])

    def reopen(self) -> None:
        if self.resolved:
            self.app.settler.undo(self.home.principal, self.resolved.pop())

    def decide(self, which: int, result: str, times: int) -> None:
        made = self.home.decide("what to do", "wait", USER, memory_ids=[self.pick(which)])
        for _ in range(times):
            self.outcomes.append(self.home.outcome(made["id"], result)["id"])

    def revert(self) -> None:
        if self.outcomes:
            self.app.tracer.revert(self.home.principal, self.outcomes.pop())

    def recall(self, text: int, archived: bool) -> None:
        answer = self.home.recall(TEXTS[text], USER, include_archived=archived)
        self.app.touches.flush()
        for hit in [] if answer.abstained else answer.hits:
            assert self.stored(hit.id)["archived_because"] != "cold", f"{hit.id} sleeps on"

    def proposals(self, verb: str) -> None:
        for report in self.reports():
            getattr(self.app.forgetter, verb)(self.home.principal, report["id"], read(Decide, {}))

    def separate(self) -> None:
        """Takes the first abstraction back."""
        for item in self.home.memories(USER):
            if "consolidation" in item["metadata"]:
                self.home.delete(item["id"], "not one")
                return

    def policy(self, auto: bool, purge_days: int) -> None:
        rules = {"mode": "auto" if auto else "propose", "below": 1.0, "auto_days": 1}
        archiving = {"summary_only_days": 30, "cold_days": 90, "turns_days": 30, "purge_days": purge_days}
        asked = {"forgetting": rules, "archiving": archiving}
        self.app.policy_keeper.change(self.home.principal, read(ChangePolicy, asked))

    # --- what time and upkeep do ---

    def reindex(self) -> None:
        self.app.reindexer.reindex()

    def sweep(self) -> None:
        self.app.sweeper.sweep()

    def away(self, away: bool) -> None:
        """The archive goes, or comes back; what this process remembers of it goes with it."""
        self.archive.away = away
        if away:
            self.services.texts.clear()
            self.services.packs.clear()

    def wait(self, days: int) -> None:
        self.home.clock.advance(days=days)

    def winter(self, days: int) -> None:
        self.wait(days)
        self.upkeep()

    def back(self, minutes: int) -> None:
        """Somebody sets the clock."""
        self.home.clock.advance(minutes=-minutes)

    def daily(self) -> None:
        self.run("daily")
        self.look()

    def upkeep(self) -> None:
        """All tasks and the sweep; then the same again, which must change nothing."""
        self.settled()
        self.run("daily")
        self.run("weekly")
        # What the weekly tasks free, the daily ones tidy up.
        self.settled()
        self.run("daily")
        self.app.sweeper.sweep()
        self.settled()
        if self.archive.away:
            return
        self.look()
        before = self.everything()
        self.run("daily")
        self.run("weekly")
        self.app.sweeper.sweep()
        self.settled()
        after = self.everything()
        assert before.keys() == after.keys(), sorted(before.keys() ^ after.keys())
        for at, body in before.items():
            assert after[at] == body, f"{at}:\n{body}\n{after[at]}"

    def run(self, cadence: Any) -> None:
        """A run inline, until it is done."""
        run = self.app.maintainer.start("default", cadence, by="test")
        for _ in range(3):
            if self.app.maintainer.advance(run, lambda: False, inline=True):
                break
            run = self.app.maintainer.read(run)
        else:
            raise AssertionError("a run does not end")
        done = self.app.maintainer.read(run)
        if not self.archive.away:
            failed = {name: task for name, task in done.tasks.items() if "failed" in task["counts"]}
            assert not failed, failed


@contextmanager
def lives(folder: Path) -> Iterator[Life]:
    """A life on that folder, from the start."""
    with house(folder, clock=FakeClock()) as home:
        yield Life(home)


def moved(life: Life, folder: Path, check: Callable[[Life], None]) -> None:
    """Takes everything along into a fresh folder, where it must be as it was."""
    lines = list(Exporter(life.services).export(LOCAL))
    raw = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
    with house(folder, clock=life.home.clock) as home:
        report = Importer(home.app, LOCAL, Defaults()).run(read_records(BytesIO(raw), name="chat"))
        assert report.refused == 0, report
        other = Life(home)
        other.settled()
        other.texts, other.moments, other.dead = life.present(), life.moments, set(life.dead)
        other.order, other.sacred = [item for item in life.order if item in other.texts], life.sacred
        for memory_id in other.texts:
            if life.over(life.stored(memory_id)):
                continue
            before, after = life.home.get(memory_id), home.get(memory_id)
            same = ("content", "status", "version", "kind", "importance", "confidence", "tags", "valid_from")
            assert {name: after[name] for name in same} == {name: before[name] for name in same}
        check(other)


__all__ = ["STEPS", "Life", "lives", "moved"]
