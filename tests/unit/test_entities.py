"""Which names, numbers and addresses are picked out of a text."""

import time

import pytest

from rearview.domain.entities import MAX_ENTITIES, find_entities


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        (
            "I met Jana Novák at Orchard Robotics in New Delhi on Monday.",
            ["Jana Novák", "Orchard Robotics", "New Delhi"],
        ),
        (
            "订单号 QX998877 发到 wu.fei@example.org，电话 13911112222",
            ["QX998877", "wu.fei@example.org", "13911112222"],
        ),
        ("我最近在读《围城》和《Emma》", ["围城", "Emma"]),
        (
            "See https://example.com/a?b=1 and ask @rui about HN-4471",
            ["https://example.com/a?b=1", "@rui", "HN-4471"],
        ),
        ("Her order number is 774120.", ["774120"]),
        ("我叫陈思远，住在厦门市", ["陈思远", "厦门市"]),
        ("周老师在南京大学教书", ["周老师", "南京大学"]),
        ("K is assigned to project one", ["K"]),
        ('The song "Blue Monday" by New Order', ["Blue Monday", "New Order"]),
    ],
)
def test_entities_come_out_in_order(text: str, entities: list[str]) -> None:
    assert find_entities(text) == entities


@pytest.mark.parametrize(
    "text",
    ["", "   ", "Deadline moved.", "The meeting is on Monday in October.", "今天天气不错", "🙂🙂", "مرحبا"],
)
def test_plain_words_days_and_months_are_no_entities(text: str) -> None:
    assert find_entities(text) == []


def test_an_entity_is_named_once() -> None:
    assert find_entities("Ask Jana Novák, then thank Jana Novák") == ["Jana Novák"]


def test_full_width_codes_are_found_like_plain_ones() -> None:
    assert find_entities("单号ＱＸ９９８８７７") == ["QX998877"]


def test_there_are_at_most_fifty() -> None:
    assert len(find_entities(" ".join(f"AB-{i:04}" for i in range(200)))) == MAX_ENTITIES


@pytest.mark.parametrize("unit", ["a", "Aa ", "王", "1-", "a@", "《", '"', "http://", "从", "A."])
def test_long_texts_are_searched_in_linear_time(unit: str) -> None:
    start = time.perf_counter()
    find_entities(unit * (65_536 // len(unit.encode())))
    assert time.perf_counter() - start < 3
