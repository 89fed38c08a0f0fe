"""Runs of maintenance: started by the clock or a call, cut into jobs per user, gathered, resumable, done once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from rearview.domain import keys
from rearview.domain.principal import LOCAL, Principal
from rearview.domain.scope import Scope
from rearview.errors import Forbidden, InvalidInput, NotFound
from rearview.usecases.fields import read
from rearview.usecases.maintenance.runs import BATCH, Maintainer
from rearview.usecases.maintenance.task import Cadence, Job, Result
from rearview.usecases.maintenance.work import Jobs
from rearview.usecases.policy_commands import ListRuns, StartRun
from tests.house import House, house


class Killed(BaseException):
    """As if the process ended here."""


class Counting:
    """A task that notes whom it was run for. ``stops``: so often it says that it is not done."""

    def __init__(self, name: str = "count", cadence: Cadence = "daily", stops: int = 0) -> None:
        self.name, self.cadence, self.stops = name, cadence, stops
        self.seen: list[str] = []
        self.before: Callable[[Job], None] = lambda job: None

    def run(self, job: Job, stop: Callable[[], bool]) -> Result:
        self.before(job)
        self.seen.append(job.scope.user_id)
        result = Result()
        result.note("counted", (f"ref-{job.scope.user_id}",), "because it was there")
        if self.stops:
            self.stops -= 1
            result.done = False
        return result


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def never() -> bool:
    return False


def maintainer(home: House, *tasks: Counting) -> Maintainer:
    services = home.app.services
    return Maintainer(services, Jobs(services, lambda: tasks))


def report(home: House, run_id: str) -> dict[str, Any]:
    return home.app.upkeep.get(LOCAL, run_id)


def users(home: House, count: int) -> list[str]:
    names = [f"user-{number}" for number in range(count)]
    home.batch([{"user_id": name, "content": f"{name} waters the ferns on Mondays."} for name in names])
    return names


def test_a_run_does_every_users_part_once_and_tells_it(home: House) -> None:
    names = users(home, BATCH + 3)
    task = Counting()
    upkeep = maintainer(home, task)
    run = upkeep.start("default", "daily", by="test")
    assert upkeep.advance(run, never, inline=True)
    assert sorted(task.seen) == sorted(names)
    told = report(home, run.id)
    assert (told["state"], told["users"], told["users_done"]) == ("done", len(names), len(names))
    assert told["counts"] == {"count.counted": len(names)}
    assert {change["user_id"] for change in told["tasks"]["count"]["changes"]} == set(names)


def test_a_run_gives_its_jobs_to_the_queue_and_gathers_what_workers_did(home: House) -> None:
    users(home, 2)
    task = Counting()
    upkeep = maintainer(home, task)
    run = upkeep.start("default", "daily", by="test")
    assert not upkeep.advance(run, never)
    assert task.seen == []
    messages = [item for item in home.runtime.queue.receive(100) if "maintain" in item.body]
    assert {item.body["maintain"] for item in messages} == {run.id}
    for message in messages:
        assert upkeep.jobs.work(message.group, never)
    assert upkeep.advance(upkeep.read(run), never)
    assert report(home, run.id)["users_done"] == 2


def test_a_run_without_users_is_done_at_once(home: House) -> None:
    upkeep = maintainer(home, Counting())
    run = upkeep.start("empty", "daily", by="test")
    assert upkeep.advance(run, never, inline=True)
    assert report(home, run.id)["state"] == "done"


@pytest.mark.parametrize("place", ["before the work", "after the work", "while gathering"])
def test_a_run_that_was_killed_goes_on_where_it_was(
    home: House, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = users(home, 5)
    task = Counting()
    upkeep = maintainer(home, task)
    run = upkeep.start("default", "daily", by="test")
    with monkeypatch.context() as patched:
        if place == "before the work":

            def dies(job: Job) -> None:
                if len(task.seen) == 2:
                    raise Killed

            patched.setattr(task, "before", dies)
        elif place == "after the work":
            kept = Jobs._keep

            def keep(self: Jobs, *given: Any) -> Any:
                if len(task.seen) == 3:
                    raise Killed
                return kept(self, *given)

            patched.setattr(Jobs, "_keep", keep)
        else:
            patched.setattr(Maintainer, "_gather", lambda self, run: (_ for _ in ()).throw(Killed))
        with pytest.raises(Killed):
            upkeep.advance(run, never, inline=True)
    assert upkeep.advance(upkeep.read(run), never, inline=True)
    told = report(home, run.id)
    assert (told["state"], told["counts"]) == ("done", {"count.counted": 5})
    assert set(task.seen) == set(names)


def test_a_task_that_is_asked_to_stop_goes_on_at_the_next_turn(home: House) -> None:
    users(home, 1)
    task = Counting(stops=2)
    upkeep = maintainer(home, task)
    run = upkeep.start("default", "daily", by="test")
    assert not upkeep.advance(run, never, inline=True)
    assert not upkeep.advance(upkeep.read(run), never, inline=True)
    assert upkeep.advance(upkeep.read(run), never, inline=True)
    assert report(home, run.id)["counts"] == {"count.counted": 3}


def test_a_task_that_fails_keeps_neither_other_tasks_nor_other_users_waiting(home: House) -> None:
    users(home, 2)

    def fails(job: Job) -> None:
        raise RuntimeError("text of a user")

    broken, good = Counting("broken"), Counting("good")
    broken.before = fails
    upkeep = maintainer(home, broken, good)
    run = upkeep.start("default", "daily", by="test")
    assert upkeep.advance(run, never, inline=True)
    told = report(home, run.id)
    assert told["counts"] == {"broken.failed": 2, "good.counted": 2}
    assert "text of a user" not in str(told)


def test_another_who_is_at_a_job_is_left_alone(home: House) -> None:
    users(home, 1)
    task = Counting()
    upkeep = maintainer(home, task)
    run = upkeep.start("default", "daily", by="test")
    upkeep.advance(run, lambda: bool(upkeep.read(run).handed))
    upkeep.advance(upkeep.read(run), never)
    partition = Scope("default", "user-0").partition
    services = home.app.services
    services.owner = "somebody else"
    upkeep.jobs._claim(partition, run.id)
    services.owner = "me"
    assert upkeep.jobs.work(partition, never)
    assert task.seen == []
    home.clock.advance(seconds=121)
    assert upkeep.jobs.work(partition, never)
    assert task.seen == ["user-0"]


def test_a_lost_message_is_rung_again(home: House) -> None:
    users(home, 1)
    upkeep = maintainer(home, Counting())
    run = upkeep.start("default", "daily", by="test")
    upkeep.advance(run, never)
    for message in home.runtime.queue.receive(100):
        home.runtime.queue.acknowledge(message)
    upkeep.advance(upkeep.read(run), never)
    assert home.runtime.queue.receive(100) == []
    home.clock.advance(seconds=301)
    upkeep.advance(upkeep.read(run), never)
    assert [message.body["maintain"] for message in home.runtime.queue.receive(100)] == [run.id]


def test_the_clock_starts_one_run_a_day_and_one_a_week_in_every_namespace(home: House) -> None:
    home.write("Ms Osei waters the ferns on Mondays.", namespace="shop")
    daily, weekly = Counting("d"), Counting("w", "weekly")
    upkeep = maintainer(home, daily, weekly)
    assert upkeep.step(never, inline=True)["started"] == 4
    assert upkeep.step(never, inline=True)["started"] == 0
    assert (daily.seen, weekly.seen) == (["u"], ["u"])
    home.clock.advance(days=1)
    assert upkeep.step(never, inline=True)["started"] == 2
    home.clock.advance(days=7)
    upkeep.step(never, inline=True)
    assert (daily.seen, weekly.seen) == (["u"] * 3, ["u"] * 2)


def test_a_day_of_upkeep_begins_at_its_hour(home: House) -> None:
    upkeep = maintainer(home, Counting())
    home.clock.at = home.clock.at.replace(hour=2, minute=59)
    upkeep.step(never, inline=True)
    home.clock.advance(minutes=2)
    assert upkeep.step(never, inline=True)["started"] > 0


def test_a_preview_writes_nothing(home: House) -> None:
    users(home, 3)
    dry: list[bool] = []
    task = Counting()
    task.before = lambda job: dry.append(job.dry_run)
    upkeep = maintainer(home, task)
    told = upkeep.preview("default", "daily", home.clock.now() + timedelta(days=365))
    assert (told["users"], told["tasks"]["count"]["counts"], set(dry)) == (3, {"counted": 3}, {True})
    listed = home.app.upkeep.list(LOCAL, read(ListRuns, {}))
    assert listed == {"items": [], "next_cursor": None}
    for name in ("user-0", "user-1"):
        page = home.app.services.store.query(Scope("default", name).partition, keys.JOBS)
        assert page.items == []


def test_runs_are_listed_newest_first_page_by_page(home: House) -> None:
    started = []
    for _ in range(3):
        started.append(home.app.upkeep.start(LOCAL, read(StartRun, {}))["id"])
        home.clock.advance(seconds=1)
    home.app.upkeep.start(LOCAL, read(StartRun, {"cadence": "weekly"}))
    first = home.app.upkeep.list(LOCAL, read(ListRuns, {"cadence": "daily", "limit": 2}))
    rest = home.app.upkeep.list(
        LOCAL, read(ListRuns, {"cadence": "daily", "limit": 2, "cursor": first["next_cursor"]})
    )
    assert [item["id"] for item in first["items"] + rest["items"]] == started[::-1]
    assert rest["next_cursor"] is None


def test_a_real_run_in_the_future_is_refused_and_a_dry_one_is_not(home: House) -> None:
    ahead = "2031-01-01"
    with pytest.raises(InvalidInput) as refused:
        home.app.upkeep.start(LOCAL, read(StartRun, {"as_of": ahead}))
    assert refused.value.errors[0].field == "as_of"
    assert home.app.upkeep.start(LOCAL, read(StartRun, {"as_of": ahead, "dry_run": True}))["dry_run"]


def test_who_may_not_see_a_run_is_not_told_that_there_is_one(home: House) -> None:
    run = home.app.upkeep.start(LOCAL, read(StartRun, {"namespace": "shop"}))
    with pytest.raises(NotFound):
        home.app.upkeep.get(Principal("x", frozenset({"default"})), run["id"])
    with pytest.raises(Forbidden):
        home.app.upkeep.start(Principal("x", None, frozenset({"audit"})), read(StartRun, {}))
    with pytest.raises(NotFound):
        home.app.upkeep.get(LOCAL, "01JWB5A8ZK3V9Q6M2T4X7C1D0E")


def test_a_report_goes_after_its_time(home: House) -> None:
    upkeep = maintainer(home, Counting())
    run = upkeep.start("default", "daily", by="test")
    upkeep.advance(run, never, inline=True)
    home.clock.advance(days=401)
    home.app.sweeper.sweep()
    with pytest.raises(NotFound):
        report(home, run.id)
