"""Lines of memories and transcripts of other programs: taken once, or refused by name."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rearview.domain.principal import LOCAL
from rearview.usecases.fields import read
from rearview.usecases.importing import TURN_CHUNK, Defaults, Importer
from rearview.usecases.questions import ListMemories
from rearview.usecases.transcripts import read_records
from tests.integration.transfer_kit import (
    Open,
    contents,
    lines_of,
    stores,
    stream,
    take,
)


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Open]:
    with stores(tmp_path) as make:
        yield make


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


def test_turns_of_more_than_two_batches_go_in_in_order(open_store: Open) -> None:
    app = open_store("one")
    turns = [{"role": "user", "content": f"Locker {n} holds box {n * 7}."} for n in range(2 * TURN_CHUNK + 1)]
    report = take(app, stream(*turns))
    assert report.written["turn"] == len(turns)
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
