"""The context block: of whom, of when and of which session it tells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rearview.domain.times import to_text
from tests.house import House, house


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as home:
        yield home


def test_profile_precedents_and_session_are_of_the_namespaces_asked_for(h: House) -> None:
    for name, wish, action in (
        ("default", "Keep answers short", "wait"),
        ("blue", "Sort my orders by date", "phone"),
        ("red", "Sort my orders by amount", "write"),
    ):
        h.write(wish, namespace=name)
        decision = h.decide("the ferry is late", action, namespace=name)
        h.outcome(decision["id"], "success")
        h.turns([{"content": f"The pier of {name} is closed."}], session_id="s", namespace=name)

    blue = h.context("the ferry is late", namespaces=["blue"], session_id="s")
    for own in ("sort order: order: date", "phone: went well", "user: The pier of blue is closed."):
        assert own in blue
    for foreign in ("answer length", "wait:", "pier of default", "order: amount", "write:", "pier of red"):
        assert foreign not in blue

    both = h.context("the ferry is late", namespace="red", namespaces=["blue"])
    for own in ("order: order: date", "order: order: amount", "phone: went well", "write: went well"):
        assert own in both
    assert "answer length" not in both


@pytest.mark.parametrize("view", ["known_at", "valid_at"])
def test_a_context_of_an_earlier_time_knows_no_later_decision_and_no_later_turn(h: House, view: str) -> None:
    first = h.decide("渡轮晚点了", "等待")
    h.outcome(first["id"], "success")
    h.turns([{"role": "user", "content": "渡轮几点开？"}], session_id="s")
    then = to_text(h.clock.now())
    h.clock.advance(days=1)
    second = h.decide("渡轮晚点了", "改签")
    h.outcome(second["id"], "success")
    h.turns([{"role": "assistant", "content": "渡轮取消了。"}], session_id="s")

    now = h.context("渡轮晚点了", session_id="s")
    assert all(part in now for part in ("等待", "改签", "渡轮几点开", "渡轮取消了"))
    earlier = h.context("渡轮晚点了", session_id="s", **{view: then})
    assert "等待: went well" in earlier
    assert "user: 渡轮几点开" in earlier
    assert "改签" not in earlier
    assert "渡轮取消了" not in earlier


def test_naming_the_session_adds_it_and_hides_no_memory_from_outside_it(h: House) -> None:
    h.write("我对花生过敏", session_id="last week")
    h.write(
        "Always ask for the order number", "v", kind="instruction", audience="namespace", admission="force"
    )
    h.turns([{"content": "今晚点外卖，有什么要注意的？"}], session_id="today")
    block = h.context("花生过敏 order number", session_id="today")
    assert "我对花生过敏" in block.partition("## Memories")[2]
    assert "Always ask for the order number" in block.partition("## Lessons")[2]
    assert "user: 今晚点外卖" in block
    assert "我对花生过敏" not in h.contents("花生过敏", session_id="today")


@pytest.mark.parametrize(
    ("lesson", "query"),
    [
        ("Glass parcels that travel upright arrive whole", "How should glass parcels travel?"),
        ("玻璃包裹竖着运不会碎", "玻璃包裹怎么运"),
    ],
)
def test_a_lesson_for_the_namespace_is_no_memory_of_the_user_who_asks(
    h: House, lesson: str, query: str
) -> None:
    h.write(lesson, "v", kind="conclusion", audience="namespace")
    h.write("玻璃包裹是我的生意 my glass parcels")
    block = h.context(query)
    lessons, _, memories = block.partition("## Memories")
    assert lesson in lessons.partition("## Lessons and instructions")[2]
    assert lesson not in memories
    assert "my glass parcels" in memories
    assert {hit.content: hit.audience for hit in h.recall(query).hits}[lesson] == "namespace"
