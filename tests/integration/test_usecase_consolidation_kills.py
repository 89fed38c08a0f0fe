"""Killed at any step, run again: the end is that of an undisturbed run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rearview.usecases.maintenance.consolidate import ConsolidateTask
from rearview.usecases.scans import memories_of
from tests.house import House
from tests.integration.consolidation_kit import SCOPE, consolidate, job, opened, told, 订单

HABITS = ["Fed the carp", "Fed the hens", "Fed the carp again", "Fed the hens", "Fed the carp", "Fed 3 hens"]


class KilledError(BaseException):
    """Nobody catches it."""


def scene(home: House) -> None:
    """One memory that has lost an episode and will gain another, and groups to be made."""
    ids = told(home, 订单)
    consolidate(home)
    home.app.editor.after = lambda *_: None
    home.delete(ids[0])
    home.drain()
    home.clock.advance(days=7)
    told(home, HABITS + 订单[:1])


def state(home: House) -> list[Any]:
    """All memories without their ids and times of writing."""
    found = list(memories_of(home.app.services.store, SCOPE.partition))
    text = {item.id: home.get(item.id)["content"] for item in found}
    return sorted(
        (
            text[item.id],
            item.status,
            item.version,
            str(item.archived_because),
            text.get(item.consolidated_into or "", ""),
            str([text[one] for one in item.evidence]),
            str(dict(item.metadata)),
            str(item.valid_from),
        )
        for item in found
    )


def run_with(home: House, monkeypatch: pytest.MonkeyPatch, at: int, *, after: bool) -> int:
    """A run that is killed at its transaction number ``at``, before or after it; how many there were."""
    store, count = home.app.services.store, 0
    real = store.transact

    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal count
        count += 1
        if count == at and not after:
            raise KilledError
        result = real(*args, **kwargs)
        if count == at:
            raise KilledError
        return result

    with monkeypatch.context() as patch:
        patch.setattr(store, "transact", counted)
        # The same run goes on after a kill: its time is that of its first start.
        task, one = ConsolidateTask(home.app.services), job(home)
        try:
            task.run(one, lambda: False)
        except KilledError:
            patch.undo()
            home.clock.advance(minutes=5)
            task.run(one, lambda: False)
    home.drain()
    return count


def test_killed_at_any_transaction_the_end_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "whole") as home:
        scene(home)
        steps = run_with(home, monkeypatch, 0, after=False)
        want = state(home)
    assert steps > 5
    for at in range(1, steps + 1):
        with opened(tmp_path / str(at)) as home:
            scene(home)
            run_with(home, monkeypatch, at, after=at % 2 == 0)
            assert state(home) == want, f"killed at transaction {at}"
