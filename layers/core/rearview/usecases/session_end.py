"""Ending a session: working memory goes, a short-term summary of the turns stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal, cast

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.memory import Memory, Source
from rearview.domain.principal import Principal
from rearview.domain.records import Session
from rearview.domain.summary import summarise
from rearview.domain.times import plus, to_text
from rearview.domain.types import SUMMARY_LIMIT
from rearview.errors import NotFound
from rearview.ports import Filter, UnitOfWork
from rearview.usecases.admit import Draft
from rearview.usecases.book import Book
from rearview.usecases.commands import EndSession
from rearview.usecases.edit import forget_one
from rearview.usecases.idempotency import Answer
from rearview.usecases.scans import memories_of
from rearview.usecases.services import Services
from rearview.usecases.sessions import session_id_digest
from rearview.usecases.texts import full_or_bare
from rearview.usecases.views import MemoryView, plain
from rearview.usecases.write import place


class SessionEnder:
    """The end verb of sessions."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def end(self, principal: Principal, session_id: str, request: EndSession) -> Answer:
        """Working memory goes, a short-term summary of the turns stays. A repeat changes nothing."""
        scope = principal.scope("write", request.namespace, request.user_id)
        at = keys.session(scope.partition, session_id)
        working = (Filter("memory_type", "eq", "working"), Filter("session_id", "eq", session_id))
        ids = [
            item.id
            for item in memories_of(self.services.store, scope.partition, working)
            if item.status != "deleted"
        ]

        def clear(some: Sequence[str]) -> int:
            def work(uow: UnitOfWork) -> int:
                book = Book(uow, scope, self.services.now(), principal.id)
                for memory_id in some:
                    memory = book.memory(memory_id)
                    if memory.status != "deleted":
                        forget_one(book, memory, "session ended", "session_ended")
                book.close()
                return book.seq

            return self.services.store.transact(scope.partition, work)

        for start in range(0, len(ids), 12):
            clear(ids[start : start + 12])

        life = self.services.policies.of(scope.namespace).shelf_life("short_term", "summary")

        def finish(uow: UnitOfWork) -> tuple[Session, Memory | None, int]:
            body = uow.get(at)
            if body is None:
                if not ids:
                    raise NotFound("no such session")
                moment = self.services.now()
                session = Session(session_id, scope, moment, moment)
            else:
                session = decode(Session, body)
            book = Book(uow, scope, self.services.now(), principal.id)
            if session.ended_at is not None:
                kept = session.summary_memory_id
                summary = None if kept is None else uow.get(keys.memory(scope.partition, kept))
                # A summary has a shelf life; the session stays ended without it.
                return session, None if summary is None else decode(Memory, summary), book.seq
            memory = self._summary(book, session, life)
            moment = book.tick()
            session = replace(
                session,
                ended_at=moment,
                updated_at=moment,
                summary_memory_id=None if memory is None else memory.id,
            )
            uow.put(at, encode(session))
            book.record("session_ended", session_id_digest(session_id), {"turns": session.turns})
            book.close()
            return session, memory, book.seq

        session, memory, seq = self.services.store.transact(scope.partition, finish)
        self.services.ring(scope.partition, seq)
        if memory is not None:
            memory = full_or_bare(self.services, [memory])[0][0]
        return 200, {
            "id": session.id,
            "ended_at": to_text(cast("datetime", session.ended_at)),
            "cleared": len(ids),
            "summary": session.summary,
            "memory": None if memory is None else dict(plain(MemoryView.of(memory))),
            "token": self.services.token(scope, seq),
        }

    def _summary(self, book: Book, session: Session, life: timedelta | None) -> Memory | None:
        """The memory that the ended session leaves: one, also when it was taken up again after an earlier end."""
        if not session.summary:
            return None
        earlier = self._earlier(book, session)
        kind: Literal["summary"] = "summary"
        summary_draft = Draft(
            scope=book.scope,
            verdict="admit",
            reasons=(),
            content=session.summary,
            summary=summarise(session.summary, limit=SUMMARY_LIMIT),
            memory_type="short_term",
            kind=kind,
            importance=0.5,
            confidence=0.8,
            origin="agent",
            audience="user",
            source=Source(session_id=session.id),
            valid_from=None,
            valid_to=None,
            expires_at=None if life is None else plus(book.now, life),
            agent_id=session.agent_id,
            session_id=session.id,
            # An abstract of what was said before is neither a repetition of it, which would confirm it, nor a
            # newer statement, which would contradict what the user corrected meanwhile.
            verbatim=True,
        )
        memory = place(book, summary_draft).memory
        if earlier is not None:
            forget_one(book, earlier, "session ended again", "session_ended")
        return memory

    @staticmethod
    def _earlier(book: Book, session: Session) -> Memory | None:
        """The summary of an earlier end, if it stands as it was made: what the user confirmed or reworded stays."""
        if session.summary_memory_id is None:
            return None
        body = book.uow.get(keys.memory(book.partition, session.summary_memory_id))
        memory = None if body is None else decode(Memory, body)
        if memory is None or not memory.live(book.now) or memory.confirmations or memory.corrected:
            return None
        return memory
