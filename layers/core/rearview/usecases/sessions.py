"""Sessions: a conversation in, memories out; the raw turns stay for drill-back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
from rearview.usecases.admit import Draft, expiry
from rearview.usecases.book import Book
from rearview.usecases.commands import TurnIn, WriteTurns
from rearview.usecases.fields import zone
from rearview.usecases.idempotency import Answer, Once
from rearview.usecases.scans import memories_of
from rearview.usecases.services import Services
from rearview.usecases.texts import AWAY
from rearview.usecases.turns import known as known_turns
from rearview.usecases.turns import last_texts, last_turns, stowed
from rearview.usecases.views import DroppedView, MemoryView, TurnResult, TurnsAnswer, plain
from rearview.usecases.write import Placed, Writer, place, shown

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

    def turns(
        self, principal: Principal, request: WriteTurns, *, wait: bool = False, once: Once | None = None
    ) -> Answer:
        """Keeps the turns and what they hold. Answers (202 | 201 | 200 when
        nothing was worth keeping, TurnsAnswer as JSON).

        Turns are told apart by session, turn_id and text, those without an id by the call's guard, memories by
        their content, so that a repeat of a call that died on the way changes nothing.
        """
        scope = principal.scope("write", request.namespace, request.user_id)
        now = self.services.now()
        turns, seq = self._keep(principal, scope, request, now, once)
        found, dropped = extract(
            turns,
            now=now,
            timezone=zone(request.timezone),
            rules=self.services.rules.extraction,
            admission=self.services.rules.admission,
        )
        drafts = [Found(item.turn_id, self._draft(scope, request, item, turns)) for item in found]
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
        turns, whole = last_turns(self.services, session, LAST_TURNS)
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
            "degraded": [] if whole else [AWAY],
        }

    # --- inside ---

    def _draft(self, scope: Scope, request: WriteTurns, item: Extracted, turns: Sequence[TurnText]) -> Draft:
        turn = next(one for one in turns if one.turn_id == item.turn_id)
        kind, now = cast("Kind", item.kind), self.services.now()
        life = self.services.policies.of(scope.namespace).shelf_life("long_term", kind)
        found = admission.estimate(
            item.text,
            origin=item.origin,
            kind=item.kind,
            said_at=turn.at,
            now=now,
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
            valid_to=found.valid_to,
            expires_at=expiry(now, life, found.expires_at),
            agent_id=request.agent_id,
            session_id=request.session_id,
            entities=tuple(find_entities(item.text)),
        )

    def _place(self, principal: Principal, scope: Scope, drafts: Sequence[Found]) -> tuple[list[Placed], int]:
        def work(uow: UnitOfWork) -> tuple[list[Placed], int]:
            book = Book(uow, scope, self.services.now(), principal.id)
            done = [place(book, item.draft) for item in drafts]
            book.close()
            return shown(self.services, book, done), book.seq

        return self.services.store.transact(scope.partition, work)

    def _keep(
        self, principal: Principal, scope: Scope, request: WriteTurns, now: datetime, once: Once | None
    ) -> tuple[list[TurnText], int]:
        """Puts the turns into their session, if they have one. Answers them with their ids (as given, else their
        number in the session) and times (as given, else now), and the last sequence number."""
        given_ids = [turn.turn_id for turn in request.turns if turn.turn_id is not None]
        known = set()
        if request.session_id is not None:
            known = known_turns(self.services.store, scope.partition, request.session_id, given_ids)
        ids: list[str] = []
        seq = 0
        for start in range(0, len(request.turns), TURN_CHUNK):
            some = request.turns[start : start + TURN_CHUNK]
            guard = None if once is None else once.part(start)
            kept = guard.kept(self.services) if guard is not None and guard.resumed else None
            if kept is not None:
                ids += kept[1]["turn_ids"]
            elif request.session_id is None:
                given = {turn.turn_id for turn in request.turns}
                ids += [turn.turn_id or _own_id(n, given) for n, turn in enumerate(some, start + 1)]
            else:

                def work(
                    uow: UnitOfWork, some: Sequence[TurnIn] = some, guard: Once | None = guard
                ) -> tuple[list[str], int]:
                    book = Book(uow, scope, self.services.now(), principal.id)
                    own = self._append(book, request, some, known, now)
                    book.close()
                    if guard is not None:
                        guard.seal(uow, 200, {"turn_ids": own})
                    return own, book.seq

                own, seq = self.services.store.transact(scope.partition, work)
                ids += own
        texts = [
            TurnText(
                turn_id=turn_id,
                role=turn.role,
                speaker=turn.speaker,
                content=turn.content,
                at=request.moment(turn.at) or now,
            )
            for turn_id, turn in zip(ids, request.turns, strict=True)
        ]
        return texts, seq

    def _append(
        self,
        book: Book,
        request: WriteTurns,
        some: Sequence[TurnIn],
        known: set[tuple[str, str]],
        now: datetime,
    ) -> list[str]:
        """Puts turns at the end of their session, except those that it holds already; answers the ids of all."""
        session_id = cast("str", request.session_id)
        at = keys.session(book.partition, session_id)
        body = book.uow.get(at)
        moment = book.tick()
        session = Session(session_id, book.scope, moment, moment) if body is None else decode(Session, body)
        given = {turn.turn_id for turn in request.turns}
        # A repeat of what lies in the archive is a repeat too: without the archive this call has to wait.
        early = stowed(self.services, session, book.uow)
        known = known | {(turn.turn_id, turn.content) for turn in early}
        number, ids, fresh = session.turns, [], []
        for turn in some:
            if turn.turn_id is not None and (turn.turn_id, turn.content) in known:
                ids.append(turn.turn_id)
                continue
            number += 1
            turn_id = turn.turn_id or _own_id(number, given)
            said = request.moment(turn.at) or now
            row = Turn(session_id, number, turn_id, turn.role, turn.content, said, turn.speaker)
            book.uow.put(keys.turn(book.partition, session_id, number), encode(row))
            ids.append(turn_id)
            fresh.append(turn.content)
        if fresh:
            session = replace(
                session,
                turns=number,
                updated_at=moment,
                last_turn_at=moment,
                agent_id=session.agent_id or request.agent_id,
                summary=summarise_session(last_texts(book.uow, session, early, SUMMARY_TURNS)),
                ended_at=None,
            )
            book.uow.put(at, encode(session))
            book.record("turns", session_id_digest(session_id), fresh)
        return ids


def _own_id(number: int, given: Collection[str | None]) -> str:
    """The id of a turn that came without one: its number, unless another turn of the call bears that."""
    own = str(number)
    while own in given:
        own += "+"
    return own


def session_id_digest(session_id: str) -> str:
    """The ledger's reference to a session: its key, since a session id may be personal."""
    return keys.session("", session_id).sort
