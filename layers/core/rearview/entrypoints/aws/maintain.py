"""The maintain function: what schedules ask for, and the few calls that belong to whoever may invoke it (IAM).

Each action does what fits into its time, remembers where it was, and goes on at the next call; doing it twice does
nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rearview.bootstrap import Runtime
from rearview.bootstrap_aws import aws, environment_name
from rearview.domain.principal import Principal
from rearview.entrypoints.aws.observe import Observer
from rearview.errors import InvalidInput, RearviewError
from rearview.settings import AwsSettings
from rearview.usecases.commands import CreateKey
from rearview.usecases.fields import read
from rearview.usecases.problems import problem
from rearview.usecases.rounds import Rounds

#: Milliseconds kept back for the item at hand and the answer.
RESERVE = 20_000
#: Due items, and users with pending marks, that are looked at in one go.
STEP = 200
#: Who may invoke this function is settled by IAM; whoever may, is the operator.
OPERATOR = Principal(id="operator", namespaces=None)


class Maintain:
    """Answers ``{"action": …}``."""

    def __init__(self, runtime: Runtime, observer: Observer) -> None:
        self.runtime, self.observer = runtime, observer
        self.rounds = Rounds(runtime.app.services, runtime.app.auditor)

    def __call__(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        """One action; a refusal is answered as a problem document, because nobody waits behind a schedule."""
        self.runtime.app.services.owner = f"{environment_name()}/{getattr(context, 'aws_request_id', '')}"
        left: Callable[[], int] = getattr(context, "get_remaining_time_in_millis", lambda: 2 * RESERVE)
        with self.observer.invocation(context):
            try:
                return self._act(event, left)
            except RearviewError as error:
                if error.status >= 500:
                    raise
                return {"error": problem(error)}

    def _act(self, event: dict[str, Any], left: Callable[[], int]) -> dict[str, Any]:
        app = self.runtime.app

        def stop() -> bool:
            return left() < RESERVE

        match event.get("action"):
            case "sweep":
                return self._sweep(stop, left)
            case "audit":
                answer = self.rounds.audit(stop)
                self.observer.count("AuditErrors", answer["errors"])
                self.observer.count("FailedEnrichment", answer["failed_enrichment"])
                return answer
            case "maintain":
                answer = app.maintainer.step(stop)
                self.observer.count("MaintenanceRunsOpen", answer["open"])
                self.observer.count("MaintenanceFailures", answer["failed"])
                self.observer.age("MaintenanceLag", answer["lag"])
                return answer
            case "redrive_letters":
                return {"redriven": app.services.redrive_letters(1000)}
            case "first_key":
                # The answer is the only place where the key is ever seen; it is not logged.
                return {"key": app.keyring.first()}
            case "create_key":
                asked = {name: value for name, value in event.items() if name != "action"}
                return app.keyring.create(OPERATOR, read(CreateKey, asked))
            case "prepare":
                # After a deployment: the signing key exists, and table, queue and index answer, or it says what does not.
                app.services.secret  # noqa: B018 - loading it is what makes it
                waiting, dead = self.runtime.queue.depth()
                model = app.services.index.fingerprint()
                return {"ok": True, "waiting": waiting, "dead_letters": dead, "index_model": model}
            case "ping":
                return {"ok": True}
        raise InvalidInput.of(
            "action",
            "enum",
            "must be prepare, sweep, audit, maintain, redrive_letters, first_key or create_key",
        )

    def _sweep(self, stop: Callable[[], bool], left: Callable[[], int]) -> dict[str, Any]:
        """Rings for what waits without a message, expires and purges what is due, and enriches what a ring does not
        help. A purge may take seconds: many of them take half of the time and no more."""
        waiting = self.rounds.ring_pending(STEP)
        half = max(RESERVE, left() // 2)
        swept = 0
        while left() >= half:
            done = self.runtime.app.sweeper.sweep(STEP, stop=lambda: left() < half)
            swept += done
            if done < STEP:
                break
        helped = self.rounds.drain_late(self.runtime.app.enricher, waiting.late, stop)
        _, dead = self.runtime.queue.depth()
        self.observer.count("Swept", swept)
        self.observer.count("WaitingUsers", waiting.users)
        if helped:
            self.observer.logger.info("enriched %d items whose messages are stuck", helped)
        self.observer.age("IndexLag", waiting.oldest)
        self.observer.count("DeadLetters", dead)
        return {
            "swept": swept,
            "waiting": waiting.users,
            "helped": helped,
            "lag_seconds": round(waiting.oldest, 3),
            "dead_letters": dead,
        }


def maintain() -> Maintain:
    """The handler of the function ``maintain``."""
    settings = AwsSettings()
    observer = Observer("maintain", settings)
    return Maintain(aws(settings, uses=("queue", "index", "embedder", "rules", "archive")), observer)
