"""Faults that users reported against other memory services, each with the outcome that ours must show:
F content, H met when running other services, and more of these kinds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rearview.adapters.models.hashing import HashingEmbedder
from rearview.errors import InvalidInput, NotFound, RearviewError, Unavailable
from rearview.usecases.commands import WriteMemory
from rearview.usecases.fields import read
from tests.house import FakeClock, House, house


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


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
    for start in range(0, 500, 100):
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
