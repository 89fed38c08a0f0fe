"""A search: the arms in one ``_msearch``, their union, and the cosines that are still missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from opensearchpy.exceptions import NotFoundError, RequestError

from rearview.adapters.aws import opensearch_queries as queries
from rearview.adapters.aws.opensearch_client import Caller
from rearview.adapters.aws.opensearch_generations import Generations
from rearview.adapters.aws.opensearch_mapping import Json, Options
from rearview.errors import Unavailable
from rearview.ports import IndexAnswer, IndexQuery, Scored

Name = Literal["vector", "keyword", "recent"]

_ATTEMPTS: Final = 2
_PAGE: Final = 5000


class _TryAgain(Exception):
    """The index that the alias named may be another one now: swapped in the middle of the search, or never there."""


@dataclass(slots=True)
class _Found:
    """A document on its way into the answer. ``chunks``: how many vectors it has."""

    id: str
    partition: str
    chunks: int
    vector: float | None = None
    keyword: float | None = None


@dataclass(slots=True)
class _Union:
    """What the arms found, and which of them failed."""

    found: dict[str, _Found] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def take(self, name: Name, hits: Sequence[Json]) -> None:
        for hit in hits:
            one = self.found.setdefault(
                queries.field(hit, "id"),
                _Found(
                    queries.field(hit, "id"),
                    queries.field(hit, "partition"),
                    queries.field(hit, "chunk_count"),
                ),
            )
            if name == "vector":
                score = queries.cosine(hit["_score"])
                one.vector = score if one.vector is None else max(one.vector, score)
            elif name == "keyword":
                one.keyword = hit["_score"]


class Searcher:
    """The reading half of the index."""

    def __init__(self, call: Caller, generations: Generations, options: Options, fingerprint: str) -> None:
        self._call = call
        self._generations = generations
        self._options = options
        self._fingerprint = fingerprint

    def search(self, query: IndexQuery) -> IndexAnswer:
        """See the port. Candidates come arm by arm, best first; at equal scores the newer id first."""
        if not query.partitions and not query.namespaces:
            return IndexAnswer([])
        for attempt in range(_ATTEMPTS):
            try:
                return self._search(query, last=attempt == _ATTEMPTS - 1)
            except _TryAgain:
                # In the middle of a swap; or the index has never been there, and holds nothing.
                if self._generations.read().active is None:
                    return IndexAnswer([])
        raise Unavailable("the index was swapped while it was searched, again and again")

    def _search(self, query: IndexQuery, *, last: bool) -> IndexAnswer:
        degraded: list[str] = []
        rows: list[list[float]] = []
        if query.vector is not None:
            active = self._generations.for_search(self._fingerprint).active
            if active is not None and active.dims is not None:
                known = active.model == self._fingerprint
                usable = queries.query_rows(query.vector, active.dims) if known else None
                if usable is None:
                    degraded.append("vector")
                else:
                    rows = usable
        arms = list(self._arms(query, rows))
        if not arms:
            return IndexAnswer([], degraded)
        union = _Union()
        for (name, _), answer in zip(arms, self._ask([body for _, body in arms]), strict=True):
            _read(name, answer, union, last=last)
        if len(union.failed) == len({name for name, _ in arms}):
            raise Unavailable(f"the index failed: {next(iter(union.failed.values()))}")
        degraded += union.failed
        if rows and "vector" not in union.failed and not self._fill(union, rows):
            degraded.append("vector")
        return IndexAnswer(
            [Scored(one.id, one.partition, one.vector, one.keyword) for one in union.found.values()],
            list(dict.fromkeys(degraded)),
        )

    def _arms(self, query: IndexQuery, rows: Sequence[list[float]]) -> Iterator[tuple[Name, Json]]:
        options = self._options
        if query.limit > 0:
            for row in rows:
                yield "vector", queries.vector_arm(query, row, self._fingerprint, options)
            terms = queries.search_terms(query.terms)
            if terms:
                yield "keyword", queries.keyword_arm(query, terms, options)
        if query.recent > 0:
            yield "recent", queries.recent_arm(query, options)

    def _fill(self, union: _Union, rows: Sequence[list[float]]) -> bool:
        """Computes the cosines that no arm brought; whether that worked.

        Those of documents with several chunks too: the walk through the graph may have met a lesser one of them.
        """
        wanted = [one.id for one in union.found.values() if one.vector is None or one.chunks > 1]
        wanted = [one for one in wanted if union.found[one].chunks > 0]
        if not wanted:
            return True
        exact = _Union()
        bodies = [queries.exact_scores(wanted, row, self._fingerprint, self._options) for row in rows]
        try:
            for answer in self._ask(bodies):
                _read("vector", answer, exact, last=True)
        except (Unavailable, _TryAgain):
            return False
        for one in exact.found.values():
            if one.id in union.found:
                union.found[one.id].vector = one.vector
        return not exact.failed

    def _ask(self, bodies: Sequence[Json]) -> list[Json]:
        lines: list[Json] = []
        for body in bodies:
            lines += [{"index": self._options.alias}, body]
        params = {
            "filter_path": "responses.error.type,responses.timed_out,"
            "responses._shards.failed,responses.hits.hits._score,responses.hits.hits.fields",
            "request_timeout": self._options.search_seconds,
        }
        try:
            answer: Json = self._call(lambda client: client.msearch(body=lines, params=params))
        except (RequestError, NotFoundError) as error:
            raise Unavailable(f"the index refuses searches: {error.error}") from None
        return [_whole(one) for one in answer["responses"]]

    def versions(self, partition: str) -> dict[str, int]:
        """Id → version of every document of a partition that searches see."""
        found: dict[str, int] = {}
        body: Json = {
            "query": {"bool": {"filter": [{"term": {"partition": partition}}]}},
            "size": _PAGE,
            "sort": [{"id": "asc"}],
            "stored_fields": "_none_",
            "docvalue_fields": ["id", "version"],
        }
        while True:
            hits = self._page(body)
            found |= {queries.field(hit, "id"): queries.field(hit, "version") for hit in hits}
            if len(hits) < _PAGE:
                return found
            body["search_after"] = hits[-1]["sort"]

    def _page(self, body: Json) -> list[Json]:
        try:
            answer: Json = self._call(
                lambda client: client.search(
                    index=self._options.alias, body=body, request_timeout=self._options.write_seconds
                )
            )
        except NotFoundError:
            return []
        except RequestError as error:
            raise Unavailable(f"the index refuses searches: {error.error}") from None
        if answer["timed_out"] or answer["_shards"]["failed"]:
            raise Unavailable("not all shards answered")
        hits: list[Json] = answer["hits"]["hits"]
        return hits


def _read(name: Name, answer: Json, union: _Union, *, last: bool) -> None:
    """Takes one arm's answer into the union, or notes that the arm failed.

    A swap shows in several ways (no such index, no such field, lost shards), so every failure is tried once more.
    """
    if "error" in answer:
        error = answer["error"]
        if not last or error.get("type") == "index_not_found_exception":
            raise _TryAgain
        union.failed[name] = str(error.get("type", "unknown"))
        return
    lost = answer.get("_shards", {}).get("failed")
    if lost and not last:
        raise _TryAgain
    if lost or answer.get("timed_out"):
        union.failed[name] = "not all shards answered in time"
    union.take(name, answer["hits"]["hits"])


def _whole(answer: Json) -> Json:
    """An answer in which the filter path left empty parts out."""
    if "error" in answer:
        return answer
    return {**answer, "hits": {"hits": answer.get("hits", {}).get("hits", [])}}
