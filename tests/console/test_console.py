"""The console does what it promises: the scenarios of `console/tests`, each a test of its own."""

from __future__ import annotations

import pytest

from tests.console.conftest import CONSOLE, Results, named

pytestmark = pytest.mark.console


def test_the_scenarios_are_at_hand() -> None:
    assert (CONSOLE / "node_modules").is_dir(), f"run `npm ci` in {CONSOLE}"
    assert len(named()) > 40


def test_in_the_browser(name: str, results: Results) -> None:
    told = results.told.get(name)
    assert told is not None, f"it was not run; the runner said: {results.trouble}"
    if told["data"]:
        print(name, told["data"])
    assert told["ok"], told["error"]
