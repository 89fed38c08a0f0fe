"""The arguments of the tools: the use cases' own requests, and what only a tool needs beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field

from rearview.entrypoints.mcp.descriptions import ARGUMENTS
from rearview.errors import FieldError, InvalidInput
from rearview.usecases.fields import Identifier, Namespace, Request, Ulid, read

R = TypeVar("R", bound=Request)
E = TypeVar("E", bound=Request)


class Keyed(Request):
    """A call that may be sent again."""

    idempotency_key: Identifier | None = None


class WriteExtras(Keyed):
    wait: bool = True


class ReadExtras(Request):
    context_tokens: Annotated[int, Field(ge=50, le=32_000)] | None = None


class GetMemory(Request):
    memory_id: Ulid
    history: bool = False


class TraceExtras(Request):
    decision_id: Ulid | None = None
    replay: bool = False


class Whose(Request):
    """What may come along with a decision's id."""

    user_id: Identifier | None = None
    namespace: Namespace | None = None


class OutcomeExtras(Keyed):
    decision_id: Ulid


class ResolveExtras(Keyed):
    conflict_id: Ulid
    undo: bool = False


class Nothing(Request):
    """No further arguments."""


def own_fields(model: type[Request]) -> set[str]:
    """The fields of a model of extras; ``timezone`` belongs to the request."""
    return set(model.model_fields) - {"timezone"}


def parse(
    arguments: Mapping[str, Any], request: type[R], extras: type[E], hidden: frozenset[str] = frozenset()
) -> tuple[R, E]:
    """Both models from one set of arguments; raises InvalidInput with every broken rule of the two.

    ``hidden`` fields of the request are no arguments of the tool.
    """
    mine = own_fields(extras)
    errors = [
        FieldError(name, "extra_forbidden", "is no argument of this tool")
        for name in arguments
        if name in hidden
    ]

    def part(model: type[Any], data: dict[str, Any]) -> Any:
        try:
            return read(model, data)
        except InvalidInput as error:
            errors.extend(error.errors)
            return None

    first = part(request, {k: v for k, v in arguments.items() if k not in mine and k not in hidden})
    second = part(extras, {k: v for k, v in arguments.items() if k in mine})
    if errors:
        raise InvalidInput("; ".join(f"{item.field}: {item.message}" for item in errors[:3]), errors)
    return first, second


def input_schema(
    request: type[Request],
    extras: type[Request],
    *,
    hidden: frozenset[str] = frozenset(),
    required: tuple[str, ...] | None = None,
) -> dict[str, Any]:
    """One JSON Schema (draft 2020-12) for both models: no references, every argument described."""
    properties: dict[str, Any] = {}
    needed: list[str] = []
    for model, names in ((request, set(request.model_fields) - hidden), (extras, own_fields(extras))):
        schema = model.model_json_schema()
        for name, own in schema["properties"].items():
            if name in names:
                properties[name] = _described(name, _plain(own, schema.get("$defs", {})))
        needed += [name for name in schema.get("required", []) if name in names]
    # What is needed stands first: models fill arguments in the order in which they read them.
    needed = needed if required is None else list(required)
    ordered = {name: properties[name] for name in needed} | properties
    return {"type": "object", "properties": ordered, "required": needed, "additionalProperties": False}


def output_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of an answer; definitions stay, since a decision's chain holds decisions."""
    schema: dict[str, Any] = _untitled(model.model_json_schema(mode="serialization"))
    root = schema.pop("$ref", None)
    # A model that holds itself comes as a reference; the protocol wants an object at the root.
    return schema if root is None else {**schema["$defs"][root.rsplit("/", 1)[1]], **schema}


def _described(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "description": ARGUMENTS[name]}


def _plain(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Without references and titles; "X or null" becomes X, as leaving it out says the same."""
    if isinstance(schema, list):
        return [_plain(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
    some = [item for item in schema.get("anyOf", []) if item != {"type": "null"}]
    if len(some) == 1 and len(schema["anyOf"]) == 2:
        rest = {k: v for k, v in schema.items() if k != "anyOf"}
        return _plain({**some[0], **rest}, definitions)
    out = {}
    for key, value in schema.items():
        if key == "properties":
            out[key] = {k: _plain(v, definitions) for k, v in value.items() if k != "timezone"}
        elif key not in ("title", "description", "$defs") and not (key == "default" and value is None):
            out[key] = _plain(value, definitions)
    return out


def _untitled(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_untitled(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {k: _untitled(v) for k, v in value.items()}
        if key in ("properties", "$defs")
        else _untitled(value)
        for key, value in schema.items()
        if key != "title" or not isinstance(value, str)
    }
