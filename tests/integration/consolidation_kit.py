"""Episodes of a user, and the weekly run over them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rearview.domain.policy import Consolidation, Policy
from rearview.domain.scope import Scope
from rearview.usecases.maintenance.consolidate import ConsolidateTask
from rearview.usecases.maintenance.task import Job, Result
from tests.house import FakeClock, House, house

MARCH = datetime(2026, 3, 3, 10, tzinfo=UTC)
SCOPE = Scope("default", "u")


@contextmanager
def opened(tmp_path: Path) -> Iterator[House]:
    """A house in June."""
    with house(tmp_path, clock=FakeClock(datetime(2026, 6, 1, 9, tzinfo=UTC))) as found:
        yield found


def told(home: House, texts: list[str], *, days: int = 7, **more: Any) -> list[str]:
    """Episodes a week apart from 3 March 2026 on; their ids."""
    items = [
        {
            "user_id": "u",
            "content": text,
            "memory_type": "short_term",
            "kind": "event",
            "admission": "verbatim",
            "occurred_at": (MARCH + timedelta(days=days * place)).isoformat(),
            **more,
        }
        for place, text in enumerate(texts)
    ]
    return [answer["id"] for answer in home.batch(items)]


def job(home: House, smallest: int = 3, *, dry_run: bool = False, enabled: bool = True) -> Job:
    """The user's part of a run a minute from now."""
    home.clock.advance(minutes=1)
    policy = Policy("default", consolidation=Consolidation(enabled, smallest))
    return Job("run", SCOPE, home.clock.now(), policy, dry_run)


def consolidate(home: House, smallest: int = 3, **more: Any) -> Result:
    """One run, and enrichment after it."""
    result = ConsolidateTask(home.app.services).run(job(home, smallest, **more), lambda: False)
    home.drain()
    return result


def abstractions(home: House) -> list[dict[str, Any]]:
    """What was made of episodes and still stands."""
    return [item for item in home.memories() if "consolidation" in item["metadata"]]


ORDER_LIST = [
    "Asked for the order list by date ascending",
    "Requested the order list, by date ascending",
    "Asked for the order list by amount",
    "Asked for the order list by date ascending",
]
订单 = [
    "用户要求订单列表，按日期升序",
    "用户又要了一次订单列表，按日期升序",
    "请求订单列表，按金额排序",
    "用户要求订单列表，按日期升序",
]
