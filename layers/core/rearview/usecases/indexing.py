"""From records to index documents: which text is embedded and tokenised, and under which stamp."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rearview.domain import keys
from rearview.domain.chunks import CONTEXT_MEMORIES, chunk, index_terms, index_text
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.domain.records import Decision
from rearview.domain.tokens import tokenise
from rearview.ports import Embedder, IndexDocument, Reading
from rearview.usecases.services import Services
from rearview.usecases.texts import full_or_gist

if TYPE_CHECKING:
    from rearview.ports import Vectors


@dataclass(frozen=True, slots=True)
class Prepared:
    """A record's text on its way into the index; ``chunks`` is empty when its vectors are there already."""

    text: str
    stamp: str
    chunks: tuple[str, ...]


def text_of(record: Memory | Decision) -> str:
    """The text that stands for a record in the index. Of a memory whose text lies in the archive and was not fetched it
    is made from the summary."""
    if isinstance(record, Decision):
        return f"{record.context}\n{record.action}"
    return index_text(record.gist, occurred_at=record.valid_from, speaker=record.source.speaker)


def terms_of(record: Memory | Decision, context: Sequence[str] = ()) -> list[str]:
    """The terms under which a record is found by keyword. ``context``: what was said before it, nearest first."""
    if isinstance(record, Decision):
        return tokenise(text_of(record))
    return index_terms(
        record.gist, occurred_at=record.valid_from, speaker=record.source.speaker, context=context
    )


def prepare(record: Memory | Decision, embedder: Embedder) -> Prepared:
    """What has to be embedded for a record, if anything. Decisions are found by their context alone; a text that lies in
    the archive and was not fetched, or is lost there, has the vectors that it had."""
    text = text_of(record)
    if isinstance(record, Memory) and record.text_archived and record.content in ("", record.summary):
        stamp = record.embedding or ""
        if stamp.startswith(f"{embedder.fingerprint}:"):
            return Prepared(text, stamp, ())
    embedded = record.context if isinstance(record, Decision) else text
    stamp = f"{embedder.fingerprint}:{hashlib.sha256(embedded.encode()).hexdigest()[:16]}"
    if record.embedding == stamp:
        return Prepared(text, stamp, ())
    return Prepared(text, stamp, tuple(chunk(embedded, max_chars_weight=embedder.max_weight)))


def contexts(services: Services, records: Iterable[Memory | Decision]) -> dict[str, list[str]]:
    """By memory id: what was said in its session just before it, nearest first. What was forgotten is left out."""
    texts: dict[str, list[str]] = {}
    wanted = {
        item.id: keys.memory(item.scope.partition, item.follows)
        for item in records
        if isinstance(item, Memory) and item.follows is not None
    }
    for _ in range(CONTEXT_MEMORIES):
        bodies = services.store.get_many(dict.fromkeys(wanted.values())) if wanted else {}
        states = full_or_gist(services, [decode(Memory, body) for body in bodies.values()])
        found = dict(zip(bodies, states, strict=True))
        further = {}
        for memory_id, at in wanted.items():
            before = found.get(at)
            if before is None:
                continue
            if before.status not in ("deleted", "quarantined"):
                texts.setdefault(memory_id, []).append(before.content)
            if before.follows is not None:
                further[memory_id] = keys.memory(at.partition, before.follows)
        wanted = further
    return texts


def followers(reading: Reading, memory: Memory) -> list[Memory]:
    """The memories of the session whose terms hold some of this one's, and must be told apart from it again."""
    found: list[Memory] = []
    current = memory.id
    for _ in range(CONTEXT_MEMORIES):
        link = reading.get(keys.following(memory.scope.partition, current))
        body = None if link is None else reading.get(keys.memory(memory.scope.partition, link["id"]))
        if body is None:
            break
        found.append(decode(Memory, body))
        current = body["id"]
    return found


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


def document(
    record: Memory | Decision, prepared: Prepared, vectors: Vectors | None, context: Sequence[str] = ()
) -> IndexDocument:
    """The index document of a record; ``vectors`` None leaves those that the index holds."""
    common: Mapping[str, Any] = {
        "id": record.id,
        "partition": record.scope.partition,
        "namespace": record.scope.namespace,
        "text": prepared.text,
        "terms": terms_of(record, context),
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
