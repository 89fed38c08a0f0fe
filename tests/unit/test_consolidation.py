"""Which episodes are alike, and how they are grouped: Chinese and English, rules only."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from itertools import combinations

import pytest
from tests.unit.test_claims import rules

from rearview.domain.consolidation import Episode, alike, group, near, rooms

AT = datetime(2026, 3, 4, 12, tzinfo=UTC)


def episode(text: str, name: str = "a", at: datetime = AT, **more: object) -> Episode:
    return Episode(name, text, at, **more)  # type: ignore[arg-type]


def both_ways(one: str, two: str) -> bool:
    a, b = episode(one), episode(two, "b")
    found = alike(a, b, rules())
    assert alike(b, a, rules()) is found
    return found


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Asked for the ticket list", "The user asked for the ticket list again."),
        ("Asked for the ticket list", "User wanted to see the ticket list"),
        ("Asked for the ticket list by date ascending", "Requested the ticket list, sorted by price"),
        ("How do I reset the badge?", "Asked how to reset the badge"),
        ("2026-03-04: Watered the ferns", "Watered the ferns this morning"),
        ("On 4 March 2026 the heating was serviced", "The heating was serviced"),
        ("Two days ago the heating was serviced", "The heating was serviced"),
        ("前天浇了蕨类植物", "浇了蕨类植物"),
        ("Went for a swim in the lake", "Swam in the lake for the third time"),
        ("Restarted the mail relay after it froze", "Had to restart the mail relay again"),
        ("Ate porridge for breakfast", "Porridge for breakfast again"),
        ("Bought a green tea", "Ordered a green tea"),
        ("Paid the gardener for the hedge, with a tip", "Paid the gardener for the hedge"),
        ("Ran 8 km along the dyke", "Ran 8 kilometres along the dyke"),
        ("Ran in the park with the dog", "Ran with the dog in the park"),
        ("Bought milk and bread", "Bought bread and milk"),
        ("User called the bank", "Called the bank"),
        ("用户给银行打了电话", "给银行打电话"),
        ("路由器被重启了", "又重启了路由器"),
        ("用户要求工单列表", "用户又要了一次工单列表"),
        ("用户要求工单列表，按日期升序", "查询工单列表，按金额降序"),
        ("怎么重置门禁卡？", "用户询问如何重置门禁卡"),
        ("2026年3月4日，浇了蕨类植物", "今天浇了蕨类植物"),
        ("因为卡住了，重启了邮件中继", "又重启了一次邮件中继"),
        ("下班后去游泳馆游泳", "去游泳馆游泳"),
        ("中午吃了炒河粉", "午饭吃的炒河粉"),
        ("沿着河堤跑了8公里", "沿着河堤跑步八公里"),
        ("把账单导出为PDF", "账单导出成PDF"),
    ],
)
def test_the_same_thing_told_otherwise_is_alike(one: str, two: str) -> None:
    assert both_ways(one, two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Asked for the ticket list", "Asked for the guest list"),
        ("Restarted the mail relay", "Restarted the backup mail relay"),
        ("Restarted the mail relay", "Upgraded the mail relay"),
        ("My mother called about the lease", "My mother-in-law called about the lease"),
        ("Took my pill to work", "Took my colleague's pill to work"),
        ("His flight was late", "My flight was late"),
        ("Tom asked for the ticket list", "Asked for the ticket list"),
        ("Met Anna at the Blue Door", "Met Anna at the Red Door"),
        ("Anna paid Boris for the tickets", "Boris paid Anna for the tickets"),
        ("Ran 8 km along the dyke", "Ran 9 km along the dyke"),
        ("Ran 8 km along the dyke", "Ran along the dyke"),
        ("Ticket 4471 was closed", "Ticket 4472 was closed"),
        ("Asked for the ticket list", "Did not ask for the ticket list"),
        ("Had soup for lunch", "Skipped soup for lunch"),
        ("The deploy passed on staging", "The deploy failed on staging"),
        ("Flew from Oslo to Bergen", "Flew from Bergen to Oslo"),
        ("The dog bit the postman", "The postman bit the dog"),
        ("The dog bit the postman", "The dog was bitten by the postman"),
        ("User called the bank", "The bank called the user"),
        ("Lent Anna a book", "Anna lent me a book"),
        ("Mom drove Dad to the airport", "Dad drove Mom to the airport"),
        ("Logged in to the portal", "Logged out of the portal"),
        ("Took the pill in the morning", "Took the pill in the evening"),
        ("The form is due by 5 March", "The form is due by 6 March"),
        ("Plans to visit the dentist", "Visited the dentist"),
        ("Always wants the ticket list by date", "Always wants the ticket list by price"),
        ("用户要求工单列表", "用户要求来宾列表"),
        ("妈妈来问过租约", "婆婆来问过租约"),
        ("同事要求工单列表", "用户要求工单列表"),
        ("沿着河堤跑了8公里", "沿着河堤跑了9公里"),
        ("工单4471已关闭", "工单4472已关闭"),
        ("用户要求工单列表", "用户没有要求工单列表"),
        ("中午吃了炒河粉", "晚上吃了炒河粉"),
        ("从长沙坐高铁到武汉", "从武汉坐高铁到长沙"),
        ("小狗咬了邮差", "邮差咬了小狗"),
        ("用户批评了妈妈", "用户被妈妈批评了"),
        ("用户给银行打了电话", "银行给用户打了电话"),
        ("用户借给小王一本书", "小王借给用户一本书"),
        ("妈妈送爸爸去机场", "爸爸送妈妈去机场"),
        ("表格3月5日前交", "表格3月6日前交"),
        ("打算去看牙医", "去看了牙医"),
        ("大女儿练了竖琴", "小女儿练了竖琴"),
    ],
)
def test_look_alikes_are_not(one: str, two: str) -> None:
    assert not both_ways(one, two)


def test_the_day_on_which_it_happened_is_no_claim_but_the_day_that_is_claimed_is() -> None:
    monday, week_later = AT, AT + timedelta(days=7)
    a = episode("Watered the ferns on 4 March 2026", at=monday)
    b = episode("Watered the ferns on 11 March 2026", "b", week_later)
    assert alike(a, b, rules())
    a = episode("交报告，截止3月20日", at=monday)
    b = episode("交报告，截止3月27日", "b", week_later)
    assert not alike(a, b, rules())
    a, b = episode("Dentist tomorrow", at=monday), episode("Dentist tomorrow", "b", week_later)
    assert not alike(a, b, rules()), "each time another day"


def test_another_kind_or_speaker_is_never_alike() -> None:
    a = episode("Watered the ferns", room=("event", "Ada"))
    assert not alike(a, episode("Watered the ferns", "b", room=("event", "Ben")), rules())
    assert not alike(a, episode("Watered the ferns", "b", room=("summary", "Ada")), rules())


@pytest.mark.parametrize(
    "text", ["", "?", "🦊🦊", "שלום עולם", "ｆｕｌｌ　ｗｉｄｔｈ", "的", "\u202eabc", "42"]
)
def test_any_text_is_alike_itself_and_nothing_breaks(text: str) -> None:
    assert both_ways(text, text)
    both_ways(text, "Watered the ferns")


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "不",
        "第一次",
        "in the morning ",
        "按",
        "12",
        "again ",
        "2026-03-04 ",
        "从",
        "((",
        "请",
        "要",
        "又",
        "了一次",
        "asked to ",
        "after x ",
        "因为",
    ],
)
def test_a_text_of_64_kb_takes_no_time(unit: str) -> None:
    started = time.perf_counter()
    both_ways(unit * (65_000 // len(unit.encode())), unit * 600)
    assert time.perf_counter() - started < 5


# --- groups ---


def all_pairs(some: list[Episode], cosine: float = 0.9) -> list[tuple[str, str, float]]:
    return [(a.id, b.id, cosine) for a, b in combinations(some, 2)]


def ids(groups: list[list[Episode]]) -> list[str]:
    return ["".join(item.id for item in some) for some in groups]


def told(*texts: str) -> list[Episode]:
    return [
        episode(text, chr(ord("a") + place), AT + timedelta(days=place)) for place, text in enumerate(texts)
    ]


def test_groups_are_of_like_episodes_in_order_of_time_whatever_order_they_come_in() -> None:
    some = told(
        "Fed the carp", "Fed the hens", "Fed the carp again", "Fed the hens", "Fed the carp", "Fed the hens"
    )
    pairs = all_pairs(some)
    assert ids(group(some, pairs, rules(), 3)) == ["ace", "bdf"]
    assert ids(group(some[::-1], pairs[::-1], rules(), 3)) == ["ace", "bdf"]


def test_what_is_not_near_in_meaning_is_not_joined_but_the_same_words_are() -> None:
    some = told("Fed the carp", "Carp were fed", "Fed the carp today")
    assert ids(group(some, [], rules(), 2)) == ["ac"]


def test_a_chain_of_likes_makes_no_group_of_its_ends() -> None:
    some = told("早上浇花", "浇花", "晚上浇花")
    found = group(some, all_pairs(some), rules(), 2)
    assert len(found) == 1
    assert len(found[0]) == 2


def test_a_group_needs_so_many_occurrences() -> None:
    repeated = Episode("a", "Fed the carp", AT, (), (AT, AT + timedelta(days=1)))
    other = episode("Fed the carp again", "b")
    assert ids(group([repeated, other], all_pairs([repeated, other]), rules(), 3)) == ["ab"]
    assert group([repeated, other], all_pairs([repeated, other]), rules(), 4) == []
    assert ids(group([repeated], [], rules(), 2)) == ["a"]


def test_only_what_may_be_alike_shares_a_room() -> None:
    some = told("Fed 3 carp", "Fed 4 carp", "My aunt fed 3 carp", "Fed 3 carp again")
    assert sorted(ids(rooms(some, rules()))) == ["ad", "b", "c"]


def test_near_is_measured_by_the_models_own_noise() -> None:
    assert near((-0.01, 0.09)) == pytest.approx(0.26)
    assert near((0.8, 0.02)) == pytest.approx(0.86)
    assert near((0.9, 0.1)) == 0.95
