"""The write room: memories, conversations, sessions, edits, forgetting, conflicts."""

from __future__ import annotations

from typing import Any

from rearview.entrypoints.rest.answers import BatchAnswer, ForgetAnswer, MemoryChanged, SessionEnded
from rearview.entrypoints.rest.room import Call, Nothing, Room
from rearview.usecases.app import Rearview
from rearview.usecases.commands import (
    EndSession,
    Forget,
    PatchMemory,
    Resolve,
    WriteBatch,
    WriteMemory,
    WriteTurns,
)
from rearview.usecases.fields import Request, ShortText
from rearview.usecases.idempotency import Answer
from rearview.usecases.views import ConflictView, TurnsAnswer, WriteAnswer, plain


class DeleteMemory(Request):
    """Why it goes; kept with the memory."""

    reason: ShortText | None = None


_WRITTEN = {
    202: (WriteAnswer, "kept; enrichment follows"),
    201: (WriteAnswer, "kept and enriched (wait=true)"),
    200: (WriteAnswer, "a drop or a duplicate"),
}
_TURNS = {
    202: (TurnsAnswer, "kept; enrichment follows"),
    201: (TurnsAnswer, "kept and enriched (wait=true)"),
    200: (TurnsAnswer, "nothing new to keep"),
}
_CHANGED = {200: (MemoryChanged, "the memory as it is now")}
_CONFLICT = {200: (ConflictView, "the conflict as it is now")}


def room(app: Rearview) -> Room:
    """The routes of the function ``write``."""
    here = Room("write")

    @here.route(
        "POST",
        "/v1/memories",
        "Write a memory",
        WriteMemory,
        _WRITTEN,
        waits=True,
        example={"user_id": "mira", "content": "我对花生过敏", "kind": "fact", "tags": ["health"]},
    )
    def write(call: Call[WriteMemory]) -> Answer:
        return app.writer.write(call.principal, call.asked, wait=call.wait, once=call.once)

    @here.route(
        "POST",
        "/v1/memories/batch",
        "Write up to 100 memories",
        WriteBatch,
        {200: (BatchAnswer, "one result per item, in order")},
        waits=True,
        example={"items": [{"user_id": "mira", "content": "Prefers the window seat"}]},
    )
    def batch(call: Call[WriteBatch]) -> Answer:
        return app.writer.batch(call.principal, call.asked, wait=call.wait, once=call.once)

    @here.route(
        "POST",
        "/v1/turns",
        "Conversation in, memories out",
        WriteTurns,
        _TURNS,
        waits=True,
        example={
            "user_id": "mira",
            "session_id": "2026-05-03/1",
            "turns": [
                {"role": "user", "content": "I moved to Lisbon last month, please use my new address."}
            ],
        },
    )
    def turns(call: Call[WriteTurns]) -> Answer:
        return app.sessions.turns(call.principal, call.asked, wait=call.wait, once=call.once)

    @here.route(
        "POST",
        "/v1/sessions/{session_id}/end",
        "End a session: working memory goes, a summary stays",
        EndSession,
        {200: (SessionEnded, "ended")},
        example={"user_id": "mira"},
    )
    def end(call: Call[EndSession]) -> Answer:
        return app.session_ender.end(call.principal, call.path["session_id"], call.asked)

    @here.route(
        "PATCH",
        "/v1/memories/{id}",
        "Change a memory",
        PatchMemory,
        _CHANGED,
        example={"importance": 0.9, "reason": "came up again"},
    )
    def patch(call: Call[PatchMemory]) -> Answer:
        return app.editor.patch(call.principal, call.path["id"], call.asked, call.once)

    @here.route("DELETE", "/v1/memories/{id}", "Forget a memory, softly", DeleteMemory, _CHANGED)
    def delete(call: Call[DeleteMemory]) -> Answer:
        return app.editor.delete(call.principal, call.path["id"], call.asked.reason, call.once)

    @here.route("POST", "/v1/memories/{id}/restore", "Take a deletion back", Nothing, _CHANGED)
    def restore(call: Call[Nothing]) -> Answer:
        return app.editor.restore(call.principal, call.path["id"], call.once)

    @here.route(
        "POST",
        "/v1/forget",
        "Forget by filter: a dry run first, then with its code",
        Forget,
        {200: (ForgetAnswer, "what goes, or what went")},
        example={"user_id": "mira", "tags": ["trial"]},
    )
    def forget(call: Call[Forget]) -> Answer:
        return app.editor.forget(call.principal, call.asked)

    @here.route(
        "POST",
        "/v1/conflicts/{id}/resolve",
        "Settle a conflict as the user said",
        Resolve,
        _CONFLICT,
        example={"keep_both": True},
    )
    def resolve(call: Call[Resolve]) -> Answer:
        return 200, _plain(app.settler.resolve(call.principal, call.path["id"], call.asked))

    @here.route("POST", "/v1/conflicts/{id}/undo", "Take a resolution back", Nothing, _CONFLICT)
    def undo(call: Call[Nothing]) -> Answer:
        return 200, _plain(app.settler.undo(call.principal, call.path["id"]))

    return here


def _plain(view: ConflictView) -> dict[str, Any]:
    return dict(plain(view))
