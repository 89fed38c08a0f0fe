"""A user with many memories and decisions, half of them changed after a moment, and the walk through pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings

from rearview.domain.principal import LOCAL
from rearview.usecases.fields import read
from rearview.usecases.questions import ListMemories
from tests.house import House, house

DAYS = [f"2026-02-{day:02}" for day in range(1, 11)]
ORIGINS = ("user", "agent", "tool", "document", "import")
QUIET = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def pages(verb: Any, model: Any, asked: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        more = {} if cursor is None else {"cursor": cursor}
        page = verb(LOCAL, read(model, {**asked, **more}))
        assert len(page["items"]) <= asked["limit"]
        assert page["items"] or page["next_cursor"] is None
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


class Town:
    """A house, a moment, and the states of all memories (None: now) found the long way round, history by history."""

    def __init__(self, h: House, moment: str) -> None:
        self.h, self.moment = h, moment
        asked = {"user_id": "u", "limit": 200, "status": ["active", "deleted"]}
        histories = [h.history(item["id"]) for item in pages(h.app.lister.memories, ListMemories, asked)]
        then = moment.replace("+00:00", "Z")
        self.states: dict[str | None, list[dict[str, Any]]] = {
            None: [versions[-1]["memory"] for versions in histories],
            moment: [
                [one for one in versions if one["known_from"] <= then][-1]["memory"] for versions in histories
            ],
        }


@contextmanager
def built(folder: Path) -> Iterator[Town]:
    """Sixty memories and thirty decisions of one user, half of them changed after the town's moment."""
    with house(folder) as one:
        ids = [
            result["id"]
            for result in one.batch(
                [
                    {
                        "user_id": "u",
                        "content": f"Ticket {number}" if number % 2 else f"第{number}张票",
                        "admission": "verbatim",
                        "importance": round(0.3 + number % 4 / 10, 1),
                        "origin": ORIGINS[number % 5],
                        "kind": ("fact", "event", "preference")[number % 3],
                        "tags": ["花园"] if number % 7 == 0 else [],
                        "occurred_at": DAYS[number * 7 % 10],
                    }
                    for number in range(60)
                ]
            )
        ]
        decisions = [
            one.decide(
                f"Case {number}",
                "退款" if number % 3 else "send again",
                tags=["late"] if number % 4 == 0 else [],
                occurred_at=DAYS[number * 3 % 10],
            )["id"]
            for number in range(30)
        ]
        outcomes = [one.outcome(item, "success")["id"] for item in decisions[::2]]
        one.clock.advance(hours=1)
        moment = one.clock.at.isoformat()
        one.clock.advance(hours=1)
        for number in range(0, 60, 2):
            one.patch(ids[number], importance=round(0.9 - number % 5 / 10, 1))
        one.delete(ids[1])
        for number, item in enumerate(outcomes[:5]):
            one.app.tracer.revert(LOCAL, item)
            one.outcome(decisions[2 * number + 1], "failure")
        yield Town(one, moment)
