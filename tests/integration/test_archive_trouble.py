"""Summary-only when things go wrong: the archive is away or tells another story, the process ends anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rearview.domain import keys
from rearview.errors import TextLost, Unavailable
from rearview.usecases.maintenance import archive
from tests.house import House, house
from tests.integration.archive_kit import (
    AT,
    EN,
    ZH,
    Away,
    Dies,
    Killed,
    forget_fetched,
    held_texts,
    month_later,
    objects,
    short,
    stored,
    upkeep,
)


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


# --- while the archive is away, or tells another story


def test_without_the_archive_recall_answers_and_says_what_is_missing(h: House) -> None:
    memory_id = short(h, EN)
    month_later(h)
    forget_fetched(h)
    h.app.services.archive = Away()
    answer = h.recall("hairline crack in the downpipe", include_content=True)
    assert (answer.hits[0].id, answer.hits[0].content) == (memory_id, None)
    assert answer.hits[0].summary
    assert answer.degraded == ["archive"]
    assert h.recall("plumber replaced the valve", include_content=False).degraded == []
    with pytest.raises(Unavailable):
        h.get(memory_id)
    with pytest.raises(Unavailable):
        h.history(memory_id)
    assert h.memories()[0]["content"] == ""
    assert h.patch(memory_id, tags=["x"])["content"] == ""


def test_without_the_archive_nothing_moves_and_nothing_is_lost(h: House) -> None:
    memory_id = short(h, ZH)
    h.clock.advance(days=31)
    real, h.app.services.archive = h.app.services.archive, Away()
    with pytest.raises(Unavailable):
        upkeep(h)
    assert h.get(memory_id)["content"] == ZH
    h.app.services.archive = real
    assert upkeep(h).counts == {"summary_only": 1}


def test_enrichment_waits_for_an_archive_that_is_away_and_goes_on_when_it_is_back(h: House) -> None:
    memory_id = short(h, EN)
    month_later(h)
    forget_fetched(h)
    real, h.app.services.archive = h.app.services.archive, Away()
    h.patch(memory_id, tags=["cottage"])
    assert h.drain() == 0
    hit = h.recall("hairline crack in the downpipe").hits[0]
    assert (hit.id, hit.tags, hit.pending) == (memory_id, ["cottage"], True)
    h.app.services.archive = real
    assert h.drain() == 1
    assert h.recall("hairline crack", tags=["cottage"]).hits[0].parts["raw_keyword"] > 0


@pytest.mark.parametrize(
    "forged", [b"something else", b"\xff\xfe", None], ids=["other", "no text", "missing"]
)
def test_a_text_that_was_tampered_with_is_told_never_shown(h: House, forged: bytes | None) -> None:
    memory_id = short(h, EN)
    other = short(h, ZH)
    month_later(h)
    archive = h.app.services.archive
    key = next(key for key in objects(h) if memory_id in key)
    if forged is None:
        archive.delete(key)
    else:
        archive.put(key, forged)
    forget_fetched(h)
    with pytest.raises(TextLost):
        h.get(memory_id)
    assert h.get(other)["content"] == ZH
    report = h.audit("u", "archive")
    assert not report["ok"]
    assert [finding["refs"] for finding in report["findings"]] == [[memory_id]]
    # It does not stop the rest: the summary and the vectors that there are must do.
    h.patch(memory_id, tags=["kept"])
    assert h.drain() == 1
    hit = h.recall("plumber at the cottage", tags=["kept"], include_content=True).hits[0]
    assert (hit.id, hit.content) == (memory_id, None)
    assert stored(h, memory_id).content == ""


def test_a_forged_summary_of_an_archived_text_is_a_break(h: House) -> None:
    memory_id = short(h, ZH)
    month_later(h)
    store = h.app.services.store
    at = keys.memory(AT, memory_id)
    body = store.get(at)
    assert body is not None
    for forged in ({"summary": "nothing of it"}, {"text_digest": "0" * 64}):
        store.transact(AT, lambda uow, forged=forged: uow.put(at, {**body, **forged}))  # type: ignore[misc]
        assert not h.audit("u", "ledger")["ok"]


def test_the_round_of_audits_only_lists_what_is_there(h: House) -> None:
    memory_id = short(h, EN)
    h.turns([{"role": "user", "content": "Call me tomorrow about the damp wall."}], session_id="s")
    month_later(h)

    def found() -> list[list[str]]:
        report, _ = h.app.auditor.piece("default", None, lambda: False)
        assert report is not None
        return sorted(item["refs"] for item in report["findings"] if item["check"] == "archive")

    real = h.app.services.archive
    h.app.services.archive = Dies(real, "get", 0)
    assert found() == []
    for key in list(real.keys(AT)):
        real.delete(key)
    assert found() == [[memory_id], [keys.session(AT, "s").sort]]


def test_the_audit_says_when_it_cannot_look(h: House) -> None:
    short(h, EN)
    month_later(h)
    h.app.services.archive = Away()
    report = h.audit("u", "archive")
    assert [finding["severity"] for finding in report["findings"]] == ["error"]


# --- killed anywhere


def test_a_kill_between_object_and_transaction_changes_nothing(h: House) -> None:
    memory_id = short(h, EN)
    h.clock.advance(days=31)
    real = h.app.services.store
    h.app.services.store = Dies(real, "transact", 0)
    with pytest.raises(Killed):
        upkeep(h)
    h.app.services.store = real
    assert stored(h, memory_id).content == EN
    assert len(objects(h)) == 1
    assert upkeep(h).counts == {"summary_only": 1}
    assert len(objects(h)) == 1


def test_a_long_history_that_is_half_moved_reads_whole_and_is_finished(h: House) -> None:
    memory_id = short(h, EN)
    for number in range(130):
        h.patch(memory_id, tags=[f"t{number}"])
    h.drain()
    history = h.history(memory_id)
    h.clock.advance(days=31)
    real = h.app.services.store
    h.app.services.store = Dies(real, "transact", 1)
    with pytest.raises(Killed):
        upkeep(h)
    h.app.services.store = real
    assert held_texts(h).count("") == 60
    forget_fetched(h)
    texts = [row["memory"]["content"] for row in h.history(memory_id)]
    assert texts == [row["memory"]["content"] for row in history]
    assert h.audit("u")["ok"]
    assert upkeep(h).counts == {"summary_only": 1}
    assert set(held_texts(h)) == {""}
    assert h.audit("u")["ok"]


def test_a_stop_ends_the_turn_and_the_next_one_goes_on(h: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "PORTION", 1)
    for number in range(5):
        short(h, f"{EN} Visit {number}", admission="verbatim")
    h.clock.advance(days=31)
    first = upkeep(h, stop=lambda: True)
    assert (first.done, first.counts) == (False, {"summary_only": 1})
    second = upkeep(h)
    assert (second.done, second.counts) == (True, {"summary_only": 4})


def test_an_edit_that_comes_between_look_and_move_is_not_lost(h: House) -> None:
    memory_id = short(h, EN)
    h.clock.advance(days=31)
    real = h.app.services.archive

    class EditedMeanwhile:
        def __getattr__(self, name: str) -> object:
            return getattr(real, name)

        def put(self, key: str, body: bytes) -> None:
            real.put(key, body)
            h.app.services.archive = real
            h.patch(memory_id, content=ZH)

    h.app.services.archive = EditedMeanwhile()  # type: ignore[assignment]
    upkeep(h)
    assert h.get(memory_id)["content"] == ZH
    assert [row["memory"]["content"] for row in h.history(memory_id)] == [EN, ZH]
    h.drain()
    assert h.audit("u")["ok"]
