"""Where archive and index are far away: who waits does not go there, and nothing that is written is too large."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rearview.usecases import portions
from rearview.usecases.stowing import fetch_back
from tests.house import House, house
from tests.integration import cold_kit, consolidation_kit


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def test_who_edits_where_workers_are_elsewhere_leaves_index_and_archive_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with consolidation_kit.opened(tmp_path) as home:
        ids = consolidation_kit.told(home, consolidation_kit.ORDER_LIST)
        consolidation_kit.consolidate(home)
        (made,) = consolidation_kit.abstractions(home)
        home.delete(made["id"])
        monkeypatch.setattr(home.app.services, "inline", False)
        with monkeypatch.context() as denied:
            # The function's role allows neither, and a caller waits.
            asked: list[str] = []
            denied.setattr(home.app.services.archive, "put", lambda *_: asked.append("archive"))
            denied.setattr(home.app.services.index, "vectors", lambda *_: asked.append("index"))
            home.restore(made["id"])
            assert asked == []
        assert {home.get(item)["status"] for item in ids} == {"active"}
        home.drain()
        consolidation_kit.consolidate(home)
        assert {home.get(item)["status"] for item in ids} == {"archived"}


def test_large_texts_that_come_back_are_written_in_portions(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    asleep = cold_kit.winter(home, *cold_kit.EPISODES[:3], memory_type="long_term")
    assert [home.get(item)["status"] for item in asleep] == ["archived"] * 3
    for memory_id in asleep:
        home.patch(memory_id, confirmed=True)
    monkeypatch.setattr(portions, "PORTION_BYTES", 10)
    store, seen = home.app.services.store, []
    transact = store.transact

    def counted(partition: str, work: Callable[[Any], Any], **more: Any) -> Any:
        seen.append(partition)
        return transact(partition, work, **more)

    monkeypatch.setattr(store, "transact", counted)
    assert sorted(fetch_back(home.app.services, cold_kit.SCOPE)) == sorted(asleep)
    assert len(seen) == 3
