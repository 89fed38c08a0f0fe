"""Weekly: reports of which there is one a week, whoever asks for it first and however often."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from rearview.domain.ids import next_ulid
from rearview.domain.ledger import canonical


def report_id(kind: str, namespace: str, user_id: str | None, week: str) -> str:
    """The id of the one report of that kind on a user (None: the namespace) in an ISO week such as ``2026-W49``."""
    year, number = week.split("-W")
    monday = datetime.fromisocalendar(int(year), int(number), 1).replace(tzinfo=UTC)
    digest = hashlib.sha256(canonical(["weekly report", kind, namespace, user_id, week])).digest()
    return next_ulid(None, monday, digest[:10])
