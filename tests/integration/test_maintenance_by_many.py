"""Maintenance by many machines: nobody's name comes twice, messages get lost, reports stay small, nobody starves."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.principal import LOCAL
from rearview.domain.runs import NAMED, Cadence, JobState, Run, gather
from rearview.domain.scope import Scope
from rearview.errors import InvalidInput, Unavailable
from rearview.usecases.fields import read
from rearview.usecases.maintenance import bell, reports, work
from rearview.usecases.maintenance.runs import BATCH, GATHERED, Maintainer
from rearview.usecases.maintenance.task import Job, Result
from rearview.usecases.maintenance.work import Jobs
from rearview.usecases.paging import weight
from rearview.usecases.policy_commands import ListRuns
from tests.house import House, house

GROUP = Scope("default", "u").partition


class Killed(BaseException):
    """As if the process ended here."""


class Turns:
    """A task that is done at its ``last`` turn."""

    name: str = "turns"
    cadence: Cadence = "daily"

    def __init__(self, last: int = 1) -> None:
        self.last, self.turns = last, 0
        self.during: Callable[[], None] = lambda: None

    def run(self, job: Job, stop: Callable[[], bool]) -> Result:
        self.turns += 1
        self.during()
        result = Result(done=self.turns >= self.last)
        result.note("turned", (job.scope.user_id,), "because it was there")
        return result


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def never() -> bool:
    return False


def handed(home: House, task: Any) -> tuple[Maintainer, str]:
    """A run whose one job was given out, and its id."""
    home.write("Waters the ferns on Mondays.")
    services = home.app.services
    upkeep = Maintainer(services, Jobs(services, lambda: (task,)))
    run = upkeep.start("default", "daily", by="test")
    assert not upkeep.advance(run, never)
    return upkeep, run.id


def job(home: House, run_id: str) -> JobState:
    body = home.app.services.store.get(keys.job(GROUP, run_id))
    assert body is not None
    return decode(JobState, body)


def test_the_next_turn_goes_on_at_once_though_it_bears_another_name(home: House) -> None:
    task = Turns(last=3)
    upkeep, run_id = handed(home, task)
    home.app.services.owner = "environment/request-1"
    assert not upkeep.jobs.work(GROUP, never)
    home.app.services.owner = "environment/request-2"
    assert not upkeep.jobs.work(GROUP, never)
    home.app.services.owner = "environment/request-3"
    assert upkeep.jobs.work(GROUP, never)
    assert (task.turns, job(home, run_id).done) == (3, True)
    assert job(home, run_id).tasks["turns"]["counts"] == {"turned": 3}


def test_who_was_overtaken_changes_nothing_in_the_job(home: House) -> None:
    task = Turns()
    upkeep, run_id = handed(home, task)
    store = home.app.services.store

    def overtaken() -> None:
        later = replace(job(home, run_id), owner="another", turns=9)
        store.transact(GROUP, lambda uow: uow.put(keys.job(GROUP, run_id), encode(later)))

    task.during = overtaken
    assert upkeep.jobs.work(GROUP, never)
    found = job(home, run_id)
    assert (found.done, found.owner, found.turns, dict(found.tasks)) == (False, "another", 9, {})


def all_users(home: House, count: int) -> list[str]:
    names = [f"user-{number:03d}" for number in range(count)]
    home.batch([{"user_id": name, "content": f"{name} waters the ferns on Mondays."} for name in names])
    return [Scope("default", name).partition for name in names]


def test_messages_that_a_queue_lost_for_many_users_are_all_rung_again_in_one_step(home: House) -> None:
    groups = all_users(home, 30)
    services = home.app.services
    upkeep = Maintainer(services, Jobs(services, lambda: (Turns(),)))
    run = upkeep.start("default", "daily", by="test")
    upkeep.advance(run, never)
    for message in home.runtime.queue.receive(100):
        home.runtime.queue.acknowledge(message)
    home.clock.advance(seconds=301)
    assert not upkeep.advance(upkeep.read(run), never)
    rung = home.runtime.queue.receive(100)
    assert sorted(message.group for message in rung) == sorted(groups)
    for message in rung:
        home.runtime.queue.acknowledge(message)
    assert not upkeep.advance(upkeep.read(run), never)
    assert home.runtime.queue.receive(100) == []


def test_outcomes_of_many_users_are_gathered_whatever_the_bounds_of_a_transaction(home: House) -> None:
    all_users(home, GATHERED + 5)
    services = home.app.services
    upkeep = Maintainer(services, Jobs(services, lambda: (Turns(),)))
    run = upkeep.start("default", "daily", by="test")
    assert upkeep.advance(run, never, inline=True)
    assert upkeep.read(run).users_done == GATHERED + 5
    assert services.store.query(GROUP, keys.JOBS).items == []


def test_a_report_fits_into_one_item_whatever_is_in_it() -> None:
    at = datetime(2026, 5, 3, tzinfo=UTC)
    run = Run("run", "default", "weekly", at, at, "test")
    change = {"action": "consolidated", "refs": ["0" * 26] * 1000, "reason": "每日" * 25, "undo": None}
    tasks = {name: {"counts": {"did": 50}, "changes": [change] * 50, "done": True} for name in "abcdefg"}
    for number in range(10):
        user = f"{number}" + "用户" * 127
        job = JobState("run", "default", user, "weekly", at, done=True, tasks=tasks)
        run = gather(run, f"U#{number}", job)
    assert len(json.dumps(encode(run), ensure_ascii=False).encode()) < 300_000
    assert run.tasks["a"]["counts"] == {"did": 500}
    assert len(run.tasks["g"]["changes"]) > 20
    assert len(run.tasks["g"]["changes"][0]["refs"]) == NAMED


def test_a_namespace_whose_run_breaks_off_keeps_no_other_waiting(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write("Waters the ferns on Mondays.", namespace="a")
    home.write("Waters the ferns on Mondays.", namespace="b")
    services = home.app.services
    upkeep = Maintainer(services, Jobs(services, lambda: (Turns(),)))
    gather_ = upkeep._gather

    def broken(run: Run) -> Run | None:
        if (run.namespace, run.cadence) == ("a", "daily"):
            raise InvalidInput.of("store", "size", "is too large")
        return gather_(run)

    monkeypatch.setattr(upkeep, "_gather", broken)
    answer = upkeep.step(never, inline=True)
    assert (answer["finished"], answer["open"], answer["failed"]) == (5, 1, 1)
    home.clock.advance(seconds=7200)
    assert upkeep.step(never, inline=True)["lag"] >= 7200
    monkeypatch.undo()
    assert upkeep.step(never, inline=True)["finished"] == 1


def test_a_step_whose_time_is_over_is_followed_by_one_that_begins_with_the_next_namespace(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        home.write("Waters the ferns on Mondays.", namespace=name)
    seen: list[str] = []
    services = home.app.services
    upkeep = Maintainer(services, Jobs(services, lambda: (Turns(),)))
    start_due = upkeep.start_due

    def noted(namespace: str, cadence: Cadence) -> int:
        seen.append(namespace)
        return start_due(namespace, cadence)

    monkeypatch.setattr(upkeep, "start_due", noted)
    upkeep.step(lambda: len(set(seen)) == 2)
    assert set(seen) == {"a", "b"}
    seen.clear()
    upkeep.step(lambda: len(set(seen)) == 1)
    assert set(seen) == {"c"}
    seen.clear()
    upkeep.step(never)
    assert list(dict.fromkeys(seen)) == ["default", "a", "b", "c"]
    seen.clear()
    upkeep.step(never)
    assert list(dict.fromkeys(seen)) == ["a", "b", "c", "default"]


def test_a_task_that_failed_for_a_user_is_told_when_the_run_is_finished(home: House) -> None:
    def fails() -> None:
        raise Unavailable("the index is away")

    task = Turns()
    task.during = fails
    home.write("Waters the ferns on Mondays.")
    services = home.app.services
    answer = Maintainer(services, Jobs(services, lambda: (task,))).step(never, inline=True)
    assert (answer["finished"], answer["failed"]) == (2, 1)


def test_a_page_of_heavy_reports_ends_early_and_the_next_one_goes_on(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    upkeep = home.app.maintainer
    started = [upkeep.start("default", "daily", by="test").id for _ in range(5)]
    one = weight(home.app.upkeep.get(LOCAL, started[0]))
    monkeypatch.setattr(reports, "PAGE_BYTES", 2 * one + one // 2)
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(3):
        page = home.app.upkeep.list(LOCAL, read(ListRuns, {"cursor": cursor} if cursor else {}))
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert cursor is None
    assert seen == sorted(started, reverse=True)


def test_nobody_is_given_more_upkeep_while_the_queue_is_long_or_away(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_users(home, 30)
    services = home.app.services
    for message in home.runtime.queue.receive(100):
        home.runtime.queue.acknowledge(message)
    upkeep = Maintainer(services, Jobs(services, lambda: (Turns(),)))
    run = upkeep.start("default", "daily", by="test")
    monkeypatch.setattr(bell, "BACKLOG", 20)
    assert not upkeep.advance(run, never)
    assert (upkeep.read(run).users, upkeep.read(run).state) == (BATCH, "handing_out")
    for message in home.runtime.queue.receive(100):
        upkeep.jobs.work(message.group, never)
        home.runtime.queue.acknowledge(message)

    def away() -> tuple[int, int]:
        raise Unavailable("SQS did not answer")

    with monkeypatch.context() as patched:
        patched.setattr(services.queue, "depth", away)
        assert not upkeep.advance(upkeep.read(run), never)
        assert upkeep.read(run).users == BATCH
    upkeep.advance(upkeep.read(run), never)
    assert (upkeep.read(run).users, upkeep.read(run).state) == (30, "working")


def test_a_task_that_ends_its_process_each_time_is_given_up_some_day_and_the_next_one_is_done(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies() -> None:
        raise Killed

    deadly, harmless = Turns(), Turns()
    deadly.during, harmless.name = dies, "harmless"
    upkeep, run_id = handed(home, deadly)
    upkeep.jobs.tasks["harmless"] = harmless
    monkeypatch.setattr(work, "DEATHS", 3)
    for number in range(4):
        home.app.services.owner = f"environment-{number}"
        home.clock.advance(seconds=121)
        with contextlib.suppress(Killed):
            upkeep.jobs.work(GROUP, never)
    assert (deadly.turns, harmless.turns) == (3, 1)
    found = job(home, run_id)
    assert (found.done, found.tasks["turns"]["counts"]) == (True, {"failed": 1})
