"""Opaque tokens: consistency tokens, cursors, recall ids. URL-safe, signed, and no secret inside."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from rearview.domain.ledger import canonical
from rearview.errors import InvalidInput

_MAC_BYTES = 12


def seal(secret: bytes, purpose: str, payload: Mapping[str, Any]) -> str:
    """``base64url(mac || canonical JSON)``; ``purpose`` keeps one kind of token from passing as another."""
    raw = canonical(payload)
    return base64.urlsafe_b64encode(_mac(secret, purpose, raw) + raw).decode().rstrip("=")


def unseal(secret: bytes, purpose: str, token: str, field: str) -> dict[str, Any]:
    """The payload; InvalidInput (rule ``token``) naming ``field`` if the token is not one of ours."""
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        mac, body = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
        if hmac.compare_digest(mac, _mac(secret, purpose, body)):
            payload = json.loads(body)
            if isinstance(payload, dict):
                return payload
    except (binascii.Error, ValueError, RecursionError):
        pass
    raise InvalidInput.of(field, "token", f"is not a {purpose} that this service gave out")


def _mac(secret: bytes, purpose: str, raw: bytes) -> bytes:
    return hmac.new(secret, purpose.encode() + b"\0" + raw, hashlib.sha256).digest()[:_MAC_BYTES]
