"""The demo with the real embedder: what it shows must be so, and a step that is not so must be told."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rearview.bootstrap import opened
from rearview.evaluation.demo import Demo, Step
from rearview.settings import Settings
from rearview.usecases.app import Rearview


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Rearview, Demo, list[Step], float]]:
    """A store after its first demo: the demo, its steps, and the seconds it took."""
    with opened(Settings(data=tmp_path_factory.mktemp("demo"), embedder="e5")) as runtime:
        demo, started = Demo(runtime.app), time.monotonic()
        steps = list(demo.run())
        yield runtime.app, demo, steps, time.monotonic() - started


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Rearview]:
    with opened(Settings(data=tmp_path, embedder="e5")) as runtime:
        yield runtime.app


def failed(steps: list[Step]) -> list[str]:
    return [claim for step in steps for claim, holds in step.checks if not holds]


def test_every_claim_of_the_demo_holds_and_it_is_quick(
    shown: tuple[Rearview, Demo, list[Step], float],
) -> None:
    _, _, steps, seconds = shown
    assert failed(steps) == []
    assert len(steps) == 9
    assert all(step.checks and step.lines for step in steps)
    assert seconds < 20


def test_a_second_demo_in_the_same_folder_takes_a_user_of_its_own(
    shown: tuple[Rearview, Demo, list[Step], float],
) -> None:
    app, first, _, _ = shown
    second = Demo(app)
    assert (first.user, second.user) == ("lin", "lin-2")
    assert failed(list(second.run())) == []


def test_a_claim_that_does_not_hold_is_told(app: Rearview, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rearview.evaluation.demo.QUESTIONS", (("Where is the moon?", "cheese", "wonders"),))
    assert failed(list(Demo(app).run())) == ["wonders"]


def test_a_step_that_breaks_ends_the_demo_with_its_error(
    app: Rearview, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(type(app.recaller), "recall", broken)
    steps = list(Demo(app).run())
    assert len(steps) == 2
    assert "out of order" in failed(steps)[0]
