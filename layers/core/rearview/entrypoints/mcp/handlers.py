"""What each tool does: its arguments to a use case, the use case's answer to structured content and a short text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from rearview.domain.principal import Principal
from rearview.entrypoints.mcp import arguments as args
from rearview.entrypoints.mcp import texts
from rearview.entrypoints.mcp.results import ConflictsResult, GetResult, ReadResult, TraceResult
from rearview.errors import InvalidInput, NotFound
from rearview.usecases.app import Rearview
from rearview.usecases.commands import Forget, RecordDecision, RecordOutcome, Resolve, WriteMemory
from rearview.usecases.fields import read
from rearview.usecases.idempotency import Answer, Once, run_once
from rearview.usecases.questions import Context, ListConflicts, Precedents, Recall
from rearview.usecases.views import plain

#: Recall's fields for tuning and debugging; a model has no use for them.
HIDDEN = frozenset({"weights", "explain"})
#: Where no argument is a time, a time zone is none either.
NO_TIMES = frozenset({"timezone"})

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """Structured content, readable text, and whether an idempotency key brought back an earlier answer."""

    body: Body
    text: str
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool: by whom, on what, with which raw arguments."""

    app: Rearview
    principal: Principal
    tool: str
    arguments: dict[str, Any]

    def once(
        self, key: str | None, namespace: str | None, asked: Any, work: Callable[[Once | None], Answer]
    ) -> tuple[Body, bool]:
        """``work`` at most once per key; ``asked`` is what must be the same on a repeat."""
        _, body, replayed = run_once(
            self.app.services, self.principal, namespace, f"mcp {self.tool}", key, asked, work
        )
        return body, replayed


def _json(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json")


def write_memory(call: Call) -> Reply:
    request, extras = args.parse(call.arguments, WriteMemory, args.WriteExtras)
    body, replayed = call.once(
        extras.idempotency_key,
        request.namespace,
        _json(request),
        lambda once: call.app.writer.write(call.principal, request, wait=extras.wait, once=once),
    )
    return Reply(body, texts.written(body), replayed)


def read_memory(call: Call) -> Reply:
    request, extras = args.parse(call.arguments, Recall, args.ReadExtras, HIDDEN)
    if extras.context_tokens is None:
        answer = call.app.recaller.recall(call.principal, request)
        result = ReadResult(**{k: getattr(answer, k) for k in ReadResult.model_fields if hasattr(answer, k)})
    else:
        asked = request.model_dump(exclude_unset=True)
        block = call.app.context.context(
            call.principal, read(Context, {**asked, "max_tokens": extras.context_tokens})
        )
        result = ReadResult(
            hits=block.hits,
            conflicts=block.conflicts,
            abstained=block.abstained,
            reason=block.reason,
            degraded=block.degraded,
            recall_id=block.recall_id,
            took_ms=block.took_ms,
            context=block.text,
            context_tokens=block.tokens,
        )
    body = _json(result)
    return Reply(body, texts.recalled(body))


def get_memory(call: Call) -> Reply:
    asked, _ = args.parse(call.arguments, args.GetMemory, args.Nothing, NO_TIMES)
    memory = call.app.reader.memory(call.principal, asked.memory_id)
    rows = call.app.reader.history(call.principal, asked.memory_id)["items"] if asked.history else None
    body = {**_json(GetResult(memory=memory)), "history": rows}
    return Reply(body, texts.got(body))


def trace_memory(call: Call) -> Reply:
    if call.arguments.get("decision_id") is None:
        request, extras = args.parse(call.arguments, Precedents, args.TraceExtras)
        if extras.replay:
            raise InvalidInput.of("replay", "needs_decision_id", "goes with decision_id only")
        found = call.app.tracer.precedents(call.principal, request)
        body = {**_json(TraceResult()), **found}
        return Reply(body, texts.precedents(body))
    whose, extras = args.parse(call.arguments, args.Whose, args.TraceExtras)
    decision = call.app.tracer.decision(call.principal, str(extras.decision_id))
    if whose.user_id not in (None, decision.user_id) or whose.namespace not in (None, decision.namespace):
        raise NotFound("no such decision")
    if extras.replay:
        replay = call.app.replayer.replay(call.principal, decision.id)
        return Reply({**_json(TraceResult()), "replay": replay}, texts.replayed(replay))
    body = _json(TraceResult(decision=decision))
    return Reply(body, texts.decided(body["decision"]))


def record_decision(call: Call) -> Reply:
    request, extras = args.parse(call.arguments, RecordDecision, args.Keyed)
    body, replayed = call.once(
        extras.idempotency_key,
        request.namespace,
        _json(request),
        lambda once: call.app.tracer.decide(call.principal, request, once),
    )
    text = f"Recorded as decision {body['id']}. Call record_outcome with this id when you learn how it went."
    return Reply(body, text, replayed)


def record_outcome(call: Call) -> Reply:
    request, extras = args.parse(call.arguments, RecordOutcome, args.OutcomeExtras)
    body, replayed = call.once(
        extras.idempotency_key,
        None,
        {"decision_id": extras.decision_id, **_json(request)},
        lambda once: call.app.tracer.outcome(call.principal, extras.decision_id, request, once),
    )
    touched = len(body["effects"])
    text = f"Recorded {body['result']} as outcome {body['id']}; it changed {touched} memory(ies)."
    return Reply(body, text, replayed)


def forget_memory(call: Call) -> Reply:
    request, extras = args.parse(call.arguments, Forget, args.Keyed)
    # A dry run changes nothing: its key, if the model gave one, is left for the real call.
    body, replayed = call.once(
        None if request.dry_run else extras.idempotency_key,
        request.namespace,
        _json(request),
        lambda _: call.app.editor.forget(call.principal, request),
    )
    body = {"memories": None, **body}
    return Reply(body, texts.forgotten(body), replayed)


def list_conflicts(call: Call) -> Reply:
    request, _ = args.parse(call.arguments, ListConflicts, args.Nothing)
    page = call.app.reader.conflicts(call.principal, request)
    body = {**_json(ConflictsResult(items=[], next_cursor=None)), **page}
    return Reply(body, texts.listed(body))


def resolve_conflict(call: Call) -> Reply:
    extras: args.ResolveExtras
    if call.arguments.get("undo") is True:
        _, extras = args.parse(call.arguments, args.Nothing, args.ResolveExtras, NO_TIMES)
        asked: dict[str, Any] = {}

        def work(_: Once | None) -> Answer:
            return 200, dict(plain(call.app.settler.undo(call.principal, extras.conflict_id)))
    else:
        request, extras = args.parse(call.arguments, Resolve, args.ResolveExtras, NO_TIMES)
        asked = _json(request)

        def work(_: Once | None) -> Answer:
            return 200, dict(plain(call.app.settler.resolve(call.principal, extras.conflict_id, request)))

    body, replayed = call.once(
        extras.idempotency_key,
        None,
        {"conflict_id": extras.conflict_id, "undo": extras.undo, **asked},
        work,
    )
    return Reply(body, texts.resolved(body), replayed)
