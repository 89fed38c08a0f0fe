"""What every queue promises."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import pytest

from rearview.ports import Message, WriteQueue


class Clock(Protocol):
    def advance(self, seconds: float) -> None: ...


def send(queue: WriteQueue, group: str, *numbers: int) -> None:
    for number in numbers:
        queue.send(group, f"{number}.1", {"seq": number})


def seqs(messages: list[Message]) -> list[tuple[str, int]]:
    return [(message.group, message.body["seq"]) for message in messages]


def arrives(queue: WriteQueue, clock: Clock, *, visibility_seconds: float = 60.0) -> Message:
    """The next message, which may take a moment after its time has come."""
    for _ in range(20):
        messages = queue.receive(1, visibility_seconds=visibility_seconds)
        if messages:
            return messages[0]
        clock.advance(0.2)
    pytest.fail("the message did not come")


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


def test_a_repeat_is_not_enqueued_again_even_after_it_was_done(queue: WriteQueue) -> None:
    send(queue, "a", 1, 1)
    send(queue, "b", 1)
    assert queue.depth() == (2, 0)
    while messages := queue.receive():
        for message in messages:
            queue.acknowledge(message)
    send(queue, "a", 1)
    assert queue.depth() == (0, 0)


# SQS's five minutes are real ones: a queue whose clock can be set shows them.
@pytest.mark.parametrize("queue", ["sqlite"], indirect=True)
def test_a_repeat_is_refused_for_five_minutes(queue: WriteQueue, clock: Clock) -> None:
    send(queue, "a", 1)
    queue.acknowledge(queue.receive()[0])
    clock.advance(299)
    send(queue, "a", 1)
    assert queue.depth() == (0, 0)
    clock.advance(2)
    send(queue, "a", 1)
    assert queue.depth() == (1, 0)


def test_an_unanswered_message_comes_again_before_those_behind_it(queue: WriteQueue, clock: Clock) -> None:
    send(queue, "a", 1, 2)
    (first,) = queue.receive(1, visibility_seconds=2)
    clock.advance(0.5)
    assert queue.receive(1) == []
    clock.advance(2)
    again = arrives(queue, clock)
    assert (again.id, again.body["seq"], again.attempts) == (first.id, 1, 2)
    assert again.receipt != first.receipt


def test_a_stale_receipt_is_ignored(queue: WriteQueue, clock: Clock) -> None:
    send(queue, "a", 1)
    (first,) = queue.receive(visibility_seconds=1)
    clock.advance(1.5)
    second = arrives(queue, clock)
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
    queue.release(message, delay_seconds=2)
    assert queue.receive(1) == []
    clock.advance(2.5)
    assert arrives(queue, clock).body["seq"] == 1


def test_the_fifth_release_goes_to_the_dead_letters_and_the_group_goes_on(queue: WriteQueue) -> None:
    send(queue, "a", 1, 2)
    for attempt in range(1, 6):
        (message,) = queue.receive(1)
        assert message.attempts == attempt
        queue.release(message)
    # SQS moves a message when it would have delivered it once more, so the count is asked for after that.
    assert seqs(queue.receive(1)) == [("a", 2)]
    assert queue.depth() == (1, 1)


def test_five_silent_deliveries_go_to_the_dead_letters_too(queue: WriteQueue, clock: Clock) -> None:
    send(queue, "a", 1, 2)
    for _ in range(5):
        assert arrives(queue, clock, visibility_seconds=1).body["seq"] == 1
        clock.advance(1.1)
    assert arrives(queue, clock).body["seq"] == 2
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
