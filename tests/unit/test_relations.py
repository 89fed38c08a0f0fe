"""How two statements relate: duplicates, parts, contradictions, and the look-alikes that are none of them."""

import time

import pytest
from tests.unit.test_claims import rules

from rearview.domain.relations import Judgement, question_for, relate


def judge(old: str, new: str) -> Judgement:
    return relate(old, new, rules=rules())


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("I live in Ghent", "I moved to Antwerp last month", "value"),
        ("我住在厦门", "我搬到珠海了", "value"),
        ("My phone number is 07700 900111", "My phone number is 07700 900222", "value"),
        ("The deadline is October 15th", "The deadline is October 16th", "time"),
        ("截止日期是3月2日", "截止日期改到3月9日", "time"),
        ("K is assigned to project one", "K is now assigned to project two", "value"),
        ("My favourite colour is teal", "User's favourite colour is beige", "value"),
        ("User prefers tea", "User prefers coffee", "value"),
        ("User prefers tabs over spaces", "User prefers spaces over tabs", "value"),
        ("Cache expiry is 10 seconds", "Cache expiry is 10 minutes", "value"),
        ("I go rowing three times a week", "I go rowing twice a week", "value"),
        ("I am allergic to peanuts", "I am not allergic to peanuts", "negation"),
        ("我对花生过敏", "我对花生不过敏", "negation"),
        ("I love oysters", "I can't stand oysters", "negation"),
        ("我喜欢爬山", "我讨厌爬山", "negation"),
        ("I like coriander", "I don't like coriander", "negation"),
        ("我喜欢香菜", "我不喜欢香菜", "negation"),
        ("Sort my orders by date", "From now on, sort my orders by amount", "value"),
        ("订单按日期排序", "以后订单都按金额排序", "value"),
        ("我不抽烟", "我抽烟", "negation"),
        ("The nightly export is enabled", "The nightly export is disabled", "negation"),
        ("User is married.", "I'm divorced", "value"),
        ("用户已婚", "用户单身", "value"),
        ("界面用深色模式", "界面改成浅色模式", "value"),
        ("Our team uses Trello", "We switched from Trello to Asana", "value"),
        ("消息队列用RabbitMQ", "消息队列从RabbitMQ换成Kafka了", "value"),
        ("I take the bus from Ghent to Bruges", "I take the bus from Bruges to Ghent", "value"),
        ("用户今年34岁", "User is 43 years old", "value"),
        ("Reply in English please", "Please reply in Chinese from now on", "value"),
    ],
)
def test_what_cannot_both_hold_is_a_contradiction(old: str, new: str, kind: str) -> None:
    judgement = judge(old, new)
    assert (judgement.relation, judgement.type) == ("contradiction", kind)
    assert judgement.subject
    assert judgement.slot
    assert judgement.reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Ghent", "User lives in Ghent."),
        ("I'm a nurse", "User works as a nurse."),
        ("Session expires after 120 seconds", "Session timeout: 2 minutes"),
        ("我不喜歡苦瓜", "用户讨厌苦瓜"),
        ("我喜欢喝绿茶", "User likes green tea"),
        ("I am allergic to kiwis and plums", "I'm allergic to plums and kiwis"),
        ("I do not like brass bands", "I dislike brass bands"),
        ("会议在11月7号", "会议在１１月７日"),
        ("The alert was silenced by the on-call engineer", "The on-call engineer silenced the alert"),
        ("I'm thirty-one", "User is 31 years old."),
    ],
)
def test_the_same_said_otherwise_is_a_duplicate_both_ways(old: str, new: str) -> None:
    assert judge(old, new).relation == "duplicate"
    assert judge(new, old).relation == "duplicate"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # another subject
        ("I live in Ghent", "My brother lives in Antwerp"),
        ("I live in Ghent", "She lives in Ghent"),
        ("我住在厦门", "他住在珠海"),
        ("我对鸡蛋过敏", "我儿子对鸡蛋过敏"),
        ("我哥哥住在厦门", "我弟弟住在珠海"),
        ("Ana is assigned to project one", "Ben is assigned to project two"),
        ("Order A-310 is paid", "Order A-311 is not paid"),
        ("Invoice 4410 is paid", "Invoice 4411 is paid"),
        # a denial of something else
        ("species P not previously recorded at site 1", "species Q not seen in the dry season"),
        ("species P recorded at site 1", "species P not seen in the dry season"),
        ("我不吃辣", "我吃鸡蛋"),
        ("The build does not need Docker", "The docs need a Docker page"),
        # another topic
        ("我对花生过敏", "我下周三去北京出差"),
        ("I row before work", "Every row needs an id"),
        # many may hold at once
        ("I like jazz", "I like folk"),
        ("I speak German", "I speak Dutch"),
        ("用户养了一只猫", "用户养了一只狗"),
        ("I run on Tuesdays", "I swim on Thursdays"),
        # another choice, made this time
        ("Sort my orders by date", "Sort my orders by amount"),
        ("Sort my orders by date", "Sort my orders by amount now"),
        ("订单按日期排序", "用户要求订单列表按金额排序"),
        ("订单按日期排序", "现在按金额排序订单"),
        ("Send the report as PDF", "Send the report as CSV"),
        # another attribute, another part
        ("My work phone is 555-0101", "My home phone is 555-0202"),
        ("Read timeout is 5 seconds", "Connect timeout is 9 seconds"),
        ("batch size is 64 for training", "batch size is 256 for inference"),
        # another time
        ("I used to live in Ghent", "I live in Antwerp"),
        ("As a kid I hated olives", "I love olives"),
        ("I ran 5 km yesterday", "I ran 8 km this morning"),
        # more exact, or vague
        ("I live in Belgium", "I live in Ghent"),
        ("The launch is in October", "The launch is on 18 October"),
        # swapped roles in the same words
        ("The dog chased the cat", "The cat chased the dog"),
        # nothing to compare
        ("", "I live in Ghent"),
        ("🙂", "🙃"),
    ],
)
def test_look_alikes_are_neither(old: str, new: str) -> None:
    assert judge(old, new).relation == "none"
    assert judge(new, old).relation in ("none", "contained")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The server runs on port 8080 and uses TLS", "The server uses TLS"),
        ("X runs on port 8080 and uses TLS", "X runs on port 8080"),
        ("我住在杭州，在银行上班", "我住在杭州"),
    ],
)
def test_a_part_of_what_is_known_is_contained_but_not_the_other_way_round(old: str, new: str) -> None:
    assert judge(old, new).relation == "contained"
    assert judge(new, old).relation == "none"


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("The server uses TLS", "The server does not use TLS"),
        ("The rent is 900 euros", "The rent is 950 euros"),
        ("Meet on 3 May", "Meet on 4 May"),
        ("My landlord is Mr Okafor", "My landlord is Mr Okoro"),
        ("我的工号是 B7731", "我的工号是 B7713"),
    ],
)
def test_other_numbers_dates_names_and_denials_are_never_duplicates(text: str, changed: str) -> None:
    assert judge(text, changed).relation not in ("duplicate", "contained")
    assert judge(changed, text).relation not in ("duplicate", "contained")
    assert relate(text, changed, rules=rules(), similarity=1.0).relation not in ("duplicate", "contained")


@pytest.mark.parametrize(
    "frame",
    ["My number is {}", "我的号码是{}", "We run {}", "订单{}已发货", "护照号：{}", "The address is {}"],
)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("13800001111", "13800001112"), ("138-0000-1111", "138-0000-1112"), ("415-555-0123", "415-555-0124"),
        ("+1 415 555 0123", "+1 415 555 0124"), ("123-45-6789", "123-45-6780"), ("20260302001", "20260302002"),
        ("110101190001010017", "110101190001010018"), ("6200000000000000019", "6200000000000000018"),
        ("6200 0000 0000 0019", "6200 0000 0000 0018"), ("978-7-111-54742-6", "978-7-111-54742-7"),
        ("192.168.1.10", "192.168.1.11"), ("1.2.3", "1.2.4"), ("v2.0.1", "v2.0.2"), ("10.0.0.1:8080", "10.0.0.2:8080"),
    ],
)  # fmt: skip
def test_numbers_that_differ_in_one_digit_are_never_the_same(frame: str, one: str, other: str) -> None:
    for old, new in ((one, other), (other, one)):
        assert judge(frame.format(old), frame.format(new)).relation not in ("duplicate", "contained")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My phone is 415-555-0123", "My phone is 4155550123"), ("我的电话是138 0000 1111", "我的电话是13800001111"),
        ("我的手机号是13800001111", "我的手机号是+86 138-0000-1111"),
    ],
)  # fmt: skip
def test_a_number_is_the_same_however_it_is_grouped(old: str, new: str) -> None:
    assert judge(old, new).relation == "duplicate"


@pytest.mark.parametrize(
    ("new", "explicit"),
    [
        ("I now live in Antwerp", True),
        ("I moved to Antwerp", True),
        ("我搬到珠海了", True),
        ("截止日期改为周五", True),
        ("我不再喝咖啡", True),
        ("I live in Antwerp", False),
        ("我住在珠海", False),
    ],
)
def test_a_text_that_speaks_of_change_says_so(new: str, explicit: bool) -> None:
    assert judge("I live in Ghent", new).explicit_change is explicit


def test_a_question_repeats_and_denies_nothing() -> None:
    assert judge("I live in Ghent", "Do I live in Antwerp?").relation == "none"
    assert judge("我住在厦门", "我住在珠海吗？").relation == "none"


def test_messages_of_one_moment_do_not_contradict_each_other() -> None:
    assert judge("[SMS] I will be home at 18:10", "[SMS] I will be home at 19:30").relation == "none"


def test_long_texts_about_other_things_do_not_meet_in_one_clause() -> None:
    old = "Went over the plan with Ana. I am worried about the cost. The roof leaks. We need a surveyor."
    new = "The choir sang well. I am not worried about the solo. Tickets sold out. The hall was warm."
    assert judge(old, new).relation == "none"


def test_the_question_quotes_both_sides_in_their_language() -> None:
    english = question_for("user", "residence", "I live in Ghent", "I live in Antwerp")
    assert "I live in Ghent" in english
    assert "I live in Antwerp" in english
    assert english.endswith("?")
    chinese = question_for("user", "residence", "我住在厦门", "我搬到珠海了")
    assert "我住在厦门" in chinese
    assert "我搬到珠海了" in chinese
    assert chinese.endswith("？")


def test_the_question_stays_short_for_long_texts() -> None:
    assert len(question_for(None, None, "a " * 5000, "b " * 5000)) < 250


def test_short_pairs_are_judged_fast() -> None:
    olds = [f"I keep {i} goats in shed {i}" for i in range(200)]
    start = time.perf_counter()
    for old in olds:
        judge(old, "I keep 7 goats and a donkey")
    assert (time.perf_counter() - start) / len(olds) < 0.02


@pytest.mark.parametrize("unit", ["I like tea. ", "我不喜欢茶。", "a,", "not ", "从a到b，"])
def test_long_texts_are_judged_in_bounded_time(unit: str) -> None:
    text = unit * (16_384 // len(unit.encode()))
    start = time.perf_counter()
    judge(text, text + " I like coffee.")
    assert time.perf_counter() - start < 5


def test_an_age_may_rise_between_two_remarks_but_not_fall() -> None:
    assert judge("用户27岁", "用户28岁").relation == "none"
    assert judge("用户28岁", "用户27岁").relation == "contradiction"
