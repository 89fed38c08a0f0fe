"""The tokeniser: what is written and what is asked must meet, in every script, and nothing may break it."""

import sqlite3
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.domain.stopwords import STOP_WORDS
from rearview.domain.tokens import MAX_TOKEN_CHARS, query_terms, tokenise


def hits(query: str, text: str) -> bool:
    return not set(tokenise(query)).isdisjoint(tokenise(text))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("overtime", "The OvertimeService counts hours"),
        ("OvertimeService", "class overtimeservice is slow"),
        ("service overtime", "OvertimeServices"),
        ("user name", "the column user_name"),
        ("username", "the column user_name"),
        ("GH-60021", "order gh60021 was sent"),
        ("60021", "order GH-60021 was sent"),
        ("iphone", "bought an iPhone15"),
        ("http server", "HTTPServer"),
        ("GB/s", "the disk reads 3.5 GB/s"),
        ("3.5", "the disk reads 3.5 GB/s"),
        ("v1.2", "fixed in v1.2"),
        ("1000000", "it cost 1,000,000 in all"),
        ("email", "send an e-mail"),
        ("Caroline", "That is Caroline’s dog"),
        ("cafe", "a Café in town"),
        ("CAFÉ", "a cafe\u0301 in town"),
        ("naive", "NAÏVE Bayes"),
        ("running", "she runs daily"),
        ("C++", "written in c++"),
        ("C#", "written in c# lately"),
        ("AI", "an AI lab"),
        ("Go", "they go by bus"),
        ("ABC123", "ＡＢＣ１２３"),
        ("елка", "Ёлка"),
        ("محمد", "مُحَمَّد"),
        ("शब्द", "एक शब्द है"),
    ],
)
def test_one_thing_is_found_however_it_is_spelt(query: str, text: str) -> None:
    assert hits(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [("35", "version 3.5"), ("12", "v1.2"), ("60021", "600210"), ("cat", "category"), ("北海", "北京上海")],
)
def test_different_things_do_not_meet(query: str, text: str) -> None:
    terms = {term for term in tokenise(query) if len(term) > 1}
    assert terms.isdisjoint(tokenise(text))


@pytest.mark.parametrize("query", ["茶", "喝茶", "绿茶", "我 茶"])
def test_chinese_is_found_by_one_character_and_by_two(query: str) -> None:
    assert hits(query, "他每天下午喝绿茶")


def test_chinese_gives_unigrams_and_bigrams_in_order() -> None:
    assert tokenise("喝绿茶") == ["喝", "喝绿", "绿", "绿茶", "茶"]


def test_bigrams_do_not_cross_punctuation_or_english() -> None:
    assert "天喝" not in tokenise("今天，喝茶")
    assert tokenise("用Python写") == ["用", "python", "写"]


@pytest.mark.parametrize(
    ("query", "text"),
    [("設定", "ユーザー設定です"), ("カフェ", "駅前のｶﾌｪ"), ("한국", "한국어는 좋아"), ("สวัส", "สวัสดีครับ")],
)
def test_japanese_korean_and_thai_are_found_by_part_of_a_run(query: str, text: str) -> None:
    assert set(tokenise(query)) <= set(tokenise(text))


@pytest.mark.parametrize(
    "written",
    [
        "2024-07-09",
        "2024/7/9",
        "2024.07.09",
        "2024-07-09T08:30",
        "2024年7月9日",
        "7月9号",
        "七月九日",
        "July 9",
        "9th of July",
        "Jul 9th",
    ],
)
@pytest.mark.parametrize("asked", ["7月9日", "2024-07-09", "July 9th"])
def test_a_day_is_found_however_it_is_written(asked: str, written: str) -> None:
    assert "7月9日" in tokenise(asked)
    assert "7月9日" in tokenise(f"{written} 去了")


def test_chinese_numerals_beyond_ten_are_read_in_dates() -> None:
    assert "12月21日" in tokenise("十二月二十一日")
    assert "11月" in tokenise("十一月")


def test_a_duration_in_months_is_no_month() -> None:
    assert "3月" not in tokenise("三个月")


def test_stop_words_are_dropped() -> None:
    assert tokenise("What is the name of the dog?") == ["name", "dog"]


def test_a_text_of_stop_words_alone_keeps_them() -> None:
    assert tokenise("The Who") == ["the", "who"]
    assert tokenise("It is what it is.") != []


def test_contractions_are_stop_words_with_either_apostrophe() -> None:
    assert tokenise("I don't like tea") == tokenise("I don’t like tea") == ["like", "tea"]


def test_words_that_only_look_like_contractions_are_kept() -> None:
    assert tokenise("I was ill in the shed") == ["ill", "shed"]
    assert tokenise("I'll go as we'd said he'd") == ["go", "said"]


def test_names_in_capitals_are_kept_where_small_letters_are_stop_words() -> None:
    assert tokenise("moved to the US, tell us about it") == ["move", "us", "tell"]
    assert "it" in tokenise("the IT department")


def test_a_negation_in_chinese_is_kept() -> None:
    assert "不" in tokenise("不吃香菜")


@pytest.mark.parametrize("text", ["", " ", "...!!", "？！。，", "——", "\x00", "\ud800", "\u200b\ufe0f"])
def test_text_without_letters_has_no_terms(text: str) -> None:
    assert tokenise(text) == []


def test_an_emoji_is_a_term_without_its_skin_tone() -> None:
    assert tokenise("👍🏽") == tokenise("👍") == ["👍"]
    assert hits("💻", "👩‍💻 at work")
    assert tokenise("🇫🇷🇯🇵") == ["🇫🇷", "🇯🇵"]


def test_a_long_word_is_cut_but_keeps_one_term() -> None:
    assert tokenise("x" * 500) == ["x" * MAX_TOKEN_CHARS]
    assert len(tokenise("a." * 3000)) == 1


def test_query_terms_are_distinct_in_order_and_bounded() -> None:
    assert query_terms("tea and tea and milk") == ["tea", "milk"]
    assert len(query_terms(" ".join(f"word{n}" for n in range(300)), limit=10)) == 10


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("我最喜欢喝的茶是什么", {"最喜", "喜欢", "欢喝", "茶"}),
        ("北京的房租是多少钱一个月", {"北京", "房租", "钱一", "月"}),
        ("绿茶", {"绿", "绿茶", "茶"}),
        ("茶", {"茶"}),
        ("我是谁", {"我", "是", "谁", "我是", "是谁"}),
        ("用 Docker 部署到杭州机房", {"用", "docker", "部署", "杭州", "州机", "机房"}),
    ],
)
def test_a_chinese_query_keeps_its_telling_terms(query: str, terms: set[str]) -> None:
    assert set(query_terms(query)) == terms


@given(st.text(min_size=1))
def test_a_query_loses_no_term_that_the_text_does_not_have(text: str) -> None:
    assert set(query_terms(text, limit=10_000)) <= set(tokenise(text))
    assert bool(query_terms(text)) == bool(tokenise(text))


def test_stop_words_hold_no_content_words() -> None:
    assert STOP_WORDS.isdisjoint({"name", "work", "like", "may", "new", "first", "never", "always", "home"})


@given(st.text())
def test_every_term_is_whole_to_an_engine_that_splits_at_ascii_punctuation(text: str) -> None:
    for term in tokenise(text):
        assert 0 < len(term) <= MAX_TOKEN_CHARS
        assert all(character.isalnum() for character in term if character.isascii())
        assert not any(character.isspace() for character in term)


@given(st.text())
def test_full_and_half_width_and_composition_make_no_difference(text: str) -> None:
    assert tokenise(unicodedata.normalize("NFD", text)) == tokenise(unicodedata.normalize("NFC", text))


def test_sqlite_finds_a_row_by_each_of_its_terms() -> None:
    terms = tokenise("3.5 GB/s 喝绿茶 👍 Café v1.2 2024-07-09 Ёлка한국")
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5(body, tokenize='ascii')")
        db.execute("INSERT INTO t VALUES (?)", (" ".join(terms),))
        for term in terms:
            found = db.execute("SELECT count(*) FROM t WHERE t MATCH ?", (f'"{term}"',)).fetchone()
            assert found == (1,), term
    db.close()


@pytest.mark.parametrize(
    "text",
    [
        "a" * 65_536,
        "a." * 32_768,
        "'" * 65_536,
        "aB" * 32_768,
        "大" * 21_845,
        "ﷺ" * 21_845,
        "1,1" * 21_845,
        "é-" * 21_845,
        "5月" * 16_000,
        "May 1 " * 10_000,
    ],
)
def test_the_largest_content_takes_no_more_than_a_moment(text: str) -> None:
    begin = time.process_time()
    tokenise(text)
    assert time.process_time() - begin < 3
