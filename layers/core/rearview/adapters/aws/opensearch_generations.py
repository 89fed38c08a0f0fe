"""Which index answers, which one is being built, and what model filled them.

An alias names the index that answers, another one the index on its way. Both are *write aliases*, of which the cluster
allows one index each: two processes that create a generation at the same time cannot both succeed. The model and the
size of its vectors stand in the mapping's ``_meta``.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from opensearchpy.exceptions import NotFoundError, RequestError, TransportError

from rearview.adapters.aws.opensearch_client import Caller
from rearview.adapters.aws.opensearch_mapping import (
    Json,
    Options,
    definition,
    digest,
    vector_mapping,
    writing,
)
from rearview.errors import Conflicting, Unavailable

#: For how long a search may believe that the index holds vectors of its model. What else a swap changes, it notices:
#: the field of its vectors is not there any more.
_BELIEVED_SECONDS: Final = 30.0
_SEEN: Final = "*.aliases,*.mappings._meta"


@dataclass(frozen=True, slots=True)
class Generation:
    """One index. ``model``: the embedder's fingerprint, meaningless while ``dims`` is None (no vectors yet)."""

    index: str
    number: int
    model: str
    dims: int | None

    @property
    def fingerprint(self) -> str | None:
        return self.model if self.dims is not None else None


@dataclass(frozen=True, slots=True)
class State:
    """What is there now."""

    active: Generation | None
    building: Generation | None

    def accepting(self, fingerprint: str) -> list[Generation]:
        """The generations into which vectors of this model may go: none means another model filled the index."""
        found = []
        if self.active is not None and self.active.fingerprint in (None, fingerprint):
            found.append(self.active)
        if self.building is not None and self.building.model == fingerprint:
            found.append(self.building)
        return found

    @property
    def all(self) -> list[Generation]:
        return [one for one in (self.active, self.building) if one is not None]


class Generations:
    """Reads and moves the state; the truth is in the cluster."""

    def __init__(
        self, call: Caller, options: Options, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._call = call
        self._options = options
        self._monotonic = monotonic
        self._known: tuple[float, State] | None = None

    def read(self) -> State:
        """As of now: one small request."""
        options = self._options
        answer: Json = self._call(
            lambda client: client.indices.get(
                index=f"{options.alias},{options.building}",
                ignore_unavailable=True,
                filter_path=_SEEN,
                request_timeout=options.search_seconds,
            )
        )
        found: dict[str, Generation] = {}
        for index, body in answer.items():
            meta = body.get("mappings", {}).get("_meta", {})
            one = Generation(index, meta.get("generation", 0), meta.get("model", ""), meta.get("dims"))
            for alias in body.get("aliases", {}):
                found[alias] = one
        state = State(found.get(options.alias), found.get(options.building))
        self._known = (self._monotonic(), state)
        return state

    def for_search(self, fingerprint: str) -> State:
        """What was read a moment ago, as long as it says that vectors of this model answer; else as of now."""
        known = self._known
        if known is not None and self._monotonic() - known[0] < _BELIEVED_SECONDS:
            active = known[1].active
            if active is not None and active.fingerprint == fingerprint:
                return known[1]
        return self.read()

    def forget(self) -> None:
        """What is known has turned out to be out of date."""
        self._known = None

    def ensure(self, fingerprint: str) -> State:
        """As of now; creates the first index if there is none."""
        state = self.read()
        if state.active is None:
            self._create(1, fingerprint, self._options.alias)
            state = self.read()
        if state.active is None:
            raise Unavailable("the index was created and is not there")
        return state

    def stamp(self, generation: Generation, fingerprint: str, dims: int) -> Generation:
        """Makes room for the first vectors of a generation; answers it as it is then."""
        stamped = replace(generation, model=fingerprint, dims=dims)
        body = {"_meta": _meta(stamped), "properties": vector_mapping(fingerprint, dims)}
        try:
            self._call(lambda client: client.indices.put_mapping(index=generation.index, body=body))
        except (RequestError, NotFoundError):
            # Another process was faster, with vectors of another size or with a swap.
            known = {one.index: one for one in self.read().all}
            if generation.index not in known or known[generation.index].dims is None:
                raise Unavailable("the index refuses vectors of this size") from None
            return known[generation.index]
        self.forget()
        return stamped

    def begin(self, fingerprint: str) -> Generation:
        """A new generation beside the one that answers; one that was left unfinished is thrown away."""
        state = self.ensure(fingerprint)
        self._drop_leftovers()
        if state.building is not None:
            self.discard(state.building)
        number = max(one.number for one in state.all) + 1
        index = self._create(number, fingerprint, self._options.building)
        if index is None:
            raise Conflicting("another reindex began at the same moment")
        self.forget()
        return Generation(index, number, fingerprint, None)

    def swap(self, state: State, fresh: Generation) -> None:
        """Makes ``fresh`` the one that answers, in one step of the cluster, and drops the other.

        In a step of its own: an index removed in the same step takes its shards away some 100 ms before searches are
        sent to the new one. The old one cannot be written to any more from the swap on.
        """
        options, old = self._options, state.active
        actions: list[Json] = [
            {"remove": {"index": fresh.index, "alias": options.building, "must_exist": True}},
            {"add": {"index": fresh.index, "alias": options.alias, "is_write_index": True}},
        ]
        if old is not None:
            aliases = (options.alias, writing(old.index))
            actions[1:1] = [{"remove": {"index": old.index, "alias": alias}} for alias in aliases]
        try:
            self._call(lambda client: client.indices.update_aliases(body={"actions": actions}))
        except (RequestError, NotFoundError):
            raise Conflicting("another reindex has taken this one's place") from None
        finally:
            self.forget()
        if old is not None:
            # What stays behind because the node goes away now is dropped by the next rebuild.
            with suppress(Unavailable):
                self.discard(old)

    def _drop_leftovers(self) -> None:
        """Indexes of ours that no alias names any more: a swap ended between its two steps."""
        alias = self._options.alias
        ours = re.compile(rf"{re.escape(alias)}-[0-9a-f]{{8}}-[0-9]{{4,}}-[0-9a-f]{{6}}")
        seen = "*.aliases,*.settings.index.uuid"
        found: Json = self._call(lambda client: client.indices.get(index=f"{alias}-*", filter_path=seen))
        for name, body in sorted(found.items()):
            if ours.fullmatch(name) and not {alias, self._options.building} & set(body.get("aliases", {})):
                self.discard(Generation(name, 0, "", None))

    def discard(self, generation: Generation) -> None:
        """Drops an index; no error if it is gone."""
        try:
            self._call(lambda client: client.indices.delete(index=generation.index))
        except NotFoundError:
            pass
        finally:
            self.forget()

    def _create(self, number: int, fingerprint: str, alias: str) -> str | None:
        """The name of the new index; None if another one holds the alias."""
        name = f"{self._options.alias}-{digest(fingerprint)}-{number:04d}-{secrets.token_hex(3)}"
        meta = _meta(Generation(name, number, fingerprint, None))
        aliases: dict[str, Any] = {alias: {"is_write_index": True}, writing(name): {}}
        body = definition(self._options, aliases=aliases, meta=meta)

        def create(client: Any) -> bool:
            try:
                client.indices.create(index=name, body=body)
            except TransportError as error:
                # "alias has more than one write index" comes as a 500 (400 from some version on).
                if "write index" in str(error.info):
                    return False
                raise
            return True

        try:
            return name if self._call(create) else None
        except RequestError as error:
            raise Unavailable(f"the index cannot be created: {error.error}") from None


def _meta(generation: Generation) -> Json:
    return {"generation": generation.number, "model": generation.model, "dims": generation.dims}
