"""The queue over SQS FIFO: one message group a user, a dead-letter queue behind it, and a redrive of our own."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from rearview.errors import Unavailable
from rearview.ports import Message

#: boto3's low-level client has no types.
Client = Any

#: Deliveries before a message goes to the dead letters; the queue's redrive policy says the same.
MAX_DELIVERIES: Final = 5
#: What one receive may bring, and the longest a message may be out (SQS).
BATCH: Final = 10
MOST_SECONDS: Final = 12 * 3600
#: Seconds a dead letter is out of sight while it is sent again.
_REDRIVE_SECONDS: Final = 60
_ID: Final = re.compile(r"[A-Za-z0-9!-/:-@\[-`{-~]{1,128}")
_COUNTS: Final = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)
#: What SQS says of a receipt whose message is gone, or has been delivered again.
_STALE: Final = frozenset({"ReceiptHandleIsInvalid", "InvalidParameterValue", "MessageNotInflight"})


def plain_id(text: str) -> str:
    """A group or deduplication id as SQS takes it: as it is, or its SHA-256 where characters or length forbid."""
    return text if _ID.fullmatch(text) else hashlib.sha256(text.encode()).hexdigest()


def queue_attributes(dead_letters_arn: str) -> dict[str, str]:
    """What ``create_queue`` takes for the queue; the SAM template says the same."""
    policy = {"deadLetterTargetArn": dead_letters_arn, "maxReceiveCount": MAX_DELIVERIES}
    return {**dead_letters_attributes(), "RedrivePolicy": json.dumps(policy)}


def dead_letters_attributes() -> dict[str, str]:
    """What ``create_queue`` takes for the dead letters."""
    return {
        "FifoQueue": "true",
        "ContentBasedDeduplication": "false",
        "DeduplicationScope": "messageGroup",
        "FifoThroughputLimit": "perMessageGroupId",
    }


class SqsQueue:
    """Implements :class:`rearview.ports.WriteQueue` over a FIFO queue with a dead-letter queue.

    Five silent or released deliveries move a message to the dead letters at the receive that follows.
    """

    def __init__(self, client: Client, url: str, dead_letters_url: str, *, poll_seconds: int = 0) -> None:
        """``poll_seconds``: how long a receive waits for a message (long polling, up to 20)."""
        self._client, self._url, self._dead_url = client, url, dead_letters_url
        self._poll_seconds = poll_seconds

    def send(self, group: str, deduplication_id: str, body: Mapping[str, Any]) -> None:
        text = json.dumps(dict(body), ensure_ascii=False, separators=(",", ":"))
        self._send(self._url, group, deduplication_id, text)

    def _send(self, url: str, group: str, deduplication_id: str, text: str) -> None:
        self._call(
            "send_message",
            QueueUrl=url,
            MessageBody=text,
            MessageGroupId=plain_id(group),
            # With the group in it: right on a queue whose ids are compared across groups, too.
            MessageDeduplicationId=plain_id(f"{group}-{deduplication_id}"),
        )

    def receive(self, limit: int = BATCH, *, visibility_seconds: float = 60.0) -> list[Message]:
        """See the port; ten at most, whatever ``limit`` says. Fractions of seconds are rounded up."""
        return [
            self._message(raw)
            for raw in self._receive(self._url, limit, visibility_seconds, self._poll_seconds)
        ]

    def _receive(self, url: str, limit: int, visibility_seconds: float, poll: int) -> list[dict[str, Any]]:
        answer = self._call(
            "receive_message",
            QueueUrl=url,
            MaxNumberOfMessages=min(limit, BATCH),
            VisibilityTimeout=_whole(visibility_seconds),
            WaitTimeSeconds=poll,
            MessageSystemAttributeNames=["MessageGroupId", "ApproximateReceiveCount"],
        )
        found: list[dict[str, Any]] = answer.get("Messages", [])
        return found

    @staticmethod
    def _message(raw: Mapping[str, Any]) -> Message:
        known = raw["Attributes"]
        return Message(
            raw["MessageId"],
            known["MessageGroupId"],
            json.loads(raw["Body"]),
            raw["ReceiptHandle"],
            int(known["ApproximateReceiveCount"]),
        )

    def acknowledge(self, message: Message) -> None:
        self._answer("delete_message", message)

    def release(self, message: Message, *, delay_seconds: float = 0.0) -> None:
        self._answer("change_message_visibility", message, VisibilityTimeout=_whole(delay_seconds))

    def _answer(self, operation: str, message: Message, **more: Any) -> None:
        try:
            self._call(operation, QueueUrl=self._url, ReceiptHandle=message.receipt, **more)
        except _Refused as refused:
            if refused.code.rpartition(".")[2] not in _STALE:
                raise

    def depth(self) -> tuple[int, int]:
        """See the port. SQS counts approximately: numbers settle within a minute after the last send."""
        return self._count(self._url), self._count(self._dead_url)

    def _count(self, url: str) -> int:
        answer = self._call("get_queue_attributes", QueueUrl=url, AttributeNames=list(_COUNTS))
        return sum(int(answer["Attributes"].get(name, 0)) for name in _COUNTS)

    # --- dead letters

    def bury(self, group: str, deduplication_id: str, body: Mapping[str, Any]) -> None:
        """Puts a copy of what failed for good among the dead letters, where the alarm and the redrive see it."""
        text = json.dumps(dict(body), ensure_ascii=False, separators=(",", ":"))
        self._send(self._dead_url, group, deduplication_id, text)

    def redrive(self, limit: int = 1000) -> int:
        """Sends up to ``limit`` dead letters to the queue again, in the order of their groups; answers how many.

        A crash in between loses nothing and doubles nothing: a letter is deleted after it was sent, and its new
        deduplication id is made of its message id, which every death gives anew.
        """
        done = 0
        while done < limit:
            letters = self._receive(self._dead_url, limit - done, _REDRIVE_SECONDS, 0)
            if not letters:
                break
            for letter in letters:
                group = letter["Attributes"]["MessageGroupId"]
                self._send(self._url, group, f"redrive-{letter['MessageId']}", letter["Body"])
                self._call("delete_message", QueueUrl=self._dead_url, ReceiptHandle=letter["ReceiptHandle"])
                done += 1
        return done

    def _call(self, operation: str, **request: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = getattr(self._client, operation)(**request)
        except ClientError as error:
            raise _Refused(str(error.response["Error"]["Code"])) from None
        except BotoCoreError as error:
            raise Unavailable(f"SQS did not answer: {type(error).__name__}") from None
        return answer


class _Refused(Unavailable):
    """SQS said no."""

    def __init__(self, code: str) -> None:
        super().__init__(f"SQS refused: {code}")
        self.code = code


def _whole(seconds: float) -> int:
    return max(0, min(MOST_SECONDS, math.ceil(seconds)))
