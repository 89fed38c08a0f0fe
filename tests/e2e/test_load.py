"""Ten thousand writes of fifty users through the deployed stack, one in a hundred of which cannot be embedded.

RV_E2E_WRITES says how many; 10,000 unless said. Every doorbell may come twice.
"""

from __future__ import annotations

import os
import random
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from rearview.domain.scope import Scope
from tests.e2e.drills import Load, settled, users_of
from tests.e2e.targets import MARK, Client, OnAws, eventually
from tests.e2e.test_behaviour import doorbell

pytestmark = [pytest.mark.aws, pytest.mark.slow]

WRITES = int(os.environ.get("RV_E2E_WRITES", "10000"))
USERS = 50


@contextmanager
def doubled_deliveries(target: OnAws, load: Load) -> Iterator[list[int]]:
    """Meanwhile doorbells ring again: through the queue, and past it at a worker beside the one that is busy."""
    over, dice, rung = threading.Event(), random.Random(load.seed), [0]
    sqs = target.deployed.client("sqs")
    trouble: list[Any] = []

    def again() -> None:
        while not over.wait(0.5):
            partition = Scope("default", dice.choice(load.users)).partition
            event = doorbell(partition, f'{{"partition": "{partition}", "seq": 1}}')
            sqs.send_message(
                QueueUrl=target.deployed.outputs["QueueUrl"],
                MessageBody=event["Records"][0]["body"],
                MessageGroupId=partition,
                MessageDeduplicationId=uuid.uuid4().hex,
            )
            answer = target.deployed.invoke("worker", event)
            if answer != {"batchItemFailures": []}:
                trouble.append(answer)
            rung[0] += 2

    ringer = threading.Thread(target=again, name="ringer")
    ringer.start()
    try:
        yield rung
    finally:
        over.set()
        ringer.join()
    assert trouble == []


def redriven(client: Client) -> int:
    """How many failed records were there to be tried again; none is left."""
    done, more = 0, True
    while more:
        answer = client.post("/v1/redrive", {"limit": 1000})
        done, more = done + answer["redriven"], answer["more"]
    return done


def test_of_many_writes_none_is_lost_or_doubled_and_what_failed_is_healed(deployed: OnAws) -> None:
    # What an earlier test left failed is no part of this one's sums.
    redriven(Client(deployed))
    settled(deployed, 60)
    deployed.set_fault(MARK)
    before = deployed.deployed.invoke("maintain", {"action": "sweep"})["dead_letters"]
    load = Load(deployed, users_of("load", USERS), seed=4, marked=0.01)
    with doubled_deliveries(deployed, load) as rung:
        load.run(WRITES)
    waited = settled(deployed, max(120.0, WRITES / 10))
    client = Client(deployed)
    load.check(client, failed=True)
    assert load.refusals == {}
    assert rung[0] > 0

    bad = [item for item in load.writes if MARK in item.content]
    assert bad
    letters = deployed.deployed.invoke("maintain", {"action": "sweep"})["dead_letters"]
    assert letters - before == len(bad)
    for item in bad:
        found = client.post("/v1/recall", {"user_id": item.user, "query": item.words, "top_k": 20})
        assert item.id in [hit["id"] for hit in found["hits"]]

    deployed.set_fault("")
    client = Client(deployed)
    assert redriven(client) == len(bad)
    healed = settled(deployed, 120)
    load.check(client)
    load.searchable(client, random.Random(4), 100)
    load.audited(client)
    eventually(lambda: deployed.deployed.invoke("maintain", {"action": "sweep"})["dead_letters"] == 0)
    print(
        f"\n{len(load.writes)} writes of {USERS} users in {load.seconds:.0f} s "
        f"({len(load.writes) / load.seconds:.0f}/s), enriched {waited:.0f} s later; {len(bad)} failed, "
        f"healed in {healed:.0f} s; {rung[0]} deliveries too many"
    )
