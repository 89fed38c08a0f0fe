"""The index over OpenSearch (2.19 and later; Amazon domains or any endpoint): Lucene's HNSW for meaning, BM25 for words.

One document a record, its chunks' vectors nested in it: filters hold inside ``knn`` on 2.19 and 3.6 alike, all chunks
come and go with one version, and ``k`` counts records. One document a chunk, collapsed in the answer, was faster by a
third in and by a fifth out (20,000 documents), but gave 97 records for a limit of 100. Versions are external, so that a
late write never overwrites a newer one. `opensearch_mapping` explains the fields, `opensearch_generations` the indexes
behind the aliases.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, RequestError

from rearview.adapters.aws.opensearch_bulk import Bulk, IndexGone
from rearview.adapters.aws.opensearch_client import Caller
from rearview.adapters.aws.opensearch_documents import (
    Chunks,
    Operation,
    Row,
    delete_operation,
    held_chunks,
    held_vectors,
    index_operation,
    note_operation,
    prepare_all,
    unnote_operation,
)
from rearview.adapters.aws.opensearch_generations import Generation, Generations, State
from rearview.adapters.aws.opensearch_mapping import Options
from rearview.adapters.aws.opensearch_rebuild import OpenSearchRebuild
from rearview.adapters.aws.opensearch_search import Searcher
from rearview.errors import EmbedderMismatch, Unavailable
from rearview.ports import IndexAnswer, IndexDocument, IndexQuery

if TYPE_CHECKING:
    from rearview.ports import Vectors

_ATTEMPTS: Final = 3
_DELETE_ATTEMPTS: Final = 5


class OpenSearchIndex:
    """Implements :class:`rearview.ports.VectorIndex`. Safe among threads, functions and machines."""

    def __init__(
        self,
        client: OpenSearch,
        embedder_fingerprint: str,
        options: Options | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """``client``: see `opensearch_client.make_client`. ``embedder_fingerprint``: of the model whose vectors come in."""
        self._options = options or Options()
        self._fingerprint = embedder_fingerprint
        self._call = Caller(client, self._options.pause_seconds, monotonic)
        self._generations = Generations(self._call, self._options, monotonic)
        self._bulk = Bulk(self._call, self._options)
        self._searcher = Searcher(self._call, self._generations, self._options, embedder_fingerprint)

    # --- writing

    def upsert(self, documents: Sequence[IndexDocument]) -> list[str]:
        """See the port. A document without vectors keeps those it has while its text is the same.

        Fails (by id) what has vectors of no or another size, and what the engine refuses. Raises EmbedderMismatch, with
        nothing written, if there are vectors and neither the index nor a rebuild under way takes those of this model.
        Searches see what was written when this returns (`Options.refresh`).
        """
        rows, failed = prepare_all(documents)
        if not rows:
            return failed
        for _ in range(_ATTEMPTS):
            try:
                return [*failed, *self._upsert(rows)]
            except IndexGone:
                self._generations.forget()
        raise Unavailable("the index was swapped while it was written to, again and again")

    def _upsert(self, rows: Sequence[Row]) -> list[str]:
        state = self._generations.ensure(self._fingerprint)
        targets = state.accepting(self._fingerprint)
        dims = next((row.dims for row in rows if row.dims is not None), None)
        if dims is not None:
            if not targets:
                raise EmbedderMismatch(self._mismatch(state))
            targets = [
                one if one.dims is not None else self._generations.stamp(one, self._fingerprint, dims)
                for one in targets
            ]
            dims = targets[0].dims
        failed = [row.document.id for row in rows if row.dims is not None and row.dims != dims]
        good = [row for row in rows if row.dims is None or row.dims == dims]
        known = {one.index: one for one in targets}
        operations: list[Operation] = []
        for one in state.all:
            operations += self._operations(known.get(one.index, one), good, accepts=one.index in known)
        if state.building is not None:
            operations += [unnote_operation(state.building.index, row.document.id) for row in good]
        outcome = self._bulk.write(operations, refresh=True)
        self._held_off(state, outcome.conflicts)
        return list(dict.fromkeys([*failed, *outcome.refused]))

    def _operations(self, target: Generation, rows: Sequence[Row], *, accepts: bool) -> list[Operation]:
        """What to write into one index: vectors of the model that filled it, new ones or those it has."""
        keeping = [row for row in rows if row.chunks is None or not accepts]
        fields = ("text_digest", "chunks")
        ids = [row.document.id for row in keeping] if target.fingerprint is not None else []
        held = self._bulk.held(target.index, ids, *fields) if ids else {}
        operations = []
        for row in rows:
            chunks: Chunks | None = row.chunks if accepts else None
            if chunks is None and row.document.id in held:
                chunks = held_chunks(held[row.document.id]["source"], row, target.fingerprint)
            operations.append(index_operation(target.index, row, chunks, target.model))
        return operations

    def _held_off(self, state: State, conflicts: Sequence[Operation]) -> None:
        """A conflict with a later version is how it should be; one with a deletion of a moment ago must not be silent.

        Either the write is late, and its record gone when it is tried again; or the record came back (an import), and
        must become searchable.
        """
        if not conflicts or state.active is None:
            return
        ids = {operation.id for operation in conflicts if operation.action == "index"}
        gone = ids - set(self._bulk.held(state.active.index, ids))
        if gone:
            raise Unavailable("a document was deleted a moment ago; it can be written again in some seconds")

    def _mismatch(self, state: State) -> str:
        filled = state.active.fingerprint if state.active is not None else None
        return (
            f"the index was filled by the embedding model {filled}, and this service runs"
            f" {self._fingerprint}: run `rearview reindex`; keyword search goes on meanwhile"
        )

    def delete(self, ids: Sequence[str]) -> None:
        """See the port. For some seconds (``gc_deletes``) a late write of a version up to the deleted one is held off."""
        left = list(dict.fromkeys(ids))
        for _ in range(_DELETE_ATTEMPTS):
            if not left:
                return
            try:
                left = self._delete(left)
            except IndexGone:
                self._generations.forget()
        if left:
            raise Unavailable("documents were written again and again while they were being deleted")

    def _delete(self, ids: Sequence[str]) -> list[str]:
        """Those to be tried again: a newer version came in between."""
        state = self._generations.read()
        operations: list[Operation] = []
        for one in state.all:
            held = self._bulk.held(one.index, ids)
            operations += [
                delete_operation(one.index, item, found["version"] + 1) for item, found in held.items()
            ]
        if state.building is not None:
            operations += [note_operation(state.building.index, item) for item in ids]
        outcome = self._bulk.write(operations, refresh=True)
        return [operation.id for operation in outcome.conflicts]

    def scrub(self) -> None:
        """Rewrites the segments that still hold what was deleted, so that it is gone from the disk too.

        No search finds it from the deletion on; but shards keep deleted documents for their replicas until a lease of
        theirs moves on (every 30 s), so what was deleted a moment ago goes with the next call or the next merge.
        """
        self._ask_quietly("forcemerge", only_expunge_deletes=True)

    def begin_rebuild(self, fingerprint: str) -> OpenSearchRebuild:
        """See the port. One that was left unfinished, by whomever, is thrown away."""
        fresh = self._generations.begin(fingerprint)
        return OpenSearchRebuild(self._call, self._bulk, self._generations, self._options, fresh)

    # --- reading

    def search(self, query: IndexQuery) -> IndexAnswer:
        """See the port."""
        return self._searcher.search(query)

    def versions(self, partition: str) -> dict[str, int]:
        """See the port."""
        return self._searcher.versions(partition)

    def vectors(self, ids: Sequence[str]) -> dict[str, Vectors]:
        """See the port. Reads by id, so it sees what no search sees yet."""
        for _ in range(_ATTEMPTS):
            active = self._generations.read().active
            if active is None or active.fingerprint is None:
                return {}
            try:
                held = self._bulk.held(active.index, ids, "record", "chunks")
            except IndexGone:
                self._generations.forget()
                continue
            return held_vectors({one: found["source"] for one, found in held.items()}, active.fingerprint)
        raise Unavailable("the index was swapped while it was read from, again and again")

    def fingerprint(self) -> str | None:
        """See the port. Raises Unavailable if the index does not answer."""
        active = self._generations.for_search(self._fingerprint).active
        return None if active is None else active.fingerprint

    def warm_up(self) -> bool:
        """Opens the connection, learns the state, and lets the node load what a search needs; whether it answered.

        For the start of a function: never raises on an index that is away.
        """
        try:
            self._generations.read()
            self._ask_quietly("search", body={"size": 1, "_source": False})
        except Unavailable:
            return False
        return True

    def _ask_quietly(self, verb: str, **arguments: object) -> None:
        """A request to the index that answers, if there is one."""

        def ask(client: OpenSearch) -> None:
            owner = client if verb == "search" else client.indices
            getattr(owner, verb)(index=self._options.alias, **arguments)

        try:
            self._call(ask)
        except NotFoundError:
            return
        except RequestError as error:
            raise Unavailable(f"the index refuses: {error.error}") from None
