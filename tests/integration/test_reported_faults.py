"""Faults that users reported against other memory services, each with the outcome that ours must show.

Letters and numbers name the kinds of fault: A concurrent writes, B near-duplicates, C update and delete, D time,
E search and limits, F content, H met when running other services.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from rearview.adapters.models.hashing import HashingEmbedder
from rearview.errors import InvalidInput, NotFound, RearviewError, Unavailable
from rearview.usecases.commands import Forget, WriteMemory
from rearview.usecases.fields import read
from rearview.usecases.idempotency import run_once
from rearview.usecases.questions import ListMemories, Recall
from tests.house import FakeClock, House, house


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


# --- A


def test_a1_two_writers_of_one_fact_at_once_get_one_row_and_the_same_id(h: House) -> None:
    gate, answers = Barrier(2), []

    def go() -> None:
        gate.wait()
        answers.append(h.write("likes coffee", admission="force")["id"])

    threads = [Thread(target=go) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [item["id"] for item in h.memories()] == [answers[0]]
    assert answers[0] == answers[1]


def test_a3_five_writes_replayed_thirty_times_are_five_rows(h: House) -> None:
    for _ in range(30):
        for number in range(5):
            h.write(f"Order {number} goes to dock {number}", admission="force", wait=False)
    assert len(h.memories()) == 5


def test_a3_an_idempotency_key_tells_a_repeat_from_a_deliberate_second_write(h: House) -> None:
    request = {"user_id": "u", "content": "Served pump 3", "admission": "verbatim"}

    def send(key: str) -> tuple[int, dict[str, Any], bool]:
        return run_once(
            h.app.services,
            h.principal,
            None,
            "POST /v1/memories",
            key,
            request,
            lambda once: h.app.writer.write(h.principal, read(WriteMemory, request), once=once),
        )

    first, again, other = send("k1"), send("k1"), send("k2")
    assert (first[1]["id"], again[2]) == (again[1]["id"], True)
    assert other[1]["id"] != first[1]["id"]
    assert len(h.memories()) == 2


@pytest.mark.parametrize(
    ("compound", "part", "query"),
    [
        ("X runs on port 8080 and uses TLS", "X uses TLS", "does X use TLS"),
        ("网关运行在8080端口并且启用了TLS", "网关启用了TLS", "网关 TLS"),
    ],
)
def test_a5_a_part_of_a_compound_fact_is_shown_once(h: House, compound: str, part: str, query: str) -> None:
    first, second = h.write(compound, admission="force"), h.write(part, admission="force")
    assert (second["verdict"], second["duplicate_of"]) == ("duplicate", first["id"])
    assert h.contents(query) == [compound]


# --- B


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("deadline is October 15th", "deadline is October 16th"),
        ("The deadline is 15 October", "The deadline is 16 October"),
        ("截止日期是10月15日", "截止日期是10月16日"),
    ],
)
def test_b7_different_numbers_are_never_a_duplicate(h: House, old: str, new: str) -> None:
    first, second = h.write(old, admission="force"), h.write(new, admission="force")
    assert second["verdict"] == "admit"
    assert [item["memory_ids"] for item in second["conflicts"]] == [[first["id"], second["id"]]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Species P was not previously recorded at site 1", "Species Q was not seen in the dry season"),
        ("P物种此前不在1号样地出现", "旱季没有看到Q物种"),
    ],
)
def test_b9_a_bare_not_is_no_contradiction(h: House, old: str, new: str) -> None:
    h.write(old, admission="force")
    second = h.write(new, admission="force")
    assert (second["verdict"], second["conflicts"]) == ("admit", [])
    assert len(h.memories()) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("K is assigned to project one", "K is now assigned to project two"),
        ("My favourite tea is oolong", "My favourite tea is matcha"),
        ("我最喜欢的茶是乌龙茶", "我最喜欢的茶是抹茶"),
    ],
)
def test_b11_b13_under_latest_the_first_ends_when_the_second_starts(
    tmp_path: Path, old: str, new: str
) -> None:
    with house(tmp_path, conflict_policy="latest") as h:
        first = h.write(old, admission="force")
        h.clock.advance(days=1)
        second = h.write(new, admission="force")
        if not second["supersedes"]:
            pytest.fail("the newer value did not supersede the older one")
        ended = h.get(first["id"])
        assert (ended["valid_to"], ended["superseded_by"]) == (second["memory"]["valid_from"], second["id"])
        assert h.contents(new) == [new]


# --- C


def test_c15_a_deleted_better_match_leaves_its_place_to_the_live_one(h: House) -> None:
    better = h.write("pump maintenance schedule pump", admission="force")
    worse = h.write("the schedule of the boiler", admission="force")
    h.delete(better["id"])
    assert [hit.id for hit in h.recall("pump maintenance schedule", top_k=1).hits] == [worse["id"]]


def test_c17_delete_by_user_leaves_none_or_says_how_many(h: House) -> None:
    h.batch([{"user_id": "u", "content": f"Fact {n}", "admission": "force"} for n in range(100)], wait=False)
    h.batch(
        [{"user_id": "u", "content": f"Fact {n}", "admission": "force"} for n in range(100, 148)], wait=False
    )
    assert h.forget(everything=True)["count"] == 148
    assert h.memories() == []


def test_c19_one_rule_for_ids_in_every_verb(h: House) -> None:
    h.write("I like tea", user="alice")
    calls = [
        lambda: read(WriteMemory, {"user_id": "  alice  ", "content": "x"}),
        lambda: read(Recall, {"user_id": "  alice  ", "query": "x"}),
        lambda: read(Forget, {"user_id": "  alice  ", "everything": True}),
        lambda: read(ListMemories, {"user_id": "  alice  "}),
    ]
    for call in calls:
        with pytest.raises(InvalidInput) as refused:
            call()
        assert (refused.value.errors[0].field, refused.value.errors[0].rule) == ("user_id", "no_outer_space")


def test_c21_an_update_keeps_untouched_metadata_and_null_removes(h: House) -> None:
    one = h.write("I like tea", metadata={"category": "drink", "priority": 2})
    h.patch(one["id"], content="I like green tea")
    assert h.get(one["id"])["metadata"] == {"category": "drink", "priority": 2}
    h.patch(one["id"], metadata={"priority": None})
    assert h.get(one["id"])["metadata"] == {"category": "drink"}


def test_c23_an_edit_by_another_agent_keeps_the_creator(h: House) -> None:
    one = h.write("I like tea", agent_id="a")
    h.patch(one["id"], content="I like green tea", agent_id="b")
    assert h.get(one["id"])["agent_id"] == "a"
    h.drain()
    assert h.contents("green tea", agent_id="a") == ["I like green tea"]


def test_c25_an_update_whose_indexing_fails_loses_nothing(h: House, monkeypatch: pytest.MonkeyPatch) -> None:
    one = h.write("I like tea")

    def away(*_: object) -> None:
        raise Unavailable("index is down")

    with monkeypatch.context() as patched:
        patched.setattr(type(h.app.services.index), "upsert", away)
        h.patch(one["id"], content="I like green tea")
        assert h.drain() == 0
        assert h.contents("green tea") == ["I like green tea"]
    assert h.drain() == 1
    assert h.recall("green tea").hits[0].pending is False


@pytest.mark.parametrize("namespace", ["", "a.b,", "a/b", "名", "x" * 65, " "])
def test_c27_delete_refuses_the_same_namespaces_as_write(namespace: str) -> None:
    for model, rest in (
        (WriteMemory, {"content": "x"}),
        (Forget, {"everything": True}),
        (Recall, {"query": "x"}),
        (ListMemories, {}),
    ):
        with pytest.raises(InvalidInput) as refused:
            read(model, {"user_id": "u", "namespace": namespace, **rest})
        assert refused.value.errors[0].field == "namespace"


# --- D


@pytest.mark.parametrize(
    "field",
    [
        {"expires_at": 1767225600},
        {"valid_to": 1767225600},
        {"occurred_at": 1767225600},
        {"ttl_seconds": "60"},
    ],
)
def test_d29_an_expiry_of_unknown_type_is_refused_and_never_means_for_ever(field: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        read(WriteMemory, {"user_id": "u", "content": "x", **field})


def test_d31_expired_rows_are_filtered_before_the_limit(h: House) -> None:
    h.batch(
        [
            {"user_id": "u", "content": f"pump pump report {n}", "admission": "verbatim", "ttl_seconds": 60}
            for n in range(61)
        ]
    )
    h.write("pump of the mill", admission="force")
    h.write("pump of the well", admission="force")
    h.clock.advance(seconds=61)
    assert set(h.contents("pump report", top_k=2)) == {"pump of the mill", "pump of the well"}


def test_d33_a_date_as_upper_bound_holds_the_whole_day(h: House) -> None:
    h.clock.at = datetime(2026, 5, 3, 10, tzinfo=UTC)
    h.write("I like tea")
    assert h.contents("tea", known_at="2026-05-03") == ["I like tea"]
    assert h.contents("tea", until="2026-05-03") == ["I like tea"]
    assert len(h.memories(known_at="2026-05-03")) == 1


def test_d35_times_with_and_without_offset_compare(h: House) -> None:
    h.write("I like tea", occurred_at="2026-05-03T10:00:00+02:00", admission="force")
    assert h.contents("tea", since="2026-05-03T08:00:00") == ["I like tea"]
    assert h.contents("tea", since="2026-05-03T08:00:01") == []
    assert h.contents("tea", until="2026-05-03T16:00:00", timezone="Asia/Shanghai") == ["I like tea"]
    assert h.contents("tea", until="2026-05-03T15:59:59", timezone="Asia/Shanghai") == []


def test_d37_lists_and_recall_draw_the_day_at_the_same_place(h: House) -> None:
    h.clock.at = datetime(2026, 5, 3, 16, 30, tzinfo=UTC)
    h.write("I like tea")
    for zone, day in (("UTC", "2026-05-03"), ("Asia/Shanghai", "2026-05-04")):
        assert h.contents("tea", known_at=day, timezone=zone) == ["I like tea"]
        assert len(h.memories(known_at=day, timezone=zone)) == 1
    assert h.contents("tea", known_at="2026-05-03", timezone="Asia/Shanghai") == []
    assert h.memories(known_at="2026-05-03", timezone="Asia/Shanghai") == []


def test_d39_when_it_happened_is_kept_apart_from_when_it_was_written(h: House) -> None:
    one = h.write("I moved to Ghent", occurred_at="2019-04-01", admission="force")["memory"]
    assert one["valid_from"].startswith("2019-04-01")
    assert one["created_at"].startswith("2026")


# --- E


def test_e41_h5_chinese_without_spaces_is_found_by_its_words(h: House) -> None:
    h.write("混合检索的精排模型是哪个", admission="force")
    h.write("We use Go at GB", admission="force")
    for query in ("精排模型", "茶", "排"):
        parts = [hit.parts for hit in h.recall(query).hits if "精排" in (hit.content or "")]
        assert ("raw_keyword" in parts[0]) is (query != "茶")
    assert "raw_keyword" in h.recall("GB").hits[0].parts


@pytest.mark.parametrize(
    "query", ["OvertimeService", "overtimeservice", "overtime service", "overtime_service"]
)
def test_e43_one_tokeniser_on_both_sides(h: House, query: str) -> None:
    one = h.write("The OvertimeService fails at night", admission="force")
    hit = h.recall(query).hits[0]
    assert hit.id == one["id"]
    assert "raw_keyword" in hit.parts


@pytest.mark.parametrize(
    "name",
    [
        "my-group",
        "0f3e4a52-1b9c-4d3e-8f00-aa11bb22cc33",
        "a/b",
        "a\\b",
        "a|b",
        "名字 🥨",
        "%",
        "_",
        "'; --",
        '"',
    ],
)
def test_e45_whatever_validates_as_a_user_can_be_searched(h: House, name: str) -> None:
    h.write('She said: a/b | c\\d "quoted"', user=name, admission="force", session_id=name, agent_id=name)
    assert len(h.contents("quoted", user=name, session_id=name, agent_id=name)) == 1
    assert len(h.memories(user=name, session_id=name)) == 1


@pytest.mark.parametrize(
    ("tag", "other"), [("test", "latest"), ("100%", "100x"), ("a_b", "axb"), ("Tag", "tag")]
)
def test_e47_tags_match_exactly(h: House, tag: str, other: str) -> None:
    keep = h.write("Pump one", tags=[other], admission="force")["id"]
    gone = h.write("Pump two", tags=[tag], admission="force")["id"]
    assert [hit.id for hit in h.recall("pump", tags=[tag]).hits] == [gone]
    assert [item["id"] for item in h.memories(tag=tag)] == [gone]
    assert h.forget(tags=[tag])["ids"] == [gone]
    assert [item["id"] for item in h.memories()] == [keep]


@pytest.mark.parametrize("top_k", [0, -1, 51, 5000, True, "5", 2.5])
def test_e49_a_limit_out_of_bounds_is_refused_by_name(top_k: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(Recall, {"user_id": "u", "query": "x", "top_k": top_k})
    assert refused.value.errors[0].field == "top_k"


def test_e51_an_unknown_filter_is_refused_and_context_passes_its_filters_on(h: House) -> None:
    with pytest.raises(InvalidInput, match="min_confidence"):
        read(Recall, {"user_id": "u", "query": "x", "min_confidence": 0.5})
    h.write("Pump one leaks", tags=["a"], admission="force")
    h.write("Pump two leaks", tags=["b"], admission="force")
    block = h.context("pump leaks", tags=["a"])
    assert "one" in block
    assert "two" not in block


def test_e53_a_tag_filter_reaches_an_old_memory_behind_newer_ones(h: House) -> None:
    old = h.write("Pump report zero", tags=["old"], admission="force")["id"]
    for start in (0, 100):
        h.batch(
            [
                {"user_id": "u", "content": f"Pump report {start + n}", "admission": "force"}
                for n in range(1, 101)
            ],
            wait=False,
        )
    h.drain()
    assert [hit.id for hit in h.recall("pump report", tags=["old"], top_k=1).hits] == [old]
    assert [item["id"] for item in h.memories(tag="old")] == [old]
    for bad in (float("nan"), float("inf")):
        with pytest.raises(InvalidInput):
            read(Recall, {"user_id": "u", "query": "x", "min_importance": bad})


def test_e55_pages_reach_everything_once(h: House) -> None:
    for start in range(0, 500, 100):
        h.batch(
            [
                {"user_id": "u", "content": f"Note {start + n}", "tags": ["t"], "admission": "verbatim"}
                for n in range(100)
            ],
            wait=False,
        )
    seen: list[str] = []
    cursor = None
    while True:
        page = h.app.reader.memories(
            h.principal, read(ListMemories, {"user_id": "u", "tag": "t", "limit": 70, "cursor": cursor})
        )
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 500


def test_e57_zero_is_a_value(h: House) -> None:
    one = h.write("I like tea", confidence=0.0, importance=0.0, metadata={"nested": {"confidence": 0.0}})[
        "memory"
    ]
    assert (one["confidence"], one["importance"], one["metadata"]) == (
        0.0,
        0.0,
        {"nested": {"confidence": 0.0}},
    )


# --- F


@pytest.mark.parametrize("emoji", ["🥨", "👩‍👩‍👧‍👦", "e\u0301", "🇧🇪"])
def test_f59_a_summary_is_cut_between_characters(h: House, emoji: str) -> None:
    for padding in range(44, 54):
        summary = h.write("x" * padding + emoji * 3, admission="force", user=f"u{padding}")["memory"][
            "summary"
        ]
        assert len(summary) <= 50
        summary.encode()
        assert "\ufffd" not in summary


def test_f61_a_fact_at_the_end_of_a_long_text_is_found_by_its_meaning(h: House) -> None:
    long = h.write("Nothing of note happened that day. " * 500 + "密码本藏在锅炉后面。", admission="force")
    h.write("锅炉坏了", admission="force", user="v")
    assert h.recall("密码本藏在锅炉后面").hits[0].id == long["id"]


@pytest.mark.parametrize("content", ["", " \n\t", "\u200b\u200d\ufeff", "\u3000", "\u0301"])
def test_f63_h7_blank_content_is_refused(content: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(WriteMemory, {"user_id": "u", "content": content})
    assert (refused.value.errors[0].field, refused.value.errors[0].rule) == ("content", "not_blank")


# --- H


@pytest.mark.parametrize(
    ("old", "new"),
    [("I am allergic to peanuts", "I am not allergic to peanuts"), ("我对花生过敏", "我对花生不过敏")],
)
def test_h1_a_negation_is_kept_as_a_conflict(h: House, old: str, new: str) -> None:
    h.write(old)
    second = h.write(new)
    assert second["verdict"] == "admit"
    assert [item["type"] for item in second["conflicts"]] == ["negation"]


def test_h2_two_unrelated_chinese_sentences_are_two_memories(h: House) -> None:
    h.write("我对花生过敏")
    second = h.write("我下周三去北京出差")
    assert (second["verdict"], second["conflicts"]) == ("admit", [])


def test_h3_the_same_text_in_two_partitions_is_stored_and_found_in_each(h: House) -> None:
    for user, namespace in (("a", "one"), ("b", "one"), ("a", "two")):
        h.write("I like tea", user=user, namespace=namespace)
        assert h.contents("tea", user=user, namespace=namespace) == ["I like tea"]


def test_h4_foreign_rows_never_take_the_places_of_ones_own(h: House) -> None:
    for start in range(0, 600, 100):
        h.batch(
            [
                {"user_id": "other", "content": f"tea tea tea {start + n}", "admission": "verbatim"}
                for n in range(100)
            ]
        )
    h.batch(
        [{"user_id": "u", "content": f"a cup of tea number {n}", "admission": "verbatim"} for n in range(20)]
    )
    hits = h.recall("tea", top_k=10).hits
    assert {hit.user_id for hit in hits} == {"u"}
    assert len(hits) == 10
    assert all("raw_keyword" in hit.parts for hit in hits)


class NoModel(HashingEmbedder):
    def embed_queries(self, texts: Any) -> Any:
        raise Unavailable("no model is installed")

    embed_passages = embed_queries


def test_h6_without_a_model_every_answer_says_so_and_nothing_is_hashed_in_silence(tmp_path: Path) -> None:
    with house(tmp_path, embedder=NoModel(), wait_seconds=0.05) as h:
        answer = h.write("I like tea")
        assert answer["memory"]["enrichment"] == "pending"
        recalled = h.recall("tea")
        assert "vector" in recalled.degraded
        assert recalled.hits[0].content == "I like tea"
        assert "raw_vector" not in recalled.hits[0].parts


def test_h8_a_second_process_opens_the_folder_and_sees_the_writes_of_the_first(tmp_path: Path) -> None:
    with house(tmp_path) as first, house(tmp_path) as second:
        first.write("I like tea")
        assert second.contents("tea") == ["I like tea"]


def test_h10_high_cosines_link_nothing(tmp_path: Path) -> None:
    class Flat(HashingEmbedder):
        def _embed(self, texts: Any) -> Any:
            import numpy as np

            vectors = super()._embed(texts) * 0.1
            vectors[:, 0] += 1.0
            return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("float32")

    with house(tmp_path, embedder=Flat()) as h:
        h.write("My locker is number 12", admission="force")
        second = h.write("The pump stands in hall 3", admission="force")
        assert (second["verdict"], second["conflicts"]) == ("admit", [])
        assert h.recall("pump hall").hits[0].id == second["id"]


def test_h12_a_failed_enrichment_is_reported_as_failed(tmp_path: Path) -> None:
    class Broken(HashingEmbedder):
        def embed_passages(self, texts: Any) -> Any:
            raise ValueError("broken")

    with house(tmp_path, embedder=Broken()) as h:
        answer = h.write("I like tea")
        assert answer["memory"]["enrichment"] == "failed"
        assert "enrichment_failed" in answer["reasons"]
        assert h.app.reader.write(h.principal, answer["token"])["state"] == "failed"


# --- more of the same kinds


@pytest.mark.parametrize("value", ["0.5", float("nan"), float("inf"), True, -0.1, 1.1])
def test_a_number_is_a_finite_number_within_its_bounds(value: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(WriteMemory, {"user_id": "u", "content": "x", "importance": value})
    assert refused.value.errors[0].field == "importance"


@pytest.mark.parametrize("text", ["a\x00b", "a\ud83d"])
def test_nul_and_lone_surrogates_are_refused_by_name(text: str) -> None:
    for field in ("content", "user_id", "session_id"):
        with pytest.raises(InvalidInput) as refused:
            read(WriteMemory, {"user_id": "u", "content": "x", field: text})
        assert refused.value.errors[0].field == field
        assert refused.value.errors[0].rule in {"no_nul", "no_lone_surrogate"}


def test_the_year_9999_and_the_year_1_are_times_like_others(h: House) -> None:
    h.write("The sun will set", occurred_at="9999-12-31T23:59:59Z", admission="force")
    h.write("The sun has risen", occurred_at="0001-01-01", admission="force")
    assert set(h.contents("sun")) == {"The sun will set", "The sun has risen"}


def test_full_width_letters_and_decomposed_accents_are_found_by_their_plain_forms(h: House) -> None:
    h.write("The code is ＡＢＣ１２３", admission="force")
    h.write("We met at the cafe\u0301", admission="force")
    assert h.recall("ABC123").hits[0].content == "The code is ＡＢＣ１２３"
    assert h.recall("café").hits[0].content == "We met at the café"
    assert h.recall("cafe").hits[0].content == "We met at the café"


@pytest.mark.parametrize("bad", ["../../etc", "nope", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "\x00"])
def test_an_id_that_is_none_is_refused_or_not_found(h: House, bad: str) -> None:
    with pytest.raises((InvalidInput, NotFound)):
        h.get(bad)


def test_clock_and_zone_of_the_machine_play_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    seen = []
    for number, zone in enumerate(("UTC", "Asia/Tokyo", "America/New_York")):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        with house(tmp_path / str(number), clock=FakeClock()) as h:
            one = h.write("I like tea", occurred_at="2026-05-03T23:30:00")["memory"]
            seen.append((one["created_at"][:22], one["valid_from"], h.contents("tea", until="2026-05-03")))
    monkeypatch.undo()
    time.tzset()
    assert seen[0] == seen[1] == seen[2]


def test_every_error_of_ours_can_be_caught_as_one(h: House) -> None:
    with pytest.raises(RearviewError):
        h.get("01ARZ3NDEKTSV4RRFFQ69G5FAV")
