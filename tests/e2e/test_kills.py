"""Handlers die at any moment, as environments of Lambda do: what was acknowledged is there, once and in order."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.e2e.drills import Load, kill, settled, users_of
from tests.e2e.targets import Client, OnAws

pytestmark = [pytest.mark.aws, pytest.mark.slow]

WRITES = 4000
REPEATED = 300
USERS = 20
#: Seconds until the users of a dead worker go on: its lease, the minute of the schedule, and the work itself.
RECOVERY = 240.0


@contextmanager
def killing(target: OnAws, seed: int, functions: tuple[str, ...], most: int) -> Iterator[Counter[str]]:
    """Meanwhile handlers are killed, one every few seconds (a new one needs two to start), ``most`` of each function."""
    over, dice, killed = threading.Event(), random.Random(seed), Counter[str]()

    def run() -> None:
        while not over.wait(dice.uniform(0.5, 2.5)):
            function = dice.choice(functions)
            if killed[function] < most and kill(target, function, dice):
                killed[function] += 1

    killer = threading.Thread(target=run, name="killer")
    killer.start()
    try:
        yield killed
    finally:
        over.set()
        killer.join()


def test_what_was_acknowledged_survives_kills_of_writers_and_workers(deployed: OnAws) -> None:
    load = Load(deployed, users_of("kill", USERS), seed=7, keys=False, batch=10)
    with killing(deployed, 7, ("write", "worker"), 40) as killed:
        load.run(WRITES)
    assert killed["write"] >= 3
    assert killed["worker"] >= 3
    waited = settled(deployed, RECOVERY, sweeps=True)
    client = Client(deployed)
    load.check(client)
    load.searchable(client, random.Random(7), 40)
    load.audited(client)
    unknown = [item for item in load.writes if item.id is None]
    assert 0 < len(unknown) < WRITES / 2
    print(
        f"\n{len(load.writes)} writes in {load.seconds:.0f} s, {dict(killed)} killed; {len(unknown)} were not "
        f"acknowledged ({dict(load.refusals)}); enriched {waited:.0f} s after the last"
    )


def test_a_write_whose_handler_was_killed_is_done_once_when_it_is_repeated_with_its_key(
    deployed: OnAws,
) -> None:
    load = Load(deployed, users_of("again", USERS), seed=8, batch=10)
    with killing(deployed, 8, ("write",), 3) as killed:
        load.run(REPEATED)
    assert killed["write"] > 0
    assert all(item.id is not None for item in load.writes)
    waited = settled(deployed, RECOVERY, sweeps=True)
    client = Client(deployed)
    load.check(client)
    load.audited(client)
    print(
        f"\n{len(load.writes)} writes in {load.seconds:.0f} s with {dict(killed)} killed, all acknowledged in the end "
        f"({dict(load.refusals)}); enriched {waited:.0f} s after the last"
    )
