"""Precedents among many like cases: what is left out takes no place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rearview.domain.times import to_text
from rearview.usecases.similar import CASES
from tests.house import House, house

ASKED, LIKE = "打印机卡纸了怎么办", "一楼打印机卡纸了怎么处理"


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def _actions(h: House, **more: Any) -> dict[str, int]:
    return {item["action"]: item["cases"] for item in h.precedents(ASKED, **more)["actions"]}


def test_the_cases_of_one_agent_are_found_among_many_more_alike_ones_of_another(h: House) -> None:
    mine = [h.decide(LIKE, "抽出纸", agent_id="rare") for _ in range(2)]
    for _ in range(CASES + 5):
        h.decide(ASKED, "重启", agent_id="busy")
    h.drain()
    assert _actions(h, agent_id="rare") == {"抽出纸": len(mine)}
    assert _actions(h, agent_id="nobody") == {}
    assert _actions(h, agent_id="busy") == {"重启": CASES}


@pytest.mark.parametrize("view", ["known_at", "valid_at"])
def test_what_was_decided_later_hides_nothing_of_an_earlier_view(h: House, view: str) -> None:
    h.decide(LIKE, "抽出纸")
    then = to_text(h.clock.now())
    h.clock.advance(days=1)
    for _ in range(CASES + 5):
        h.decide(ASKED, "重启")
    h.drain()
    assert _actions(h, **{view: then}) == {"抽出纸": 1}


def test_a_pending_case_of_another_agent_is_left_out_as_well(h: House) -> None:
    h.decide(ASKED, "抽出纸", agent_id="rare")
    h.decide(ASKED, "重启", agent_id="busy")
    assert _actions(h, agent_id="rare") == {"抽出纸": 1}
