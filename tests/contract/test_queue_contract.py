"""What every queue promises."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from rearview.ports import Message, WriteQueue


class Clock(Protocol):
    def advance(self, seconds: float) -> None: ...


def send(queue: WriteQueue, group: str, *numbers: int) -> None:
    for number in numbers:
        queue.send(group, f"{number}.1", {"seq": number})


def seqs(messages: list[Message]) -> list[tuple[str, int]]:
    return [(message.group, message.body["seq"]) for message in messages]


def test_a_group_is_served_in_the_order_sent(queue: WriteQueue) -> None:
    send(queue, "a", 3, 1, 2)
    seen = []
    while messages := queue.receive(1):
        seen += seqs(messages)
        queue.acknowledge(messages[0])
    assert seen == [("a", 3), ("a", 1), ("a", 2)]
    assert queue.depth() == (0, 0)


def test_while_one_is_out_its_group_waits_and_others_do_not(queue: WriteQueue) -> None:
    send(queue, "a", 1, 2)
    first = queue.receive(1)
    send(queue, "b", 1)
    assert seqs(queue.receive(1)) == [("b", 1)]
    assert queue.receive() == []
    queue.acknowledge(first[0])
    assert seqs(queue.receive(1)) == [("a", 2)]


def test_a_batch_holds_a_groups_messages_in_order(queue: WriteQueue) -> None:
    send(queue, "a", 1, 2, 3)
    send(queue, "b", 1)
    taken = seqs(queue.receive(10))
    assert [item for item in taken if item[0] == "a"] == [("a", 1), ("a", 2), ("a", 3)][: len(taken)]
    assert len(taken) <= 10


def test_the_body_comes_back_whole(queue: WriteQueue) -> None:
    queue.send("a", "1", {"文": "🏮", "n": None, "list": [1, {"x": True}]})
    (message,) = queue.receive()
    assert message.body == {"文": "🏮", "n": None, "list": [1, {"x": True}]}
    assert message.attempts == 1


def test_a_repeat_within_five_minutes_is_not_enqueued_again(queue: WriteQueue, clock: Clock) -> None:
    send(queue, "a", 1, 1)
    send(queue, "b", 1)
    assert queue.depth() == (2, 0)
    for message in queue.receive():
        queue.acknowledge(message)
    clock.advance(299)
    send(queue, "a", 1)
    assert queue.depth() == (0, 0)
    clock.advance(2)
    send(queue, "a", 1)
    assert queue.depth() == (1, 0)


def test_an_unanswered_message_comes_again_before_those_behind_it(queue: WriteQueue, clock: Clock) -> None:
    send(queue, "a", 1, 2)
    (first,) = queue.receive(1, visibility_seconds=30)
    clock.advance(29)
    assert queue.receive(1) == []
    clock.advance(2)
    (again,) = queue.receive(1)
    assert (again.id, again.body["seq"], again.attempts) == (first.id, 1, 2)
    assert again.receipt != first.receipt


def test_a_stale_receipt_is_ignored(queue: WriteQueue, clock: Clock) -> None:
    send(queue, "a", 1)
    (first,) = queue.receive(visibility_seconds=10)
    clock.advance(11)
    (second,) = queue.receive(visibility_seconds=10)
    queue.acknowledge(first)
    queue.release(first)
    assert queue.depth() == (1, 0)
    assert queue.receive() == []
    queue.acknowledge(second)
    queue.acknowledge(second)
    assert queue.depth() == (0, 0)


def test_a_released_message_comes_again_at_once_or_after_its_delay(queue: WriteQueue, clock: Clock) -> None:
    send(queue, "a", 1, 2)
    (message,) = queue.receive(1)
    queue.release(message)
    (message,) = queue.receive(1)
    assert (message.body["seq"], message.attempts) == (1, 2)
    queue.release(message, delay_seconds=20)
    assert queue.receive(1) == []
    clock.advance(21)
    assert seqs(queue.receive(1)) == [("a", 1)]


def test_the_fifth_release_goes_to_the_dead_letters_and_the_group_goes_on(queue: WriteQueue) -> None:
    send(queue, "a", 1, 2)
    for attempt in range(1, 6):
        (message,) = queue.receive(1)
        assert message.attempts == attempt
        queue.release(message)
    assert queue.depth() == (1, 1)
    assert seqs(queue.receive(1)) == [("a", 2)]


def test_five_silent_deliveries_go_to_the_dead_letters_too(queue: WriteQueue, clock: Clock) -> None:
    send(queue, "a", 1, 2)
    for _ in range(5):
        assert seqs(queue.receive(1, visibility_seconds=1)) == [("a", 1)]
        clock.advance(2)
    assert seqs(queue.receive(1)) == [("a", 2)]
    assert queue.depth() == (1, 1)


def test_many_receivers_take_each_message_once_and_keep_the_order(queue: WriteQueue) -> None:
    for number in range(12):
        for group in "abcd":
            send(queue, group, number)
    done: list[tuple[str, int]] = []

    def work(_: int) -> None:
        while queue.depth()[0]:
            for message in queue.receive(2):
                done.append((message.group, message.body["seq"]))
                queue.acknowledge(message)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert len(done) == 48
    for group in "abcd":
        assert [number for name, number in done if name == group] == list(range(12))
