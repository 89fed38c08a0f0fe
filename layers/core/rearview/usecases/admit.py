"""From a write request to a draft memory: validation is done, the sieves decide, what is missing is filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast

from rearview.domain import admission
from rearview.domain.entities import find_entities
from rearview.domain.forgetting import stated
from rearview.domain.memory import Memory, Source
from rearview.domain.principal import Principal
from rearview.domain.scope import Scope
from rearview.domain.summary import summarise
from rearview.domain.times import plus
from rearview.domain.types import (
    SUMMARY_LIMIT,
    Audience,
    Kind,
    MemoryType,
    Origin,
    VerdictName,
)
from rearview.errors import InvalidInput
from rearview.usecases.book import Book
from rearview.usecases.commands import SourceIn, WriteMemory
from rearview.usecases.fields import zone
from rearview.usecases.services import Services


@dataclass(frozen=True, slots=True)
class Draft:
    """A judged write, not yet placed. ``verdict`` is ``admit``, ``tentative`` or ``drop``."""

    scope: Scope
    verdict: VerdictName
    reasons: tuple[str, ...]
    content: str
    summary: str
    memory_type: MemoryType
    kind: Kind
    importance: float
    confidence: float
    origin: Origin
    audience: Audience
    source: Source
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    agent_id: str | None = None
    session_id: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    verbatim: bool = False
    importance_stated: bool = False

    def place(self, book: Book) -> Memory:
        """The memory that this draft becomes in a transaction, with its own id and time."""
        at = book.tick()
        return Memory(
            id=book.new_id(at),
            scope=self.scope,
            content=self.content,
            summary=self.summary,
            memory_type=self.memory_type,
            kind=self.kind,
            importance=self.importance,
            confidence=self.confidence,
            origin=self.origin,
            status="tentative" if self.verdict == "tentative" else "active",
            version=1,
            seq=0,
            created_at=at,
            updated_at=at,
            valid_from=self.valid_from or at,
            created_by=book.by,
            updated_by=book.by,
            content_hash=book.digest(self.content, self.memory_type, self.session_id, self.audience),
            agent_id=self.agent_id,
            session_id=self.session_id,
            tags=self.tags,
            entities=self.entities,
            audience=self.audience,
            valid_to=self.valid_to,
            expires_at=self.expires_at,
            source=self.source,
            verbatim=self.verbatim,
            metadata=dict(self.metadata),
            importance_stated=self.importance_stated,
            corrected=self.kind == "correction",
        )


def draft(services: Services, principal: Principal, request: WriteMemory) -> Draft:
    """Judges one write. Raises Forbidden for a foreign namespace and InvalidInput for times that contradict."""
    scope = principal.scope("write", request.namespace, request.user_id)
    now = services.now()
    said_at = request.moment(request.occurred_at) or now
    judge = admission.judge if request.admission == "auto" else admission.estimate
    verdict = judge(
        request.content,
        origin=request.origin,
        kind=request.kind,
        said_at=said_at,
        now=now,
        timezone=zone(request.timezone),
        rules=services.rules.admission,
    )
    kind = cast("Kind", request.kind or verdict.kind)
    valid_to = request.moment(request.valid_to, upper=True)
    if valid_to is not None and request.occurred_at is not None and valid_to < said_at:
        raise InvalidInput.of("valid_to", "after_occurred_at", "must not lie before occurred_at")
    life = services.policies.of(scope.namespace).shelf_life(request.memory_type, kind)
    expires_at = expiry(now, life, verdict.expires_at if request.admission == "auto" else None)
    if request.ttl_seconds is not None:
        expires_at = plus(now, timedelta(seconds=request.ttl_seconds))
    return Draft(
        scope=scope,
        verdict=cast("VerdictName", verdict.verdict),
        reasons=verdict.reasons,
        content=request.content,
        summary=summarise(request.content, limit=SUMMARY_LIMIT),
        memory_type=request.memory_type,
        kind=kind,
        importance=verdict.importance if request.importance is None else request.importance,
        confidence=verdict.confidence if request.confidence is None else request.confidence,
        origin=request.origin,
        audience=request.audience,
        source=source(request.source, request.session_id),
        valid_from=request.moment(request.occurred_at),
        valid_to=valid_to if valid_to is not None else verdict.valid_to,
        expires_at=expires_at,
        agent_id=request.agent_id,
        session_id=request.session_id,
        tags=tuple(dict.fromkeys(request.tags)),
        entities=tuple(find_entities(request.content)),
        metadata=request.metadata,
        verbatim=request.admission == "verbatim",
        importance_stated=request.origin == "user" and stated(request.importance),
    )


def source(given: SourceIn | None, session_id: str | None) -> Source:
    """The source as given; a memory written within a session comes from it."""
    if given is None:
        return Source(session_id=session_id)
    fields = given.model_dump(exclude={"timezone"})
    fields["session_id"] = fields["session_id"] or session_id
    return Source(**fields)


def expiry(now: datetime, life: timedelta | None, sieve: datetime | None) -> datetime | None:
    """When a memory that names no TTL expires: after the shelf life of its layer, or earlier if its text says so."""
    ends = [sieve] if sieve is not None else []
    if life is not None:
        ends.append(plus(now, life))
    return min(ends, default=None)
