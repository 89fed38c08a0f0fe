"""Sessions: a conversation in, memories out; the raw turns stay for drill-back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

from rearview.domain import admission, keys
from rearview.domain.codec import decode, encode
from rearview.domain.entities import find_entities
from rearview.domain.extraction import Extracted, TurnText, extract
from rearview.domain.memory import Source
from rearview.domain.principal import Principal
from rearview.domain.records import Session, Turn
from rearview.domain.scope import Scope
from rearview.domain.summary import summarise, summarise_session
from rearview.domain.times import to_text
from rearview.domain.types import SUMMARY_LIMIT, Kind, Origin
from rearview.errors import NotFound
from rearview.ports import Filter, UnitOfWork
from rearview.usecases.admit import Draft
from rearview.usecases.book import Book
from rearview.usecases.commands import WriteTurns
from rearview.usecases.fields import zone
from rearview.usecases.idempotency import Answer
from rearview.usecases.portions import portions
from rearview.usecases.scans import memories_of
from rearview.usecases.services import Services
from rearview.usecases.views import DroppedView, MemoryView, TurnResult, TurnsAnswer, plain
from rearview.usecases.write import Placed, Writer, place

#: Turns that a transaction takes, and memories that it places: together under the hundred items of DynamoDB.
TURN_CHUNK, MEMORY_CHUNK = 80, 11
#: Turns that go into the running summary; the summary of what lies before them is carried on.
SUMMARY_TURNS = 200
LAST_TURNS = 20


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that a turn holds: its draft, ready to be placed."""

    turn_id: str
    draft: Draft


class Sessions:
    """The verbs of sessions."""

    def __init__(self, services: Services, writer: Writer) -> None:
        self.services, self.writer = services, writer

    def turns(self, principal: Principal, request: WriteTurns, *, wait: bool = False) -> Answer:
        """Keeps the turns and what they hold. Answers (202 | 201 | 200 when
        nothing was worth keeping, TurnsAnswer as JSON).

        Turns are told apart by session, turn_id and text, memories by their content, so that a repeat of a call
        that died on the way changes nothing.
        """
        scope = principal.scope("write", request.namespace, request.user_id)
        now = self.services.now()
        turns = self._number(scope, request, now)
        found, dropped = extract(
            turns,
            now=now,
            timezone=zone(request.timezone),
            rules=self.services.rules.extraction,
            admission=self.services.rules.admission,
        )
        drafts = [Found(item.turn_id, self._draft(scope, request, item, turns)) for item in found]
        seq = self._keep(principal, scope, request, turns) if request.session_id is not None else 0
        placed: list[tuple[Found, Placed]] = []
        for start in range(0, len(drafts), MEMORY_CHUNK):
            some = drafts[start : start + MEMORY_CHUNK]
            done, seq = self._place(principal, scope, some)
            placed += zip(some, done, strict=True)
        if placed:
            self.services.ring(scope.partition, seq)
        ready = bool(placed) and wait and self.writer.enricher.wait(scope.partition, seq)
        results = []
        for turn in turns:
            mine = [(item.draft, one) for item, one in placed if item.turn_id == turn.turn_id]
            answers = [
                (self.writer.final if wait else self.writer.acknowledged)(item, one)[1] for item, one in mine
            ]
            gone = [
                DroppedView(text=item.text, reason=item.reason)
                for item in dropped
                if item.turn_id == turn.turn_id
            ]
            results.append(
                TurnResult.model_validate({"turn_id": turn.turn_id, "memories": answers, "dropped": gone})
            )
        answer = TurnsAnswer(
            results=results,
            session_id=request.session_id,
            token=self.services.token(scope, seq) if seq else None,
        )
        body = dict(plain(answer))
        return (200 if not placed else 201 if ready else 202), body

    def get(
        self, principal: Principal, session_id: str, user_id: str, namespace: str | None
    ) -> dict[str, Any]:
        """Last turns, working memory, running summary."""
        scope = principal.scope("read", namespace, user_id)
        body = self.services.store.get(keys.session(scope.partition, session_id))
        now = self.services.now()
        where = (Filter("memory_type", "eq", "working"), Filter("session_id", "eq", session_id))
        working = [
            item for item in memories_of(self.services.store, scope.partition, where) if item.live(now)
        ]
        if body is None and not working:
            raise NotFound("no such session")
        session = Session(session_id, scope, now, now) if body is None else decode(Session, body)
        rows = self.services.store.query(
            scope.partition, keys.turns_of(session_id), limit=LAST_TURNS, reverse=True
        ).items
        turns = [decode(Turn, row) for _, row in reversed(rows)]
        return {
            "id": session_id,
            "namespace": scope.namespace,
            "user_id": scope.user_id,
            "agent_id": session.agent_id,
            "turns_count": session.turns,
            "summary": session.summary,
            "created_at": to_text(session.created_at),
            "updated_at": to_text(session.updated_at),
            "ended_at": None if session.ended_at is None else to_text(session.ended_at),
            "turns": [
                {
                    "turn_id": turn.turn_id,
                    "number": turn.number,
                    "role": turn.role,
                    "speaker": turn.speaker,
                    "content": turn.content,
                    "at": to_text(turn.at),
                }
                for turn in turns
            ],
            "working": [plain(MemoryView.of(item)) for item in working],
        }

    # --- inside ---

    def _number(self, scope: Scope, request: WriteTurns, now: datetime) -> list[TurnText]:
        """Turn ids as given, else their number in the session; times as given, else now."""
        body = None
        if request.session_id is not None:
            body = self.services.store.get(keys.session(scope.partition, request.session_id))
        held = 0 if body is None else int(body["turns"])
        return [
            TurnText(
                turn_id=turn.turn_id or str(number),
                role=turn.role,
                speaker=turn.speaker,
                content=turn.content,
                at=request.moment(turn.at) or now,
            )
            for number, turn in enumerate(request.turns, held + 1)
        ]

    def _draft(self, scope: Scope, request: WriteTurns, item: Extracted, turns: Sequence[TurnText]) -> Draft:
        turn = next(one for one in turns if one.turn_id == item.turn_id)
        kind = cast("Kind", item.kind)
        life = admission.estimate(
            item.text,
            origin=item.origin,
            kind=item.kind,
            said_at=turn.at,
            now=self.services.now(),
            timezone=zone(request.timezone),
            rules=self.services.rules.admission,
        )
        return Draft(
            scope=scope,
            verdict="admit",
            reasons=tuple(item.reasons),
            content=item.text,
            summary=summarise(item.text, limit=SUMMARY_LIMIT),
            memory_type="long_term",
            kind=kind,
            importance=item.importance,
            confidence=item.confidence,
            origin=cast("Origin", item.origin),
            audience="user",
            source=Source(request.session_id, item.turn_id, turn.speaker),
            valid_from=turn.at,
            valid_to=life.valid_to,
            expires_at=life.expires_at,
            agent_id=request.agent_id,
            session_id=request.session_id,
            entities=tuple(find_entities(item.text)),
        )

    def _place(self, principal: Principal, scope: Scope, drafts: Sequence[Found]) -> tuple[list[Placed], int]:
        def work(uow: UnitOfWork) -> tuple[list[Placed], int]:
            book = Book(uow, scope, self.services.now(), principal.id)
            done = [place(book, item.draft) for item in drafts]
            book.close()
            return done, book.seq

        return self.services.store.transact(scope.partition, work)

    def _keep(
        self, principal: Principal, scope: Scope, request: WriteTurns, turns: Sequence[TurnText]
    ) -> int:
        session_id = cast("str", request.session_id)
        at = keys.session(scope.partition, session_id)
        known = self._known_turns(scope, session_id, turns)
        fresh = [turn for turn in turns if turn.turn_id not in known]
        seq = 0
        for some in portions(fresh, TURN_CHUNK, lambda turn: len(turn.content.encode())):

            def work(uow: UnitOfWork, some: Sequence[TurnText] = some) -> int:
                body = uow.get(at)
                book = Book(uow, scope, self.services.now(), principal.id)
                moment = book.tick()
                session = (
                    Session(session_id, scope, moment, moment) if body is None else decode(Session, body)
                )
                number = session.turns
                for turn in some:
                    number += 1
                    row = Turn(
                        session_id, number, turn.turn_id, turn.role, turn.content, turn.at, turn.speaker
                    )
                    uow.put(keys.turn(scope.partition, session_id, number), encode(row))
                texts = self._texts(uow, scope, session_id)
                session = replace(
                    session,
                    turns=number,
                    updated_at=moment,
                    agent_id=session.agent_id or request.agent_id,
                    summary=summarise_session(texts),
                    ended_at=None,
                )
                uow.put(at, encode(session))
                book.record("turns", session_id_digest(session_id), [turn.content for turn in some])
                book.close()
                return book.seq

            seq = self.services.store.transact(scope.partition, work)
        return seq

    def _known_turns(self, scope: Scope, session_id: str, turns: Sequence[TurnText]) -> set[str]:
        """Turns of this call that an earlier, perhaps interrupted, call kept already (same id, same text)."""
        wanted = [turn.turn_id for turn in turns]
        rows = self.services.store.query(
            scope.partition, keys.turns_of(session_id), where=(Filter("turn_id", "in", wanted),)
        ).items
        held = {(row["turn_id"], row["content"]) for _, row in rows}
        return {turn.turn_id for turn in turns if (turn.turn_id, turn.content) in held}

    def _texts(self, uow: UnitOfWork, scope: Scope, session_id: str) -> list[str]:
        rows = uow.query(scope.partition, keys.turns_of(session_id), limit=SUMMARY_TURNS, reverse=True).items
        return [row["content"] for _, row in reversed(rows)]


def session_id_digest(session_id: str) -> str:
    """The ledger's reference to a session: its key, since a session id may be personal."""
    return keys.session("", session_id).sort
