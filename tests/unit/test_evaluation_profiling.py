"""`rearview eval --set profile`: logs with known shares, and what is made of them. The whole set takes a minute."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from evaluation_kit import HASHING

from rearview.bootstrap import make_embedder
from rearview.errors import InvalidInput
from rearview.evaluation import eval as evaluation
from rearview.evaluation.profiling import entries, explicit, implicit, judge, refresh
from rearview.evaluation.profiling_data import FIRST, LANGUAGES, SHARES, SLOTS, Maker
from rearview.evaluation.stage import Stage
from rearview.usecases.app import Rearview


@pytest.fixture
def stage() -> Stage:
    return Stage(Path(), HASHING, make_embedder(HASHING))


@pytest.fixture
def app(stage: Stage) -> Iterator[Rearview]:
    with stage.opened() as made:
        yield made


def test_a_log_is_the_same_each_time_and_has_the_share_it_is_named_for() -> None:
    for tasks, share in (((8, 2), ("date", 8, 10)), ((5, 5), None), ((7, 2, 1), ("date", 7, 10))):
        log = Maker(SLOTS[0], "zh", "x").shuffled(tasks)
        assert log == Maker(SLOTS[0], "zh", "x").shuffled(tasks)
        assert len(log.sessions) == 10
        assert [log.values.count(SLOTS[0].values[n][0]) for n in range(len(tasks))] == list(tasks)
        if share is not None:
            assert log.share() == share
    assert Maker(SLOTS[0], "zh", "x").shuffled((8, 2)) != Maker(SLOTS[0], "zh", "y").shuffled((8, 2))


@pytest.mark.parametrize("language", LANGUAGES)
def test_entries_have_the_shares_of_their_logs(stage: Stage, app: Rearview, language: str) -> None:
    logs = [Maker(slot, language, "t").shuffled(SHARES[name]) for slot, name in zip(SLOTS, SHARES, strict=False)
            if len(SHARES[name]) <= len(slot.values)]  # fmt: skip
    stage.batches(app, [item for log in logs for item in log.writes()], "logs", wait=True)
    assert len(logs) >= 5
    for log in logs:
        assert judge(app, log) == {"right": True, "none wrong": True, "none below .6": True}


def test_a_wrong_share_is_told(stage: Stage, app: Rearview) -> None:
    log = Maker(SLOTS[0], "en", "t").shuffled((8, 2))
    stage.batches(app, log.writes()[:-2], "logs", wait=True)
    assert judge(app, log)["right"] is False


def test_switches_are_seen_when_they_must_be(stage: Stage, app: Rearview) -> None:
    assert implicit(stage, app, Maker(SLOTS[0], "zh", "a")) == 6
    assert explicit(stage, app, Maker(SLOTS[0], "en", "b")) == 0
    refresh(app, "nobody", FIRST)
    assert entries(app, "nobody") == []


def test_the_set_needs_no_folder_and_the_others_do() -> None:
    with pytest.raises(InvalidInput):
        evaluation.run(None, HASHING, ["profile", "locomo"])
    with pytest.raises(InvalidInput):
        evaluation.run(None, HASHING)
    assert "profile" in evaluation.LONG
