"""Upkeep on Lambda: the schedule starts it, the queue hands it out, the worker does it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rearview.domain import keys
from rearview.domain.scope import Scope
from rearview.entrypoints.aws import worker as module
from rearview.entrypoints.aws.observe import Observer
from rearview.entrypoints.aws.worker import Worker
from rearview.errors import Unavailable
from tests.house import House, house
from tests.infra.test_functions import SETTINGS, Context, Letters, doorbells, maintain


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


@pytest.fixture
def letters(home: House) -> Letters:
    queue = Letters()
    home.app.services.queue = queue  # type: ignore[assignment]
    home.runtime = replace(home.runtime, queue=queue)  # type: ignore[arg-type]
    return queue


def test_the_schedule_starts_a_days_upkeep_and_the_worker_does_a_users_part(
    home: House, letters: Letters
) -> None:
    home.write("The spare key hangs in the shed.")
    answer = maintain(home)({"action": "maintain"}, Context())
    assert (answer["started"], answer["open"]) == (2, 2)
    group = Scope("default", "u").partition
    assert {at for at, name in letters.rung if name.startswith("maintain-")} == {group}
    open_runs = home.app.maintainer.open("default")
    for run in open_runs:
        event = doorbells(group)
        body = {"partition": group, "maintain": run.id}
        event["Records"][0]["body"] = json.dumps(body)
        worker = Worker(home.runtime, Observer("worker", SETTINGS))
        assert worker(event, Context()) == {"batchItemFailures": []}
    nothing = {"started": 0, "open": 0, "finished": 0, "failed": 0, "lag": 0.0}
    assert maintain(home)({"action": "maintain"}, Context()) == nothing | {"finished": 2}
    assert maintain(home)({"action": "maintain"}, Context()) == nothing


def ring(group: str, run_id: str) -> dict[str, Any]:
    record: dict[str, Any] = doorbells(group)["Records"][0]
    return record | {"body": json.dumps({"partition": group, "maintain": run_id})}


def test_upkeep_of_many_users_comes_again_and_is_never_a_failed_message(
    home: House, letters: Letters, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("u", "v", "w"):
        home.write("The spare key hangs in the shed.", user=name)
    maintain(home)({"action": "maintain"}, Context())
    run = home.app.maintainer.open("default")[0]
    groups = [Scope("default", name).partition for name in ("u", "v", "w")]
    event = {"Records": [ring(group, run.id) | {"messageId": group} for group in groups]}
    monkeypatch.setattr(module, "BATCH_SECONDS", 0.0)
    before = len(letters.rung)
    worker = Worker(home.runtime, Observer("worker", SETTINGS))
    assert worker(event, Context()) == {"batchItemFailures": []}
    assert sorted(at for at, _ in letters.rung[before:]) == sorted(groups)
    monkeypatch.undo()
    assert worker(event, Context()) == {"batchItemFailures": []}
    jobs = [home.app.services.store.get(keys.job(group, run.id)) for group in groups]
    assert [job["done"] for job in jobs if job is not None] == [True, True, True]


def test_everybodys_writes_come_before_anybodys_upkeep(
    home: House, letters: Letters, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    drain, work = home.app.enricher.drain, home.app.jobs.work

    def drained(partition: str, limit: int) -> int:
        order.append("writes")
        return drain(partition, limit)

    def worked(partition: str, stop: Callable[[], bool]) -> bool:
        order.append("upkeep")
        return work(partition, stop)

    monkeypatch.setattr(home.app.enricher, "drain", drained)
    monkeypatch.setattr(home.app.jobs, "work", worked)
    first, second = (Scope("default", name).partition for name in ("u", "v"))
    event = {"Records": [ring(first, "01J0000000000000000000000A"), doorbells(second)["Records"][0]]}
    event["Records"][0]["messageId"] = "other"
    Worker(home.runtime, Observer("worker", SETTINGS))(event, Context())
    assert order == ["writes", "writes", "upkeep"]


def test_upkeep_that_breaks_off_does_not_hold_up_its_users_messages(
    home: House, letters: Letters, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> bool:
        raise Unavailable("DynamoDB did not answer")

    monkeypatch.setattr(home.app.jobs, "work", away)
    event = {"Records": [ring(Scope("default", "u").partition, "01J0000000000000000000000A")]}
    worker = Worker(home.runtime, Observer("worker", SETTINGS))
    assert worker(event, Context()) == {"batchItemFailures": []}
