"""The nine tools as the SDK holds them: strict arguments in, structured content and text out, refusals as tool errors."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import Any

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel

from rearview.domain.principal import Principal
from rearview.entrypoints.mcp import arguments as args
from rearview.entrypoints.mcp import handlers
from rearview.entrypoints.mcp.descriptions import TOOLS
from rearview.entrypoints.mcp.handlers import Call, Reply
from rearview.entrypoints.mcp.messages import refuse_faults
from rearview.entrypoints.mcp.results import ConflictsResult, ForgetResult, GetResult, ReadResult, TraceResult
from rearview.entrypoints.mcp.texts import problem_text
from rearview.errors import RearviewError
from rearview.usecases.app import Rearview
from rearview.usecases.commands import Forget, RecordDecision, RecordOutcome, Resolve, WriteMemory
from rearview.usecases.problems import problem
from rearview.usecases.questions import ListConflicts, Precedents, Recall
from rearview.usecases.trace_views import DecisionView, OutcomeView
from rearview.usecases.views import ConflictView, WriteAnswer

log = logging.getLogger("rearview.mcp")

Handler = Callable[[Call], Reply]
PrincipalOf = Callable[[], Principal]


class RearviewTool(Tool):
    """A tool whose arguments are validated by the use cases' own models and by nothing else.

    The SDK's own validation coerces, drops unknown arguments and repeats the input in its errors.
    """

    app: Any
    principal_of: Any

    async def run(
        self,
        arguments: dict[str, Any],
        context: Context[Any, Any],  # noqa: ARG002
        convert_result: bool = False,  # noqa: ARG002
    ) -> CallToolResult:
        """Never raises: what is refused or breaks is a result with ``is_error``."""
        try:
            refuse_faults(arguments)
            call = Call(self.app, self.principal_of(), self.name, arguments)
            # Use cases block (SQLite, embedding): in a thread, so that the event loop goes on.
            reply = await anyio.to_thread.run_sync(self.fn, call)
        except RearviewError as error:
            return _refusal(error)
        except Exception as error:
            # The error's own text may hold content: only its kind and where it arose are logged.
            where = "".join(traceback.format_tb(error.__traceback__))
            log.error("tool %s failed with %s\n%s", self.name, type(error).__name__, where)
            return _refusal(RearviewError("the call failed; nothing about the cause may leave the service"))
        return _result(reply)


def _result(reply: Reply) -> CallToolResult:
    text = (
        f"(answer of an earlier call with this idempotency_key)\n{reply.text}"
        if reply.replayed
        else reply.text
    )
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=dict(reply.body),
        _meta={"rearview/replayed": True} if reply.replayed else None,
    )


def _refusal(error: RearviewError) -> CallToolResult:
    # The problem document travels beside the text: structured content must keep to the tool's output schema.
    document = {name: value for name, value in problem(error).items() if name != "request_id"}
    document["errors"] = [{**item, "field": item["field"][:100]} for item in document["errors"][:20]]
    return CallToolResult(
        content=[TextContent(type="text", text=problem_text(error))],
        is_error=True,
        _meta={"rearview/problem": document},
    )


def _hints(*, reads: bool = False, destroys: bool = False, repeats: bool = False) -> dict[str, bool]:
    return {
        "read_only_hint": reads,
        "destructive_hint": destroys,
        "idempotent_hint": reads or repeats,
        "open_world_hint": False,
    }


def make_tools(app: Rearview, principal_of: PrincipalOf) -> list[Tool]:
    """All tools over one app; ``principal_of`` tells in whose name the call at hand is made."""

    def tool(
        handler: Handler, schema: dict[str, Any], answer: type[BaseModel], hints: dict[str, bool]
    ) -> Tool:
        name = handler.__name__
        title, description = TOOLS[name]
        return RearviewTool(
            fn=handler,
            name=name,
            title=title,
            description=description,
            parameters=schema,
            fn_metadata=FuncMetadata(arg_model=ArgModelBase, output_schema=args.output_schema(answer)),
            is_async=False,
            context_kwarg=None,
            annotations=ToolAnnotations(title=title, **hints),
            app=app,
            principal_of=principal_of,
        )

    schema = args.input_schema
    return [
        tool(handlers.write_memory, schema(WriteMemory, args.WriteExtras), WriteAnswer, _hints()),
        tool(
            handlers.read_memory,
            schema(Recall, args.ReadExtras, hidden=handlers.HIDDEN),
            ReadResult,
            _hints(reads=True),
        ),
        tool(
            handlers.get_memory,
            schema(args.GetMemory, args.Nothing, hidden=handlers.NO_TIMES),
            GetResult,
            _hints(reads=True),
        ),
        tool(
            handlers.trace_memory,
            schema(Precedents, args.TraceExtras, required=()),
            TraceResult,
            _hints(reads=True),
        ),
        tool(handlers.record_decision, schema(RecordDecision, args.Keyed), DecisionView, _hints()),
        tool(handlers.record_outcome, schema(RecordOutcome, args.OutcomeExtras), OutcomeView, _hints()),
        tool(handlers.forget_memory, schema(Forget, args.Keyed), ForgetResult, _hints(destroys=True)),
        tool(
            handlers.list_conflicts,
            schema(ListConflicts, args.Nothing),
            ConflictsResult,
            _hints(reads=True),
        ),
        tool(
            handlers.resolve_conflict,
            schema(Resolve, args.ResolveExtras, hidden=handlers.NO_TIMES),
            ConflictView,
            _hints(destroys=True, repeats=True),
        ),
    ]
