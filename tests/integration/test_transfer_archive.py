"""Texts that lie in the archive go out whole with an export, and come in as texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from rearview.domain.policy import Policy
from rearview.domain.principal import LOCAL
from rearview.domain.scope import Scope
from rearview.errors import Gone, Unavailable
from rearview.usecases.app import Rearview
from rearview.usecases.commands import PatchMemory
from rearview.usecases.fields import read
from rearview.usecases.maintenance.archive import TextArchiver
from rearview.usecases.maintenance.task import Job
from tests.integration.archive_kit import EN, ZH, Away
from tests.integration.transfer_kit import (
    Body,
    Open,
    is_sound,
    lines_of,
    live_a_little,
    restore,
    stores,
    write,
)


def archive(app: Rearview) -> int:
    """As 31 days from now; answers how many texts and sessions went."""
    done = 0
    for user in ("anna", "bo"):
        at = app.services.now() + timedelta(days=31)
        job = Job("run", Scope("default", user), at, Policy("default"))
        done += sum(TextArchiver(app.services).run(job, lambda: False).counts.values())
    return done


def ordered(lines: list[Body]) -> list[Body]:
    """Turns out of the archive come behind those of the store."""
    return sorted(lines, key=lambda line: str((line["type"], line["user_id"], line[line["type"]])))


@dataclass(frozen=True)
class Lived:
    app: Rearview
    before: list[Body]
    after: list[Body]
    memory_id: str


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Open]:
    with stores(tmp_path) as make:
        yield make


@pytest.fixture
def old(open_store: Open) -> Lived:
    """A store before and after texts and turns went to the archive."""
    app = open_store("one")
    live_a_little(app)
    memory_id = write(app, ZH, memory_type="short_term", kind="event")["id"]
    app.editor.patch(LOCAL, memory_id, read(PatchMemory, {"content": EN}))
    app.enricher.drain(Scope("default", "anna").partition)
    before = lines_of(app)
    # The text and its first version, the session's summary, its turns.
    assert archive(app) >= 2
    app.services.texts.clear()
    return Lived(app, before, lines_of(app), memory_id)


def test_an_export_is_the_same_wherever_the_texts_lie(old: Lived) -> None:
    assert ordered(old.after) == ordered(old.before)
    assert EN in str(old.after)
    assert not {"text_archived", "text_digest", "turns_digest"} & set(str(old.after).split("'"))


def test_it_imports_to_the_same_state_and_can_go_to_the_archive_there(old: Lived, open_store: Open) -> None:
    new = open_store("another")
    report = restore(new, old.after)
    assert report.refused == 0
    assert ordered(lines_of(new)) == ordered(old.before)
    archive(new)
    new.services.texts.clear()
    assert ordered(lines_of(new)) == ordered(old.before)
    assert is_sound(new)


def test_importing_it_again_where_the_texts_lie_in_the_archive_changes_nothing(old: Lived) -> None:
    report = restore(old.app, old.before)
    assert (sum(report.written.values()), report.refused) == (0, 0)
    assert report.unchanged == len(old.before)


def test_a_changed_turn_is_refused_though_the_true_one_lies_in_the_archive(old: Lived) -> None:
    (line,) = [line for line in old.before if line["type"] == "turn" and line["turn"]["turn_id"] == "a"]
    forged = {**line, "turn": {**line["turn"], "content": "我住在北京。"}}
    assert restore(old.app, [forged]).refused == 1


def test_no_export_leaves_a_text_out_in_silence(old: Lived) -> None:
    old.app.services.texts.clear()
    old.app.services.archive = Away()
    with pytest.raises(Unavailable):
        lines_of(old.app)


def test_what_was_purged_comes_back_out_of_an_export(old: Lived, open_store: Open) -> None:
    app = open_store("three")
    restore(app, old.before)
    app.editor.delete(LOCAL, old.memory_id)
    clock = app.services.clock
    for _ in range(7):
        clock.time += timedelta(days=5)  # type: ignore[attr-defined]
        app.sweeper.sweep()
    with pytest.raises(Gone):
        app.reader.memory(LOCAL, old.memory_id)
    line = next(line for line in old.before if line.get("memory", {}).get("id") == old.memory_id)
    assert restore(app, [line]).refused == 0
    assert app.reader.memory(LOCAL, old.memory_id).content == EN
    assert is_sound(app)
