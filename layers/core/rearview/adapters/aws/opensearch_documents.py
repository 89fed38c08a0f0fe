"""Index documents as OpenSearch sources, and the lines of a bulk request."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rearview.adapters.aws.opensearch_mapping import DELETED, Json, micros, vector_field, writing
from rearview.domain.times import to_text
from rearview.ports import IndexDocument

if TYPE_CHECKING:
    from rearview.ports import Vectors

_SURROGATES: Final = re.compile("[\ud800-\udfff]")
#: Finer than float32 is for components of a unit vector, and half the bytes of its full text form.
_DECIMALS: Final = 8

Chunks = list[list[float]]


def clean(text: str) -> str:
    """Without lone surrogates, which no UTF-8 can carry."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


@dataclass(frozen=True, slots=True)
class Row:
    """A document made ready. ``chunks``: its vectors, None without; ``dims``: their size."""

    document: IndexDocument
    text_digest: str
    chunks: Chunks | None
    dims: int | None


@dataclass(frozen=True, slots=True)
class Operation:
    """One line or two of a bulk request."""

    id: str
    action: str
    header: Json
    source: Json | None

    def lines(self) -> str:
        head = json.dumps({self.action: self.header}, ensure_ascii=False)
        if self.source is None:
            return f"{head}\n"
        return f"{head}\n{json.dumps(self.source, ensure_ascii=False)}\n"


def prepare_all(documents: Iterable[IndexDocument]) -> tuple[list[Row], list[str]]:
    """The rows of the documents, and the ids of those whose vectors are unusable.

    Of several writes of one id the latest counts; it takes over the vectors of an earlier one with the same text.
    """
    rows: dict[str, Row] = {}
    failed: list[str] = []
    for document in documents:
        row = _prepare(document)
        if row is None:
            failed.append(document.id)
            continue
        before = rows.get(document.id)
        if before is not None and before.document.version > document.version:
            continue
        if before is not None and row.chunks is None and before.text_digest == row.text_digest:
            row = replace(row, chunks=before.chunks, dims=before.dims)
        rows[document.id] = row
    return list(rows.values()), failed


def _prepare(document: IndexDocument) -> Row | None:
    text_digest = hashlib.blake2b(clean(document.text).encode(), digest_size=16).hexdigest()
    if document.vectors is None:
        return Row(document, text_digest, None, None)
    vectors = np.asarray(document.vectors, dtype=np.float64)
    if vectors.ndim != 2 or 0 in vectors.shape or not np.isfinite(vectors).all():
        return None
    # The cosine of a zero vector is none, and the engine refuses it.
    if not np.abs(vectors).max(axis=1).all():
        return None
    return Row(document, text_digest, np.round(vectors, _DECIMALS).tolist(), int(vectors.shape[1]))


def without_vectors(row: Row) -> Row:
    """The row as one that words alone find."""
    return replace(row, chunks=None, dims=None)


def source_of(row: Row, chunks: Chunks | None, fingerprint: str) -> Json:
    """The document as it is sent. ``chunks`` go into the field of ``fingerprint``."""
    document = row.document
    source: Json = {
        "id": document.id,
        "record": document.record,
        "partition": document.partition,
        "namespace": document.namespace,
        "version": document.version,
        "text": clean(document.text),
        "terms": clean(" ".join(document.terms)),
        "text_digest": row.text_digest,
        "chunk_count": len(chunks or ()),
        "status": document.status,
        "memory_type": document.memory_type,
        "kind": document.kind,
        "origin": document.origin,
        "audience": document.audience,
        "importance": document.importance,
        "created_at": to_text(document.created_at),
        "valid_from": micros(document.valid_from),
        "valid_to": micros(document.valid_to),
        "expires_at": micros(document.expires_at),
        "tags": [clean(tag) for tag in document.tags],
    }
    if document.agent_id is not None:
        source["agent_id"] = clean(document.agent_id)
    if document.session_id is not None:
        source["session_id"] = clean(document.session_id)
    if chunks:
        field = vector_field(fingerprint)
        source["chunks"] = [{field: vector} for vector in chunks]
    return source


def held_chunks(found: Mapping[str, Any], row: Row, fingerprint: str | None) -> Chunks | None:
    """The vectors that an index holds for the text of ``row``; ``found``: the document's ``_source``."""
    if fingerprint is None or found.get("text_digest") != row.text_digest:
        return None
    field = vector_field(fingerprint)
    return [chunk[field] for chunk in found.get("chunks", ()) if field in chunk] or None


def held_vectors(sources: Mapping[str, Mapping[str, Any]], fingerprint: str) -> dict[str, Vectors]:
    """By id of a memory: its chunks' vectors (n, dims) float32, out of documents' ``_source``."""
    field = vector_field(fingerprint)
    found = {
        one: [chunk[field] for chunk in source.get("chunks", ()) if field in chunk]
        for one, source in sources.items()
        if source.get("record") == "memory"
    }
    return {one: np.array(rows, np.float32) for one, rows in found.items() if rows}


def index_operation(index: str, row: Row, chunks: Chunks | None, fingerprint: str) -> Operation:
    """Writes a document unless a later version is held."""
    document = row.document
    header = {
        "_index": writing(index),
        "_id": document.id,
        "version": document.version,
        "version_type": "external_gte",
    }
    return Operation(document.id, "index", header, source_of(row, chunks, fingerprint))


def delete_operation(index: str, document_id: str, version: int) -> Operation:
    """Takes a document out unless a later version than ``version`` is held, and holds off lower ones for a while."""
    header = {
        "_index": writing(index),
        "_id": document_id,
        "version": version,
        "version_type": "external_gte",
    }
    return Operation(document_id, "delete", header, None)


def note_operation(index: str, document_id: str) -> Operation:
    """Notes beside a rebuild that a document was deleted: the rebuild may have read it before."""
    header = {"_index": writing(index), "_id": DELETED + document_id}
    return Operation(document_id, "index", header, {"id": document_id, "deleted": True})


def unnote_operation(index: str, document_id: str) -> Operation:
    """Takes such a note back: the document has been written again."""
    return Operation(document_id, "delete", {"_index": writing(index), "_id": DELETED + document_id}, None)


def batches(
    operations: Sequence[Operation], most_bytes: int, most: int
) -> Iterable[tuple[list[Operation], str]]:
    """Cuts operations into bulk bodies of at most ``most`` operations and about ``most_bytes``."""
    batch: list[Operation] = []
    lines: list[str] = []
    size = 0
    for operation in operations:
        text = operation.lines()
        if batch and (size + len(text) > most_bytes or len(batch) == most):
            yield batch, "".join(lines)
            batch, lines, size = [], [], 0
        batch.append(operation)
        lines.append(text)
        size += len(text)
    if batch:
        yield batch, "".join(lines)
