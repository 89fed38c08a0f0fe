"""The trace room: decisions in, outcomes in, precedents and replays out."""

from __future__ import annotations

from rearview.entrypoints.rest.answers import DecisionList, PrecedentsAnswer, ReplayAnswer
from rearview.entrypoints.rest.room import Call, Nothing, Room
from rearview.usecases.app import Rearview
from rearview.usecases.commands import RecordDecision, RecordOutcome
from rearview.usecases.idempotency import Answer
from rearview.usecases.questions import ListDecisions, Precedents
from rearview.usecases.trace_views import DecisionView, OutcomeView
from rearview.usecases.views import plain


def room(app: Rearview) -> Room:
    """The routes of the function ``trace``."""
    here = Room("trace")

    @here.route(
        "POST",
        "/v1/decisions",
        "Record a decision",
        RecordDecision,
        {201: (DecisionView, "recorded")},
        example={
            "user_id": "mira",
            "context": "The parcel is four days late and she asks for her money back",
            "options": ["refund", "send again"],
            "action": "refund",
            "reasoning": "late twice this month",
        },
    )
    def decide(call: Call[RecordDecision]) -> Answer:
        return app.tracer.decide(call.principal, call.asked, call.once)

    @here.route(
        "POST",
        "/v1/decisions/{id}/outcomes",
        "Record how a decision went",
        RecordOutcome,
        {201: (OutcomeView, "recorded, with its blame and credit")},
        example={"result": "success", "score": 0.8, "note": "she ordered again"},
    )
    def outcome(call: Call[RecordOutcome]) -> Answer:
        return app.tracer.outcome(call.principal, call.path["id"], call.asked, call.once)

    @here.route(
        "POST",
        "/v1/precedents",
        "What was done in such a case, and did it work?",
        Precedents,
        {200: (PrecedentsAnswer, "earlier decisions and how each action went")},
        changes=False,
        example={"user_id": "mira", "context": "A late parcel, a refund is asked for"},
    )
    def precedents(call: Call[Precedents]) -> Answer:
        return 200, app.tracer.precedents(call.principal, call.asked)

    @here.route(
        "GET",
        "/v1/decisions",
        "List a user's decisions with their outcomes",
        ListDecisions,
        {200: (DecisionList, "a page; chain and memories are left to the single decision")},
    )
    def decisions(call: Call[ListDecisions]) -> Answer:
        return 200, app.lister.decisions(call.principal, call.asked)

    @here.route(
        "GET",
        "/v1/decisions/{id}",
        "A decision with its chain and what it rested on",
        Nothing,
        {200: (DecisionView, "the decision")},
    )
    def decision(call: Call[Nothing]) -> Answer:
        return 200, dict(plain(app.tracer.decision(call.principal, call.path["id"])))

    @here.route(
        "GET",
        "/v1/decisions/{id}/replay",
        "What a decision saw, beside what has become of it",
        Nothing,
        {200: (ReplayAnswer, "then and now")},
    )
    def replay(call: Call[Nothing]) -> Answer:
        return 200, app.replayer.replay(call.principal, call.path["id"])

    @here.route(
        "POST",
        "/v1/outcomes/{id}/revert",
        "Take an outcome's blame or credit back",
        Nothing,
        {200: (OutcomeView, "the outcome, reverted")},
    )
    def revert(call: Call[Nothing]) -> Answer:
        return app.tracer.revert(call.principal, call.path["id"])

    return here
