"""What tests of the archive need: the task by hand, archives that break, and texts long enough to move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.domain.policy import Archiving, Policy
from rearview.domain.scope import Scope
from rearview.errors import Unavailable
from rearview.usecases.maintenance.archive import TextArchiver
from rearview.usecases.maintenance.task import Job, Result
from tests.house import House

SCOPE = Scope("default", "u")
AT = SCOPE.partition

ZH = (
    "周二下午和装修队在老房子见面，量了厨房和阳台的尺寸。橱柜要做到顶，台面选石英石，水槽靠窗。"
    "阳台打算封窗，洗衣机挪到北边，工头说材料要等三周，先付了一半定金。"
)
EN = (
    "On Thursday the plumber came back to the cottage and replaced the valve under the copper basin. "
    "He found a hairline crack in the downpipe, sealed it with resin, and asked to be called if the wall "
    "behind the dresser is damp again by October."
)


def upkeep(
    h: House,
    *,
    as_of: datetime | None = None,
    dry_run: bool = False,
    stop: Any = lambda: False,
    **archiving: Any,
) -> Result:
    """One run of the task for the user ``u``."""
    policy = replace(Policy("default"), archiving=Archiving(**archiving))
    job = Job("run", SCOPE, as_of or h.clock.now(), policy, dry_run)
    return TextArchiver(h.app.services).run(job, stop)


def month_later(h: House) -> Result:
    """31 days on, the task has run."""
    h.clock.advance(days=31)
    return upkeep(h)


def short(h: House, content: str, **more: Any) -> str:
    """A short-term memory; answers its id."""
    fields = {"memory_type": "short_term", "kind": "event", "admission": "force", **more}
    return str(h.write(content, **fields)["id"])


def stored(h: House, memory_id: str) -> Memory:
    """The memory as the store holds it."""
    body = h.app.services.store.get(keys.memory(AT, memory_id))
    assert body is not None
    return decode(Memory, body)


def held_texts(h: House) -> list[str]:
    """All texts of the user that the store holds."""
    store = h.app.services.store
    rows = store.query(AT, keys.HISTORY, limit=10_000).items
    memories = store.query(AT, keys.MEMORIES, limit=10_000).items
    return [body["content"] for _, body in memories] + [body["memory"]["content"] for _, body in rows]


def objects(h: House) -> dict[str, bytes]:
    """All objects of the user in the archive."""
    archive = h.app.services.archive
    return {key: archive.get(key) or b"" for key in archive.keys(AT)}


class Away:
    """An archive that does not answer."""

    def put(self, key: str, body: bytes) -> None:
        raise Unavailable("the archive is away")

    def get(self, key: str) -> bytes | None:
        raise Unavailable("the archive is away")

    def delete(self, key: str) -> None:
        raise Unavailable("the archive is away")

    def keys(self, prefix: str) -> Iterator[str]:
        raise Unavailable("the archive is away")


class Killed(BaseException):
    """The process ends here."""


class Dies:
    """Goes on behind a port until so many calls of one method are over, and then ends the process."""

    def __init__(self, real: Any, method: str, calls: int) -> None:
        self._real, self._method, self.left = real, method, calls

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._real, name)
        if name != self._method:
            return real

        def counted(*args: Any, **more: Any) -> Any:
            if self.left == 0:
                raise Killed
            self.left -= 1
            return real(*args, **more)

        return counted


def forget_fetched(h: House) -> None:
    """As in a process that has fetched nothing yet."""
    h.app.services.texts.clear()
