"""The worker of ``serve`` looks after upkeep between writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rearview.domain.principal import LOCAL
from rearview.entrypoints.worker import Worker
from rearview.usecases.fields import read
from rearview.usecases.policy_commands import ListRuns, StartRun
from tests.house import house


def test_the_worker_starts_what_is_due_and_does_it(tmp_path: Path) -> None:
    with house(tmp_path) as h:
        h.write("Ms Osei waters the ferns on Mondays.")
        settings = h.runtime.settings.model_copy(update={"maintain_seconds": 1e-9})
        worker = Worker(replace(h.runtime, settings=settings))
        for _ in range(4):
            worker.turn()
        runs = h.app.upkeep.list(LOCAL, read(ListRuns, {}))["items"]
        assert [(run["state"], run["users_done"], run["requested_by"]) for run in runs] == [
            ("done", 1, "schedule")
        ] * 2


def test_what_a_run_found_is_soon_in_its_report_although_the_next_look_is_far_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rearview.entrypoints.worker.GATHER", 0.0)
    with house(tmp_path) as h:
        h.write("Ms Osei waters the ferns on Mondays.")
        settings = h.runtime.settings.model_copy(update={"maintain_seconds": 86_400.0})
        worker = Worker(replace(h.runtime, settings=settings))
        started = h.app.upkeep.start(LOCAL, read(StartRun, {"dry_run": True}))
        for _ in range(3):
            worker.turn()
        assert h.app.upkeep.get(LOCAL, started["id"])["state"] == "done"


def test_a_run_that_somebody_asked_for_is_done_beside_writes(tmp_path: Path) -> None:
    with house(tmp_path) as h:
        h.write("Ms Osei waters the ferns on Mondays.")
        started = h.app.upkeep.start(LOCAL, read(StartRun, {}))
        settings = h.runtime.settings.model_copy(update={"maintain_seconds": 1e-9})
        worker = Worker(replace(h.runtime, settings=settings))
        worker.turn()
        h.write("王先生每周一给蕨类浇水。", wait=False)
        for _ in range(4):
            worker.turn()
        assert h.app.upkeep.get(LOCAL, started["id"])["state"] == "done"
        assert all(item["enrichment"] == "done" for item in h.memories())
