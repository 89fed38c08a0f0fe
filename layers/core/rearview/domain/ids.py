"""ULIDs that sort, within one scope, in the order in which writes were acknowledged."""

from __future__ import annotations

import re
from datetime import datetime

from ulid import ULID

_PATTERN = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}\Z")


def is_ulid(text: str) -> bool:
    """Whether ``text`` is a ULID in its canonical upper-case spelling."""
    return bool(_PATTERN.match(text))


def next_ulid(previous: str | None, at: datetime, entropy: bytes) -> str:
    """A ULID for the moment ``at`` with 10 bytes of ``entropy``, larger than ``previous`` whatever the clock says.

    Within one millisecond, or when the clock went back, the previous id is counted up (ULID specification,
    "Monotonicity").
    """
    millis = max(0, int(at.timestamp() * 1000))
    fresh = ULID.from_bytes(millis.to_bytes(6, "big") + entropy[:10])
    if previous is not None:
        before = int.from_bytes(bytes(ULID.from_str(previous)), "big")
        if int.from_bytes(bytes(fresh), "big") <= before or (before >> 80) == millis:
            return str(ULID.from_bytes((before + 1).to_bytes(16, "big")))
    return str(fresh)
