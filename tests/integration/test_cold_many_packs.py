"""Users with many packs: a search that needs all of them waits for the slowest, not for their sum."""

from __future__ import annotations

from pathlib import Path
from threading import Barrier

import pytest

from rearview.usecases import cold, shelf
from rearview.usecases.packs import load_all
from tests.house import house
from tests.integration.cold_kit import SCOPE, winter

TEXTS = [
    "Booked the harbour hotel in Bergen for the spring trip.",
    "预订了四月去杭州出差的高铁票，座位靠窗。",
    "The print shop delivered forty blue posters for the fair.",
    "在阳台上换了三盆薄荷的土，顺便修了花架。",
    "Lent the ladder to the neighbours on the third floor.",
    "Watched the regatta from the lighthouse with two colleagues.",
]


def test_packs_that_are_not_at_hand_are_fetched_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cold, "CAPACITY", 1)
    monkeypatch.setattr(shelf, "CAPACITY", 1)
    with house(tmp_path) as home:
        ids = winter(home, *TEXTS)
        services = home.app.services
        services.packs.clear()
        together, get = Barrier(2, timeout=30), services.archive.get

        def slow(key: str) -> bytes | None:
            together.wait()
            return get(key)

        with monkeypatch.context() as patched:
            patched.setattr(services.archive, "get", slow)
            found, whole = load_all(services, [SCOPE.partition])
        assert whole
        assert sorted(entry.id for _, pack in found for entry in pack.entries) == ids
