"""How an index is laid out: settings, analyzers, fields, names. `infra/opensearch/index.json` shows one in full.

Three ways into a text, one of which answers recalls:

- ``terms`` holds the output of the domain's tokeniser, space-joined, cut at the spaces. The keyword arm searches this
  and nothing else, so that a text is found here by the words that find it in SQLite.
- ``text.cjk`` (characters and pairs) and ``text.english`` (stemmed) are for people who search the domain by hand or in
  Dashboards, where no tokeniser of ours runs. Beside the vectors their cost in time cannot be measured.

The texts themselves are not in ``_source``: the store is the truth, the index only finds.

Times that filter are microseconds since 1970 (``long``): exact over all years, where ``date_nanos`` ends in 2262 and
begins in 1970, and ranges over keyword texts walk every distinct time. An end that is open is :data:`OPEN`.
The port carries no free-form metadata, so there is no field for it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

Json = dict[str, Any]

#: "No end": later than every time that can be.
OPEN: Final = 2**62
#: Ids of the notes on what was deleted while a rebuild ran.
DELETED: Final = "deleted:"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_KEYWORD: Final = {"type": "keyword"}
_KEYWORDS: Final = (
    *("id", "record", "partition", "namespace", "status", "memory_type", "kind", "origin", "audience"),
    *("agent_id", "session_id", "tags"),
)


@dataclass(frozen=True, slots=True)
class Options:
    """What an operator may choose about the index.

    ``refresh``: ``true`` makes every write visible before it is acknowledged to the worker, ``wait_for`` too, more
    slowly and more cheaply (it waits for ``refresh_interval``); ``false`` gives that up, and with it that a user
    always finds what was enriched.
    ``search_seconds``, ``write_seconds``: patience with one request; it is tried twice. ``pause_seconds``: for how long
    an index that did not answer is not asked again. ``nearest``: how many neighbours a shard looks for at least: all
    users with no more chunks than this are searched exactly, and larger ones almost so.
    """

    alias: str = "rearview"
    shards: int = 1
    replicas: int | None = None
    refresh: Literal["true", "wait_for", "false"] = "true"
    refresh_interval: str = "1s"
    search_seconds: float = 2.0
    write_seconds: float = 30.0
    pause_seconds: float = 5.0
    nearest: int = 1000

    @property
    def building(self) -> str:
        """The alias of the generation on its way."""
        return f"{self.alias}-building"


def micros(moment: datetime | None) -> int:
    """Microseconds since 1970, exactly; None is an open end."""
    if moment is None:
        return OPEN
    delta = moment - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def digest(text: str) -> str:
    """Names a model in a field or index: 8 hexadecimal digits."""
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def vector_field(fingerprint: str) -> str:
    """The field of one model's vectors, under ``chunks``: those of two models cannot get into one field."""
    return f"v_{digest(fingerprint)}"


def writing(index: str) -> str:
    """The alias through which one index is written: a write to an index that is gone must not create it."""
    return f"{index}-w"


def vector_mapping(fingerprint: str, dims: int) -> Json:
    """The part of the mapping that vectors of a model need."""
    vector = {
        "type": "knn_vector",
        "dimension": dims,
        # Without an engine and a space stated, versions differ in both (faiss and l2 since 3.0).
        "method": {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"},
    }
    return {
        "chunks": {"type": "nested", "dynamic": "strict", "properties": {vector_field(fingerprint): vector}}
    }


def definition(options: Options, *, aliases: Json | None = None, meta: Json | None = None) -> Json:
    """The body that creates an index, as yet without vectors."""
    replicas: Json = (
        {"auto_expand_replicas": "0-1"}
        if options.replicas is None
        else {"number_of_replicas": options.replicas}
    )
    return {
        "settings": {
            "index": {
                "knn": True,
                "number_of_shards": options.shards,
                **replicas,
                "refresh_interval": options.refresh_interval,
                # For so long a deletion holds off a late write of a lower version.
                "gc_deletes": "15s",
                # An erasure's merge leaves no deleted document behind in its segment.
                "merge": {"policy": {"expunge_deletes_allowed": 0}},
            },
            "analysis": {
                "analyzer": {
                    "terms": {"type": "custom", "tokenizer": "whitespace"},
                    "cjk_characters_and_pairs": {
                        "type": "custom",
                        "tokenizer": "standard",
                        "filter": ["cjk_width", "lowercase", "cjk_characters_and_pairs"],
                    },
                },
                "filter": {"cjk_characters_and_pairs": {"type": "cjk_bigram", "output_unigrams": True}},
            },
        },
        "mappings": {
            "dynamic": "strict",
            "_meta": meta or {},
            "_source": {"excludes": ["text", "terms"]},
            "properties": {
                **dict.fromkeys(_KEYWORDS, _KEYWORD),
                "version": {"type": "long"},
                "text": {
                    "type": "text",
                    "index": False,
                    "fields": {
                        "cjk": {"type": "text", "analyzer": "cjk_characters_and_pairs"},
                        "english": {"type": "text", "analyzer": "english"},
                    },
                },
                "terms": {
                    "type": "text",
                    "analyzer": "terms",
                    "similarity": "BM25",
                    "index_options": "freqs",
                },
                "text_digest": {"type": "keyword", "index": False, "doc_values": False},
                "chunks": {"type": "nested", "dynamic": "strict"},
                "chunk_count": {"type": "integer"},
                "importance": {"type": "double"},
                "created_at": {"type": "date"},
                "valid_from": {"type": "long"},
                "valid_to": {"type": "long"},
                "expires_at": {"type": "long"},
                "deleted": {"type": "boolean"},
            },
        },
        "aliases": aliases or {},
    }
