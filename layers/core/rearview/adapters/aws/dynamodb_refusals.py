"""What an error of DynamoDB means for a caller: try the whole transaction again, send it once more, or give up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError

from rearview.adapters.aws import dynamodb_items as items
from rearview.domain.keys import Key
from rearview.errors import InvalidInput, RearviewError, TooManyWrites, Unavailable
from rearview.ports import AlreadyThere

_THROTTLED: Final = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "RequestLimitExceeded",
        "ThrottlingError",
        "ProvisionedThroughputExceeded",
    }
)
_COLLIDED: Final = frozenset({"TransactionConflict", "TransactionConflictException"})
_UNKNOWN: Final = frozenset({"InternalServerError", "ServiceUnavailable", "TransactionInProgressException"})


class Again(Exception):
    """The work has to run once more: another transaction was faster. ``final`` is what to say when time is up."""

    def __init__(self, final: RearviewError) -> None:
        super().__init__(final.detail)
        self.final = final


class Resend(Exception):
    """Nobody knows whether the transaction went through: the same request, under the same token, will tell."""


class Applied(Exception):
    """It went through, and only its answer was lost."""


def collided() -> Again:
    """Another writer of the partition was faster."""
    return Again(TooManyWrites("too many writers of this user at once; try again"))


def throttled() -> Again:
    """The store asks for less."""
    return Again(TooManyWrites("the store is busy with this user's writes; try again"))


def of_read(error: Exception) -> Unavailable:
    """A read that failed after the client's own retries."""
    if isinstance(error, ClientError):
        code = error.response["Error"]["Code"]
        return Unavailable("DynamoDB is busy" if code in _THROTTLED else f"DynamoDB refused: {code}")
    return Unavailable(f"DynamoDB did not answer: {type(error).__name__}")


def too_large(item: bool = True) -> InvalidInput:
    """A record or a transaction over DynamoDB's bounds."""
    if item:
        return InvalidInput.of(
            "body", "max_item_bytes", f"makes a record of more than {items.ITEM_BYTES} bytes"
        )
    return InvalidInput.of(
        "body", "max_transaction_bytes", f"changes more than {items.TRANSACTION_BYTES} bytes at once"
    )


def of_transaction(error: ClientError | BotoCoreError, keys: Sequence[Key], revision: str) -> Exception:
    """What to raise for a refused ``TransactWriteItems``.

    ``keys`` are the operations' in order, the guard last; ``revision`` is the one the guard was to get, so that a
    guard that bears it already tells that this very transaction went through before.
    """
    if isinstance(error, (ConnectionError, HTTPClientError)):
        return Resend(type(error).__name__)
    if not isinstance(error, ClientError):
        return Unavailable(f"DynamoDB cannot be reached: {type(error).__name__}")
    code = str(error.response["Error"]["Code"])
    if code in _THROTTLED:
        return throttled()
    if code in _COLLIDED:
        return collided()
    if code in _UNKNOWN or int(error.response["ResponseMetadata"].get("HTTPStatusCode", 400)) >= 500:
        return Resend(code)
    if code == "TransactionCanceledException":
        return _of_reasons(error.response.get("CancellationReasons", []), keys, revision)
    if code == "ValidationException" and "size" in str(error.response["Error"].get("Message", "")).lower():
        return too_large()
    return Unavailable(f"DynamoDB refused: {code}")


def _of_reasons(reasons: Sequence[dict[str, Any]], keys: Sequence[Key], revision: str) -> Exception:
    codes = [str(reason.get("Code", "None")) for reason in reasons]
    failed = [number for number, code in enumerate(codes) if code == "ConditionalCheckFailed"]
    if len(codes) != len(keys):
        return collided()
    if failed and failed[-1] == len(keys) - 1:
        moved = items.revision_of(reasons[-1].get("Item"))
        # Otherwise what was read is stale, whatever else may have failed.
        return Applied() if moved == revision else collided()
    if _COLLIDED.intersection(codes):
        return collided()
    if _THROTTLED.intersection(codes):
        return throttled()
    if failed:
        return AlreadyThere(keys[failed[0]])
    if "ValidationError" in codes or "ItemCollectionSizeLimitExceeded" in codes:
        return too_large()
    return Unavailable(f"DynamoDB cancelled the transaction: {sorted(set(codes))}")
