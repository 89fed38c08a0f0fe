"""The worker: answers the queue's doorbell, enriches what is pending, sweeps when idle. A thread of ``serve``."""

from __future__ import annotations

import threading
import time

from rearview.bootstrap import Runtime
from rearview.ports import Message
from rearview.usecases.services import told

#: Seconds between looks at what is not told by the queue.
POLL = 0.5
#: Seconds between looks at what is pending without a message (the queue had refused, or a worker died).
REDRIVE = 5.0
#: Seconds of upkeep for one user before it is another's turn.
UPKEEP_SECONDS = 20.0
#: Seconds until the next look at maintenance while a run is open: who asked for it waits for its report.
GATHER = 5.0


class Worker:
    """Works off one runtime's queue until it is stopped. Never lets an error end it."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rearview-worker", daemon=True)
        self._redriven = 0.0
        self._swept = time.monotonic()
        self._maintain_at = self._swept + runtime.settings.maintain_seconds

    def start(self) -> None:
        """Begins in a thread of its own."""
        self._thread.start()

    def stop(self, seconds: float = 1.5) -> None:
        """Asks it to end after the step at hand and waits so long; what is unfinished stays pending."""
        self._stopping.set()
        self.runtime.wake()
        self._thread.join(seconds)

    def wake(self) -> None:
        """Something was written in this process."""
        self.runtime.wake()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                busy = self.turn()
            except Exception as error:
                told("the worker met an error and goes on", error)
                busy = False
            if not busy:
                self.runtime.doze(POLL)

    def turn(self) -> bool:
        """One look at queue, pending marks and what is due. True if there was work."""
        app = self.runtime.app
        messages = self.runtime.queue.receive(10)
        busy = bool(messages)
        for partition in dict.fromkeys(message.group for message in messages):
            if self._stopping.is_set():
                break
            app.enricher.drain(partition)
        for message in messages:
            if "maintain" in message.body:
                self._upkeep(message)
        for message in messages:
            # The mark in the store is the work; a message that found another worker busy has done its duty too.
            self.runtime.queue.acknowledge(message)
        now = time.monotonic()
        if not busy and now - self._redriven >= REDRIVE:
            self._redriven = now
            for partition in app.services.store.pending_partitions():
                if self._stopping.is_set():
                    break
                busy = app.enricher.drain(partition) > 0 or busy
            app.touches.flush()
        if now - self._swept >= self.runtime.settings.sweep_seconds:
            self._swept = now
            busy = app.sweeper.sweep() > 0 or busy
        if now >= self._maintain_at:
            unfinished = app.maintainer.step(self._stopping.is_set)["open"]
            every = self.runtime.settings.maintain_seconds
            self._maintain_at = time.monotonic() + (min(every, GATHER) if unfinished else every)
        return busy

    def _upkeep(self, message: Message) -> None:
        """A user's part of a maintenance run, for some seconds; what is left comes again behind the user's writes."""
        until = time.monotonic() + UPKEEP_SECONDS
        done = self.runtime.app.jobs.work(
            message.group, lambda: self._stopping.is_set() or time.monotonic() >= until
        )
        # What was done goes into the run's report soon.
        self._maintain_at = min(self._maintain_at, time.monotonic() + GATHER)
        if not done:
            stamp = f"{message.body['maintain']}-{time.time_ns()}"
            self.runtime.queue.send(message.group, f"maintain-{stamp}", message.body)
