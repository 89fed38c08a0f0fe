"""`rearview profile`: shares for people and for scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rearview.entrypoints.cli.main import app


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REARVIEW_EMBEDDER", "hashing")
    monkeypatch.setenv("REARVIEW_DATA", str(tmp_path / "store"))
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_a_profile_is_shown_with_its_shares(folder: Path) -> None:
    for number, by in enumerate(("日期", "日期", "金额")):
        run("write", f"订单按{by}排序", "--user", "ana", "--session", f"s{number}")
    shown = run("profile", "--user", "ana")
    assert shown.exit_code == 0
    assert "0.67" in shown.stdout
    assert "2 of 3" in shown.stdout
    (item,) = json.loads(run("profile", "--user", "ana", "--json").stdout)["items"]
    assert (item["canonical"], item["count"], item["total"]) == ("date", 2, 3)


def test_nobody_has_an_empty_profile_and_the_exit_code_says_so(folder: Path) -> None:
    run("write", "The boiler is serviced in March.", "--user", "ana")
    assert run("profile", "--user", "ana").exit_code == 3
    assert json.loads(run("profile", "--user", "ana", "--json").stdout)["items"] == []


def test_a_stored_value_cannot_steer_the_terminal(folder: Path) -> None:
    run("write", "I prefer \x1b[31mtea\x1b[0m [bold]\u202ex", "--user", "ana")
    shown = run("profile", "--user", "ana").stdout
    assert "tea" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
