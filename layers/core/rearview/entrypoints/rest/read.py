"""The read room: recall, context, and everything by id or by list."""

from __future__ import annotations

from rearview.entrypoints.rest.answers import HistoryList, MemoryList, SessionView, WriteState
from rearview.entrypoints.rest.answers_graph import GraphAnswer
from rearview.entrypoints.rest.room import Call, Nothing, Room
from rearview.usecases.app import Rearview
from rearview.usecases.commands import Scoped
from rearview.usecases.idempotency import Answer
from rearview.usecases.profile_views import ProfileAnswer
from rearview.usecases.questions import Context, ListMemories, ListOf, Recall, ShowGraph
from rearview.usecases.views import ContextAnswer, MemoryView, RecallAnswer, plain


class ReadSession(Scoped):
    """Whose session it is."""


def room(app: Rearview) -> Room:
    """The routes of the function ``read``."""
    here = Room("read")

    @here.route(
        "POST",
        "/v1/recall",
        "Recall what is known",
        Recall,
        {200: (RecallAnswer, "hits, best first; or the nearest, and abstained")},
        changes=False,
        example={"user_id": "mira", "query": "What must I not cook for her?", "top_k": 5},
    )
    def recall(call: Call[Recall]) -> Answer:
        return 200, dict(plain(app.recaller.recall(call.principal, call.asked)))

    @here.route(
        "POST",
        "/v1/context",
        "A prompt-ready block of what is known",
        Context,
        {200: (ContextAnswer, "fenced text within the budget, and its hits")},
        changes=False,
        example={"user_id": "mira", "query": "dinner plans", "max_tokens": 600},
    )
    def context(call: Call[Context]) -> Answer:
        return 200, dict(plain(app.context.context(call.principal, call.asked)))

    @here.route(
        "GET",
        "/v1/memories",
        "List a user's memories",
        ListMemories,
        {200: (MemoryList, "a page")},
    )
    def memories(call: Call[ListMemories]) -> Answer:
        return 200, app.reader.memories(call.principal, call.asked)

    @here.route(
        "GET",
        "/v1/graph",
        "Memories and decisions, and how they hang together",
        ShowGraph,
        {200: (GraphAnswer, "nodes, edges and clusters")},
    )
    def graph(call: Call[ShowGraph]) -> Answer:
        return 200, app.grapher.graph(call.principal, call.asked)

    @here.route("GET", "/v1/memories/{id}", "A memory by its id", Nothing, {200: (MemoryView, "the memory")})
    def memory(call: Call[Nothing]) -> Answer:
        return 200, dict(plain(app.reader.memory(call.principal, call.path["id"])))

    @here.route(
        "GET",
        "/v1/profile",
        "What a user's memories say by slot, with shares and evidence",
        ListOf,
        {200: (ProfileAnswer, "a page, most certain and latest first")},
    )
    def profile(call: Call[ListOf]) -> Answer:
        return 200, app.profiles.get(call.principal, call.asked)

    @here.route(
        "GET",
        "/v1/memories/{id}/history",
        "All versions of a memory",
        Nothing,
        {200: (HistoryList, "versions, oldest first")},
    )
    def history(call: Call[Nothing]) -> Answer:
        return 200, app.reader.history(call.principal, call.path["id"])

    @here.route(
        "GET",
        "/v1/sessions/{session_id}",
        "Last turns, working memory and summary of a session",
        ReadSession,
        {200: (SessionView, "the session")},
    )
    def session(call: Call[ReadSession]) -> Answer:
        asked = call.asked
        return 200, app.sessions.get(call.principal, call.path["session_id"], asked.user_id, asked.namespace)

    @here.route("GET", "/v1/writes/{token}", "How far a write is", Nothing, {200: (WriteState, "its state")})
    def state(call: Call[Nothing]) -> Answer:
        return 200, app.reader.write(call.principal, call.path["token"])

    return here
