"""The service's half of the bench: the verbs, timed one after the other over one open store."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from rearview.bootstrap import Runtime
from rearview.domain.principal import LOCAL
from rearview.domain.times import to_text
from rearview.evaluation.bench_data import Sample
from rearview.evaluation.stage import Progress
from rearview.usecases.commands import WriteMemory
from rearview.usecases.fields import read
from rearview.usecases.questions import Recall
from rearview.usecases.views import RecallAnswer

_POLL: Final = 0.002
#: A write that is not found by then is not waited for any longer.
_GIVE_UP: Final = 60.0


@dataclass(slots=True)
class Timings:
    """Seconds, one per call; ``enriched`` for all memories together."""

    acknowledged: list[float] = field(default_factory=list)
    found_by_keyword: list[float] = field(default_factory=list)
    found_enriched: list[float] = field(default_factory=list)
    recalled: list[float] = field(default_factory=list)
    recalled_unembedded: list[float] = field(default_factory=list)
    enriched: float = 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest rank: the smallest value that at least ``share`` of all do not exceed. Needs one value."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


class ServiceBench:
    """Times writes, enrichment, lag and recalls. ``verdicts`` counts what became of the writes and questions."""

    def __init__(self, runtime: Runtime, name: str, progress: Progress | None) -> None:
        self.runtime, self.name, self.progress = runtime, name, progress
        self.app = runtime.app
        self.verdicts: Counter[str] = Counter()

    def run(self, data: Sequence[Sample], asked: Sequence[Sample], followed: int, said: datetime) -> Timings:
        """Writes all, enriches all, asks, and last follows some more writes until they are found."""
        timings = Timings()
        for done, sample in enumerate(data, 1):
            begun = time.perf_counter()
            answer = self._write(sample.user, sample.content, said)
            timings.acknowledged.append(time.perf_counter() - begun)
            self.verdicts[f"written: {answer['verdict']}"] += 1
            self._tell("write", done, len(data))
        begun = time.perf_counter()
        self._enrich_all(len(data))
        timings.enriched = time.perf_counter() - begun
        for done, sample in enumerate(asked, 1):
            begun = time.perf_counter()
            found = self._recall(sample.user, sample.question)
            took = time.perf_counter() - begun
            timings.recalled.append(took)
            timings.recalled_unembedded.append(took - found.cost["embed_ms"] / 1000)
            right = any(hit.content == sample.content for hit in found.hits)
            self.verdicts["questions answered by rearview"] += right
            self._tell("recall", done, len(asked))
        self._follow(timings, data, followed, said)
        return timings

    def _follow(self, timings: Timings, data: Sequence[Sample], followed: int, said: datetime) -> None:
        """Write-to-recallable lag with a worker beside the writer, as in ``serve``."""
        with _Worker(self.runtime) as worker:
            for number in range(followed):
                user = data[number % len(data)].user
                word = f"QLAG-{77_000 + number}"
                content = (
                    f"The spare key of locker {word} is with the porter at gate {number}."
                    if number % 2
                    else f"储物柜 {word} 的备用钥匙放在{number}号门的门卫那里。"
                )
                # The query's vector is in the cache from here on: the lag is the write's alone.
                self._recall(user, word)
                answer = self._write(user, content, said)
                begun = time.perf_counter()
                worker.wake()
                if not self._until_found(user, word, answer["id"], begun, pending=True):
                    self.verdicts["writes not found in time"] += 1
                    continue
                timings.found_by_keyword.append(time.perf_counter() - begun)
                _, partition, seq = self.app.services.open_token(answer["token"])
                while self.app.enricher.waits(partition, seq) and time.perf_counter() - begun < _GIVE_UP:
                    time.sleep(_POLL)
                if self._until_found(user, word, answer["id"], begun, pending=False):
                    timings.found_enriched.append(time.perf_counter() - begun)
                self._tell("follow", number + 1, followed)

    def _until_found(self, user: str, query: str, memory_id: str, begun: float, *, pending: bool) -> bool:
        """Recalls until the memory is among the hits; ``pending`` False: until it is there enriched."""
        while time.perf_counter() - begun < _GIVE_UP:
            hits = self._recall(user, query).hits
            if any(hit.id == memory_id and (pending or not hit.pending) for hit in hits):
                return True
            time.sleep(_POLL)
        return False

    def _write(self, user: str, content: str, said: datetime) -> dict[str, Any]:
        request = {"user_id": user, "content": content, "occurred_at": to_text(said)}
        _, answer = self.app.writer.write(LOCAL, read(WriteMemory, request))
        return answer

    def _recall(self, user: str, query: str) -> RecallAnswer:
        return self.app.recaller.recall(LOCAL, read(Recall, {"user_id": user, "query": query}))

    def _enrich_all(self, total: int) -> None:
        done = 0
        while partitions := self.app.services.store.pending_partitions():
            went = sum(self.app.enricher.drain(partition) for partition in partitions)
            if not went:
                return
            done += went
            self._tell("enrich", min(done, total), total)

    def _tell(self, what: str, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(f"{self.name}: {what}", done, total)


class _Worker:
    """Works off what is pending in a thread, as the worker of ``serve`` does."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._wake, self._stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="rearview-bench-worker", daemon=True)

    def wake(self) -> None:
        self._wake.set()

    def __enter__(self) -> _Worker:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._wake.set()
        self._thread.join(_GIVE_UP)

    def _run(self) -> None:
        while not self._stopping.is_set():
            messages = self._runtime.queue.receive(10)
            for message in messages:
                self._runtime.app.enricher.drain(message.group)
                self._runtime.queue.acknowledge(message)
            if not messages:
                self._wake.wait(0.5)
                self._wake.clear()
