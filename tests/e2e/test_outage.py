"""OpenSearch goes away in the middle of writes, for a minute (RV_E2E_OUTAGE_SECONDS): nobody has to lift a hand."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from infra.local import processes, tools
from infra.local.processes import Server

from tests.e2e.drills import Body, Load, settled, stand_ins, users_of
from tests.e2e.targets import OPENSEARCH, TOOLS, Client, OnAws, eventually

pytestmark = [pytest.mark.aws, pytest.mark.slow]

SECONDS = float(os.environ.get("RV_E2E_OUTAGE_SECONDS", "60"))
#: Writes before it goes away, and after it is back.
WRITES = 300
#: Writes go on until a test has seen enough; so many would take half an hour.
MOST_WRITES = 50_000
USERS = 12
#: Seconds within which a recall answers while the index does not: two tries of two seconds and what else it does.
PATIENCE = 8.0


class Node:
    """The node of the stack; it comes back on its port, with its data."""

    def __init__(self, target: OnAws, begun: list[Server]) -> None:
        self.stack, self.begun = stand_ins(target), begun
        self.server = next(server for server in self.stack.servers if server.name.startswith("opensearch"))

    def start(self) -> None:
        port = self.server.url.rpartition(":")[2]
        home = self.stack.folder / f"{self.server.name}-home"
        with tools_kept():
            built = tools.opensearch(OPENSEARCH)
        command = ["bash", str(tools.NODE / "node.sh"), "start", OPENSEARCH, str(built), str(home), port]
        self.server = processes.start(
            self.server.name,
            [*command, str(processes.free_port())],
            url=self.server.url,
            log=Path(self.server.log),
            env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
            ready=processes.answers("/_cluster/health?wait_for_status=yellow&timeout=1s"),
            seconds=120,
            tied=True,
        )
        self.begun.append(self.server)
        others = [other for other in self.stack.servers if other.name != self.server.name]
        self.stack.servers = [self.server, *others]
        processes.save(self.stack.state, self.stack.servers)

    def stop(self) -> None:
        self.server.stop()

    def freeze(self) -> None:
        """It takes connections and answers nothing, which is worse than being gone."""
        os.killpg(self.server.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        if self.server.alive():
            os.killpg(self.server.pid, signal.SIGCONT)


@contextmanager
def tools_kept() -> Iterator[None]:
    """The tests' tools, whose place the house's tests take out of the environment."""
    with pytest.MonkeyPatch.context() as patch:
        if TOOLS is not None:
            patch.setenv("REARVIEW_TOOLS", TOOLS)
        yield


def recall(client: Client, user: str, query: str) -> Body:
    """A recall, which has to answer in time whatever is away. The time is the function's own: a start, and the
    stand-in's queue, come on top."""
    answer = client.post("/v1/recall", {"user_id": user, "query": query})
    assert answer["took_ms"] < PATIENCE * 1000
    return answer


@contextmanager
def writing(load: Load) -> Iterator[None]:
    """Writes go on meanwhile; they are all acknowledged at the end of it."""
    trouble: list[BaseException] = []

    def run() -> None:
        try:
            load.run(MOST_WRITES)
        except BaseException as error:
            trouble.append(error)

    writer = threading.Thread(target=run, name="writer")
    writer.start()
    try:
        yield
    finally:
        load.stop.set()
        writer.join()
    if trouble:
        raise trouble[0]


def go_on(load: Load, number: int) -> None:
    """Until that many more writes are acknowledged."""
    wanted = len(load.writes) + number
    eventually(lambda: len(load.writes) >= wanted)


@pytest.fixture(scope="session")
def begun() -> Iterator[list[Server]]:
    """Nodes that were started here; they serve all later tests, and end with them."""
    servers: list[Server] = []
    yield servers
    for server in servers:
        server.stop()


@pytest.fixture
def node(deployed: OnAws, begun: list[Server]) -> Iterator[Node]:
    """The stack's OpenSearch node, which runs and answers afterwards whatever a test did."""
    one = Node(deployed, begun)
    yield one
    one.thaw()
    if not one.server.alive():
        one.start()


def test_writes_go_on_while_the_index_is_gone_and_all_is_searchable_without_a_hand(
    deployed: OnAws, node: Node
) -> None:
    client = Client(deployed)
    load = Load(deployed, users_of("outage", USERS), seed=5, batch=5)
    (user,) = users_of("asker", 1)
    early = client.write(user, "The ferry to the island leaves at nine")
    with writing(load):
        go_on(load, WRITES)
        node.stop()
        gone = time.monotonic()
        while time.monotonic() - gone < SECONDS:
            answer = recall(client, user, "ferry island")
            assert set(answer["degraded"]) >= {"keyword", "vector"}
            assert early["id"] in [hit["id"] for hit in answer["hits"]]
            written = client.write(user, "The crane stands still today", wait=False, admission="force")
            mine = recall(client, user, "crane stands still")
            assert written["id"] in [hit["id"] for hit in mine["hits"]]
            threading.Event().wait(2.0)
        node.start()
        go_on(load, WRITES)
    assert load.refusals == {}
    assert all(item.id is not None for item in load.writes)
    waited = settled(deployed, 240, sweeps=True)
    load.check(client)
    load.searchable(client, random.Random(5), 50)
    assert recall(client, user, "ferry island")["degraded"] == []
    load.audited(client)
    print(
        f"\n{len(load.writes)} writes in {load.seconds:.0f} s with OpenSearch away for {SECONDS:.0f} s; "
        f"enriched {waited:.0f} s after the last"
    )


def test_an_index_that_hangs_costs_neither_writes_nor_answers(deployed: OnAws, node: Node) -> None:
    client = Client(deployed)
    load = Load(deployed, users_of("hang", USERS), seed=6, batch=5)
    (user,) = users_of("asker", 1)
    early = client.write(user, "The tide is lowest at noon")
    with writing(load):
        go_on(load, 1)
        node.freeze()
        slowest = 0.0
        for _ in range(5):
            answer = recall(client, user, "lowest tide")
            slowest = max(slowest, answer["took_ms"] / 1000)
            assert answer["degraded"] != []
            assert early["id"] in [hit["id"] for hit in answer["hits"]]
            threading.Event().wait(1.0)
        node.thaw()
    assert load.refusals == {}
    waited = settled(deployed, 240, sweeps=True)
    load.check(client)
    load.searchable(client, random.Random(6), 20)
    print(
        f"\n{len(load.writes)} writes in {load.seconds:.0f} s beside an index that hangs, slowest recall {slowest:.1f} s; "
        f"enriched {waited:.0f} s after the last"
    )
