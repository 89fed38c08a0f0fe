"""Reworded: what the sieves had read out of a text's old words goes with them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from rearview.domain import admission
from rearview.domain.memory import Memory
from rearview.usecases.admit import expiry
from rearview.usecases.commands import PatchMemory
from rearview.usecases.fields import zone
from rearview.usecases.services import Services

#: The zone in which the old words were read is not kept: two zones are at most that far apart.
ZONES = timedelta(hours=26)
#: A shelf life was counted from the write's own look at the clock, shortly before the creation.
SHORTLY = timedelta(seconds=2)


def times_reread(
    services: Services, memory: Memory, request: PatchMemory, fields: Mapping[str, Any], now: datetime
) -> dict[str, Any]:
    """The ``expires_at`` and ``valid_to`` of a memory whose text becomes another (``fields``: its changes): where they were
    read out of the old text, what the new one says, as of ``now``. What a caller set, now or before, stays."""
    text = fields.get("content")
    if text is None or memory.text_archived or memory.verbatim:
        return {}
    rules, kind = services.rules.admission, fields.get("kind", memory.kind)
    tz = zone(request.timezone)

    def read(words: str, as_kind: str, said_at: datetime, at: datetime) -> admission.Verdict:
        return admission.estimate(
            words, origin=memory.origin, kind=as_kind, said_at=said_at, now=at, timezone=tz, rules=rules
        )

    old = read(memory.content, memory.kind, memory.valid_from, memory.created_at)
    new = read(text, kind, now, now)
    reread: dict[str, Any] = {}
    if "valid_to" not in request.model_fields_set and _near(memory.valid_to, old.valid_to, ZONES):
        reread["valid_to"] = new.valid_to
    passing = _near(memory.expires_at, old.expires_at, SHORTLY)
    bounded = _near(memory.expires_at, old.valid_to, ZONES) and memory.expires_at == memory.valid_to
    if "ttl_seconds" not in request.model_fields_set and (passing or bounded):
        life = services.policies.of(memory.scope.namespace).shelf_life(memory.memory_type, kind)
        reread["expires_at"] = expiry(memory.created_at, life, new.expires_at)
    return reread


def _near(one: datetime | None, other: datetime | None, within: timedelta) -> bool:
    return one is not None and other is not None and abs(one - other) <= within
