"""Whatever people, time and upkeep do to memories, in whatever order: nothing acknowledged is lost, shown wrongly or kept
too long."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.integration.lifecycle_kit import STEPS, Life, lives, moved

#: How many lives: in the quick suite, and where there is time (``RV_LIVES``, for other numbers).
QUICK, ALL = 15, int(os.environ.get("RV_LIVES", "300"))


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _file: None)


def again(other: Life) -> None:
    """In a fresh folder all must be true at once; what is cold is found from the first upkeep on."""
    other.answers()
    other.audited()
    other.earlier()
    other.upkeep()


def tell(number: int) -> None:
    @settings(max_examples=number, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(steps=STEPS)
    def run(steps: list[tuple[Any, ...]]) -> None:
        with tempfile.TemporaryDirectory() as folder, lives(Path(folder) / "here") as life:
            life.live(steps)
            moved(life, Path(folder) / "there", again)

    run()


def test_memories_live_through_whatever_comes() -> None:
    tell(QUICK)


@pytest.mark.slow
def test_memories_live_through_whatever_comes_in_hundreds_of_lives() -> None:
    tell(ALL)
