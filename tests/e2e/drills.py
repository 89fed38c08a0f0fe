"""Load on a deployed stack: many users' writes from several callers, what was acknowledged, and whether it is there."""

from __future__ import annotations

import os
import random
import secrets
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from infra.local.stack import Stack

from rearview.adapters.aws.dynamodb_items import PENDING_INDEX
from tests.e2e.targets import MARK, Client, OnAws, Target, eventually

#: Callers at once. The stand-in answers one request after the other: more would only wait.
CALLERS = 3
#: Of the requests are single writes; the others are batches.
SINGLES = 0.3
BATCH = 100
#: Seconds a call is repeated for; a key whose claimant was killed is free after a minute, and on a machine that others
#: keep busy a handler needs half a minute to start.
STUBBORN = 240.0
SYLLABLES = ("ba", "ko", "ri", "tu", "me", "sha", "lo", "vin")
PLACES = ("quay", "attic", "mill", "dairy", "码头", "粮仓", "磨坊", "灯塔")
Body = dict[str, Any]


@dataclass(slots=True)
class Written:
    """One write. ``id`` is None until it is acknowledged; ``repeated``: the first try had no good answer."""

    user: str
    content: str
    id: str | None = None
    repeated: bool = False

    @property
    def words(self) -> str:
        """What tells it from the others of its user: its number, which no other has, and its ware."""
        return " ".join(self.content.split()[1:4:2])


@dataclass(slots=True)
class Load:
    """Writes of many users, ``batch`` in a call that is not single. ``keys``: with idempotency keys, repeated until
    acknowledged; without, sent once."""

    target: Target
    users: Sequence[str]
    seed: int = 1
    marked: float = 0.0
    keys: bool = True
    batch: int = BATCH
    writes: list[Written] = field(default_factory=list)
    refusals: Counter[int] = field(default_factory=Counter)
    stop: threading.Event = field(default_factory=threading.Event)
    seconds: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _trouble: list[BaseException] = field(default_factory=list)

    def run(self, number: int) -> None:
        """``number`` writes; every user has one caller, which waits for each answer: so their order is known."""
        begun = time.monotonic()
        callers = self._start(number)
        for caller in callers:
            caller.join()
        self.seconds = time.monotonic() - begun
        if self._trouble:
            raise self._trouble[0]

    def _start(self, number: int) -> list[threading.Thread]:
        share = -(-number // CALLERS)
        left = [min(share, number - share * one) for one in range(CALLERS)]
        callers = [
            threading.Thread(target=self._caller, args=(one, left[one]), name=f"caller-{one}")
            for one in range(CALLERS)
        ]
        for caller in callers:
            caller.start()
        return callers

    def _caller(self, one: int, number: int) -> None:
        try:
            self._call(one, number)
        except BaseException as trouble:
            self._trouble.append(trouble)

    def _call(self, one: int, number: int) -> None:
        dice, client = random.Random(self.seed * 1000 + one), Client(self.target)
        mine, serial = self.users[one::CALLERS], 0
        while number > 0 and not self.stop.is_set():
            single = dice.random() < SINGLES
            some = []
            for _ in range(1 if single else min(self.batch, number)):
                serial += 1
                some.append(self._written(dice, dice.choice(mine), f"{one}x{serial}"))
            number -= len(some)
            bodies = [
                {"user_id": item.user, "content": item.content, "admission": "verbatim"} for item in some
            ]
            if single:
                answer = self._send(client, "/v1/memories", bodies[0], some)
                answers = [] if answer is None else [answer]
            else:
                answer = self._send(client, "/v1/memories/batch", {"items": bodies}, some)
                answers = [] if answer is None else answer["results"]
            for item, told in zip(some, answers, strict=bool(answers)):
                # A batch answers for each by itself.
                assert "error" not in told, told
                item.id = told["id"]
            with self._lock:
                self.writes.extend(some)

    def _written(self, dice: random.Random, user: str, serial: str) -> Written:
        mark = f" {MARK}" if dice.random() < self.marked else ""
        ware = "".join(dice.choice(SYLLABLES) for _ in range(2))
        return Written(user, f"Crate k{self.seed}x{serial} of {ware} went to the {dice.choice(PLACES)}{mark}")

    def _send(self, client: Client, path: str, body: Body, some: Sequence[Written]) -> Body | None:
        headers = {"idempotency-key": secrets.token_hex(12)} if self.keys else {}
        deadline, pause = time.monotonic() + STUBBORN, threading.Event()
        while True:
            status, text = 0, ""
            with suppress(httpx.TransportError):
                answer = client.call("POST", path, body, headers=headers)
                if answer.status_code < 300:
                    found: Body = answer.json()
                    return found
                status, text = answer.status_code, answer.text
            with self._lock:
                self.refusals[status] += 1
            assert status in (0, 409, 429) or status >= 500, f"{status} {text}"
            for item in some:
                item.repeated = True
            if not self.keys:
                return None
            assert time.monotonic() < deadline, f"no good answer for {STUBBORN} s, at last {status} {text}"
            pause.wait(1.0)

    # --- what became of it

    def of(self, user: str) -> list[Written]:
        """A user's writes as they were sent."""
        return [item for item in self.writes if item.user == user]

    def check(self, client: Client, failed: bool = False) -> None:
        """Each acknowledged write is there once, in its user's order, enriched; nothing is there that nobody wrote.

        ``failed``: those with the mark are not enriched.
        """
        for user in self.users:
            mine, there = self.of(user), list(listed(client, user))
            texts = Counter(memory["content"] for memory in there)
            assert [text for text, times in texts.items() if times > 1] == []
            assert set(texts) <= {item.content for item in mine}
            by_id = {memory["id"]: memory for memory in there}
            acknowledged = [item for item in mine if item.id is not None]
            lost = [item for item in acknowledged if item.id not in by_id]
            assert lost == []
            assert all(by_id[str(item.id)]["content"] == item.content for item in acknowledged)
            straight = [item.id for item in acknowledged if not item.repeated]
            assert [memory["id"] for memory in there if memory["id"] in set(straight)] == straight
            for memory in there:
                wanted = "failed" if failed and MARK in memory["content"] else "done"
                assert memory["enrichment"] == wanted, memory
            self._check_ledger(client, user, [memory["id"] for memory in there])

    @staticmethod
    def _check_ledger(client: Client, user: str, ids: list[str]) -> None:
        entries = list(paged(client, f"/v1/ledger?user_id={user}"))
        assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))
        created = [entry["ref"] for entry in entries if entry["action"] == "created"]
        assert created == ids

    def searchable(self, client: Client, dice: random.Random, number: int) -> None:
        """Some of what was written is found by its words, by callers who no longer see it as their latest write."""
        acknowledged = [item for item in self.writes if item.id is not None]
        for item in dice.sample(acknowledged, min(number, len(acknowledged))):
            answer = client.post("/v1/recall", {"user_id": item.user, "query": item.words})
            assert answer["degraded"] == []
            assert item.id in [hit["id"] for hit in answer["hits"]]

    def audited(self, client: Client) -> None:
        """Every user's ledger chain holds, and index and store agree."""
        for user in self.users:
            report = client.post("/v1/audits", {"user_id": user})
            assert report["ok"] is True, report


def paged(client: Client, path: str) -> Iterator[Body]:
    """All items of a list."""
    cursor = None
    while True:
        page = client.get(f"{path}&limit=200" + (f"&cursor={cursor}" if cursor else ""))
        yield from page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return


def listed(client: Client, user: str) -> Iterator[Body]:
    """A user's memories, oldest first."""
    return paged(client, f"/v1/memories?user_id={user}")


def users_of(name: str, number: int) -> list[str]:
    """That many users nobody else has."""
    run = secrets.token_hex(3)
    return [f"{name}-{run}-{one:02}" for one in range(number)]


def settled(target: OnAws, seconds: float, *, sweeps: bool = False) -> float:
    """Until nothing waits for enrichment; answers for how many seconds it did. ``sweeps``: the schedule's call, once a
    minute there, comes at once and every few seconds here."""
    begun = time.monotonic()
    table = target.deployed.client("dynamodb")
    swept = begun if sweeps else float("inf")

    def done() -> bool:
        nonlocal swept
        if time.monotonic() >= swept:
            target.sweep()
            swept = time.monotonic() + 5
        # The index holds what is pending, and nothing else.
        answer = table.scan(
            TableName=target.deployed.outputs["TableName"], IndexName=PENDING_INDEX, Select="COUNT"
        )
        return int(answer["Count"]) == 0

    eventually(done, seconds)
    return time.monotonic() - begun


# --- the stand-ins' processes


def stand_ins(target: OnAws) -> Stack:
    """The stack of processes under this target: started by these tests, or by whoever set RV_E2E_ENDPOINT."""
    stack = Stack.running(Path(target.env["RV_E2E_BUILD"]).parent)
    assert stack.aws_url == target.deployed.env["AWS_ENDPOINT_URL"]
    return stack


def handlers(target: OnAws, function: str) -> list[int]:
    """Processes of a function's newest version: children of this target's own ministack, and of no other.

    Only those that are up: they have called another service, and hold that connection. When one dies at its start,
    ministack throws its siblings away too, their starts fail by that, and no write gets through for minutes.
    """
    connections = {line.split()[9] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]}
    parent = next(server.pid for server in stand_ins(target).servers if server.name == "ministack")
    found: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) != parent or fields[0] in "ZX":
                continue
            words = (entry / "environ").read_text(errors="replace").split("\0")
            told = dict(word.split("=", 1) for word in words if "=" in word)
            version = told.get("AWS_LAMBDA_FUNCTION_VERSION", "")
            if (
                told.get("AWS_LAMBDA_FUNCTION_NAME") == f"{target.stack_name}-{function}"
                and version.isdigit()
                and not connections.isdisjoint(_sockets(entry))
            ):
                found.setdefault(int(version), []).append(int(entry.name))
    return found[max(found)] if found else []


def _sockets(process: Path) -> set[str]:
    """The numbers of a process's sockets, by its folder in /proc."""
    opened = {os.readlink(file) for file in (process / "fd").iterdir()}
    return {name.removeprefix("socket:[").removesuffix("]") for name in opened if name.startswith("socket:[")}


def kill(target: OnAws, function: str, dice: random.Random) -> bool:
    """SIGKILL for one of a function's handlers; False if there is none just now."""
    running = handlers(target, function)
    if not running:
        return False
    with suppress(ProcessLookupError):
        os.kill(dice.choice(running), signal.SIGKILL)
    return True
