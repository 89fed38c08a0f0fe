"""Summary-only: the whole text of an old short-term memory lies in the archive, and nobody notices."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from rearview.domain import keys
from rearview.ports import UnitOfWork
from rearview.usecases.book import Book
from rearview.usecases.texts import full
from tests.house import House, house
from tests.integration.archive_kit import (
    AT,
    EN,
    ZH,
    Away,
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


@pytest.mark.parametrize("content", [ZH, EN], ids=["zh", "en"])
def test_an_old_text_leaves_the_store_and_comes_back_by_id(h: House, content: str) -> None:
    before = h.get(short(h, content))
    result = month_later(h)
    assert result.counts == {"summary_only": 1}
    assert content not in held_texts(h)
    assert list(objects(h).values()) == [content.encode()]
    forget_fetched(h)
    assert h.get(before["id"]) == {**before, "text_archived": True}


def test_the_move_is_no_version_no_ledger_entry_and_no_write_to_the_index(h: House) -> None:
    memory_id = short(h, ZH)
    services = h.app.services
    head, held = services.store.get(keys.head(AT)), services.index.versions(AT)
    month_later(h)
    assert services.store.get(keys.head(AT)) == head
    assert services.index.versions(AT) == held
    assert services.store.query(AT, keys.PENDING).items == []
    assert [row["version"] for row in h.history(memory_id)] == [1]


def test_recall_ranks_as_before_and_shows_the_texts_of_its_hits(h: House) -> None:
    violin = "今天在菜市场遇见了以前的同桌，她现在教小提琴，约好下个月去听她学生的演出，地点在河边的小礼堂。"
    for content in (ZH, EN, violin):
        short(h, content)
    queries = ("水槽靠窗的橱柜", "hairline crack in the downpipe", "violin teacher", "谁在教小提琴")
    h.clock.advance(days=31)

    def ranked() -> list[list[tuple[str, float]]]:
        return [[(hit.id, hit.score) for hit in h.recall(query, explain=True).hits] for query in queries]

    before = ranked()
    texts = [h.contents(query, include_content=True) for query in queries]
    upkeep(h)
    forget_fetched(h)
    after = ranked()
    assert [[hit for hit, _ in hits] for hits in after] == [[hit for hit, _ in hits] for hits in before]
    for one, two in zip(before, after, strict=True):
        assert [score for _, score in two] == pytest.approx([score for _, score in one], abs=1e-4)
    assert [h.contents(query, include_content=True) for query in queries] == texts


def test_words_that_the_summary_leaves_out_keep_a_recall_from_abstaining(h: House) -> None:
    # So many words that its meaning alone does not convince.
    tools = "ladder bucket gasket flange spanner washer putty chisel torch solder elbow nipple bushing union strainer"
    short(h, EN + "".join(f" Item {n}: {word}." for n, word in enumerate(tools.split() * 2)))
    assert "resin" not in h.memories()[0]["summary"]
    h.clock.advance(days=31)
    asked = "resin dresser gasket violin"
    assert not h.recall(asked).abstained
    upkeep(h)
    forget_fetched(h)
    assert not h.recall(asked).abstained
    h.app.services.archive = Away()
    forget_fetched(h)
    answer = h.recall(asked)
    assert (answer.abstained, answer.degraded) == (True, ["archive"])


def test_long_term_young_and_short_texts_stay(h: House) -> None:
    h.write(EN, memory_type="long_term", admission="force")
    short(h, "Fed the cat")
    h.clock.advance(days=25)
    young = short(h, ZH)
    h.clock.advance(days=6)
    assert upkeep(h).counts == {}
    assert objects(h) == {}
    h.clock.advance(days=25)
    assert upkeep(h).counts == {"summary_only": 1}
    assert stored(h, young).text_archived


def test_a_text_moves_on_the_day_it_is_old_enough_not_before(h: House) -> None:
    memory_id = short(h, EN)
    created = stored(h, memory_id).created_at
    assert upkeep(h, as_of=created + timedelta(days=30) - timedelta(microseconds=1)).counts == {}
    assert upkeep(h, as_of=created + timedelta(days=30)).counts == {"summary_only": 1}


def test_a_policy_without_the_step_moves_nothing_and_a_dry_run_only_tells(h: House) -> None:
    short(h, EN)
    h.clock.advance(days=400)
    assert upkeep(h, summary_only_days=None).counts == {}
    told = upkeep(h, dry_run=True)
    assert told.counts == {"summary_only": 1}
    assert told.changes[0].reason
    assert objects(h) == {}
    assert upkeep(h).counts == told.counts


def test_what_is_done_twice_does_nothing_twice(h: House) -> None:
    short(h, ZH)
    month_later(h)
    before = objects(h), held_texts(h)
    assert upkeep(h).counts == {}
    assert (objects(h), held_texts(h)) == before


def test_all_versions_of_a_text_move_and_earlier_views_are_what_they_were(h: House) -> None:
    memory_id = short(h, ZH)
    h.clock.advance(days=1)
    h.patch(memory_id, content=EN)
    h.drain()
    h.clock.advance(days=1)
    h.patch(memory_id, tags=["cottage"])
    h.drain()
    moments = [row["known_from"] for row in h.history(memory_id)]
    history = h.history(memory_id)
    lists = [h.memories(known_at=moment) for moment in moments]
    recalls = [h.contents("石英石台面 resin", known_at=moment, include_content=True) for moment in moments]
    month_later(h)
    assert set(held_texts(h)) == {""}
    assert len(objects(h)) == 2
    forget_fetched(h)
    archived = {"text_archived": True}
    assert h.history(memory_id) == [{**row, "memory": {**row["memory"], **archived}} for row in history]
    assert [h.memories(known_at=moment) for moment in moments] == [
        [{**item, **archived} for item in some] for some in lists
    ]
    assert [
        h.contents("石英石台面 resin", known_at=moment, include_content=True) for moment in moments
    ] == recalls


def test_the_ledger_holds_before_and_after_and_for_changes_made_since(h: House) -> None:
    memory_id = short(h, ZH)
    h.patch(memory_id, importance=0.4)
    h.drain()
    assert h.audit("u", "ledger")["ok"]
    month_later(h)
    assert h.audit("u", "ledger", "archive", "index_drift")["findings"] == []
    h.patch(memory_id, tags=["kitchen"])
    h.drain()
    assert h.audit("u")["findings"] == []


def test_a_change_that_is_none_of_the_text_leaves_it_in_the_archive_and_in_the_index(h: House) -> None:
    memory_id = short(h, EN)
    month_later(h)
    forget_fetched(h)
    answer = h.patch(memory_id, importance=0.9, tags=["cottage"])
    assert answer["content"] == EN
    h.drain()
    held = stored(h, memory_id)
    assert (held.content, held.text_archived, held.enrichment) == ("", True, "done")
    hit = h.recall("hairline crack in the downpipe", tags=["cottage"]).hits[0]
    assert hit.parts["raw_keyword"] > 0
    assert held_texts(h).count(EN) == 0


def test_a_text_that_was_fetched_does_not_get_back_by_way_of_another_change(h: House) -> None:
    memory_id = short(h, EN)
    month_later(h)
    fetched = full(h.app.services, stored(h, memory_id))
    assert fetched.content == EN

    def work(uow: UnitOfWork) -> None:
        book = Book(uow, fetched.scope, h.clock.now(), "test")
        book.save(book.change(fetched, "updated", importance=0.7))
        book.close()

    h.app.services.store.transact(AT, work)
    h.drain()
    assert set(held_texts(h)) == {""}
    assert h.audit("u")["findings"] == []


def test_an_edit_brings_the_new_text_into_the_store_and_the_old_one_stays_readable(h: House) -> None:
    memory_id = short(h, EN)
    month_later(h)
    assert h.patch(memory_id, content=EN)["version"] == 2
    assert stored(h, memory_id).text_archived
    h.patch(memory_id, content=ZH)
    h.drain()
    held = stored(h, memory_id)
    assert (held.content, held.text_archived, held.text_digest) == (ZH, False, "")
    assert [row["memory"]["content"] for row in h.history(memory_id)] == [EN, EN, ZH]
    assert h.contents("水槽靠窗", include_content=True)[0] == ZH
    assert h.audit("u")["ok"]
    upkeep(h)
    forget_fetched(h)
    assert [row["memory"]["content"] for row in h.history(memory_id)] == [EN, EN, ZH]


def test_a_repeat_lands_on_the_archived_memory_and_shows_its_text(h: House) -> None:
    memory_id = short(h, EN)
    month_later(h)
    forget_fetched(h)
    for wait in (False, True):
        answer = h.write(EN, memory_type="short_term", kind="event", admission="force", wait=wait)
        assert (answer["verdict"], answer["duplicate_of"]) == ("duplicate", memory_id)
        assert answer["memory"]["content"] == EN
    assert stored(h, memory_id).text_archived


def test_a_contradiction_is_seen_against_an_archived_text_and_quoted(h: House) -> None:
    old = short(
        h, "Moved the office last spring; since then I live in Ghent, near the old harbour, third floor."
    )
    month_later(h)
    assert stored(h, old).text_archived
    forget_fetched(h)
    answer = h.write("I live in Bruges", admission="force")
    quoted = "Moved the office last spring; since then I live in Ghent, near the old harbour"
    assert quoted in answer["conflicts"][0]["question"]


def test_the_next_one_in_a_session_finds_its_words_in_the_archive(h: House) -> None:
    short(h, EN, session_id="s")
    later = short(h, "我们说好十月再看一次墙面，如果还潮就叫他来。" * 2, session_id="s")
    month_later(h)
    forget_fetched(h)
    h.patch(later, tags=["again"])
    h.drain()
    hits = {hit.id: hit for hit in h.recall("resin downpipe").hits}
    assert hits[later].parts["raw_keyword"] > 0


def test_reindex_fetches_what_it_embeds(h: House) -> None:
    memory_id = short(h, EN)
    month_later(h)
    forget_fetched(h)
    before = h.recall("hairline crack resin").hits[0].parts
    h.app.reindexer.reindex()
    after = h.recall("hairline crack resin").hits[0].parts
    assert after["raw_vector"] == pytest.approx(before["raw_vector"])
    assert after["raw_keyword"] == pytest.approx(before["raw_keyword"])
    assert stored(h, memory_id).content == ""


@pytest.mark.parametrize(
    "content",
    ["🦜👩‍👩‍👧‍👦 " * 2180, "שלום עולם مرحبا \u202e بالعالم " * 900, "数" * 21_845],
    ids=["emoji", "right to left", "64 KB without a space"],
)
def test_any_unicode_of_any_length_comes_back_as_it_went(h: House, content: str) -> None:
    memory_id = short(h, content.strip())
    before = h.get(memory_id)["content"]
    assert month_later(h).counts == {"summary_only": 1}
    forget_fetched(h)
    assert h.get(memory_id)["content"] == before


def test_a_decision_and_its_replay_show_texts_out_of_the_archive(h: House) -> None:
    memory_id = short(h, EN)
    decision = h.decide("Whom to call about the damp wall", "call the plumber", memory_ids=[memory_id])
    month_later(h)
    forget_fetched(h)
    shown = h.decision(decision["id"])
    assert shown.memories is not None
    assert [item.content for item in shown.memories] == [EN]
    forget_fetched(h)
    replayed = h.app.replayer.replay(h.principal, decision["id"])
    assert replayed["memories"][0]["then"]["content"] == EN
