"""The doctor's look through the ports, at any installation: embedder, index, waiting and failed work, ledger."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from rearview.domain import keys, ledger
from rearview.domain.checkup import CheckResult
from rearview.domain.codec import decode
from rearview.domain.records import Head
from rearview.domain.times import from_text
from rearview.ports import Clock, Embedder, Filter, MemoryStore, VectorIndex
from rearview.usecases.doctor import Check
from rearview.usecases.scans import ledger_of, pending_of

#: Partitions that a look passes through, users whose failures are counted, users whose ledger is verified.
PARTITIONS: Final = 20_000
USERS: Final = 200
LEDGERS: Final = 5
WAITING_USERS: Final = 100
#: Seconds after which waiting work is a sign that no worker runs.
PATIENCE: Final = 300.0
#: Milliseconds for one question to the model, once it is loaded.
SLOW_EMBEDDING: Final = 1_000.0
_FAILED: Final = (Filter("enrichment", "eq", "failed"),)
#: Says nothing about anybody.
_QUESTION: Final = "Which colour has the sky? 天空是什么颜色？"


def embeds(embedder: Embedder, clock: Callable[[], float] = time.perf_counter) -> Iterator[CheckResult]:
    """One question: the model loads (or is reached), and its vector is what it should be. ``clock`` counts seconds."""
    embedder.embed_queries([_QUESTION])
    started = clock()
    vectors = embedder.embed_queries([_QUESTION])
    took = (clock() - started) * 1000
    length = float((vectors[0] ** 2).sum()) ** 0.5 if len(vectors) else 0.0
    seen = f"{embedder.name}, {embedder.dims} dimensions, {took:.0f} ms a question"
    if vectors.shape != (1, embedder.dims) or abs(length - 1) > 1e-3:
        wrong = f"{embedder.name} gave {vectors.shape} of length {length:.3f}, not (1, {embedder.dims}) of length 1"
        yield CheckResult(
            "embedder", "fail", wrong, "check the embedder's model and dimensions in the settings"
        )
    elif embedder.name.startswith("hashing"):
        advice = "for more than tests set REARVIEW_EMBEDDER to e5 or bedrock, then rearview reindex"
        yield CheckResult("embedder", "warn", f"{seen}; it knows words, not meaning", advice)
    elif took > SLOW_EMBEDDING:
        advice = "every recall waits for this: a nearer region, a smaller model, or more CPU"
        yield CheckResult("embedder", "warn", seen, advice)
    else:
        yield CheckResult("embedder", "ok", seen)


@dataclass(frozen=True, slots=True)
class StoreDoctor:
    """Checks over the ports. Reads only."""

    store: MemoryStore
    index: VectorIndex
    embedder: Embedder
    clock: Clock

    def checks(self, *, with_index: bool = True) -> list[Check]:
        """In the order in which trouble comes from one to the next."""
        return [
            *([Check("fingerprint", self.same_model)] if with_index else []),
            Check("pending", self.waiting),
            Check("failed", self.given_up),
            Check("ledger", self.chains),
        ]

    def same_model(self) -> Iterator[CheckResult]:
        """The index was filled by the model that asks it."""
        filled = self.index.fingerprint()
        if filled is None:
            yield CheckResult("fingerprint", "ok", "the index holds no vectors yet")
        elif filled == self.embedder.fingerprint:
            yield CheckResult("fingerprint", "ok", f"the index was filled by {self.embedder.name}")
        else:
            yield CheckResult(
                "fingerprint",
                "fail",
                f"the index was filled by {filled}, the settings say {self.embedder.fingerprint}; keyword search only",
                "rearview reindex, or set the embedder back",
            )

    def waiting(self) -> Iterator[CheckResult]:
        """Enrichment that is due: how much, and for how long."""
        users = self.store.pending_partitions(WAITING_USERS + 1)
        if not users:
            yield CheckResult("pending", "ok", "nothing waits for enrichment")
            return
        count, oldest, tried = 0, None, 0
        for partition in users[:WAITING_USERS]:
            marks = pending_of(self.store, partition, 1000)
            count += len(marks)
            tried += sum(mark.attempts > 0 for mark in marks)
            if oldest is None and marks:
                oldest = self._since(partition, marks[0].what, marks[0].ref)
        more = "more than " if len(users) > WAITING_USERS else ""
        age = (self.clock.now() - oldest).total_seconds() if oldest else 0.0
        seen = f"{more}{count} records of {min(len(users), WAITING_USERS)} users wait, the first for {age:,.0f} s"
        if tried:
            yield CheckResult(
                "pending", "warn", f"{seen}; {tried} failed at least once", "see the worker's log"
            )
        elif age > PATIENCE:
            advice = "no worker seems to run: start `rearview serve`; on AWS see the worker's log and the queue's alarms"
            yield CheckResult("pending", "warn", seen, advice)
        else:
            yield CheckResult("pending", "ok", seen)

    def _since(self, partition: str, what: str, ref: str) -> datetime | None:
        at = (keys.memory if what == "memory" else keys.decision)(partition, ref)
        body = self.store.get(at) or {}
        stamp = body.get("updated_at") or body.get("created_at")
        return from_text(stamp) if stamp else None

    def given_up(self) -> Iterator[CheckResult]:
        """Records whose enrichment failed for good, among the first users."""
        users = self._users(USERS)
        found = sum(
            len(self.store.query(user, prefix, where=_FAILED).items)
            for user in users
            for prefix in (keys.MEMORIES, keys.DECISIONS)
        )
        if found:
            mend = "mend the cause (the worker's log names it), then POST /v1/redrive or rearview reindex"
            seen = f"{found} records of {len(users)} users are found by keyword only"
            yield CheckResult("failed", "fail", seen, mend)
        else:
            yield CheckResult("failed", "ok", f"none among {len(users)} users")

    def chains(self) -> Iterator[CheckResult]:
        """The ledger of a few users; `rearview audit` looks at all of them, and at the content."""
        entries, users, wrong = 0, 0, 0
        for user in self._users(LEDGERS):
            body = self.store.get(keys.head(user))
            if body is None:
                continue
            chain = list(ledger_of(self.store, user))
            head = decode(Head, body)
            users, entries = users + 1, entries + len(chain)
            # A write may have come between the two reads: what lies behind the head is younger than it.
            wrong += bool(ledger.breaks([item for item in chain if item.seq <= head.seq], head))
        if wrong:
            advice = "rearview audit names the entries; restore from the last backup before them, and find who wrote"
            yield CheckResult("ledger", "fail", f"the chains of {wrong} of {users} users do not hold", advice)
        else:
            yield CheckResult("ledger", "ok", f"{entries} entries of {users} users hold")

    def _users(self, limit: int) -> list[str]:
        """Some users' partitions: in hash order, which is to say any."""
        looked = islice(self.store.partitions(), PARTITIONS)
        return list(islice((name for name in looked if not name.startswith("@")), limit))
