"""Cutting long texts for an embedder, and the form in which a memory is embedded and indexed."""

import itertools
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rearview.domain.chunks import chunk, index_terms, index_text, weight
from rearview.domain.tokens import tokenise

DAY = datetime(2024, 7, 9, 8, 30, tzinfo=UTC)


def test_a_short_text_is_one_chunk_unchanged() -> None:
    assert chunk(" Short. \n", max_chars_weight=100) == [" Short. \n"]


def test_a_chinese_character_weighs_more_than_an_english_letter() -> None:
    assert weight("喝茶") == 2
    assert weight("tea!") == pytest.approx(1.2)


@pytest.mark.parametrize(
    ("filler", "fact"),
    [
        ("The meeting went on and nothing was decided. ", "The vault code is 7731."),
        ("会议一直开着，什么也没有定下来。", "保险柜的密码是七七三一。"),
        ("no full stop in this text at all ", "the vault code is 7731"),
        ("没有任何标点的长文本", "密码是七七三一"),
    ],
)
def test_the_fact_in_the_last_sentence_of_64_kb_is_in_one_chunk(filler: str, fact: str) -> None:
    text = filler * (65_000 // len(filler.encode())) + fact
    chunks = chunk(text, max_chars_weight=400)
    assert fact in chunks[-1]
    assert all(weight(piece) <= 400 for piece in chunks)


def test_chunks_end_where_sentences_end() -> None:
    text = "".join(f"这是第{n}句，讲一件小事。" for n in range(60))
    assert all(piece.endswith("。") for piece in chunk(text, max_chars_weight=100))


def test_a_decimal_point_is_no_place_to_cut() -> None:
    text = "The rate rose to 3.5 percent. " * 40
    assert all("3.5" in piece for piece in chunk(text, max_chars_weight=30))


def test_neighbouring_chunks_share_a_sentence() -> None:
    text = " ".join(f"Sentence number {n} tells something." for n in range(40))
    chunks = chunk(text, max_chars_weight=60)
    for left, right in itertools.pairwise(chunks):
        assert right.startswith(left.rsplit(". ", 1)[-1])


@settings(max_examples=60)
@given(st.text(max_size=400), st.integers(8, 60))
def test_nothing_but_blanks_is_lost_and_every_chunk_fits(text: str, budget: int) -> None:
    chunks = chunk(text, max_chars_weight=budget)
    assert chunks
    assert all(weight(piece) <= budget for piece in chunks)
    kept = "".join(chunks)
    assert {c for c in text if not c.isspace()} == {c for c in kept if not c.isspace()}


def test_text_form_names_day_and_speaker_in_the_language_of_the_text() -> None:
    assert index_text("I moved.", occurred_at=DAY, speaker="Ana") == "9 July 2024 Ana: I moved."
    assert index_text("我搬家了。", occurred_at=DAY, speaker="小安") == "2024年7月9日 小安：我搬家了。"
    assert index_text("我搬家了。", occurred_at=DAY, speaker=None) == "2024年7月9日 我搬家了。"


def test_text_form_puts_the_context_first() -> None:
    text = index_text("Blue.", occurred_at=DAY, speaker=None, context="Which colour?")
    assert text == "Which colour?\n9 July 2024 Blue."


@pytest.mark.parametrize("query", ["July 9", "7月9日", "2024-07-09", "in July 2024"])
@pytest.mark.parametrize("content", ["I moved.", "我搬家了。"])
def test_a_memory_is_found_by_its_day(query: str, content: str) -> None:
    terms = index_terms(content, occurred_at=DAY, speaker=None)
    assert not set(tokenise(query)).isdisjoint(terms)


def test_an_answer_is_found_by_the_words_of_the_question_before_it_at_half_weight() -> None:
    terms = index_terms("Blue.", occurred_at=DAY, speaker="Ana", context=["Which colour?", "Hello Bo!"])
    assert terms.count("blue") == 2
    assert terms.count("colour") == terms.count("bo") == 1


def test_only_the_two_nearest_memories_are_context_and_a_long_one_is_bounded() -> None:
    context = ["near", "far " * 10_000, "toofar"]
    terms = index_terms("Blue.", occurred_at=DAY, speaker=None, context=context)
    assert "near" in terms
    assert "toofar" not in terms
    assert len(terms) < 200
