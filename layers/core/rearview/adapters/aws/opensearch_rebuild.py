"""A rebuild: a new index filled from the store, while the old one goes on answering and live writes reach both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from opensearchpy.exceptions import NotFoundError, RequestError

from rearview.adapters.aws.opensearch_bulk import Bulk, IndexGone
from rearview.adapters.aws.opensearch_client import Caller
from rearview.adapters.aws.opensearch_documents import (
    Row,
    index_operation,
    prepare_all,
    without_vectors,
)
from rearview.adapters.aws.opensearch_generations import Generation, Generations, State
from rearview.adapters.aws.opensearch_mapping import DELETED, Json, Options
from rearview.errors import Conflicting, Unavailable
from rearview.ports import IndexDocument


class OpenSearchRebuild:
    """Implements :class:`rearview.ports.RebuildHandle`.

    A worker that runs the new model writes vectors into both indexes as far as they take them; one that still runs the
    old model cannot: what it changed meanwhile is listed by :meth:`missing`. What was deleted meanwhile stays deleted.
    """

    def __init__(
        self, call: Caller, bulk: Bulk, generations: Generations, options: Options, fresh: Generation
    ) -> None:
        self._call = call
        self._bulk = bulk
        self._generations = generations
        self._options = options
        self._index = fresh.index

    def _mine(self) -> tuple[State, Generation]:
        state = self._generations.read()
        if state.building is None or state.building.index != self._index:
            raise Conflicting("another reindex has taken this one's place")
        return state, state.building

    def upsert(self, documents: Sequence[IndexDocument]) -> list[str]:
        """See the port; answers the ids of documents with unusable vectors. Raises Conflicting if superseded.

        Those are written without, so that words still find them.
        """
        _, fresh = self._mine()
        rows, failed = prepare_all(documents)
        dims = fresh.dims or next((row.dims for row in rows if row.dims is not None), None)
        if fresh.dims is None and dims is not None:
            fresh = self._generations.stamp(fresh, fresh.model, dims)
            dims = fresh.dims
        unusable = set(failed)
        rows += prepare_all([replace(one, vectors=None) for one in documents if one.id in unusable])[0]
        for position, row in enumerate(rows):
            if row.dims is not None and row.dims != dims:
                failed.append(row.document.id)
                rows[position] = without_vectors(row)
        try:
            gone = self._bulk.held(self._index, [DELETED + row.document.id for row in rows])
            kept = [row for row in rows if DELETED + row.document.id not in gone]
            failed += self._write(kept, fresh)
        except IndexGone:
            raise Conflicting("another reindex has taken this one's place") from None
        return list(dict.fromkeys(failed))

    def _write(self, rows: Sequence[Row], fresh: Generation) -> list[str]:
        """What came meanwhile with a later version stays: version conflicts are no errors."""
        outcome = self._bulk.write(
            [index_operation(self._index, row, row.chunks, fresh.model) for row in rows], refresh=False
        )
        refused = set(outcome.refused)
        again = [without_vectors(row) for row in rows if row.document.id in refused and row.chunks]
        if again:
            self._bulk.write(
                [index_operation(self._index, row, None, fresh.model) for row in again], refresh=False
            )
        return outcome.refused

    def missing(self, limit: int = 1000) -> list[tuple[str, str]]:
        """(partition, id) of documents in the new index that have no vectors there."""
        self._refresh()
        body: Json = {
            "query": {"bool": {"filter": [{"term": {"chunk_count": 0}}]}},
            "size": min(limit, 10_000),
            "sort": [{"id": "asc"}],
            "_source": False,
            "docvalue_fields": ["id", "partition"],
        }
        answer = self._ask(lambda client: client.search(index=self._index, body=body))
        return [
            (hit["fields"]["partition"][0], hit["fields"]["id"][0])
            for hit in answer.get("hits", {}).get("hits", ())
        ]

    def commit(self) -> None:
        """See the port: searches see all of it from the moment of the swap on. Raises Conflicting if superseded.

        What neither this rebuild nor a writer has brought since it began is not in the store any more, and is not in
        the new index either.
        """
        state, fresh = self._mine()
        self._refresh()
        body = {"query": {"term": {"deleted": True}}}
        self._ask(
            lambda client: client.delete_by_query(
                index=self._index, body=body, conflicts="proceed", refresh=True
            )
        )
        self._generations.swap(state, fresh)

    def abort(self) -> None:
        """Drops the new index; nothing to do if another one has taken its place."""
        state = self._generations.read()
        if state.building is not None and state.building.index == self._index:
            self._generations.discard(state.building)

    def _refresh(self) -> None:
        self._ask(lambda client: client.indices.refresh(index=self._index))

    def _ask(self, work: Any) -> Json:
        try:
            answer: Json = self._call(work)
        except NotFoundError:
            raise Conflicting("another reindex has taken this one's place") from None
        except RequestError as error:
            raise Unavailable(f"the index refuses: {error.error}") from None
        return answer
