"""A weekly run meets what people and other processes do to its episodes between any two of its writes."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.house import FakeClock, House, house
from tests.integration import cold_kit
from tests.integration.consolidation_kit import ORDER_LIST, abstractions, consolidate, told, 订单
from tests.integration.test_lifecycle_two_at_once import Between

ROOF = "The roof leaks over the stairs."


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _file: None)


def edits(other: House, ids: list[str]) -> None:
    other.patch(ids[0], content=ROOF)


def weighs(other: House, ids: list[str]) -> None:
    other.patch(ids[0], importance=0.9)


def deletes(other: House, ids: list[str]) -> None:
    other.delete(ids[0])


def takes_back(other: House, ids: list[str]) -> None:
    for item in abstractions(other):
        other.delete(item["id"])


def consolidates_too(other: House, ids: list[str]) -> None:
    consolidate(other)


def sends_into_the_cold(other: House, ids: list[str]) -> None:
    other.clock.advance(days=95)
    cold_kit.upkeep(other)


MEETINGS = [edits, weighs, deletes, takes_back, consolidates_too, sends_into_the_cold]


def play(folder: Path, act: Callable[[House, list[str]], None], places: range) -> None:
    for survived in places:
        clock, at = FakeClock(datetime(2026, 6, 1, 9, tzinfo=UTC)), folder / str(survived)
        with house(at, clock=clock) as one, house(at, clock=clock) as other:
            ids = told(one, ORDER_LIST + 订单)

            def meet(other: House = other, ids: list[str] = ids) -> None:
                act(other, ids)
                other.drain()

            between = Between(one, survived, meet)
            consolidate(one)
            for home in (one, other):
                home.app.services.packs.clear()
            for _ in range(2):
                consolidate(other)
                cold_kit.upkeep(other)
                other.drain()
            true_to_its_evidence(other)
            if between.left >= 0:
                return
            if act in (edits, weighs):
                assert other.get(ids[0])["status"] == "active"


def true_to_its_evidence(home: House) -> None:
    """Each abstraction rests on the episodes that lie in the archive for it, each episode in one, and counts them."""
    lying: dict[str, set[str]] = {}
    for item in home.memories(status=["archived"]):
        if item["archived_because"] == "consolidated":
            lying.setdefault(item["consolidated_into"], set()).add(item["id"])
    made = abstractions(home)
    assert {item["id"]: set(item["evidence"]) for item in made} == lying
    assert all(item["metadata"]["consolidation"]["count"] == len(item["evidence"]) for item in made)
    assert home.audit()["ok"]


@pytest.mark.parametrize("act", MEETINGS)
def test_what_is_said_of_episodes_stays_true(tmp_path: Path, act: Callable[[House, list[str]], None]) -> None:
    play(tmp_path, act, range(4, 30, 12))


@pytest.mark.slow
@pytest.mark.parametrize("act", MEETINGS)
def test_what_is_said_of_episodes_stays_true_wherever_they_meet(
    tmp_path: Path, act: Callable[[House, list[str]], None]
) -> None:
    play(tmp_path, act, range(60))
