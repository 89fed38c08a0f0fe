"""The demo's step about the life after the write: like episodes become one memory, preferences a profile."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from rearview.domain.principal import LOCAL
from rearview.domain.scope import Scope
from rearview.domain.times import to_text
from rearview.usecases.app import Rearview
from rearview.usecases.commands import WriteBatch
from rearview.usecases.fields import read
from rearview.usecases.maintenance.task import Job
from rearview.usecases.questions import ListMemories, ListOf

if TYPE_CHECKING:
    from rearview.evaluation.demo import Step

#: Days ago that she asked.
ASKED: Final = (40, 31, 17, 3)


def the_years(app: Rearview, user: str, step: Step) -> None:
    """Writes four episodes, lets this user's upkeep run, and shows what came of it."""
    now = app.services.now()
    items = [
        {
            "user_id": user,
            "content": "Lin asked for the list of her orders.",
            "memory_type": "short_term",
            "kind": "event",
            "admission": "verbatim",
            "occurred_at": to_text(now - timedelta(days=days)),
        }
        for days in ASKED
    ]
    _, written = app.writer.batch(LOCAL, read(WriteBatch, {"items": items}), wait=True)
    episodes = [answer["id"] for answer in written["results"]]
    scope = Scope(LOCAL.default_namespace, user)
    job = Job("demo", scope, app.services.now(), app.services.policies.of(scope.namespace))
    for name in ("consolidate", "profile"):
        for change in app.jobs.one(name, job, lambda: False).changes:
            step.lines.append(f"    {name}: {change.reason}")
    found = app.reader.memories(LOCAL, read(ListMemories, {"user_id": user, "limit": 200}))["items"]
    whole = [item for item in found if set(item["evidence"]) == set(episodes)]
    for item in whole:
        step.lines.append(f"    one memory of {len(item['evidence'])} episodes: {item['content']}")
    step.check("four like episodes became one memory with its evidence", len(whole) == 1)
    old = app.reader.memory(LOCAL, episodes[0])
    step.check("an episode is archived and still answers by its id", old.status == "archived" and old.content)
    entries: list[dict[str, Any]] = app.profiles.get(LOCAL, read(ListOf, {"user_id": user}))["items"]
    for entry in entries:
        step.lines.append(
            f"    profile: {entry['key']}: {entry['value']} ({entry['count']} of {entry['total']})"
        )
    step.check(
        "her profile names where she lives", any(entry["value"] in ("上海", "杭州") for entry in entries)
    )
    step.data.update(consolidated=[item["id"] for item in whole], profile=[entry["key"] for entry in entries])
