"""Upkeep on Lambda: the schedule starts it, the queue hands it out, the worker does it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rearview.domain.scope import Scope
from rearview.entrypoints.aws.observe import Observer
from rearview.entrypoints.aws.worker import Worker
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
    assert maintain(home)({"action": "maintain"}, Context()) == {"started": 0, "open": 0, "finished": 2}
    assert maintain(home)({"action": "maintain"}, Context()) == {"started": 0, "open": 0, "finished": 0}
