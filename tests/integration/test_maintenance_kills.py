"""Maintenance killed at random and started again: the end is that of a run nobody disturbed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.domain.principal import LOCAL
from rearview.domain.records import AuditReport
from rearview.domain.scope import Scope
from rearview.usecases import texts
from rearview.usecases.fields import read
from rearview.usecases.policy_commands import ChangePolicy
from rearview.usecases.scans import memories_of
from tests.house import House, house

KILLS = 50
USERS = ("mira", "王芳")
#: More than a run without kills takes, on a busy machine.
PATIENCE = 300

pytestmark = pytest.mark.slow


def furnish(home: House) -> None:
    """A store that every task finds something in: written in March, looked at by the clock of today."""
    for user in USERS:
        for day in range(12):
            home.clock.advance(hours=26)
            home.write(
                f"On walk number {day} Ms Osei met the ferry at quay {day + 3} and waited for the fog to lift. "
                "She noted the wind, the tide and who came ashore, as she does whenever the harbour office asks.",
                user=user, memory_type="short_term", kind="event", admission="force",
            )  # fmt: skip
            home.write("Mira asked for the order list.", user=user, kind="event", admission="verbatim")
            home.write(
                f"第{day}次盘点时仓库少了{day + 2}箱茶叶，负责人说下周会补上，并把原因写进了日报里，请大家注意核对。",
                user=user, memory_type="short_term", kind="event", admission="force",
            )  # fmt: skip
            home.write(
                f"I sort my orders by {'date' if day % 5 else 'amount'}.",
                user=user, kind="preference", session_id=f"s{day}", admission="verbatim",
            )  # fmt: skip
            home.write(
                f"Perhaps the blue crate {day} was moved.", user=user, kind="fact", importance=0.3,
                confidence=0.31, admission="force", origin="agent",
            )  # fmt: skip
            home.write(f"The alarm code of door {day} is 77{day}.", user=user, importance=0.9, kind="fact")
        home.turns(
            [{"turn_id": f"t{n}", "role": "user", "content": f"The invoice {n} is still open."} for n in range(4)],
            user=user, session_id="talk",
        )  # fmt: skip
        home.drain(user)
    change = {"forgetting": {"below": 0.6}}
    home.app.policy_keeper.change(LOCAL, read(ChangePolicy, change))


def start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "rearview.entrypoints.cli.main", "maintain", "--data", str(folder), "--json"],
        env={**os.environ, "REARVIEW_EMBEDDER": "hashing"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def state(folder: Path) -> dict[str, Any]:
    """What a store comes to, without generated ids, times of the run and hashes."""
    with house(folder) as home:
        for user in USERS:
            home.drain(user)
        services = home.app.services
        found: dict[str, Any] = {}
        for user in USERS:
            partition = Scope("default", user).partition
            held = list(memories_of(services.store, partition))
            names = {memory.id: _name(memory) for memory in held}
            for memory in held:
                found[names[memory.id]] = {
                    "content": texts.full(services, memory).content,
                    "status": memory.status,
                    "because": memory.archived_because,
                    "in": names.get(memory.consolidated_into or ""),
                    "text_archived": memory.text_archived,
                    "version": memory.version,
                    "importance": round(memory.importance, 9),
                    "pending": memory.pending,
                }
            profile = services.store.query(partition, keys.PROFILE)
            found[f"profile of {user}"] = sorted(_entry(body) for _, body in profile.items)
            found[f"jobs of {user}"] = len(services.store.query(partition, keys.JOBS).items)
            found[f"turns of {user}"] = [
                turn["content"] for turn in home.app.sessions.get(LOCAL, "talk", user, None)["turns"]
            ]
            found[f"index of {user}"] = len(services.index.versions(partition))
        reports = services.store.query(keys.directory("default"), keys.AUDITS)
        audits = [decode(AuditReport, body) for _, body in reports.items]
        found["audits"] = sorted(
            (one.kind, one.user_id or "", _findings(one)) for one in audits if one.kind != "audit"
        )
        found["errors"] = [
            item for user in USERS for item in home.audit(user)["findings"] if item["severity"] == "error"
        ]
        return found


def _name(memory: Memory) -> str:
    """An id that two runs share: the memory's own, or what it was made of."""
    return "from " + " ".join(sorted(memory.evidence)) if memory.evidence else memory.id


def _entry(body: dict[str, Any]) -> str:
    """A profile's entry without the time at which it was last worked out."""
    told = {name: value for name, value in body.items() if name not in ("at", "last_updated")}
    return json.dumps(told, sort_keys=True, ensure_ascii=False)


def _findings(report: AuditReport) -> list[tuple[str, tuple[str, ...], str | None]]:
    return sorted((item.check, item.refs, item.state) for item in report.findings)


def test_maintenance_killed_fifty_times_ends_as_if_undisturbed(tmp_path: Path) -> None:
    first = tmp_path / "first"
    with house(first) as home:
        furnish(home)
    calm = tmp_path / "calm"
    shutil.copytree(first, calm)
    begun = time.monotonic()
    assert start(calm).wait(PATIENCE) == 0
    took = time.monotonic() - begun
    wanted = state(calm)
    assert wanted["errors"] == []
    chance = random.Random(20_260_302)
    kills = rounds = 0
    while kills < KILLS:
        folder = tmp_path / f"round-{rounds}"
        shutil.copytree(first, folder)
        finished = False
        while not finished:
            child = start(folder)
            try:
                # As far as the start of Python at the least: a kill before it proves nothing.
                assert child.wait(chance.uniform(0.25, 1.0) * took) == 0
                finished = True
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                child.wait()
                kills += 1
                if kills >= KILLS * 3:
                    assert start(folder).wait(PATIENCE) == 0
                    finished = True
        assert state(folder) == wanted
        shutil.rmtree(folder)
        rounds += 1


def test_maintenance_run_twice_changes_nothing_the_second_time(tmp_path: Path) -> None:
    with house(tmp_path) as home:
        furnish(home)
    assert start(tmp_path).wait(PATIENCE) == 0
    once = state(tmp_path)
    assert any(
        one["status"] == "archived" for one in once.values() if isinstance(one, dict) and "status" in one
    )
    assert start(tmp_path).wait(PATIENCE) == 0
    assert state(tmp_path) == once
