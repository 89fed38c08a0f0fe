"""What an export holds, and the same state elsewhere: once, twice, into an empty store or one that moved on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rearview.domain.principal import LOCAL
from rearview.usecases.app import Rearview
from rearview.usecases.commands import (
    PatchMemory,
)
from rearview.usecases.fields import read
from rearview.usecases.questions import ListMemories, Precedents, Recall
from tests.integration.transfer_kit import (
    Body,
    Open,
    contents,
    is_sound,
    lines_of,
    live_a_little,
    restore,
    stores,
    write,
)


@dataclass(frozen=True)
class Lived:
    """A store with records of every kind, its export, and the ids of some."""

    app: Rearview
    lines: list[Body]
    ids: dict[str, Any]


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    """For reading only: all tests of this module share it."""
    with stores(tmp_path_factory.mktemp("old")) as make:
        app = make("one")
        ids = live_a_little(app)
        yield Lived(app, lines_of(app), ids)


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Open]:
    with stores(tmp_path) as make:
        yield make


@pytest.fixture
def new(open_store: Open) -> Rearview:
    return open_store("another")


def test_an_export_holds_every_kind_of_record_and_no_key(old: Lived) -> None:
    assert {line["type"] for line in old.lines} == {
        "session", "turn", "memory", "conflict", "decision", "outcome",
    }  # fmt: skip
    assert not {"content_hash", "key", "recall_id"} & {
        name for line in old.lines for name, value in line[line["type"]].items() if value
    }


def test_an_import_into_an_empty_store_gives_the_same_state(old: Lived, new: Rearview) -> None:
    report = restore(new, old.lines)
    assert report.refused == 0
    assert lines_of(new) == old.lines
    assert is_sound(new)


def test_an_imported_store_answers_as_the_old_one_did(old: Lived, new: Rearview) -> None:
    restore(new, old.lines)
    question = read(Recall, {"user_id": "anna", "query": "harbour office", "top_k": 3})
    assert [hit.id for hit in new.recaller.recall(LOCAL, question).hits] == [
        hit.id for hit in old.app.recaller.recall(LOCAL, question).hits
    ]
    assert new.replayer.replay(LOCAL, old.ids["decision"])["memories"]
    asked = read(Precedents, {"user_id": "anna", "context": "Where to meet"})
    assert [item["decision"]["id"] for item in new.tracer.precedents(LOCAL, asked)["precedents"]] == [
        item["decision"]["id"] for item in old.app.tracer.precedents(LOCAL, asked)["precedents"]
    ]


def test_earlier_views_work_after_an_import(old: Lived, new: Rearview) -> None:
    ids = old.ids
    rows = old.app.reader.history(LOCAL, ids["edited"])["items"]
    moments = {row["known_from"] for line in old.lines for row in line.get("history", [])}
    restore(new, old.lines)
    assert new.reader.history(LOCAL, ids["edited"])["items"] != []
    for moment in sorted(moments):
        assert contents(new, known_at=moment) == contents(old.app, known_at=moment)
    then = read(ListMemories, {"user_id": "anna", "known_at": rows[0]["known_from"], "limit": 200})
    found = {item["id"]: item["version"] for item in new.reader.memories(LOCAL, then)["items"]}
    assert found[ids["edited"]] == 1


def test_importing_an_export_twice_changes_nothing(old: Lived, new: Rearview) -> None:
    restore(new, old.lines)
    seqs = [new.services.store.get(key) for key in _heads(new)]
    report = restore(new, old.lines)
    assert (sum(report.written.values()), report.refused) == (0, 0)
    assert report.unchanged == len(old.lines)
    assert [new.services.store.get(key) for key in _heads(new)] == seqs


def _heads(app: Rearview) -> list[Any]:
    from rearview.domain import keys

    return [keys.head(at) for at in app.services.store.partitions() if not at.startswith("@")]


def test_a_store_that_moved_on_keeps_what_came_after_the_export(open_store: Open) -> None:
    app = open_store("one")
    ids = live_a_little(app)
    lines = lines_of(app)
    app.editor.patch(LOCAL, ids["edited"], read(PatchMemory, {"importance": 0.2}))
    app.settler.undo(LOCAL, ids["conflict"])
    report = restore(app, lines)
    assert (report.refused, report.unchanged) == (0, len(lines))
    assert app.reader.memory(LOCAL, ids["edited"]).importance == 0.2


def test_the_same_words_under_another_id_become_one(open_store: Open) -> None:
    old, new = open_store("one"), open_store("another")
    write(old, "The spare key lies under the mat.")
    here = write(new, "The spare key lies under the mat.")
    lines = lines_of(old)
    restore(new, lines)
    assert contents(new) == ["The spare key lies under the mat."]
    assert new.reader.memory(LOCAL, lines[0]["memory"]["id"]).merged_into == here["id"]
    assert restore(new, lines).unchanged == 1


def test_duplicates_are_found_after_an_import(open_store: Open) -> None:
    old, new = open_store("one"), open_store("another")
    first = write(old, "我对芒果过敏。")
    restore(new, lines_of(old))
    again = write(new, "我对芒果过敏")
    assert (again["verdict"], again["duplicate_of"]) == ("duplicate", first["id"])


def test_what_follows_an_import_comes_after_it(open_store: Open) -> None:
    old, new = open_store("a much later clock than the other's"), open_store("one")
    write(old, "The parcel shop closes at six.")
    restore(new, lines_of(old))
    write(new, "The bakery opens at seven.")
    assert contents(new) == ["The parcel shop closes at six.", "The bakery opens at seven."]
    assert is_sound(new)


def test_an_import_does_not_judge_again_what_was_settled(open_store: Open) -> None:
    old, new = open_store("one", policy="keep_both"), open_store("another")
    write(old, "My phone number is 555 0101.")
    write(old, "My phone number is 555 0199.")
    lines = lines_of(old)
    restore(new, lines)
    assert lines_of(new) == lines
    assert {line["type"] for line in lines} == {"memory"}
