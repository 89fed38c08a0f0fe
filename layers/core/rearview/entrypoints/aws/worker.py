"""The worker function: a doorbell of the FIFO queue rings, what is pending for that user is enriched.

The message is never the work: a doubled, late or lost one changes nothing, and one that cannot be read is put among
the dead letters at once, because the messages of its user behind it must not wait for five deliveries.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from rearview.bootstrap import Runtime
from rearview.bootstrap_aws import aws, environment_name
from rearview.domain import keys
from rearview.domain.types import DRAIN_LIMIT
from rearview.entrypoints.aws.observe import Observer
from rearview.settings import AwsSettings
from rearview.usecases.services import told

#: Milliseconds that must be left before another user's work is begun.
ENOUGH = 15_000
#: Seconds of upkeep for one user before it is another's turn.
UPKEEP_SECONDS = 20.0
#: Seconds of upkeep for all users of one batch: as long as it takes, new writes of these users wait.
BATCH_SECONDS = 40.0


class Worker:
    """Works off batches of doorbells."""

    def __init__(self, runtime: Runtime, observer: Observer) -> None:
        self.runtime, self.observer = runtime, observer
        services = runtime.app.services
        self._tell = services.gave_up
        services.gave_up = self._gave_up
        self._left: Callable[[], int] = lambda: ENOUGH
        self._upkeeps: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        """One batch; answers ``batchItemFailures``: the first failure of each group and all of that group after it."""
        # Another environment may have been made of the same snapshot: the lease needs a name of its own.
        self.runtime.app.services.owner = f"{environment_name()}/{getattr(context, 'aws_request_id', '')}"
        self._left = getattr(context, "get_remaining_time_in_millis", lambda: ENOUGH)
        self._upkeeps = []
        processor = SqsFifoPartialProcessor(skip_group_on_error=True)
        # A batch that fails as a whole is answered message by message too.
        processor.raise_on_entire_batch_failure = False
        with self.observer.invocation(context):
            started = time.perf_counter()
            answer = process_partial_response(event, self.one, processor, context)
            self._upkeep()
            self.observer.took("Latency", (time.perf_counter() - started) * 1000)
            self.runtime.app.touches.flush()
        return dict(answer)

    def one(self, record: SQSRecord) -> None:
        """One message. Raises when the store is away: the message comes again."""
        if self._left() < ENOUGH:
            raise TimeoutError("no time is left for this user; the message comes again")
        try:
            self._answer(record)
        except Exception as error:
            # The batch is answered message by message: neither Lambda nor its log would tell of it.
            self.observer.count("MessagesFailed")
            told("a message failed and comes again", error)
            raise

    def _answer(self, record: SQSRecord) -> None:
        group = str(record.attributes.message_group_id)
        body = _read(record.body)
        if body is None or body["partition"] != group:
            self.observer.logger.warning("a message that cannot be read goes to the dead letters")
            self.observer.count("UnreadableMessages")
            self._bury(group, record)
            return
        sent = int(record.attributes.sent_timestamp) / 1000
        self.observer.age("DoorbellAge", max(0.0, time.time() - sent))
        app = self.runtime.app
        if "ref" in body:
            # A dead letter that was sent again: if its record still lies failed, it gets another chance.
            app.redriver.reopen(group, str(body["what"]), [str(body["ref"])])
        done = app.enricher.drain(group, DRAIN_LIMIT)
        self.observer.count("Enriched", done)
        if done:
            self._go_on(group)
        if "maintain" in body:
            self._upkeeps.append((group, body))

    def _upkeep(self) -> None:
        """The users' parts of a maintenance run, after everybody's writes and for some seconds; what is left comes again
        behind the user's writes. A message that fails would hold up its user's writes for the queue's visibility
        time-out: it has done its duty, and the next step of the run rings again."""
        end = time.monotonic() + BATCH_SECONDS
        for group, body in self._upkeeps:
            until = min(end, time.monotonic() + UPKEEP_SECONDS)

            def stop(until: float = until) -> bool:
                return self._left() < ENOUGH or time.monotonic() >= until

            try:
                if stop() or not self.runtime.app.jobs.work(group, stop):
                    self.runtime.queue.send(group, f"maintain-{body['maintain']}-{time.time_ns()}", body)
            except Exception as error:
                told("a user's upkeep was broken off, the next step rings again", error)

    def _go_on(self, partition: str) -> None:
        """Rings again when more than one drain is pending. Where nothing went, the schedule tries again: a part is
        away, or another worker holds the lease."""
        marks = self.runtime.app.services.store.query(partition, keys.PENDING, limit=1).items
        if marks:
            seq = int(marks[0][1]["seq"])
            self.runtime.queue.send(partition, f"{seq}-rest", {"partition": partition, "seq": seq})

    def _gave_up(self, partition: str, what: Mapping[str, Any]) -> None:
        self.observer.count("EnrichmentFailed")
        self._tell(partition, what)

    def _bury(self, group: str, record: SQSRecord) -> None:
        # Its text stays out: whoever wrote it may have put anything there.
        queue: Any = self.runtime.queue
        queue.bury(
            group, f"unreadable-{record.message_id}", {"partition": group, "unreadable": record.message_id}
        )


def _read(text: str) -> dict[str, Any] | None:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    good = isinstance(body, dict) and isinstance(body.get("partition"), str)
    return body if good and body.get("what", "memory") in ("memory", "decision") else None


def worker() -> Worker:
    """The handler of the function ``worker``."""
    settings = AwsSettings()
    observer = Observer("worker", settings)
    return Worker(aws(settings, uses=("queue", "embedder", "index", "rules", "archive")), observer)
