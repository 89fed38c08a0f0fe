"""Export and import: the same state elsewhere, twice as well as once."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rearview.bootstrap import opened
from rearview.domain.principal import LOCAL
from rearview.settings import Settings
from rearview.usecases.app import Rearview
from rearview.usecases.commands import (
    EndSession,
    PatchMemory,
    RecordDecision,
    RecordOutcome,
    Resolve,
    WriteMemory,
    WriteTurns,
)
from rearview.usecases.fields import read
from rearview.usecases.importing import Defaults, Importer, ImportReport
from rearview.usecases.questions import ListMemories, Precedents, Recall, RunAudit
from rearview.usecases.transcripts import read_records
from rearview.usecases.transfer import Exporter

Body = dict[str, Any]


class Clock:
    """A clock that moves a second at each look."""

    def __init__(self, start: datetime) -> None:
        self.time = start

    def now(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


Open = Callable[..., Rearview]


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Open]:
    with ExitStack() as stack:

        def make(name: str, policy: Any = "ask") -> Rearview:
            chosen = Settings(data=tmp_path / name, embedder="hashing", conflict_policy=policy)
            # Longer names have later clocks.
            clock = Clock(datetime(2026, 5, 4, 9, tzinfo=UTC) + timedelta(minutes=10 * len(name)))
            return stack.enter_context(opened(chosen, clock=clock)).app

        yield make


def write(app: Rearview, content: str, user: str = "anna", **more: Any) -> Body:
    request = read(WriteMemory, {"user_id": user, "content": content, **more})
    return app.writer.write(LOCAL, request, wait=True)[1]


def lines_of(app: Rearview) -> list[Body]:
    return list(Exporter(app.services).export(LOCAL))[1:]


def stream(*values: Any) -> io.BytesIO:
    return io.BytesIO("\n".join(json.dumps(value, ensure_ascii=False) for value in values).encode())


def take(app: Rearview, raw: io.BytesIO, *, strict: bool = False, **defaults: Any) -> ImportReport:
    importer = Importer(app, LOCAL, Defaults(**{"user_id": "anna", **defaults}), strict=strict)
    report = importer.run(read_records(raw, name="chat"))
    for partition, seq in report.last.items():
        assert app.enricher.wait(partition, seq)
    return report


def restore(app: Rearview, lines: list[Body]) -> ImportReport:
    return take(app, stream({"type": "rearview_export", "format": 1}, *lines))


def contents(app: Rearview, user: str = "anna", **more: Any) -> list[str]:
    request = read(ListMemories, {"user_id": user, "limit": 200, **more})
    return [item["content"] for item in app.reader.memories(LOCAL, request)["items"]]


def is_sound(app: Rearview) -> bool:
    return bool(app.auditor.run(LOCAL, read(RunAudit, {}))["ok"])


def live_a_little(app: Rearview) -> dict[str, Any]:
    """Every kind of record, most statuses, both languages."""
    turns = [
        {"role": "user", "content": "我住在杭州。", "turn_id": "a"},
        {"role": "user", "content": "My locker number is 4471.", "at": "2026-01-02T03:04:05Z"},
        {"role": "assistant", "content": "Noted 👍🏽."},
    ]
    app.sessions.turns(
        LOCAL, read(WriteTurns, {"user_id": "anna", "session_id": "s/1", "turns": turns}), wait=True
    )
    moved = write(app, "我搬到上海了。")
    conflict = moved["conflicts"][0]
    app.settler.resolve(LOCAL, conflict["id"], read(Resolve, {"keep": moved["id"]}))
    write(app, "My phone number is 555 0101.")
    disputed = write(app, "My phone number is 555 0199.")
    assert disputed["conflicts"]
    gone = write(app, "The cat is called Mochi.")
    app.editor.delete(LOCAL, gone["id"], "no longer")
    edited = write(app, "I work at the harbour office.", tags=["work"], metadata={"a": {"id": 1}})
    app.editor.patch(LOCAL, edited["id"], read(PatchMemory, {"importance": 0.9}))
    write(app, "Gate code 77 until tonight", ttl_seconds=3600, memory_type="working", session_id="s/1")
    write(app, "逐字 verbatim ＡＢＣ é", admission="verbatim", occurred_at="2020-02-29")
    write(app, "Never phone before nine.", user="bo", audience="namespace", kind="instruction")
    app.session_ender.end(LOCAL, "s/1", read(EndSession, {"user_id": "anna"}))
    seen = app.recaller.recall(LOCAL, read(Recall, {"user_id": "anna", "query": "where is her office"}))
    decide = {"user_id": "anna", "context": "Where to meet", "recall_id": seen.recall_id}
    first = app.tracer.decide(LOCAL, read(RecordDecision, {**decide, "action": "harbour"}))[1]
    second = app.tracer.decide(
        LOCAL, read(RecordDecision, {**decide, "action": "station", "parent_id": first["id"]})
    )[1]
    app.tracer.outcome(LOCAL, first["id"], read(RecordOutcome, {"result": "success", "score": 0.5}))
    bad = app.tracer.outcome(LOCAL, second["id"], read(RecordOutcome, {"result": "failure"}))[1]
    app.tracer.revert(LOCAL, bad["id"])
    for line in lines_of(app):
        app.enricher.wait(LOCAL.scope("read", line["namespace"], line["user_id"]).partition, 2**53)
    return {"decision": first["id"], "edited": edited["id"], "conflict": conflict["id"], "gone": gone["id"]}


def test_an_export_holds_every_kind_of_record_and_no_key(open_store: Open) -> None:
    app = open_store("one")
    live_a_little(app)
    lines = lines_of(app)
    assert {line["type"] for line in lines} == {
        "session", "turn", "memory", "conflict", "decision", "outcome",
    }  # fmt: skip
    assert not {"content_hash", "key", "recall_id"} & {
        name for line in lines for name, value in line[line["type"]].items() if value
    }


def test_an_import_into_an_empty_store_gives_the_same_state(open_store: Open) -> None:
    old, new = open_store("one"), open_store("another")
    live_a_little(old)
    lines = lines_of(old)
    report = restore(new, lines)
    assert report.refused == 0
    assert lines_of(new) == lines
    assert is_sound(new)


def test_an_imported_store_answers_as_the_old_one_did(open_store: Open) -> None:
    old, new = open_store("one"), open_store("another")
    ids = live_a_little(old)
    restore(new, lines_of(old))
    question = read(Recall, {"user_id": "anna", "query": "harbour office", "top_k": 3})
    assert [hit.id for hit in new.recaller.recall(LOCAL, question).hits] == [
        hit.id for hit in old.recaller.recall(LOCAL, question).hits
    ]
    assert new.replayer.replay(LOCAL, ids["decision"])["memories"]
    asked = read(Precedents, {"user_id": "anna", "context": "Where to meet"})
    assert [item["decision"]["id"] for item in new.tracer.precedents(LOCAL, asked)["precedents"]] == [
        item["decision"]["id"] for item in old.tracer.precedents(LOCAL, asked)["precedents"]
    ]


def test_earlier_views_work_after_an_import(open_store: Open) -> None:
    old, new = open_store("one"), open_store("another")
    ids = live_a_little(old)
    rows = old.reader.history(LOCAL, ids["edited"])["items"]
    moments = {row["known_from"] for line in lines_of(old) for row in line.get("history", [])}
    restore(new, lines_of(old))
    assert new.reader.history(LOCAL, ids["edited"])["items"] != []
    for moment in sorted(moments):
        assert contents(new, known_at=moment) == contents(old, known_at=moment)
    then = read(ListMemories, {"user_id": "anna", "known_at": rows[0]["known_from"], "limit": 200})
    found = {item["id"]: item["version"] for item in new.reader.memories(LOCAL, then)["items"]}
    assert found[ids["edited"]] == 1


def test_importing_an_export_twice_changes_nothing(open_store: Open) -> None:
    old, new = open_store("one"), open_store("another")
    live_a_little(old)
    lines = lines_of(old)
    restore(new, lines)
    seqs = [new.services.store.get(key) for key in _heads(new)]
    report = restore(new, lines)
    assert (sum(report.written.values()), report.refused) == (0, 0)
    assert report.unchanged == len(lines)
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


# --- memories and transcripts ---


def test_lines_of_memories_go_in_once_whatever_their_admission(open_store: Open) -> None:
    app = open_store("one")
    lines = [
        {"user_id": "bo", "content": "我喜欢靠窗的座位。"},
        {"content": "Prefers the aisle on night trains.", "admission": "verbatim"},
        {"content": "Prefers the aisle on night trains.", "admission": "verbatim"},
        {"content": "thanks!"},
    ]
    report = take(app, stream(*lines))
    assert (report.written["memory"], sum(report.dropped.values()), report.unchanged) == (3, 1, 0)
    before = lines_of(app)
    again = take(app, stream(*lines))
    assert (sum(again.written.values()), again.unchanged, again.duplicates) == (0, 3, 0)
    assert lines_of(app) == before


def test_a_forgotten_memory_does_not_come_back_by_importing_again(open_store: Open) -> None:
    app = open_store("one")
    line = {"content": "Her middle name is Odette."}
    take(app, stream(line))
    memory_id = lines_of(app)[0]["memory"]["id"]
    app.editor.delete(LOCAL, memory_id)
    take(app, stream(line))
    assert contents(app) == []


def test_bad_lines_are_told_by_number_and_the_rest_goes_in(open_store: Open) -> None:
    app = open_store("one")
    raw = io.BytesIO(
        b'{"content": "The attic window sticks."}\n'
        b"\n"
        b"{not json\n"
        b'{"content": "x", "colour": 1}\n'
        b'{"content": "a", "content": "b"}\n'
        b'{"content": "x", "importance": NaN}\n'
        b'{"content": "caf\xe9"}\n'
        b'{"content": "\\ud83d"}\n'
        b'"text"\n'
        b'{"content": "   "}\n'
        b'{"content": "The cellar door is green."}\n'
    )
    report = take(app, raw)
    assert [(item.line, item.field, item.rule) for item in report.refusals] == [
        (3, "line", "json"),
        (4, "colour", "extra_forbidden"),
        (5, "line", "unique_keys"),
        (6, "line", "finite_number"),
        (7, "line", "utf8"),
        (8, "content", "no_lone_surrogate"),
        (9, "line", "object"),
        (10, "content", "not_blank"),
    ]
    assert contents(app) == ["The attic window sticks.", "The cellar door is green."]


def test_nesting_without_end_is_refused(open_store: Open) -> None:
    deep = b'{"content": "x", "metadata": ' + b'{"a":' * 5000 + b"1" + b"}" * 5001
    report = take(open_store("one"), io.BytesIO(deep + b'\n{"content": "The kettle whistles."}'))
    assert report.refused == 1
    assert report.written["memory"] == 1


def test_strict_stops_at_the_first_bad_line(open_store: Open) -> None:
    app = open_store("one")
    good = [{"content": "The clock runs slow."}, {"content": 5}, {"content": "The lamp flickers."}]
    report = take(app, stream(*good), strict=True)
    assert (report.stopped, report.refused) == (True, 1)
    assert contents(app) == ["The clock runs slow."]


TALK = [
    {"role": "user", "content": "我住在成都。"},
    {"role": "assistant", "content": "好的。"},
    {"role": "user", "content": "I am allergic to shellfish."},
]


@pytest.mark.parametrize(
    "raw",
    [
        json.dumps(TALK),
        json.dumps(TALK, indent=2, ensure_ascii=False),
        "\ufeff" + json.dumps({"messages": TALK}),
        json.dumps({"title": "x", "messages": TALK}, indent=1),
        json.dumps({"conversations": [{"from": "human", "value": turn["content"]} for turn in TALK]}),
        "\n".join(json.dumps(turn) for turn in TALK),
        "\n".join(json.dumps({"speaker": "Ida", "content": turn["content"]}) for turn in TALK),
        json.dumps([{"role": t["role"], "content": [{"type": "text", "text": t["content"]}]} for t in TALK]),
        json.dumps({"messages": TALK}) + "\n" + json.dumps({"messages": TALK[:1]}),
    ],
    ids=["list", "pretty", "bom", "object", "sharegpt", "jsonl", "speakers", "parts", "conversations"],
)
def test_a_transcript_is_read_in_its_common_shapes_and_once(open_store: Open, raw: str) -> None:
    app = open_store("one")
    report = take(app, io.BytesIO(raw.encode()))
    assert report.refused == 0
    found = contents(app)
    assert any("成都" in text for text in found)
    assert any("shellfish" in text for text in found)
    before = lines_of(app)
    again = take(app, io.BytesIO(raw.encode()))
    assert again.written.total() == 0
    assert lines_of(app) == before


def test_a_transcript_that_grew_adds_only_what_is_new(open_store: Open) -> None:
    app = open_store("one")
    take(app, stream(*TALK))
    report = take(app, stream(*TALK, {"role": "user", "content": "My locker number is 4471."}))
    assert (report.written["turn"], report.unchanged) == (1, 3)
    assert sum("成都" in text for text in contents(app)) == 1
    assert app.sessions.get(LOCAL, "chat", "anna", None)["turns_count"] == 4


def test_turns_keep_session_speaker_and_time(open_store: Open) -> None:
    app = open_store("one")
    turn = {"speaker": "Ida", "content": "I moved to Ghent.", "at": 1767225600, "session_id": "s 1"}
    take(app, stream(turn))
    listed = app.reader.memories(LOCAL, read(ListMemories, {"user_id": "anna"}))["items"][0]
    assert (listed["session_id"], listed["source"]["speaker"]) == ("s 1", "Ida")
    assert listed["valid_from"] == "2026-01-01T00:00:00.000000Z"


def test_a_turn_without_text_or_with_an_unknown_role_is_refused_alone(open_store: Open) -> None:
    app = open_store("one")
    report = take(
        app,
        stream([{"role": "user", "content": None}, {"role": "ghost", "content": "boo"}, TALK[0]]),
    )
    assert [(item.field, item.rule) for item in report.refusals] == [
        ("[0].content", "missing"),
        ("[1].role", "literal_error"),
    ]
    assert report.written["turn"] == 1


def test_two_hundred_turns_go_in_in_order(open_store: Open) -> None:
    app = open_store("one")
    turns = [{"role": "user", "content": f"Locker {n} holds box {n * 7}."} for n in range(200)]
    report = take(app, stream(*turns))
    assert report.written["turn"] == 200
    kept = [line["turn"] for line in lines_of(app) if line["type"] == "turn"]
    assert [turn["content"] for turn in kept] == [turn["content"] for turn in turns]


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "role", "content", "messages", "memory", "history", "user_id", "items", "at", "id"]
            ),
            inner | st.sampled_from(["user", "memory", "session", "turn", "rearview_export"]),
            max_size=4,
        )
    ),
    max_leaves=8,
)


def test_whatever_json_comes_in_is_taken_or_refused_by_name(open_store: Open) -> None:
    app = open_store("one")

    @settings(max_examples=60, deadline=None)
    @given(value=ANY_JSON)
    def holds(value: Any) -> None:
        report = Importer(app, LOCAL, Defaults("anna")).run(read_records(stream(value), name="x"))
        assert report.refused <= report.lines
        assert all(item.field and item.rule for item in report.refusals)

    holds()
