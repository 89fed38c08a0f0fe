"""The SQS queue where the service is wrong, slow or sends what nobody expects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from rearview.adapters.aws.sqs import SqsQueue, dead_letters_attributes, plain_id, queue_attributes
from rearview.errors import Unavailable
from rearview.ports import Message

MESSAGE = Message("id", "a", {}, "receipt", 1)


class FakeSqs:
    """Keeps requests; ``errors`` says which operation fails how."""

    def __init__(self, **errors: Exception) -> None:
        self.errors, self.sent = errors, list[tuple[str, dict[str, Any]]]()
        self.letters: list[dict[str, Any]] = []

    def __getattr__(self, operation: str) -> Any:
        def call(**request: Any) -> dict[str, Any]:
            self.sent.append((operation, request))
            if operation in self.errors:
                raise self.errors[operation]
            if operation == "receive_message":
                some, self.letters = self.letters[:10], self.letters[10:]
                return {"Messages": some} if some else {}
            return {"Attributes": {}}

        return call


def refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "about anna"}}, "Operation")


def letter(number: int, group: str = "a") -> dict[str, Any]:
    return {
        "MessageId": f"m{number}",
        "ReceiptHandle": f"r{number}",
        "Body": f'{{"seq":{number}}}',
        "Attributes": {"MessageGroupId": group, "ApproximateReceiveCount": "7"},
    }


@pytest.mark.parametrize(
    "code", ["ReceiptHandleIsInvalid", "InvalidParameterValue", "AWS.SimpleQueueService.MessageNotInflight"]
)
def test_a_stale_receipt_is_ignored(code: str) -> None:
    errors = {"delete_message": refusal(code), "change_message_visibility": refusal(code)}
    queue = SqsQueue(FakeSqs(**errors), "url", "dead")
    queue.acknowledge(MESSAGE)
    queue.release(MESSAGE, delay_seconds=1)


def test_other_troubles_are_unavailable_and_carry_no_content() -> None:
    down = EndpointConnectionError(endpoint_url="http://127.0.0.1")
    for error in (refusal("AccessDenied"), refusal("AWS.SimpleQueueService.NonExistentQueue"), down):
        queue = SqsQueue(
            FakeSqs(send_message=error, delete_message=error, receive_message=error), "url", "dead"
        )
        for call in (lambda: queue.send("a", "1", {}), lambda: queue.acknowledge(MESSAGE), queue.receive):  # noqa: B023
            with pytest.raises(Unavailable) as caught:
                call()
            assert "anna" not in caught.value.detail


def test_ids_stay_as_they_are_unless_sqs_forbids_them() -> None:
    assert plain_id("0a" * 20) == "0a" * 20
    assert plain_id("3-1.x_!#") == "3-1.x_!#"
    for odd in ("", "杭州", "a b", "x" * 129, "tab\t"):
        assert len(plain_id(odd)) == 64
    assert plain_id("a b") != plain_id("a  b")


def test_the_same_id_in_two_groups_is_two_messages() -> None:
    sqs = FakeSqs()
    queue = SqsQueue(sqs, "url", "dead")
    queue.send("a", "1", {"文": 1})
    queue.send("b", "1", {"文": 1})
    assert len({request["MessageDeduplicationId"] for _, request in sqs.sent}) == 2
    assert [request["MessageBody"] for _, request in sqs.sent] == ['{"文":1}'] * 2


def test_waits_are_whole_seconds_within_what_sqs_takes() -> None:
    sqs = FakeSqs()
    queue = SqsQueue(sqs, "url", "dead", poll_seconds=5)
    queue.receive(50, visibility_seconds=0.1)
    queue.release(MESSAGE, delay_seconds=1e9)
    (_, received), (_, released) = sqs.sent
    assert (received["MaxNumberOfMessages"], received["VisibilityTimeout"]) == (10, 1)
    assert received["WaitTimeSeconds"] == 5
    assert released["VisibilityTimeout"] == 43_200


def test_a_redrive_sends_before_it_deletes_and_stops_where_sending_fails() -> None:
    sqs = FakeSqs()
    sqs.letters = [letter(number) for number in range(12)]
    assert SqsQueue(sqs, "url", "dead").redrive() == 12
    steps = [operation for operation, _ in sqs.sent if operation != "receive_message"]
    assert steps == ["send_message", "delete_message"] * 12

    broken = FakeSqs(send_message=refusal("ServiceUnavailable"))
    broken.letters = [letter(1)]
    with pytest.raises(Unavailable):
        SqsQueue(broken, "url", "dead").redrive()
    assert "delete_message" not in [operation for operation, _ in broken.sent]


def test_the_queue_keeps_order_per_group_and_buries_after_five() -> None:
    attributes = queue_attributes("arn:aws:sqs:us-east-1:1:dead.fifo")
    assert json.loads(attributes["RedrivePolicy"])["maxReceiveCount"] == 5
    for some in (attributes, dead_letters_attributes()):
        assert some["FifoQueue"] == "true"
        assert some["DeduplicationScope"] == "messageGroup"
        assert some["FifoThroughputLimit"] == "perMessageGroupId"
