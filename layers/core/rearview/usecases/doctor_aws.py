"""The doctor's judgement of an AWS account: identity, table, queue, index, bucket. The model is looked at through its
port (:mod:`rearview.usecases.doctor_store`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol

from rearview.domain.checkup import (
    BucketFacts,
    CheckResult,
    IdentityFacts,
    IndexFacts,
    QueueFacts,
    TableFacts,
)
from rearview.usecases.doctor import Check, dotted

#: The oldest OpenSearch that is tested.
OLDEST_OPENSEARCH: Final = (2, 19)
#: Seconds: AWS refuses signatures from 300 on, and dates in answers are whole seconds.
SKEW_FAIL: Final = 240.0
SKEW_WARN: Final = 5.0
#: Messages that wait before somebody should look.
MANY_WAITING: Final = 1_000
#: Milliseconds that a look at each service may take.
SLOW: Final = 2_000.0
ENGINE: Final = "lucene"
SPACE: Final = "cosinesimil"


class AwsProbes(Protocol):
    """Looks at an account; reads only. Each raises ProbeFailed with the service's code."""

    def identity(self) -> IdentityFacts:
        """Who we are."""
        ...

    def table(self) -> TableFacts:
        """The DynamoDB table."""
        ...

    def queue(self) -> QueueFacts:
        """The queue and its dead letters."""
        ...

    def index(self) -> IndexFacts:
        """What stands behind the alias."""
        ...

    def bucket(self) -> BucketFacts:
        """The archive."""
        ...


def aws_checks(
    probes: AwsProbes, *, dims: int | None, named: Callable[[str], bool] = lambda _part: True
) -> list[Check]:
    """The checks of an account. ``dims``: of the embedder in the settings, None if it has trouble of its own; ``named``: whether the settings name a
    part (table, queue, index, bucket) at all."""

    def part(name: str, probe: Callable[[], Any], judge: Callable[[Any], Iterable[CheckResult]]) -> Check:
        def look() -> Iterable[CheckResult]:
            if not named(name):
                return [CheckResult(name, *_UNNAMED[name])]
            return judge(probe())

        return Check(name, look, SLOW)

    return [
        Check("identity", lambda: judge_identity(probes.identity()), SLOW),
        part("table", probes.table, judge_table),
        part("queue", probes.queue, judge_queue),
        part("index", probes.index, lambda facts: judge_index(facts, dims)),
        part("bucket", probes.bucket, judge_bucket),
    ]


_STACK: Final = "name it, or give the stack: rearview doctor --aws --stack NAME"
_UNNAMED: Final[dict[str, Any]] = {
    "table": ("fail", "no table in the settings (REARVIEW_TABLE)", _STACK),
    "queue": (
        "fail",
        "no queues in the settings (REARVIEW_QUEUE_URL, REARVIEW_DEAD_LETTERS_URL)",
        _STACK,
    ),
    "index": ("fail", "no index in the settings (REARVIEW_OPENSEARCH_URL)", _STACK),
    "bucket": ("warn", "no bucket in the settings (REARVIEW_BUCKET): nothing can be archived", _STACK),
}


# --- judgements: facts in, findings out


def judge_identity(facts: IdentityFacts) -> Iterator[CheckResult]:
    """Who we are, and whether our clock is AWS's."""
    seen = f"{facts.arn} in {facts.region}"
    if facts.arn.endswith(":root"):
        yield CheckResult("identity", "warn", seen, "work as a role: the root user bypasses every policy")
    else:
        yield CheckResult("identity", "ok", seen)
    if facts.skew_seconds is None:
        return
    skew, off = f"this clock is {facts.skew_seconds:+.0f} s off AWS's", abs(facts.skew_seconds)
    if off > SKEW_WARN:
        advice = "set the clock right (NTP): AWS refuses signatures that are 5 minutes off, tokens and expiry rest on it"
        yield CheckResult("clock", "fail" if off > SKEW_FAIL else "warn", skew, advice)
    else:
        yield CheckResult("clock", "ok", skew)


def judge_table(facts: TableFacts) -> Iterator[CheckResult]:
    """State, keys, recovery, TTL, protection."""
    if facts.status != "ACTIVE":
        yield CheckResult(
            "table", "fail", f"{facts.name} is {facts.status}", "wait until it is ACTIVE, or deploy"
        )
    else:
        mode = "on demand" if facts.on_demand else "provisioned capacity"
        yield CheckResult("table", "ok", f"{facts.name} is ACTIVE, {mode}")
    wrong = sorted(
        name or "the table" for name, keys in facts.wanted_keys.items() if facts.keys.get(name) != keys
    )
    if wrong:
        seen = f"keys of {', '.join(wrong)} are missing or not those of template.yaml"
        yield CheckResult(
            "table.keys", "fail", seen, "this is another table, or an old one: check REARVIEW_TABLE"
        )
    else:
        yield CheckResult("table.keys", "ok", "table and indexes have the keys of template.yaml")
    yield _switch(
        "table.recovery",
        facts.recovery,
        "point-in-time recovery",
        "switch it on: without it a mistake cannot be undone (PointInTimeRecoverySpecification)",
    )
    if facts.ttl == facts.wanted_ttl:
        yield CheckResult("table.ttl", "ok", f"TTL on attribute {facts.ttl}")
    else:
        seen = f"TTL on attribute {facts.ttl}" if facts.ttl else "TTL is off"
        advice = f"switch TTL on for attribute {facts.wanted_ttl}: expired items are paid for until then"
        yield CheckResult("table.ttl", "warn", seen, advice)
    yield _switch(
        "table.protection", facts.protected, "deletion protection", "switch it on in production", weak=True
    )


def judge_queue(facts: QueueFacts) -> Iterator[CheckResult]:
    """FIFO with per-group throughput, dead letters behind it, and what waits."""
    if not (facts.fifo and facts.dead_fifo):
        yield CheckResult(
            "queue", "fail", f"{facts.name} or its dead letters are no FIFO", "use the template's"
        )
    elif not facts.per_group:
        seen = f"{facts.name} is FIFO, its throughput is bounded for all users together"
        advice = "DeduplicationScope messageGroup and FifoThroughputLimit perMessageGroupId lift that"
        yield CheckResult("queue", "warn", seen, advice)
    else:
        yield CheckResult(
            "queue",
            "ok",
            f"{facts.name} is FIFO with throughput per group, visibility {facts.visibility_seconds} s",
        )
    if facts.dead_letters is None:
        advice = "give it a redrive policy: without one a bad message blocks its user until it expires"
        yield CheckResult("queue.dead_letters", "fail", "no dead-letter queue", advice)
    elif facts.dead_letters != facts.wanted_dead_letters:
        seen = f"dead letters go to {facts.dead_letters}, the settings name {facts.wanted_dead_letters}"
        yield CheckResult("queue.dead_letters", "fail", seen, "name the same queue in both places")
    elif facts.deliveries != facts.wanted_deliveries:
        seen = f"dead after {facts.deliveries} deliveries, not {facts.wanted_deliveries}"
        yield CheckResult("queue.dead_letters", "warn", seen, "set maxReceiveCount as template.yaml does")
    else:
        yield CheckResult("queue.dead_letters", "ok", f"dead after {facts.deliveries} deliveries")
    yield _switch("queue.encryption", facts.encrypted, "encryption", "switch SSE-SQS or SSE-KMS on")
    depth = f"{facts.waiting} waiting or out, {facts.dead} dead letters"
    if facts.dead:
        advice = "see why enrichment failed (worker's log), mend it, then POST /v1/redrive"
        yield CheckResult("queue.depth", "warn", depth, advice)
    elif facts.waiting > MANY_WAITING:
        advice = "the worker is behind: its errors, its concurrency, throttling of the model"
        yield CheckResult("queue.depth", "warn", depth, advice)
    else:
        yield CheckResult("queue.depth", "ok", depth)


def judge_index(facts: IndexFacts, dims: int | None) -> Iterator[CheckResult]:
    """Version, health, alias, and vectors laid out as they must be."""
    version = f"{facts.distribution} {dotted(facts.version)}, {facts.health}"
    if facts.distribution != "opensearch" or facts.version < OLDEST_OPENSEARCH:
        advice = f"use OpenSearch {dotted(OLDEST_OPENSEARCH)} or newer (3.x is tested most)"
        yield CheckResult("index", "fail", version, advice)
    elif facts.health == "red":
        yield CheckResult(
            "index", "fail", version, "shards are missing: see the domain's health and disk space"
        )
    else:
        yield CheckResult("index", "ok", version)
    if not facts.indexes:
        seen = f"nothing behind the alias {facts.alias} yet"
        yield CheckResult("index.alias", "ok", f"{seen}; the first write makes it")
        return
    behind = f"{facts.alias} → {', '.join(facts.indexes)}, {facts.documents} documents"
    if len(facts.indexes) > 1:
        advice = "one index answers at a time: rearview reindex makes a clean one"
        yield CheckResult("index.alias", "fail", behind, advice)
    else:
        yield CheckResult("index.alias", "ok", behind)
    for vector in facts.vectors:
        seen = f"{vector.name}: {vector.dims} dimensions, {vector.engine}, {vector.space}"
        if vector.engine != ENGINE or vector.space != SPACE:
            advice = f"engine {ENGINE} and space {SPACE} must be stated when it is made: rearview reindex"
            yield CheckResult("index.vectors", "fail", seen, advice)
        elif dims is not None and vector.dims != dims:
            advice = f"the embedder gives {dims}: set it back, or rearview reindex"
            yield CheckResult("index.vectors", "fail", seen, advice)
        else:
            yield CheckResult("index.vectors", "ok", seen)


def judge_bucket(facts: BucketFacts) -> Iterator[CheckResult]:
    """Encrypted, versioned, private, and old versions do not stay for ever."""
    if facts.encryption is None:
        yield CheckResult("bucket", "fail", f"{facts.name} is not encrypted", "switch default encryption on")
    else:
        yield CheckResult("bucket", "ok", f"{facts.name}, encrypted with {facts.encryption}")
    yield _switch(
        "bucket.versions", facts.versioned, "versioning", "switch it on: it undoes an overwritten archive"
    )
    if not facts.private:
        advice = "block public access for the bucket: it holds what users said"
        yield CheckResult("bucket.private", "fail", "public access is not blocked", advice)
    else:
        yield CheckResult("bucket.private", "ok", "public access is blocked")
    yield _switch(
        "bucket.lifecycle", facts.expires, "expiry of old versions", "add a lifecycle rule as the template's"
    )


def _switch(check: str, on: bool, what: str, advice: str, *, weak: bool = False) -> CheckResult:
    if on:
        return CheckResult(check, "ok", f"{what} is on")
    return CheckResult(check, "ok" if weak else "warn", f"{what} is off", advice)
