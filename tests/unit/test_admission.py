"""The three sieves of the write gate, in Chinese and English."""

import time
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rearview
from rearview.domain.admission import Verdict, compile_admission, estimate, judge

RULES = compile_admission(
    tomllib.loads((Path(rearview.__file__).parent / "rules" / "admission.toml").read_text("utf-8"))
)
NOW = datetime(2026, 5, 13, 10, 0, tzinfo=UTC)


def verdict(text: str, *, origin: str = "user", kind: str | None = None, said_at: datetime = NOW) -> Verdict:
    return judge(text, origin=origin, kind=kind, said_at=said_at, now=NOW, timezone=UTC, rules=RULES)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Good morning!", "greeting"), ("早上好呀", "greeting"), ("你好，在吗？", "greeting"),
        ("Okay, got it.", "acknowledgement"), ("嗯嗯好的", "acknowledgement"), ("明白了，没问题", "acknowledgement"),
        ("Thanks so much for the explanation!", "thanks"), ("太感谢你的耐心讲解了", "thanks"),
        ("See you later, have a lovely weekend", "farewell"), ("拜拜，祝您周末愉快", "farewell"),
        ("Wow, that's really impressive", "appreciation"), ("哇，真不错！", "appreciation"),
        ("I don't know", "hedge"), ("不知道呢", "hedge"),
        ("Be honest with him", "low_information"), ("Keep it in the shed", "low_information"),
        ("What time does the shop open?", "question"), ("附近有什么好吃的吗", "question"),
        ("I'm so tired and sad today", "mood_only"), ("今天好开心啊", "mood_only"),
        ("um, well, so", "acknowledgement"), ("👍👍🎉", "low_information"), ("……", "low_information"),
    ],
)  # fmt: skip
def test_empty_talk_is_dropped_with_its_reason(text: str, reason: str) -> None:
    found = verdict(text)
    assert (found.verdict, reason in found.reasons) == ("drop", True), found
    assert found.importance < 0.3
    assert found.expires_at is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I can't stand cilantro", "preference"), ("我受不了香菜", "preference"),
        ("Always answer me in German", "instruction"), ("以后都用繁体字回复我", "instruction"),
        ("Be brief.", "instruction"), ("说重点", "instruction"),
        ("Keep it short please", "instruction"), ("简短一点", "instruction"),
        ("No emojis please", "instruction"), ("回答要详细", "instruction"),
        ("Speak Dutch with me", "instruction"), ("跟我说荷兰语", "instruction"),
        ("We decided to move the backend to Rust", "conclusion"), ("我们决定把后端迁到 Rust", "conclusion"),
        ("No, it's 14 Elm Street, not 40", "correction"), ("不对，门牌是十四号，不是四十号", "correction"),
        ("My dentist appointment is on 3 June", "event"), ("我6月3日要做体检", "event"),
        ("I am allergic to penicillin", "fact"), ("我对青霉素过敏", "fact"),
        ("My locker code is 4471", "fact"), ("我住在厦门", "fact"), ("我叫阿岚", "fact"),
    ],
)  # fmt: skip
def test_facts_are_admitted_with_their_kind(text: str, kind: str) -> None:
    found = verdict(text)
    assert (found.verdict, found.kind) == ("admit", kind), found
    assert 0.6 <= found.importance <= 0.95


@pytest.mark.parametrize(
    "text", ["请帮我记住：我对芒果过敏", "Please remember that my sister is vegan", "别忘了我住三楼"]
)
def test_an_explicit_wish_to_remember_is_kept(text: str) -> None:
    assert verdict(text).verdict == "admit"


@pytest.mark.parametrize("text", ["谢谢，我的新地址是和平路9号", "Thanks! My new address is 9 Peace Road"])
def test_a_fact_beside_thanks_is_kept(text: str) -> None:
    assert verdict(text).verdict == "admit"


@pytest.mark.parametrize("text", ["dark theme", "部署在东京区域", "Живу в Казани", "東京に住んでいます"])
def test_what_the_sieves_are_unsure_of_is_tentative(text: str) -> None:
    found = verdict(text)
    assert found.verdict == "tentative"
    assert 0.3 <= found.importance < 0.6


def test_a_what_if_is_no_fact() -> None:
    assert verdict("If I ever win, I'd buy a castle").verdict == "tentative"
    assert verdict("假如我有一百万就环游世界").verdict == "tentative"


def test_a_question_that_tells_something_vital_is_not_dropped() -> None:
    assert verdict("My daughter is allergic to nuts, can she eat this?").verdict == "admit"
    assert verdict("我对花粉过敏，这个季节能去公园吗？").verdict == "admit"


@pytest.mark.parametrize(
    "text",
    ["The build is red right now", "I'm on the train", "现在测试环境挂了", "我正在开会", "It's raining"],
)
def test_a_passing_state_gets_a_shelf_life(text: str) -> None:
    found = verdict(text)
    assert found.verdict != "drop"
    assert "ephemeral" in found.reasons
    assert found.expires_at is not None
    assert NOW < found.expires_at <= NOW + timedelta(days=2)
    assert found.valid_to is None


@pytest.mark.parametrize(
    "text", ["I currently live in Oslo", "我现在住在成都", "I prefer the train right now and always did"]
)
def test_a_lasting_fact_gets_no_shelf_life(text: str) -> None:
    assert verdict(text).expires_at is None


@pytest.mark.parametrize("text", ["Meeting room B is booked until 5pm", "会议室B占用到下午五点"])
def test_a_near_bound_is_an_expiry_in_the_users_zone(text: str) -> None:
    madrid = ZoneInfo("Europe/Madrid")
    found = judge(text, origin="user", kind=None, said_at=NOW, now=NOW, timezone=madrid, rules=RULES)
    assert found.expires_at == found.valid_to == datetime(2026, 5, 13, 15, 0, tzinfo=UTC)
    assert "bounded" in found.reasons


@pytest.mark.parametrize("text", ["My visa is valid until 1 March 2027", "我的签证有效期到2027年3月1日"])
def test_a_far_bound_ends_the_truth_only(text: str) -> None:
    found = verdict(text)
    assert (found.verdict, found.valid_to, found.expires_at) == (
        "admit",
        datetime(2027, 3, 2, tzinfo=UTC),
        None,
    )


@pytest.mark.parametrize("text", ["The voucher was valid until 3 May 2020", "这张券2020年5月3日到期"])
def test_a_past_bound_neither_drops_nor_expires(text: str) -> None:
    found = verdict(text)
    assert (found.verdict, found.valid_to, found.expires_at) == (
        "admit",
        datetime(2020, 5, 4, tzinfo=UTC),
        None,
    )


@pytest.mark.parametrize(
    "text",
    [
        "I work Monday through Friday.", "我周一到周五上班", "My desk is staffed Tue thru Thu", "我每周二到周四去健身房",
        "I'm usually at work until 6pm.", "我平时工作到晚上九点", "The pool is open from 6am until 10pm every day.",
        "店里每天开到晚上十点", "My kids are at school until 3pm on weekdays.", "我每天晚上11点到早上7点睡觉",
        "Our opening hours are 9am till 5pm.", "商场营业到晚上九点",
    ],
)  # fmt: skip
def test_a_timetable_neither_ends_nor_expires(text: str) -> None:
    found = verdict(text)
    assert (found.valid_to, found.expires_at) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        "I'm in Berlin this Monday through Thursday.", "我这周一到周四在东京", "The shop is open until 6pm today.",
        "今天商场营业到晚上九点", "My office hours: every day until tomorrow", "I'm away until Thursday", "我请假到周四",
    ],
)  # fmt: skip
def test_a_timetable_that_says_which_day_is_meant_is_a_bound(text: str) -> None:
    assert verdict(text).expires_at is not None


@pytest.mark.parametrize("text", ["I'm in Rome next Monday through Friday.", "下周一到周五我在罗马"])
def test_the_last_day_of_a_stretch_of_weekdays_comes_after_its_first(text: str) -> None:
    assert (verdict(text).valid_to, verdict(text).expires_at) == (datetime(2026, 5, 23, tzinfo=UTC), None)


def test_a_bound_is_read_from_the_moment_it_was_said() -> None:
    found = verdict("The hall is closed until tomorrow", said_at=NOW - timedelta(days=365))
    assert found.valid_to == datetime(2025, 5, 15, tzinfo=UTC)
    assert found.expires_at is None


def test_a_moved_date_is_no_bound() -> None:
    assert verdict("会议推迟到下周五").valid_to is None


def test_a_given_kind_stays() -> None:
    assert verdict("We went for Postgres", kind="event").kind == "event"


def test_offers_are_phatic_only_from_an_agent() -> None:
    text = "Let me know when the release of v2 is out"
    assert verdict(text, origin="agent").verdict == "drop"
    assert verdict(text).verdict == "admit"


def test_what_an_agent_says_is_less_certain_than_what_the_user_says() -> None:
    text = "The gateway certificate expires in June"
    assert verdict(text, origin="agent").confidence < verdict(text).confidence
    assert verdict("Maybe " + text).confidence < verdict(text).confidence


def test_an_estimate_admits_whatever_the_sieves_say() -> None:
    found = estimate("ok", origin="user", kind=None, said_at=NOW, now=NOW, timezone=UTC, rules=RULES)
    assert (found.verdict, found.reasons) == ("admit", ("forced",))
    assert found.importance >= 0.3


def test_full_width_and_split_clitics_read_like_plain_text() -> None:
    assert verdict("ＯＫ，ｔｈａｎｋｓ！").verdict == "drop"
    assert verdict("You 're welcome .").verdict == "drop"


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_unicode_gets_a_verdict(text: str) -> None:
    found = verdict(text)
    assert found.reasons
    assert 0 <= found.importance <= 1
    assert 0 <= found.confidence <= 1
    assert (found.importance < 0.3) == (found.verdict == "drop")


@pytest.mark.parametrize(
    "unit",
    [
        "真",
        "a ",
        "谢谢，",
        "1-",
        ".",
        "?",
        "that is so ",
        "三点",
        "until 5 ",
        "e\u0301",
        "👨‍👩‍👧",
        "is it ",
        "不是我，",
    ],
)
def test_the_largest_text_is_judged_in_linear_time(unit: str) -> None:
    text = (unit * 65536)[: 65536 // max(1, len(unit.encode()) // len(unit))]
    began = time.process_time()
    verdict(text)
    assert time.process_time() - began < 5


def test_a_broken_rule_names_its_pattern() -> None:
    raw = tomllib.loads((Path(rearview.__file__).parent / "rules" / "admission.toml").read_text("utf-8"))
    raw["words"]["mood"]["en"] = ["(unclosed"]
    with pytest.raises(ValueError, match="unclosed"):
        compile_admission(raw)
    raw["words"]["mood"]["en"] = "no list"
    with pytest.raises(ValueError, match="list of strings"):
        compile_admission(raw)
