"""Functions in trouble: messages that fail show without naming a user, and purges by the hundred leave time for the rest."""

from __future__ import annotations

from typing import Any

import pytest

from rearview.domain.scope import Scope
from rearview.entrypoints.aws.observe import Observer
from rearview.entrypoints.aws.worker import Worker
from rearview.errors import Unavailable
from tests.house import House
from tests.infra.test_functions import (
    SETTINGS,
    Context,
    Letters,
    _logging,
    doorbells,
    home,
    letters,
    maintain,
)

__all__ = ["_logging", "home", "letters"]


def test_a_store_that_is_away_shows_although_the_batch_is_answered(
    home: House, letters: Letters, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def away(*_: Any) -> int:
        raise Unavailable("DynamoDB refused: AccessDeniedException")

    monkeypatch.setattr(type(home.app.enricher), "drain", away)
    groups = [Scope("default", user).partition for user in ("mira", "李雷")]
    # A logger keeps the standard output of the time it was made.
    worker = Worker(home.runtime, Observer("refusals", SETTINGS))
    assert len(worker(doorbells(*groups), Context())["batchItemFailures"]) == 2
    out = capsys.readouterr().out
    assert '"MessagesFailed":[1.0,1.0]' in out
    assert "a message failed and comes again" in out
    assert "mira" not in out
    assert "李雷" not in out


def test_a_message_whose_turn_did_not_come_is_no_failure(
    home: House, letters: Letters, capsys: pytest.CaptureFixture[str]
) -> None:
    worker = Worker(home.runtime, Observer("worker", SETTINGS))
    worker(doorbells(Scope("default", "mira").partition), Context(milliseconds=1_000))
    assert "MessagesFailed" not in capsys.readouterr().out


def test_a_sweep_with_more_to_purge_than_its_time_allows_still_helps_what_waits(
    home: House, letters: Letters, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        home.write(f"Code {number} is 12{number}4", wait=False, admission="force", ttl_seconds=60)
    home.app.enricher.drain(Scope("default", "u").partition)
    late = home.write("灯塔是白色的", user="late", wait=False, admission="force")
    home.clock.advance(seconds=90)
    context = Context(milliseconds=300_000)
    one = type(home.app.sweeper)._one

    def slow(*given: Any) -> int:
        context.milliseconds -= 100_000
        return one(*given)

    monkeypatch.setattr(type(home.app.sweeper), "_one", slow)
    answer = maintain(home)({"action": "sweep"}, context)
    assert answer["swept"] == 2
    assert home.get(late["id"])["enrichment"] == "done"
    context.milliseconds = 600_000
    assert maintain(home)({"action": "sweep"}, context)["swept"] == 3
