"""The functions and what is cold: whatever a recall wakes is written before the environment may freeze."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.domain.scope import Scope
from rearview.usecases import cold
from tests.house import house
from tests.infra.test_functions import Context, request, rest


@pytest.fixture(autouse=True)
def _logging() -> Iterator[None]:
    """The functions' logger takes the house's over; given back."""
    ours = logging.getLogger("rearview")
    handlers, level, propagate = list(ours.handlers), ours.level, ours.propagate
    yield
    ours.handlers, ours.propagate = handlers, propagate
    ours.setLevel(level)


def test_a_cold_memory_that_a_recall_shows_is_woken_before_the_function_may_freeze(tmp_path: Path) -> None:
    with house(tmp_path) as home:
        written = home.write(
            "Booked the harbour hotel.", memory_type="short_term", kind="event", admission="force"
        )
        at = keys.memory(Scope("default", "u").partition, written["id"])
        services = home.app.services
        held = services.store.get(at)
        assert held is not None
        assert cold.archive(services, [decode(Memory, held)], because="cold").ids == [written["id"]]
        home.drain()

        asked = {"user_id": "u", "query": "harbour hotel", "include_archived": True}
        answer = rest(home)(request("POST", "/v1/recall", json.dumps(asked).encode()), Context())

        assert [hit["id"] for hit in json.loads(answer["body"])["hits"]] == [written["id"]]
        body = services.store.get(at)
        assert body is not None
        assert body["status"] == "active"
