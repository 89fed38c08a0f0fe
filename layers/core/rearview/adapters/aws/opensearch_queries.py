"""Searches as request bodies: filters, the three arms, the exact scores of what other arms found. All pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rearview.adapters.aws.opensearch_documents import clean
from rearview.adapters.aws.opensearch_mapping import Json, Options, micros, vector_field
from rearview.ports import IndexQuery

Vector = NDArray[np.float32]

#: Every term costs a walk over its postings; a query of a whole document is cut to this many.
MAX_TERMS: Final = 256
#: ``max_result_window``, and the largest k that the engine takes.
MOST: Final = 10_000
_TOKEN: Final = re.compile(r"[A-Za-z0-9\u0080-\ud7ff\ue000-\U0010ffff]")
_NO_TEXT: Final = re.compile("[\x00\ud800-\udfff]")


def filters_of(query: IndexQuery) -> Json:
    """Every condition a document must meet, as one bool query that scores nothing."""
    where: list[Json] = [
        {"term": {"record": query.record}},
        _scope(query),
        {"range": {"expires_at": {"gt": micros(query.now)}}},
    ]
    for field, allowed in (
        ("status", query.statuses),
        ("memory_type", query.memory_types),
        ("kind", query.kinds),
        ("origin", query.origins),
    ):
        if allowed:
            where.append({"terms": {field: list(allowed)}})
    where += [{"term": {"tags": clean(tag)}} for tag in query.tags]
    if query.agent_id is not None:
        where.append({"term": {"agent_id": clean(query.agent_id)}})
    if query.session_id is not None:
        where.append({"term": {"session_id": clean(query.session_id)}})
    if query.since is not None:
        where.append({"range": {"valid_from": {"gte": micros(query.since)}}})
    if query.until is not None:
        where.append({"range": {"valid_from": {"lte": micros(query.until)}}})
    if query.valid_at is not None:
        at = micros(query.valid_at)
        where += [{"range": {"valid_from": {"lte": at}}}, {"range": {"valid_to": {"gt": at}}}]
    if query.min_importance is not None:
        where.append({"range": {"importance": {"gte": query.min_importance}}})
    body: Json = {"filter": where}
    if query.exclude:
        body["must_not"] = [{"terms": {"id": list(query.exclude)}}]
    return {"bool": body}


def _scope(query: IndexQuery) -> Json:
    """The user's own, or what a namespace shares."""
    own = {"terms": {"partition": list(dict.fromkeys(query.partitions))}}
    if not query.namespaces:
        return own
    lessons = {
        "bool": {
            "filter": [
                {"term": {"audience": "namespace"}},
                {"terms": {"namespace": list(dict.fromkeys(query.namespaces))}},
            ]
        }
    }
    return {"bool": {"should": [own, lessons], "minimum_should_match": 1}}


def search_terms(terms: Iterable[str]) -> list[str]:
    """The distinct terms to look for, without what the index cannot hold; at most :data:`MAX_TERMS`.

    A term counts once, as in the domain's BM25. One with a blank inside is no term of the tokeniser and is cut there.
    """
    pieces = (piece for term in terms for piece in _NO_TEXT.sub("", term).split())
    wanted = [piece for piece in dict.fromkeys(pieces) if _TOKEN.search(piece)]
    if len(wanted) > MAX_TERMS:
        # Single characters of Chinese are repeated, more sharply, by the pairs they stand in.
        wanted = sorted(wanted, key=lambda term: len(term) < 2)[:MAX_TERMS]
    return wanted


def query_rows(vector: Vector | None, dims: int) -> list[list[float]] | None:
    """The query's vectors as lists; None if they are unusable here: of another size, zero, or not finite."""
    if vector is None:
        return None
    rows = np.asarray(vector, np.float64)
    if rows.size == 0 or rows.shape[-1] != dims or not np.isfinite(rows).all():
        return None
    rows = rows.reshape(-1, dims)
    if not np.abs(rows).max(axis=1).all():
        return None
    found: list[list[float]] = rows.tolist()
    return found


def vector_arm(query: IndexQuery, row: Sequence[float], fingerprint: str, options: Options) -> Json:
    """The nearest documents, by their best chunk, among those that pass every filter.

    The filter stands inside ``knn``, where the engine applies it while it walks; outside it would take hits away.
    """
    nearest = min(MOST, max(options.nearest, 4 * query.limit))
    return _body(
        _knn(row, fingerprint, nearest, filters_of(query)), min(query.limit, MOST), options, by_score=True
    )


def exact_scores(ids: Sequence[str], row: Sequence[float], fingerprint: str, options: Options) -> Json:
    """The score of certain documents. With no more candidates than ``k`` the engine computes every cosine."""
    only = {"bool": {"filter": [{"terms": {"id": list(ids)}}]}}
    return _body(_knn(row, fingerprint, MOST, only), min(len(ids), MOST), options, by_score=True)


def keyword_arm(query: IndexQuery, terms: Sequence[str], options: Options) -> Json:
    """The best by BM25 over the domain's terms."""
    match = {"match": {"terms": {"query": " ".join(terms)}}}
    body = {"bool": {"must": [match], **filters_of(query)["bool"]}}
    return _body(body, min(query.limit, MOST), options, by_score=True)


def recent_arm(query: IndexQuery, options: Options) -> Json:
    """The newest by ``valid_from``."""
    return _body(filters_of(query), min(query.recent, MOST), options, by_score=False)


def _knn(row: Sequence[float], fingerprint: str, k: int, condition: Json) -> Json:
    knn = {f"chunks.{vector_field(fingerprint)}": {"vector": list(row), "k": k, "filter": condition}}
    return {"nested": {"path": "chunks", "score_mode": "max", "query": {"knn": knn}}}


def _body(query: Json, size: int, options: Options, *, by_score: bool) -> Json:
    """At equal scores the newer id comes first, on every shard and in every run."""
    return {
        "query": query,
        "size": size,
        "sort": [{"_score" if by_score else "valid_from": "desc"}, {"id": "desc"}],
        # Not even the id is read from the stored fields: they hold the vectors too, and unpacking them takes longer
        # than the search.
        "stored_fields": "_none_",
        "docvalue_fields": ["id", "partition", "chunk_count"],
        "track_total_hits": False,
        "timeout": f"{round(options.search_seconds * 1000)}ms",
    }


def cosine(score: float) -> float:
    """From the engine's (1 + cosine) / 2; rounded to six decimals, so that the same text has the same score."""
    return max(-1.0, min(1.0, round(2.0 * score - 1.0, 6)))


def field(hit: Mapping[str, Any], name: str) -> Any:
    """The doc value of a hit."""
    return hit["fields"][name][0]
