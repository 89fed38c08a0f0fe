"""Handlers die at any moment, as environments of Lambda do: what was acknowledged is there, once and in order.

RV_E2E_KILLS says how many of each kind must die at least; 15 unless said.
"""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.drills import Load, kill, settled, stand_ins, users_of
from tests.e2e.targets import Client, OnAws, eventually

pytestmark = [pytest.mark.aws, pytest.mark.slow]

KILLS = int(os.environ.get("RV_E2E_KILLS", "15"))
#: Writes go on until the kills are done, and so many have been tried; the others would take half an hour.
LEAST_WRITES, MOST_WRITES = 600, 50_000
REPEATED = 300
USERS = 20
#: Seconds until the users of a dead worker go on: its lease, the minute of the schedule, and the work itself.
RECOVERY = 240.0
#: Seconds after which the messages of a dead worker come again here. The template's 720 would leave no worker to be
#: killed: one dies with messages of up to ten users, and nobody gets past those.
AGAIN = 5


@contextmanager
def killing(
    target: OnAws, load: Load, functions: tuple[str, ...], *, least: int, most: int
) -> Iterator[Counter[str]]:
    """Meanwhile handlers of each function are killed, one every few seconds, ``most`` of
    each. The load ends early when ``least`` of each have died."""
    over, killed = threading.Event(), Counter[str]()

    def run(function: str) -> None:
        dice = random.Random(f"{load.seed} {function}")
        while not over.wait(dice.uniform(0.5, 2.5)):
            if killed[function] < most and kill(target, function, dice):
                killed[function] += 1
            if len(load.writes) >= LEAST_WRITES and all(killed[each] >= least for each in functions):
                load.stop.set()

    killers = [threading.Thread(target=run, args=(each,), name=f"killer-{each}") for each in functions]
    for killer in killers:
        killer.start()
    try:
        yield killed
    finally:
        over.set()
        for killer in killers:
            killer.join()


@contextmanager
def hasty_queue(target: OnAws) -> Iterator[None]:
    """Meanwhile a dead worker's messages come again soon; afterwards none of them is left among the dead letters."""
    sqs, url = target.deployed.client("sqs"), target.deployed.outputs["QueueUrl"]
    name = "VisibilityTimeout"
    before = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])["Attributes"][name]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={name: str(AGAIN)})
    try:
        yield
    finally:
        sqs.set_queue_attributes(QueueUrl=url, Attributes={name: before})
        # A message that five workers died on is among them. It was never the work: all is done by then.
        eventually(lambda: _no_letters(target))


def _no_letters(target: OnAws) -> bool:
    target.deployed.invoke("maintain", {"action": "redrive_letters"})
    return bool(target.deployed.invoke("maintain", {"action": "sweep"})["dead_letters"] == 0)


def cut_batches(target: OnAws) -> int:
    """How often, so far, a worker died over a batch of messages, by ministack's log."""
    log = next(server.log for server in stand_ins(target).servers if server.name == "ministack")
    function = f"Lambda {target.stack_name}-worker failed processing SQS batch"
    return Path(log).read_text(errors="replace").count(function)


def test_what_was_acknowledged_survives_kills_of_writers_and_workers(deployed: OnAws) -> None:
    load, before = (
        Load(deployed, users_of("kill", USERS), seed=7, keys=False, batch=10),
        cut_batches(deployed),
    )
    with hasty_queue(deployed):
        with killing(deployed, load, ("write", "worker"), least=KILLS, most=4 * KILLS) as killed:
            load.run(MOST_WRITES)
        assert min(killed["write"], killed["worker"]) >= KILLS
        waited = settled(deployed, RECOVERY, sweeps=True)
    cut = cut_batches(deployed) - before
    assert cut > 0
    client = Client(deployed)
    load.check(client)
    load.searchable(client, random.Random(7), 40)
    load.audited(client)
    unknown = [item for item in load.writes if item.id is None]
    assert 0 < len(unknown) < len(load.writes) / 2
    print(
        f"\n{len(load.writes)} writes in {load.seconds:.0f} s, {dict(killed)} killed, {cut} of the workers over a batch; "
        f"{len(unknown)} writes were not acknowledged ({dict(load.refusals)}); enriched {waited:.0f} s after the last"
    )


def test_a_write_whose_handler_was_killed_is_done_once_when_it_is_repeated_with_its_key(
    deployed: OnAws,
) -> None:
    load = Load(deployed, users_of("again", USERS), seed=8, batch=10)
    with killing(deployed, load, ("write",), least=REPEATED, most=3) as killed:
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
