"""``rearview maintain``: upkeep of a folder, now, or told beforehand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from rearview.domain.principal import LOCAL
from rearview.entrypoints.cli.main import app
from rearview.usecases.fields import read
from rearview.usecases.policy_commands import ListRuns
from tests.house import house


def maintain(folder: Path, *words: str) -> Result:
    env = {"REARVIEW_EMBEDDER": "hashing"}
    return CliRunner().invoke(app, ["maintain", "--data", str(folder), *words], env=env)


def runs(folder: Path) -> list[dict[str, Any]]:
    with house(folder) as h:
        found: list[dict[str, Any]] = h.app.upkeep.list(LOCAL, read(ListRuns, {}))["items"]
        return found


def test_it_does_the_daily_and_the_weekly_tasks_and_leaves_reports(tmp_path: Path) -> None:
    with house(tmp_path) as h:
        h.write("Ms Osei waters the ferns on Mondays.")
        h.write("王先生每周一给蕨类浇水。", namespace="shop")
    answer = maintain(tmp_path, "--json")
    assert answer.exit_code == 0, answer.output
    told = json.loads(answer.stdout)["runs"]
    assert [(run["namespace"], run["cadence"], run["users_done"]) for run in told] == [
        ("default", "daily", 1), ("default", "weekly", 1), ("shop", "daily", 1), ("shop", "weekly", 1)
    ]  # fmt: skip
    assert {run["id"] for run in runs(tmp_path)} == {
        run["id"] for run in told if run["namespace"] == "default"
    }


def test_a_dry_run_of_next_year_leaves_no_trace(tmp_path: Path) -> None:
    with house(tmp_path) as h:
        h.write("Ms Osei waters the ferns on Mondays.")
    answer = maintain(tmp_path, "--dry-run", "--as-of", "2031-01-01", "--cadence", "daily")
    assert answer.exit_code == 0, answer.output
    assert "default, daily, 1 users, would be done" in answer.stdout
    assert runs(tmp_path) == []


def test_a_real_run_in_the_future_a_wrong_time_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    with house(tmp_path) as h:
        h.write("Ms Osei waters the ferns on Mondays.")
    assert maintain(tmp_path, "--as-of", "2131-01-01").exit_code == 2
    assert maintain(tmp_path, "--as-of", "tomorrow").exit_code == 2
    assert maintain(tmp_path, "--cadence", "hourly").exit_code == 2
    assert maintain(tmp_path / "none").exit_code == 3
    assert runs(tmp_path) == []


def test_what_a_killed_run_left_is_brought_to_its_end_first(tmp_path: Path) -> None:
    with house(tmp_path) as h:
        h.write("Ms Osei waters the ferns on Mondays.")
        left = h.app.maintainer.start("default", "daily", by="killed")
    assert maintain(tmp_path).exit_code == 0
    assert {run["id"]: run["state"] for run in runs(tmp_path)}[left.id] == "done"


def test_the_call_that_takes_a_change_back_can_be_copied_out_of_the_output(tmp_path: Path) -> None:
    with house(tmp_path) as h:
        for number in range(4):
            h.write(
                "林小姐要求查看订单列表。", memory_type="short_term", kind="event", admission="verbatim",
                occurred_at=f"2026-02-0{number + 1}",
            )  # fmt: skip
    told = maintain(tmp_path, "--cadence", "weekly")
    assert told.exit_code == 0, told.output
    with house(tmp_path) as h:
        (made,) = [item["id"] for item in h.memories() if item["kind"] == "conclusion"]
    lines = told.stdout.splitlines()
    assert f"    undo: DELETE /v1/memories/{made}" in lines
    (line,) = [line for line in lines if line.startswith(f"  consolidate consolidated {made} ")]
    assert line.endswith(" and 2 more: like episodes: 4 times, 2026-02-01 to 2026-02-04")


def test_what_is_due_is_told_beforehand_and_when_it_went(tmp_path: Path) -> None:
    with house(tmp_path) as h:
        short = h.write("Ms Osei waters the ferns on Mondays.", ttl_seconds=3600)["id"]
        gone = h.write("王先生每周一给蕨类浇水。")["id"]
        h.app.editor.delete(LOCAL, gone)
        h.write("The ferns stand by the north window.")
    before = json.loads(maintain(tmp_path, "--dry-run", "--as-of", "2131-01-01", "--json").stdout)
    assert before["sweep"] == {"expired": [short], "purged": [gone]}
    assert (
        f"sweep expired {short}: due, would be done"
        in maintain(tmp_path, "--dry-run", "--as-of", "2131-01-01").stdout
    )
    # The house's clock stands in the past: by the clock of the command both times are over.
    assert json.loads(maintain(tmp_path, "--json").stdout)["sweep"] == before["sweep"]
    assert json.loads(maintain(tmp_path, "--json").stdout)["sweep"]["purged"] == []
