"""A house in which time passes and upkeep comes by, and a killer that strikes before the n-th write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from rearview.domain import keys
from rearview.domain.codec import Body
from rearview.domain.policy import Policy
from rearview.domain.scope import Scope
from rearview.usecases.maintenance.cold import ColdTask
from rearview.usecases.maintenance.task import Job, Result
from tests.house import House

SCOPE = Scope("default", "u")
EPISODES = [
    "Booked the harbour hotel in Bergen for the spring trip.",
    "预订了四月去杭州出差的高铁票，座位靠窗。",
    "The print shop delivered forty blue posters for the fair.",
    "在阳台上换了三盆薄荷的土，顺便修了花架。",
]


def told(home: House, content: str, **more: Any) -> str:
    fields = {"memory_type": "short_term", "kind": "event", "admission": "force", **more}
    answer: str = home.write(content, **fields)["id"]
    return answer


def upkeep(home: House, dry_run: bool = False, **job: Any) -> Result:
    task = ColdTask(home.app.services)
    return task.run(Job("run", SCOPE, home.clock.now(), Policy("default"), dry_run, **job), lambda: False)


def winter(home: House, *contents: str, days: float = 91, **more: Any) -> list[str]:
    """Writes, waits, and lets upkeep pass by."""
    ids = [told(home, content, **more) for content in contents or EPISODES]
    home.clock.advance(days=days)
    upkeep(home)
    return ids


def statuses(home: House) -> dict[str, str]:
    return {
        item["id"]: item["status"]
        for item in home.memories(status=["active", "archived", "tentative", "disputed"])
    }


def in_index(home: House) -> set[str]:
    return set(home.app.services.index.versions(SCOPE.partition))


def held(home: House, memory_id: str) -> Body:
    """The record as it stands in the store."""
    body = home.app.services.store.get(keys.memory(SCOPE.partition, memory_id))
    assert body is not None
    return body


class Killed(BaseException):
    """As good as kill -9: nothing of ours catches it."""


@contextmanager
def killed_after(home: House, monkeypatch: pytest.MonkeyPatch, survived: int) -> Iterator[None]:
    """Within, the process dies before the write to store or archive that follows so many."""
    services = home.app.services
    left = survived

    def dying(real: Any) -> Any:
        def call(*args: Any, **more: Any) -> Any:
            nonlocal left
            if left == 0:
                raise Killed
            left -= 1
            return real(*args, **more)

        return call

    with monkeypatch.context() as patch:
        for port, name in (
            (services.store, "transact"),
            (services.archive, "put"),
            (services.archive, "delete"),
        ):
            patch.setattr(port, name, dying(getattr(port, name)))
        with pytest.raises(Killed):
            yield
    services.packs.clear()
