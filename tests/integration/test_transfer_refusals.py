"""An export that does not fit: other contents, bad lines, other formats; and an import that is cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rearview.domain.principal import LOCAL
from rearview.usecases.commands import (
    PatchMemory,
)
from rearview.usecases.fields import read
from rearview.usecases.importing import Defaults, Importer
from rearview.usecases.transcripts import read_records
from tests.integration.transfer_kit import (
    Body,
    Open,
    contents,
    is_sound,
    lines_of,
    live_a_little,
    restore,
    stores,
    stream,
    take,
    write,
)


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Open]:
    with stores(tmp_path) as make:
        yield make


def test_an_id_with_another_content_is_reported_and_left_alone(open_store: Open) -> None:
    app = open_store("one")
    ids = live_a_little(app)
    lines = lines_of(app)
    mine = next(line for line in lines if line.get("memory", {}).get("id") == ids["edited"])
    mine["history"][0]["memory"]["content"] = mine["memory"]["content"] = "I work in the mine."
    report = restore(app, [mine])
    assert [(item.field, item.rule, item.line) for item in report.refusals] == [("memory.id", "id_taken", 2)]
    assert app.reader.memory(LOCAL, ids["edited"]).content == "I work at the harbour office."


def test_an_id_of_another_user_is_reported(open_store: Open) -> None:
    app = open_store("one")
    write(app, "The spare key lies under the mat.")
    line = lines_of(app)[0] | {"user_id": "bo"}
    report = restore(app, [line])
    assert [item.rule for item in report.refusals] == ["id_taken"]
    assert contents(app, "bo") == []


def test_a_long_history_goes_in_by_steps_and_goes_on_after_a_kill(open_store: Open, monkeypatch: Any) -> None:
    old, new = open_store("one"), open_store("another")
    memory_id = write(old, "The tide table hangs in the hall.")["id"]
    for number in range(60):
        old.editor.patch(LOCAL, memory_id, read(PatchMemory, {"importance": number / 100}))
    old.enricher.wait(LOCAL.scope("read", None, "anna").partition, 2**53)
    lines = lines_of(old)
    store = new.services.store
    transact, calls = store.transact, []

    def dies(partition: str, work: Any) -> Any:
        calls.append(partition)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return transact(partition, work)

    monkeypatch.setattr(store, "transact", dies)
    with pytest.raises(KeyboardInterrupt):
        restore(new, lines)
    monkeypatch.setattr(store, "transact", transact)
    assert contents(new) == []
    restore(new, lines)
    assert lines_of(new) == lines
    assert is_sound(new)


def test_no_transaction_of_an_import_writes_a_hundred_items(open_store: Open, monkeypatch: Any) -> None:
    old, new = open_store("one"), open_store("another")
    live_a_little(old)
    for number in range(30):
        old.editor.patch(
            LOCAL, write(old, "Tram 4 runs late.")["id"], read(PatchMemory, {"importance": number / 50})
        )
        write(old, f"Note {number}: platform {number + 3}.", admission="verbatim")
    store, sizes = new.services.store, []
    transact = store.transact

    def counted(partition: str, work: Any) -> Any:
        def measured(uow: Any) -> Any:
            before = uow.put
            puts: set[Any] = set()
            monkeypatch.setattr(
                type(uow), "put", lambda self, key, *a, **k: (puts.add(key), before(key, *a, **k))[1]
            )
            try:
                return work(uow)
            finally:
                monkeypatch.undo()
                monkeypatch.setattr(store, "transact", counted)
                sizes.append(len(puts))

        return transact(partition, measured)

    monkeypatch.setattr(store, "transact", counted)
    importer = Importer(new, LOCAL, Defaults())
    importer.run(read_records(stream(*lines_of(old)), name="x"))
    assert 50 < max(sizes) < 100


@pytest.mark.parametrize(
    ("change", "field", "rule"),
    [
        ({"memory": {"status": "gone"}}, "memory.status", "literal_error"),
        ({"memory": {"importance": 1.5}}, "memory.importance", "range"),
        ({"memory": {"id": "x/y"}}, "memory.id", "ulid"),
        ({"memory": {"content": "a\x00b"}}, "memory.content", "no_nul"),
        ({"memory": {"created_at": "2999-01-01T00:00:00Z"}}, "memory.created_at", "not_in_future"),
        ({"memory": {"created_at": "2026-01-01T00:00:00"}}, "memory.created_at", "rfc3339"),
        ({"memory": {"version": True}}, "memory.version", "int_type"),
        ({"history": []}, "history", "consecutive_versions"),
        ({"user_id": " anna"}, "user_id", "no_outer_space"),
        ({"namespace": "a b"}, "namespace", "pattern"),
        ({"type": "ledger", "x": 1}, "type", "literal_error"),
    ],
)
def test_a_bad_line_of_an_export_names_field_and_rule(
    open_store: Open, change: Body, field: str, rule: str
) -> None:
    app = open_store("one")
    write(app, "The ferry leaves at ten.")
    line = lines_of(app)[0]
    for name, value in change.items():
        line[name] = {**line[name], **value} if isinstance(value, dict) else value
    new = open_store("another")
    importer = Importer(new, LOCAL, Defaults())
    report = importer.run(read_records(stream(line), name="x", format="export"))
    assert (field, rule) in [(item.field, item.rule) for item in report.refusals]
    assert lines_of(new) == []


def test_a_newer_format_is_refused(open_store: Open) -> None:
    report = take(open_store("one"), stream({"type": "rearview_export", "format": 2}))
    assert [(item.field, item.rule) for item in report.refusals] == [("format", "supported_version")]
