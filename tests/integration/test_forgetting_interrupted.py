"""Forgetting that is stopped, killed or met by others on the way ends as if nothing had happened."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from rearview.domain.scope import Scope
from rearview.errors import Conflicting
from rearview.usecases.maintenance import forget
from rearview.usecases.weekly import report_id
from tests.house import FakeClock, House, house
from tests.integration.forgetting_kit import FERRY, UMBRELLA, decide, passing, policy, reports, run, states

NOTES = (
    "The garden gate squeaks a little.",
    "Somebody hummed in the lift.",
    "The soup was lukewarm on Tuesday.",
    "顺口提过信箱有点生锈。",
    "说起过楼下的猫很胖。",
    "好像抱怨过电梯慢。",
)


class Killed(BaseException):
    """What a kill is to the code: nothing after this line runs."""


def killing(h: House, after: int) -> None:
    """From now on the store does so many transactions, and dies at the next, before it or after it by turns."""
    real, count = h.app.services.store.transact, itertools.count()

    def transact(partition: str, work: Callable[[Any], Any], **more: Any) -> Any:
        number = next(count)
        if number >= after and after % 2:
            raise Killed
        done = real(partition, work, **more)
        if number >= after:
            raise Killed
        return done

    h.app.services.store.transact = transact  # type: ignore[method-assign]


def outline(h: House) -> list[Any]:
    """What there is, but for ids and times."""
    found: list[Any] = [
        (report["counts"], sorted((item["state"], item["value"]) for item in report["findings"]))
        for report in reports(h)
    ]
    fields = ("content", "status", "version", "deleted_by")
    return found + [tuple(item[name] for name in fields) for item in h.memories(status=["active", "deleted"])]


def day(h: House, clock: FakeClock, number: int) -> None:
    clock.at = clock.at.replace(month=9, day=15 + number, hour=12)
    run(h)


def prepared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    monkeypatch.setattr(forget, "STEP", 2)
    clock = FakeClock()
    with house(folder, clock=clock) as h:
        policy(h, mode="auto")
        for note in NOTES:
            passing(h, note, admission="verbatim")
    return clock


@pytest.mark.parametrize("after", range(6))
def test_killed_at_any_transaction_and_run_again_the_end_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    outlines = []
    for name in ("whole", "killed"):
        clock = prepared(tmp_path / name, monkeypatch)
        for number in (0, 8):
            if name == "killed":
                with house(tmp_path / name, clock=clock) as h:
                    killing(h, after)
                    try:
                        day(h, clock, number)
                    except Killed:
                        h.app.services.queue = h.runtime.queue
                    del h.app.services.store.transact
            with house(tmp_path / name, clock=clock) as h:
                day(h, clock, number)
                h.drain()
        with house(tmp_path / name, clock=clock) as h:
            assert h.audit()["ok"]
            outlines.append(outline(h))
    assert outlines[0] == outlines[1]
    assert any(item[1] == "deleted" for item in outlines[0] if len(item) == 4)


def test_stopped_after_each_step_it_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = prepared(tmp_path, monkeypatch)
    with house(tmp_path, clock=clock) as h:
        clock.advance(days=200)
        proposed = 0
        for _ in range(3):
            looks = itertools.count()
            result = run(h, stop=lambda looks=looks: next(looks) > 0)  # type: ignore[misc]
            proposed += result.counts.get("proposed", 0)
        assert result.done
        assert proposed == len(NOTES)
        assert len(reports(h)[0]["findings"]) == len(NOTES)


def test_a_stop_at_the_start_leaves_everything_to_the_next_call(h_folder: Path) -> None:
    with house(h_folder) as h:
        passing(h, FERRY)
        h.clock.advance(days=200)
        assert not run(h, stop=lambda: True).done
        assert reports(h) == []
        assert run(h).counts == {"proposed": 1}


@pytest.fixture
def h_folder(tmp_path: Path) -> Path:
    return tmp_path


def test_what_is_confirmed_between_the_look_and_the_transaction_is_not_proposed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with house(tmp_path) as h:
        ferry, umbrella = passing(h, FERRY), passing(h, UMBRELLA)
        h.clock.advance(days=200)
        task: Any = h.app.jobs.tasks["forget"]
        real = task.proposals.keep

        def keep(*arguments: Any) -> Any:
            h.patch(ferry, confirmed=True)
            return real(*arguments)

        monkeypatch.setattr(task.proposals, "keep", keep)
        assert run(h).counts == {"proposed": 1}
        assert states(reports(h)[0]) == {umbrella: "proposed"}


def test_two_runs_of_one_week_at_once_propose_everything_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = prepared(tmp_path, monkeypatch)
    with house(tmp_path, clock=clock) as h:
        clock.advance(days=200)
        task: Any = h.app.jobs.tasks["forget"]
        real = task.proposals.keep
        inner: list[Any] = []

        def keep(*arguments: Any) -> Any:
            if not inner:
                inner.append(None)
                inner.append(run(h))
            return real(*arguments)

        monkeypatch.setattr(task.proposals, "keep", keep)
        assert run(h).counts == {}
        assert inner[1].counts == {"proposed": len(NOTES)}
        assert len(reports(h)[0]["findings"]) == len(NOTES)


def test_an_opposition_that_comes_while_auto_is_at_work_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with house(tmp_path) as h:
        policy(h, mode="auto")
        ferry = passing(h, FERRY)
        h.clock.advance(days=200)
        run(h)
        h.clock.advance(days=8)
        task: Any = h.app.jobs.tasks["forget"]
        real = task.forgetter.carry_out

        def carry_out(scope: Scope, report: Any, *more: Any) -> Any:
            decide(h, "oppose", report.id)
            return real(scope, report, *more)

        monkeypatch.setattr(task.forgetter, "carry_out", carry_out)
        run(h)
        assert h.get(ferry)["status"] == "active"


def test_more_than_a_report_holds_leaves_those_worth_least_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rearview.usecases.maintenance import proposals

    monkeypatch.setattr(proposals, "MOST", 2)
    with house(tmp_path) as h:
        weights = [0.3, 0.1, 0.2]
        ids = [
            passing(h, text, importance=some, admission="verbatim")
            for text, some in zip(NOTES[2:5], weights, strict=True)
        ]
        h.clock.advance(days=200)
        run(h)
        (report,) = reports(h)
        assert list(states(report)) == [ids[1], ids[2]]
        assert report["counts"]["left_out"] == 1
        decide(h, "approve", report["id"])
        h.clock.advance(days=7)
        run(h)
        assert list(states(reports(h)[0])) == [ids[0]]


def test_the_reports_id_is_the_same_for_everybody_who_asks_in_a_week() -> None:
    one = report_id("forgetting", "default", "米拉", "2026-W53")
    assert one == report_id("forgetting", "default", "米拉", "2026-W53")
    others = [
        report_id("review", "default", "米拉", "2026-W53"),
        report_id("forgetting", "other", "米拉", "2026-W53"),
        report_id("forgetting", "default", "mira", "2026-W53"),
        report_id("forgetting", "default", None, "2026-W53"),
        report_id("forgetting", "default", "米拉", "2027-W01"),
    ]
    assert len({one, *others}) == 6
    assert others[4] > one


def test_many_who_decide_at_once_leave_report_and_memories_of_one_mind(tmp_path: Path) -> None:
    with house(tmp_path) as h:
        ids = [passing(h, note, admission="verbatim") for note in NOTES]
        h.clock.advance(days=200)
        run(h)
        audit = reports(h)[0]["id"]
        calls: list[Callable[[], Any]] = [
            *[lambda: decide(h, "approve", audit)] * 3,
            *[lambda: decide(h, "oppose", audit)] * 2,
            lambda: h.patch(ids[0], confirmed=True),
        ]
        with ThreadPoolExecutor(len(calls)) as pool:
            for future in [pool.submit(call) for call in calls]:
                with suppress(Conflicting):
                    future.result()
        expected = {"done": "deleted", "opposed": "active"}
        for memory_id, state in states(reports(h)[0]).items():
            assert h.get(memory_id)["status"] == expected[state]
        h.drain()
        assert h.audit()["ok"]
