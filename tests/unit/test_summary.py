"""One-line and session summaries, and cuts that part no character."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rearview.domain.graphemes import boundary
from rearview.domain.summary import cut, summarise, summarise_session


def test_a_text_that_fits_is_its_own_summary() -> None:
    assert summarise("  likes\n oolong tea ") == "likes oolong tea"
    assert summarise("喜欢乌龙茶") == "喜欢乌龙茶"


def test_the_sentence_that_says_most_is_chosen() -> None:
    english = "Hey, how are you? Well, listen. Our Turin office closes on 30 June 2027. Anyway, talk soon my friend."
    assert summarise(english) == "Our Turin office closes on 30 June 2027."
    chinese = "你好呀，最近怎么样？今天想跟你聊一聊。都灵办公室2027年6月30日关闭，合同号TR-881。那就先这样吧，回头再说，好不好呀？"
    assert summarise(chinese) == "都灵办公室2027年6月30日关闭，合同号TR-881。"


def test_a_long_sentence_is_cut_at_a_word_inside_the_limit() -> None:
    found = summarise("The quarterly infrastructure review concluded that the Frankfurt cluster is oversized")
    assert len(found) <= 50
    assert found.endswith("…")
    assert (
        found[:-1] in "The quarterly infrastructure review concluded that the Frankfurt cluster is oversized"
    )
    assert not found[-2].isspace()


@pytest.mark.parametrize(
    "unit",
    ["👨‍👩‍👧‍👦", "🇨🇳", "e\u0301", "👍🏽", "1\ufe0f\u20e3", "\u1112\u1161\u11ab", "का", "☀\ufe0f", "\r\n"],
)
def test_no_character_is_parted(unit: str) -> None:
    text = unit * 60
    for limit in range(2, 40):
        kept = cut(text, limit).removesuffix("…")
        assert len(kept) < limit
        assert kept.rstrip() == (unit * (len(kept) // len(unit))).rstrip()


def test_a_boundary_between_plain_letters_is_left_where_it_is() -> None:
    assert [boundary("abc", at) for at in range(5)] == [0, 1, 2, 3, 3]
    assert boundary("a你b", 2) == 2


@settings(deadline=None)
@given(st.text(), st.integers(min_value=1, max_value=60))
def test_a_summary_never_exceeds_its_limit(text: str, limit: int) -> None:
    found = summarise(text, limit=limit)
    assert len(found) <= limit
    assert "\n" not in found
    assert bool(found) == bool(text.strip())


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="limit"):
        summarise("text", limit=limit)
    with pytest.raises(ValueError, match="limit"):
        cut("text", limit)


def test_a_session_summary_keeps_to_its_share_and_order() -> None:
    turns = [
        "Hi there!",
        "We are migrating the billing database from MySQL to Postgres 17 this quarter.",
        "Sounds good.",
        "The billing migration needs a read-only window of four hours on the night of 12 June.",
        "Ok.",
        "Rollback of the billing database is possible until the morning of 13 June.",
    ] + [f"Small remark number {n} about nothing in particular, you know how it is." for n in range(20)]
    found = summarise_session(turns)
    assert len(found) <= max(80, sum(map(len, turns)) // 10)
    assert "billing" in found
    places = ["\n".join(turns).index(line) for line in found.splitlines()]
    assert places == sorted(places)


def test_a_chinese_session_is_summarised_alike() -> None:
    turns = [
        "你好",
        "支付系统这个季度要从 MySQL 迁到 Postgres 17。",
        "好的",
        "支付系统迁移需要在6月12日夜里停写四小时。",
    ] + ["嗯嗯，好的，没问题。"] * 60
    found = summarise_session(turns)
    assert "支付系统" in found
    assert len(found) <= 80


def test_a_short_session_may_be_told_whole() -> None:
    assert summarise_session(["I live in Turin.", "我住在都灵。"]) == "I live in Turin.\n我住在都灵。"
    assert summarise_session([]) == ""
    assert summarise_session(["  ", "\n"]) == ""


@settings(deadline=None)
@given(st.lists(st.text(max_size=120), max_size=8), st.sampled_from([0.05, 0.1, 0.5, 1.0]))
def test_a_session_summary_is_never_longer_than_allowed(turns: list[str], share: float) -> None:
    total = sum(map(len, turns))
    assert len(summarise_session(turns, share=share)) <= max(80, int(total * share))


@pytest.mark.parametrize("share", [0, -0.1, 1.5, float("nan")])
def test_a_share_outside_its_range_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        summarise_session(["text"], share=share)


@pytest.mark.parametrize("unit", ["迁移方案定了。Postgres is faster. ", "x", "🇨🇳", "a\u0301", "word "])
def test_long_texts_are_summarised_quickly(unit: str) -> None:
    text = (unit * 65536)[:60000]
    began = time.process_time()
    summarise(text)
    summarise_session([text] * 3)
    assert time.process_time() - began < 5
