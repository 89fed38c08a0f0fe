"""Stamping: what enrichment leaves on a record: its state, its embedding's stamp, what it says by slot."""

from __future__ import annotations

from dataclasses import replace

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.lifecycle import packed
from rearview.domain.memory import Memory
from rearview.domain.records import Decision
from rearview.ports import UnitOfWork


def in_pack(record: Memory | Decision) -> bool:
    """Whether the record's vectors and text lie in an archive pack."""
    return isinstance(record, Memory) and packed(record)


def stamp(uow: UnitOfWork, record: Memory | Decision, embedding: str) -> None:
    """Marks a record as enriched under the stamp ``embedding``, unless it changed since ``record`` was read: then a later
    mark is waiting. What was read out of a memory's text goes with it."""
    if isinstance(record, Decision):
        uow.put(
            keys.decision(record.scope.partition, record.id),
            encode(replace(record, enrichment="done", embedding=embedding)),
        )
        return
    at = keys.memory(record.scope.partition, record.id)
    body = uow.get(at)
    if body is None:
        return
    current = decode(Memory, body)
    state = "done" if current.version == record.version else current.enrichment
    # What lies in a pack keeps the stamp of the vectors there.
    embedding = current.embedding or "" if packed(current) else embedding
    current = replace(current, enrichment=state, embedding=embedding)
    if current.content_hash == record.content_hash:
        current = replace(current, said=record.said, said_stamp=record.said_stamp)
    uow.put(at, encode(current), expires_at=current.due, ttl=current.expires_at is not None)
