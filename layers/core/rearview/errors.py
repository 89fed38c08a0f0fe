"""Every error that Rearview raises on purpose, as one tree.

A caller of a use case needs to catch only :class:`RearviewError`. Each class carries the HTTP status and the
short title under which the entrances report it (RFC 9457), so that REST, MCP and the command line say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FieldError:
    """One broken rule: ``field`` is a path such as ``items[3].content``, ``rule`` a stable snake_case code."""

    field: str
    rule: str
    message: str


class RearviewError(Exception):
    """Base of all. ``detail`` is a sentence for people; it never holds stored content."""

    status = 500
    title = "Internal error"
    slug = "internal"

    def __init__(self, detail: str, errors: Sequence[FieldError] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = tuple(errors)


class InvalidInput(RearviewError):
    """The request breaks a rule that its sender can see in the API document."""

    status = 422
    title = "Invalid input"
    slug = "invalid-input"

    @classmethod
    def of(cls, field: str, rule: str, message: str) -> InvalidInput:
        """One field, one rule."""
        return cls(f"{field}: {message}", (FieldError(field, rule, message),))


class MalformedBody(InvalidInput):
    """The body is no JSON document that this service reads."""

    status = 400
    title = "Malformed body"
    slug = "malformed-body"


class Unauthorized(RearviewError):
    """No credentials, or credentials nobody knows."""

    status = 401
    title = "Unauthorized"
    slug = "unauthorized"


class Forbidden(RearviewError):
    """Known caller, but its grants do not cover the namespace or the verb."""

    status = 403
    title = "Forbidden"
    slug = "forbidden"


class NotFound(RearviewError):
    """Nothing there that this caller may see; foreign records answer the same, so that ids leak nothing."""

    status = 404
    title = "Not found"
    slug = "not-found"


class Conflicting(RearviewError):
    """The request collides with the present state (version, confirmation, in-flight twin)."""

    status = 409
    title = "Conflict"
    slug = "conflict"


class IdempotencyInFlight(Conflicting):
    """Another request with the same idempotency key is still being answered."""

    title = "Request in flight"
    slug = "idempotency-in-flight"


class IdempotencyMismatch(RearviewError):
    """The idempotency key was used with another body."""

    status = 422
    title = "Idempotency key reused"
    slug = "idempotency-mismatch"


class Gone(RearviewError):
    """It was here and was purged."""

    status = 410
    title = "Gone"
    slug = "gone"


class PayloadTooLarge(RearviewError):
    """The body is over the size limit."""

    status = 413
    title = "Payload too large"
    slug = "payload-too-large"


class TooManyWrites(RearviewError):
    """Writers of one user met too often; try again."""

    status = 429
    title = "Too many writes"
    slug = "too-many-writes"


class Unavailable(RearviewError):
    """A part this call cannot do without is down or busy."""

    status = 503
    title = "Unavailable"
    slug = "unavailable"


class EmbedderMismatch(Unavailable):
    """The index was filled by another embedding model than the one configured; reindex first."""

    title = "Embedding model mismatch"
    slug = "embedder-mismatch"


class TextLost(Unavailable):
    """A text that was moved to the archive is missing there, or is not the one that was put there."""

    title = "Archived text lost"
    slug = "text-lost"


class LeaseLost(RearviewError):
    """Another worker took this user over; whatever this one still wanted to write is refused."""

    status = 409
    title = "Lease lost"
    slug = "lease-lost"
