"""Bulk requests and their answers, item by item; and reads by id, which see what no search sees yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from opensearchpy.exceptions import NotFoundError, RequestError

from rearview.adapters.aws.opensearch_client import Caller
from rearview.adapters.aws.opensearch_documents import Operation, batches
from rearview.adapters.aws.opensearch_mapping import Json, Options, writing
from rearview.errors import Unavailable

MOST_BYTES: Final = 5 << 20
MOST_OPERATIONS: Final = 1000
_READ: Final = 500


class IndexGone(Exception):
    """A generation was swapped away between a look at the state and a write to it."""


@dataclass(slots=True)
class Outcome:
    """How the operations of one or more requests went. ``refused``: the document itself is at fault."""

    refused: list[str] = field(default_factory=list)
    conflicts: list[Operation] = field(default_factory=list)


class Bulk:
    """Writes operations. Those that failed through no fault of their own are tried once more."""

    def __init__(self, call: Caller, options: Options) -> None:
        self._call = call
        self._options = options

    def write(self, operations: Sequence[Operation], *, refresh: bool) -> Outcome:
        """Raises `IndexGone` if an index is not there any more, `Unavailable` if the node could not take it all.

        With ``refresh`` searches see everything afterwards, if the options say so.
        """
        outcome = Outcome()
        again = self._pass(operations, outcome, refresh)
        if again and self._pass(again, outcome, refresh):
            raise Unavailable("the index could not take all documents; they will be sent again")
        return outcome

    def _pass(self, operations: Sequence[Operation], outcome: Outcome, refresh: bool) -> list[Operation]:
        again: list[Operation] = []
        gone = False
        params = {
            "require_alias": "true",
            "refresh": self._options.refresh if refresh else "false",
            "filter_path": "items.*.status,items.*.error.type",
            "request_timeout": self._options.write_seconds,
        }
        for batch, body in batches(operations, MOST_BYTES, MOST_OPERATIONS):
            answer = self._send(body, params)
            for operation, item in zip(batch, answer["items"], strict=True):
                (result,) = item.values()
                status = result["status"]
                if status == 409:
                    outcome.conflicts.append(operation)
                elif status == 404 and "error" in result:
                    gone = True
                elif status == 429 or status >= 500:
                    again.append(operation)
                elif status >= 400 and status != 404:
                    outcome.refused.append(operation.id)
        if gone:
            raise IndexGone
        return again

    def _send(self, body: str, params: dict[str, Any]) -> Json:
        try:
            answer: Json = self._call(lambda client: client.bulk(body=body, params=dict(params)))
        except (RequestError, NotFoundError) as error:
            raise Unavailable(f"the index refuses bulk requests: {error.error}") from None
        return answer

    def held(self, index: str, ids: Iterable[str], *fields: str) -> dict[str, Json]:
        """By id: ``version``, and the ``source`` with ``fields`` of it, of what an index holds, searchable or not."""
        wanted = list(dict.fromkeys(ids))
        found: dict[str, Json] = {}
        for start in range(0, len(wanted), _READ):
            some = wanted[start : start + _READ]
            params = {
                "_source": ",".join(fields) or "false",
                "filter_path": "docs._id,docs.found,docs._version,docs._source",
                "request_timeout": self._options.write_seconds,
            }
            try:
                answer: Json = self._call(
                    lambda client, some=some, params=params: client.mget(  # type: ignore[misc]
                        index=writing(index), body={"ids": some}, params=params
                    )
                )
            except NotFoundError:
                raise IndexGone from None
            for doc in answer.get("docs", ()):
                if doc.get("found"):
                    found[doc["_id"]] = {"version": doc["_version"], "source": doc.get("_source", {})}
        return found
