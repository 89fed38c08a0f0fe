"""Dates in Chinese and English text, read on the speaker's wall clock."""

from datetime import UTC, datetime, timedelta
from datetime import timezone as fixed
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rearview.domain.dates import DateMention, find_dates
from rearview.domain.language import cjk_share, language_of, sentences

SHANGHAI = ZoneInfo("Asia/Shanghai")
# A Wednesday.
NOW = datetime(2026, 5, 13, 10, 0, tzinfo=SHANGHAI)


def read(text: str, *, now: datetime = NOW, zone: ZoneInfo = SHANGHAI) -> list[DateMention]:
    return find_dates(text, now=now, timezone=zone)


def wall(moment: datetime) -> str:
    return moment.astimezone(SHANGHAI).strftime("%Y-%m-%d %H:%M")


DAYS = [
    ("see you next Friday", "2026-05-22"),
    ("see you this Friday", "2026-05-15"),
    ("see you on Friday", "2026-05-15"),
    ("we met on Friday", "2026-05-08"),
    ("it broke last Wednesday", "2026-05-06"),
    ("in three days", "2026-05-16"),
    ("two weeks ago", "2026-04-29"),
    ("a couple of days ago", "2026-05-11"),
    ("the day after tomorrow", "2026-05-15"),
    ("3 May 2026", "2026-05-03"),
    ("May 3rd, 2026", "2026-05-03"),
    ("on the 3rd of May", "2026-05-03"),
    ("2026-05-03", "2026-05-03"),
    ("30/9/2026", "2026-09-30"),
    ("back on the 28th.", "2026-05-28"),
    ("due at the end of the month", "2026-05-31"),
    ("下周三开会", "2026-05-20"),
    ("这周五", "2026-05-15"),
    ("周一去", "2026-05-18"),
    ("周一去了", "2026-05-11"),
    ("上上周五", "2026-05-01"),
    ("三天后", "2026-05-16"),
    ("两周前", "2026-04-29"),
    ("大后天", "2026-05-16"),
    ("本月底交", "2026-05-31"),
    ("年底前", "2026-12-31"),
    ("5月3日", "2026-05-03"),
    ("五月三号", "2026-05-03"),
    ("二〇二六年五月三日", "2026-05-03"),
    ("２０２６年５月３日", "2026-05-03"),
    ("明年2月28", "2027-02-28"),
    ("下个月1号", "2026-06-01"),
    ("28号入职", "2026-05-28"),
]


@pytest.mark.parametrize(("text", "day"), DAYS)
def test_a_day_is_read_from_the_moment_of_speech(text: str, day: str) -> None:
    [found] = read(text)
    assert (wall(found.start), found.grain) == (f"{day} 00:00", "day")
    assert found.end - found.start == timedelta(days=1)
    assert text[slice(*found.span)] == found.text


STRETCHES = [
    ("last week", "2026-05-04", "2026-05-11", "week"),
    ("下下周", "2026-05-25", "2026-06-01", "week"),
    ("last month", "2026-04-01", "2026-05-01", "month"),
    ("上个月", "2026-04-01", "2026-05-01", "month"),
    ("in March 2024", "2024-03-01", "2024-04-01", "month"),
    ("last spring", "2025-03-01", "2025-06-01", "month"),
    ("去年春天", "2025-03-01", "2025-06-01", "month"),
    ("last year", "2025-01-01", "2026-01-01", "year"),
    ("去年", "2025-01-01", "2026-01-01", "year"),
    ("since 2019", "2019-01-01", "2020-01-01", "year"),
    ("this weekend", "2026-05-16", "2026-05-18", "day"),
    ("这个周末", "2026-05-16", "2026-05-18", "day"),
    ("mid-July", "2026-07-11", "2026-07-21", "day"),
    ("7月中旬", "2026-07-11", "2026-07-21", "day"),
    ("3–14 March", "2026-03-03", "2026-03-15", "day"),
    ("3月3号到14号", "2026-03-03", "2026-03-15", "day"),
    ("明年上半年", "2027-01-01", "2027-07-01", "month"),
]


@pytest.mark.parametrize(("text", "start", "end", "grain"), STRETCHES)
def test_a_stretch_has_its_own_grain(text: str, start: str, end: str, grain: str) -> None:
    [found] = read(text)
    assert (wall(found.start), wall(found.end), found.grain) == (f"{start} 00:00", f"{end} 00:00", grain)


TIMES = [
    ("until 5 pm", "2026-05-13 17:00", "hour"),
    ("5:30pm tomorrow", "2026-05-14 17:30", "minute"),
    ("Friday at noon", "2026-05-15 12:00", "hour"),
    ("on 2026-05-03 at 14:30", "2026-05-03 14:30", "minute"),
    ("in half an hour", "2026-05-13 10:30", "minute"),
    ("明天下午三点", "2026-05-14 15:00", "hour"),
    ("明早8点", "2026-05-14 08:00", "hour"),
    ("前天晚上八点半", "2026-05-11 20:30", "minute"),
    ("6月13号晚上12点", "2026-06-14 00:00", "hour"),
    ("下午3:30", "2026-05-13 15:30", "minute"),
    ("半小时后", "2026-05-13 10:30", "minute"),
]


@pytest.mark.parametrize(("text", "start", "grain"), TIMES)
def test_a_time_of_day_joins_the_day_beside_it(text: str, start: str, grain: str) -> None:
    [found] = read(text)
    assert (wall(found.start), found.grain) == (start, grain)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("next Monday to Friday", ["2026-05-18", "2026-05-22"]), ("下周一至周五", ["2026-05-18", "2026-05-22"]),
        ("last Monday through Wednesday", ["2026-05-11", "2026-05-13"]), ("上周一到周三", ["2026-05-04", "2026-05-06"]),
        ("Friday until Tuesday", ["2026-05-15", "2026-05-19"]), ("周五到周二", ["2026-05-15", "2026-05-19"]),
        ("next Friday - 9999-12-30 - Monday", ["2026-05-22", "9999-12-30", "2026-05-18"]),
    ],
)  # fmt: skip
def test_a_stretch_of_weekdays_lies_within_seven_days(text: str, days: list[str]) -> None:
    assert [wall(mention.start)[:10] for mention in read(text)] == days


def test_a_range_of_hours_is_one_mention() -> None:
    for text in ("8 August 15:00–16:30", "8月8日 15:00到16:30"):
        [found] = read(text)
        assert (wall(found.start), wall(found.end)) == ("2026-08-08 15:00", "2026-08-08 16:30")


@pytest.mark.parametrize(
    "text",
    [
        "May I come in?", "March on!", "第三点建议", "有三点要说", "3号楼5号线", "农历八月十五", "version 2.5.1",
        "20多岁", "every Friday", "每周三", "15:04:05", "a second opinion", "31 of us", "10.0.0.1", "",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_date_is_left_alone(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "9999年12月31日",
        "December 31, 9999",
        "9999-12-31",
        "in 9999 years",
        "9999年后",
        "2026-13-45",
        "25点61分",
    ],
)
def test_dates_that_no_calendar_holds_are_not_raised(text: str) -> None:
    for now in (NOW, datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)):
        for zone in (SHANGHAI, fixed(timedelta(hours=-14)), fixed(timedelta(hours=14))):
            assert isinstance(find_dates(text, now=now, timezone=zone), list)


def test_the_same_words_are_another_day_in_another_zone() -> None:
    late = datetime(2026, 5, 13, 23, 30, tzinfo=UTC)
    [in_utc] = find_dates("tomorrow", now=late, timezone=UTC)
    [in_shanghai] = find_dates("明天", now=late, timezone=SHANGHAI)
    assert in_utc.start == datetime(2026, 5, 14, tzinfo=UTC)
    assert in_shanghai.start == datetime(2026, 5, 14, 16, tzinfo=UTC)


def test_an_offset_in_the_text_wins_over_the_zone() -> None:
    [found] = read("2026-05-03T10:00:00-05:00")
    assert found.start == datetime(2026, 5, 3, 15, tzinfo=UTC)


def test_a_day_of_clock_change_is_as_long_as_it_is() -> None:
    new_york = ZoneInfo("America/New_York")
    [found] = find_dates("2026-03-08", now=NOW, timezone=new_york)
    assert found.end - found.start == timedelta(hours=23)


def test_several_mentions_come_in_order_without_overlap() -> None:
    found = read("从2024年3月住到去年，next Friday 搬走，明天下午三点签字")
    assert [mention.text for mention in found] == ["2024年3月", "去年", "next Friday", "明天下午三点"]


@settings(deadline=None)
@given(
    st.text(
        alphabet=st.sampled_from("0123456789年月日号点半个周下上明后天前去今三五十 -/:.aApPmMTZ,inextfriday")
    )
)
def test_no_text_breaks_the_reader(text: str) -> None:
    for found in read(text):
        assert found.start <= found.end
        assert text[slice(*found.span)] == found.text


@settings(deadline=None)
@given(st.text())
def test_sentences_lose_nothing_but_blanks(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
    assert all(sentence.strip() for sentence in sentences(text))


def test_numbers_abbreviations_and_addresses_do_not_end_a_sentence() -> None:
    text = "We run v1.2 at 3.5%, e.g. in prod. See https://a.example/b?c=1. Dr. Li says 5 p.m. is fine."
    assert sentences(text) == [
        "We run v1.2 at 3.5%, e.g. in prod.", "See https://a.example/b?c=1.", "Dr. Li says 5 p.m. is fine.",
    ]  # fmt: skip


def test_chinese_sentences_end_with_their_quotes() -> None:
    assert sentences("他说“好。”然后走了。真的吗？！是的…嗯") == [
        "他说“好。”",
        "然后走了。",
        "真的吗？！",
        "是的…",
        "嗯",
    ]


def test_language_counts_words_not_letters() -> None:
    assert language_of("这个 repo 的默认分支是 main") == "zh"
    assert language_of("My friend 张伟 lives in Berlin now") == "en"
    assert language_of("12345 !?") == "en"
    assert cjk_share("ab你好") == 0.5
    assert cjk_share("123") == 0
