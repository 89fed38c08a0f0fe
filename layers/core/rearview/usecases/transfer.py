"""Export: everything that a scope, a namespace or a store holds, as lines that import back to the same state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from rearview.domain import keys
from rearview.domain.codec import Body, decode
from rearview.domain.memory import History, Memory
from rearview.domain.principal import Principal
from rearview.domain.records import Conflict, Decision, Outcome, Session, Turn
from rearview.domain.scope import Scope
from rearview.domain.times import to_text
from rearview.errors import Forbidden, InvalidInput
from rearview.ports import Reading
from rearview.usecases.past import history_of
from rearview.usecases.recall import open_recall_id
from rearview.usecases.scans import memories_of
from rearview.usecases.services import Services
from rearview.usecases.texts import full_many
from rearview.usecases.transfer_format import header, line_of, memory_line
from rearview.usecases.turns import all_turns

R = TypeVar("R")
#: Looks at a scope that is being written to before it is read inside a transaction.
TRIES = 3
Progress = Callable[[int, int], None]


class Exporter:
    """The export verb."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def scopes(self, principal: Principal, namespace: str | None, user_id: str | None) -> list[Scope]:
        """The scopes that hold something and that the caller may read, by namespace and user."""
        principal.require("read")
        principal.require("trace")
        if namespace is not None and not principal.covers(namespace):
            raise Forbidden("this credential does not cover the namespace")
        found = []
        for partition in self.services.store.partitions():
            body = None if partition.startswith("@") else self.services.store.get(keys.head(partition))
            if body is None:
                continue
            scope = Scope(body["scope"]["namespace"], body["scope"]["user_id"])
            wanted = namespace in (None, scope.namespace) and user_id in (None, scope.user_id)
            if wanted and principal.covers(scope.namespace):
                found.append(scope)
        return sorted(found, key=lambda scope: (scope.namespace, scope.user_id))

    def export(
        self,
        principal: Principal,
        *,
        namespace: str | None = None,
        user_id: str | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Body]:
        """The header, then every record of the scopes asked for; each scope as it stood at one moment.

        ``progress(done, of)`` counts scopes. API keys, ledger and the users' HMAC keys stay.
        """
        scopes = self.scopes(principal, namespace, user_id)
        yield header(to_text(self.services.now()), namespace, user_id)
        for number, scope in enumerate(scopes, 1):
            yield from self._at_one_moment(scope)
            if progress:
                progress(number, len(scopes))

    def _at_one_moment(self, scope: Scope) -> list[Body]:
        store = self.services.store
        for _ in range(TRIES):
            before = store.get(keys.head(scope.partition))
            lines = list(self.lines(store, scope))
            if store.get(keys.head(scope.partition)) == before:
                return lines
        return store.transact(scope.partition, lambda uow: list(self.lines(uow, scope)))

    def lines(self, reading: Reading, scope: Scope) -> Iterator[Body]:
        """The lines of one scope, as ``reading`` shows it, in the order in which they import."""
        at = scope.partition
        sessions = list(records(reading, at, keys.SESSIONS, Session))
        for session in sessions:
            yield line_of(scope, "session", session)
        cleared = {session.id for session in sessions if session.turns_archived}
        for turn in records(reading, at, keys.TURNS, Turn):
            if turn.session_id not in cleared:
                yield line_of(scope, "turn", turn)
        for session in sessions:
            if session.id in cleared:
                for turn in all_turns(self.services, session, reading):
                    yield line_of(scope, "turn", turn)
        for memory in memories_of(reading, at):
            yield memory_line(scope, *whole(self.services, reading, memory))
        for conflict in records(reading, at, keys.CONFLICTS, Conflict):
            yield line_of(scope, "conflict", conflict)
        for decision in records(reading, at, keys.DECISIONS, Decision):
            yield self.decision_line(scope, decision)
        for outcome in records(reading, at, keys.OUTCOMES, Outcome):
            yield line_of(scope, "outcome", outcome)

    def decision_line(self, scope: Scope, decision: Decision) -> Body:
        """A decision; of its recall id goes out what it vouches for, since its signature holds in this store only."""
        recall: dict[str, Any] | None = None
        if decision.recall_id is not None:
            try:
                recall = open_recall_id(self.services, decision.recall_id)
            except InvalidInput:
                recall = None
        return {**line_of(scope, "decision", decision, recall_id=None), "recall": recall}


def whole(services: Services, reading: Reading, memory: Memory) -> tuple[Memory, list[History]]:
    """A memory and its history with their texts, wherever those lie. Raises Unavailable rather than leave one out."""
    rows = history_of(reading, memory.scope.partition, memory.id)
    states = full_many(services, [memory, *(row.memory for row in rows)], reading)
    return states[0], [replace(row, memory=state) for row, state in zip(rows, states[1:], strict=True)]


def records(reading: Reading, partition: str, prefix: str, kind: type[R]) -> Iterable[R]:
    """All records of one kind of a scope, in key order."""
    after: str | None = None
    while True:
        page = reading.query(partition, prefix, after=after, limit=500)
        yield from (decode(kind, body) for _, body in page.items)
        after = page.last
        if after is None:
            return
