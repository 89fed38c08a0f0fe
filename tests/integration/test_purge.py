"""Purge: after its grace a deletion is for good; the id says when and why, and nothing else is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rearview.domain import keys
from rearview.domain.principal import LOCAL, Principal
from rearview.errors import Gone, NotFound, Unavailable
from rearview.usecases.commands import PatchMemory
from rearview.usecases.fields import read
from rearview.usecases.policy_commands import ChangePolicy
from tests.house import House, house
from tests.integration.archive_kit import (
    AT,
    EN,
    ZH,
    Away,
    forget_fetched,
    month_later,
    objects,
    short,
    stored,
)

OTHER = (
    "Rehearsed the second movement with the quartet; the viola comes in too early at bar forty, every time."
)
STRANGER = Principal(id="stranger", namespaces=frozenset({"elsewhere"}), default_namespace="elsewhere")


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def policy(h: House, **archiving: Any) -> None:
    h.app.policy_keeper.change(LOCAL, read(ChangePolicy, {"archiving": archiving}))


def purge(h: House, days: float = 31) -> None:
    h.clock.advance(days=days)
    h.app.sweeper.sweep()


def test_a_purged_id_answers_gone_with_when_and_why_to_whoever_may_see_it(h: House) -> None:
    memory_id = h.write("The spare key is under the third pot", admission="force")["id"]
    h.delete(memory_id, "moved house")
    purge(h)
    for call in (
        lambda: h.get(memory_id),
        lambda: h.history(memory_id),
        lambda: h.restore(memory_id),
        lambda: h.patch(memory_id, tags=["x"]),
        lambda: h.delete(memory_id),
    ):
        with pytest.raises(Gone, match=r"purged at 2026-04-.*by local, because: moved house"):
            call()
    with pytest.raises(NotFound):
        h.app.reader.memory(STRANGER, memory_id)
    with pytest.raises(NotFound):
        h.app.editor.patch(STRANGER, memory_id, read(PatchMemory, {"tags": ["x"]}))


def test_what_is_left_of_a_purged_memory_holds_nothing_of_it(h: House) -> None:
    memory_id = short(h, ZH, tags=["厨房"], metadata={"note": "定金"})
    month_later(h)
    h.delete(memory_id)
    purge(h)
    store = h.app.services.store
    left = store.get(keys.gone(AT, memory_id))
    assert left is not None
    assert set(left) == {"id", "namespace", "at", "because", "by", "deleted_at"}
    everything = str([body for prefix in ("M#", "H#", "X#") for _, body in store.query(AT, prefix).items])
    assert "石英石" not in everything
    assert memory_id not in everything
    assert objects(h) == {}
    assert [item["action"] for item in ledger(h)][-1] == "purged"
    assert h.audit("u")["findings"] == []


def ledger(h: House) -> list[dict[str, Any]]:
    return [body for _, body in h.app.services.store.query(AT, keys.LEDGER, limit=1000).items]


def test_texts_of_all_versions_go_with_a_purge_and_those_of_others_stay(h: House) -> None:
    memory_id, other = short(h, ZH), short(h, OTHER)
    h.patch(memory_id, content=EN)
    h.drain()
    month_later(h)
    assert len(objects(h)) == 3
    h.delete(memory_id)
    purge(h)
    assert [key.split("/")[2] for key in objects(h)] == [other]
    assert h.get(other)["content"] == OTHER


def test_the_grace_is_the_policys_and_the_one_promised_at_the_deletion(h: House) -> None:
    policy(h, purge_days=5)
    early = h.write("Paints the fence green", admission="force")["id"]
    h.delete(early)
    policy(h, purge_days=60)
    late = h.write("Paints the gate white", admission="force")["id"]
    h.delete(late)
    purge(h, days=6)
    with pytest.raises(Gone):
        h.get(early)
    purge(h, days=40)
    assert h.restore(late)["status"] == "active"
    assert stored(h, late).purge_at is None
    h.delete(late)
    purge(h, days=61)
    with pytest.raises(Gone):
        h.get(late)


def test_without_the_archive_a_purge_waits_and_is_done_later(h: House) -> None:
    memory_id = short(h, EN)
    month_later(h)
    h.delete(memory_id)
    h.drain()
    real, h.app.services.archive = h.app.services.archive, Away()
    purge(h)
    forget_fetched(h)
    with pytest.raises(Unavailable):
        h.get(memory_id)
    h.app.services.archive = real
    assert h.app.sweeper.sweep() == 1
    with pytest.raises(Gone):
        h.get(memory_id)


def test_a_purge_that_runs_again_changes_nothing(h: House) -> None:
    memory_id = short(h, EN)
    h.delete(memory_id)
    purge(h)
    before = ledger(h)
    purge(h, days=1)
    assert ledger(h) == before
