"""Redrive: what enrichment gave up on is tried again, once whatever stopped it is mended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.memory import Memory
from rearview.domain.principal import Principal
from rearview.domain.records import Decision
from rearview.domain.scope import Scope
from rearview.ports import Filter, UnitOfWork
from rearview.usecases.book import Book
from rearview.usecases.fields import Identifier, Namespace, Request
from rearview.usecases.services import Services

#: Records per transaction: five items each, and the head.
CHUNK = 15
_FAILED = (Filter("enrichment", "eq", "failed"),)


class Redrive(Request):
    """Tries what is ``enrichment: failed`` again: of one user, or of every user of the namespace."""

    user_id: Identifier | None = None
    namespace: Namespace | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class Redriver:
    """The redrive verbs."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def run(self, principal: Principal, request: Redrive) -> dict[str, Any]:
        """Reopens up to ``limit`` records and sends dead letters again. Answers how many, and whether more are left."""
        namespace = request.namespace if request.namespace is not None else principal.default_namespace
        scope = principal.scope("audit", namespace, request.user_id or "")
        partitions = [scope.partition] if request.user_id else self._users(namespace)
        done = 0
        more = False
        for partition in partitions:
            for what, prefix in (("memory", keys.MEMORIES), ("decision", keys.DECISIONS)):
                left = request.limit - done
                page = self.services.store.query(partition, prefix, where=_FAILED, limit=max(1, left))
                if left <= 0 and page.items:
                    more = True
                    break
                done += self.reopen(partition, what, [body["id"] for _, body in page.items])
                more = more or page.last is not None
            if more:
                break
        self.services.redrive_letters(request.limit)
        return {"redriven": done, "more": more}

    def reopen(self, partition: str, what: str, ids: Iterable[str]) -> int:
        """Marks those records as pending whose enrichment failed, and rings; answers how many there were."""
        wanted, done = list(ids), 0
        for start in range(0, len(wanted), CHUNK):
            some = wanted[start : start + CHUNK]

            def work(uow: UnitOfWork, some: list[str] = some) -> tuple[int, int]:
                return self._reopen(uow, partition, what, some)

            count, seq = self.services.store.transact(partition, work)
            done += count
            if count:
                self.services.ring(partition, seq)
        return done

    def _reopen(self, uow: UnitOfWork, partition: str, what: str, ids: list[str]) -> tuple[int, int]:
        at = keys.memory if what == "memory" else keys.decision
        count, book = 0, None
        for ref in ids:
            body = uow.get(at(partition, ref))
            if body is None or body.get("enrichment") != "failed":
                continue
            record = decode(Memory, body) if what == "memory" else decode(Decision, body)
            book = book or Book(uow, record.scope, self.services.now(), "redrive")
            seq = book.record("redriven", ref, {"what": what})
            if isinstance(record, Memory):
                book.save(replace(record, enrichment="pending", seq=seq))
            else:
                uow.put(at(partition, ref), encode(replace(record, enrichment="pending")))
            book.mark(ref, what, seq)
            count += 1
        if book is None:
            return 0, 0
        book.close()
        return count, book.seq

    def _users(self, namespace: str) -> Iterable[str]:
        after: str | None = None
        while True:
            page = self.services.store.query(keys.directory(namespace), keys.USERS, after=after)
            for _, body in page.items:
                yield Scope(namespace, body["user_id"]).partition
            after = page.last
            if after is None:
                return
