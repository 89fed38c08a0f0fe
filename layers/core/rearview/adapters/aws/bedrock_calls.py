"""One call to Bedrock: retries beyond botocore's own, and what each refusal means for whoever has to mend it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from rearview.errors import RearviewError, Unavailable

#: boto3's low-level client has no types.
Client = Any
Pause = Callable[[float], None]

#: What passes by itself. botocore's standard mode has tried three times before we see one of them.
_PASSING: Final = frozenset(
    {
        "ThrottlingException",
        "TooManyRequestsException",
        "ServiceUnavailableException",
        "InternalServerException",
        "ModelNotReadyException",
        "ModelTimeoutException",
        "BadGatewayException",
        "DependencyFailedException",
    }
)
_DENIED: Final = frozenset({"AccessDeniedException", "UnauthorizedException"})
_STRANGERS: Final = frozenset(
    {
        "UnrecognizedClientException",
        "InvalidSignatureException",
        "ExpiredTokenException",
        "InvalidClientTokenId",
    }
)
#: In a ValidationException they say that the model is named wrongly, not that the text is wrong.
_MISNAMED: Final = ("on-demand throughput", "inference profile", "model identifier", "model id")
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 5.0

_random = random.SystemRandom()


class ModelNotUsable(Unavailable):
    """The account, role or settings stand between us and the model: waiting does not help, the detail says what does."""


class ModelRefused(RearviewError):
    """The model is there and does not take this input: another try would end the same."""

    status = 502
    title = "Model refused"
    slug = "model-refused"


def call(
    client: Client,
    operation: str,
    model: str,
    *,
    tries: int,
    pause: Pause = time.sleep,
    permission: str = "bedrock:InvokeModel",
    **request: Any,
) -> dict[str, Any]:
    """The answer of ``client.operation(**request)``. ``tries``: ours, each of which is botocore's three.

    Raises ModelNotUsable for what somebody has to configure, ModelRefused for the input, Unavailable for all else.
    """
    for attempt in range(1, tries + 1):
        try:
            answer: dict[str, Any] = getattr(client, operation)(**request)
            return answer
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            if code not in _PASSING or attempt >= tries:
                raise _meaning(error, code, model, client, permission) from None
        except BotoCoreError as error:
            raise Unavailable(f"Bedrock did not answer: {type(error).__name__}") from None
        pause(_random.uniform(0, min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)))
    raise Unavailable("Bedrock was not asked")  # no tries at all


def _meaning(error: ClientError, code: str, model: str, client: Client, permission: str) -> RearviewError:
    """The messages of AWS stay out, since some of them quote the request."""
    said = str(error.response.get("Error", {}).get("Message", "")).lower()
    region = client.meta.region_name
    if code in _DENIED and "not authorized to perform" in said:
        return ModelNotUsable(
            f"this role may not call {permission} for {model} in {region}: allow it in the role's policy"
        )
    if code in _DENIED:
        return ModelNotUsable(
            f"this account has no access to the model {model} in {region}: enable it in the Bedrock console "
            "(Model access), and accept its terms there"
        )
    if code in _STRANGERS:
        return ModelNotUsable(f"AWS does not accept these credentials: {code}")
    if code == "ResourceNotFoundException" or (code == "ValidationException" and _misnamed(said)):
        return ModelNotUsable(
            f"there is no {model} to be called in {region}: choose a region that has it, or name an inference "
            f"profile for it (such as us.{model})"
        )
    if code == "ServiceQuotaExceededException":
        return Unavailable(f"the quota for {model} is used up in {region}")
    if code in ("ValidationException", "ModelErrorException"):
        return ModelRefused(f"{model} refused the request: {code}")
    return Unavailable(f"Bedrock refused: {code}")


def _misnamed(said: str) -> bool:
    return any(words in said for words in _MISNAMED)
