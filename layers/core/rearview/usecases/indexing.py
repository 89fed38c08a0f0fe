"""From records to index documents: which text is embedded and tokenised, and under which stamp."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rearview.domain.chunks import chunk, index_text
from rearview.domain.memory import Memory
from rearview.domain.records import Decision
from rearview.domain.tokens import tokenise
from rearview.ports import Embedder, IndexDocument

if TYPE_CHECKING:
    from rearview.ports import Vectors


@dataclass(frozen=True, slots=True)
class Prepared:
    """A record's text on its way into the index; ``chunks`` is empty when its vectors are there already."""

    text: str
    stamp: str
    chunks: tuple[str, ...]


def text_of(record: Memory | Decision, before: str | None = None) -> str:
    """The text that stands for a record in the index. ``before``: what was said just before, as context."""
    if isinstance(record, Decision):
        return f"{record.context}\n{record.action}"
    return index_text(
        record.content, occurred_at=record.valid_from, speaker=record.source.speaker, context=before
    )


def prepare(record: Memory | Decision, embedder: Embedder, before: str | None = None) -> Prepared:
    """What has to be embedded for a record, if anything. Decisions are found by their context alone."""
    text = text_of(record, before)
    embedded = record.context if isinstance(record, Decision) else text
    stamp = f"{embedder.fingerprint}:{hashlib.sha256(embedded.encode()).hexdigest()[:16]}"
    if record.embedding == stamp:
        return Prepared(text, stamp, ())
    return Prepared(text, stamp, tuple(chunk(embedded, max_chars_weight=embedder.max_weight)))


def embed(prepared: Sequence[Prepared], embedder: Embedder) -> list[Vectors | None]:
    """The vectors of each, all chunks embedded in one call."""
    chunks = [piece for item in prepared for piece in item.chunks]
    if not chunks:
        return [None] * len(prepared)
    vectors = embedder.embed_passages(chunks)
    out: list[Vectors | None] = []
    at = 0
    for item in prepared:
        size = len(item.chunks)
        out.append(vectors[at : at + size] if size else None)
        at += size
    return out


def document(record: Memory | Decision, prepared: Prepared, vectors: Vectors | None) -> IndexDocument:
    """The index document of a record; ``vectors`` None leaves those that the index holds."""
    common: Mapping[str, Any] = {
        "id": record.id,
        "partition": record.scope.partition,
        "namespace": record.scope.namespace,
        "text": prepared.text,
        "terms": tokenise(prepared.text),
        "vectors": vectors,
        "created_at": record.created_at,
        "agent_id": record.agent_id,
        "session_id": record.session_id,
        "tags": record.tags,
    }
    if isinstance(record, Decision):
        return IndexDocument(
            record="decision",
            version=1,
            status="active",
            memory_type="trace",
            kind="conclusion",
            origin="agent",
            audience="user",
            importance=0.5,
            valid_from=record.occurred_at,
            **common,
        )
    return IndexDocument(
        record="memory",
        version=record.version,
        status=record.status,
        memory_type=record.memory_type,
        kind=record.kind,
        origin=record.origin,
        audience=record.audience,
        importance=record.importance,
        valid_from=record.valid_from,
        valid_to=record.valid_to,
        expires_at=record.expires_at,
        **common,
    )
