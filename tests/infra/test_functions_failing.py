"""A worker whose messages fail says so, in a metric that rings and a line that names no user."""

from __future__ import annotations

from typing import Any

import pytest

from rearview.domain.scope import Scope
from rearview.entrypoints.aws.observe import Observer
from rearview.entrypoints.aws.worker import Worker
from rearview.errors import Unavailable
from tests.house import House
from tests.infra.test_functions import SETTINGS, Context, Letters, _logging, doorbells, home, letters

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
