"""JSON-RPC messages as they arrive: the faults that are invisible once a parser has had its way with them.

The SDK's two eras parse with two parsers, and stdio with a third: duplicate keys vanish, lone surrogates and deep
nesting are refused in one and not in the other, and some refusals echo the input. So a message is read here first,
by one set of rules. What is wrong inside a tool's arguments reaches that tool as a fault that it reports by field
and rule; what is wrong elsewhere is refused as JSON-RPC says.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from mcp.types import INVALID_REQUEST, PARSE_ERROR, jsonrpc_message_adapter
from pydantic import ValidationError

from rearview.errors import FieldError, InvalidInput

#: Objects and lists may be nested so deep in a message. Metadata, the deepest argument, allows five of its own.
MAX_DEPTH: Final = 32
#: Digits of an integer: what a float can hold.
MAX_DIGITS: Final = 300
#: Argument under which faults travel to the tool. A name with NUL is refused, so that nobody else can use it.
FAULTS: Final = "\x00faults"

_TOO_DEEP: Final = f"too deep {secrets.token_hex(16)}"
#: A string (an unterminated one runs to the end, so that no quote is looked at twice) or a bracket.
_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[{\]}]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Broken:
    """Stands where a value could not be read."""

    rule: str
    message: str


_DEEP = Broken("max_depth", f"must not be nested more than {MAX_DEPTH} deep in its message")
_TWICE = Broken("duplicate_key", "must not be given twice")
_NOT_FINITE = Broken("finite_number", "must be a finite number")
_TOO_LONG = Broken("number_size", f"must be a number of at most {MAX_DIGITS} digits")
_SURROGATE = Broken("no_lone_surrogate", "must not hold lone surrogates (U+D800-U+DFFF)")
_NUL = Broken("no_nul", "must not hold names with the character NUL (U+0000)")
_OBJECT = Broken("object", "must be a JSON object")


class RefusedMessage(Exception):
    """No message that can be handed on: a JSON-RPC error ``code``, a sentence and the request's id if it is known."""

    def __init__(self, code: int, message: str, request_id: str | int | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.request_id = code, message, request_id

    def body(self) -> dict[str, Any]:
        """The JSON-RPC error response."""
        return {
            "jsonrpc": "2.0",
            "id": self.request_id,
            "error": {"code": self.code, "message": self.message},
        }


def screen(raw: bytes) -> bytes:
    """The message to hand on: ``raw`` itself, or the same with its arguments replaced by what is wrong with them.

    Raises RefusedMessage for what is no JSON, no JSON-RPC message, or broken outside of a tool's arguments.
    """
    message = _parse(raw)
    if not isinstance(message, dict):
        raise RefusedMessage(INVALID_REQUEST, "Body must be a single JSON-RPC message object")
    request_id = message.get("id")
    known = request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None
    if isinstance(known, str) and _is_broken_text(known):
        known = None
    if known is None and "id" in message and "method" in message:
        # The SDK's legacy era would take it for a notification and never answer.
        raise RefusedMessage(INVALID_REQUEST, "The id of a request must be text or an integer")
    arguments: dict[str, Any] | None = None
    faults: list[FieldError] = []
    params = message.get("params")
    if message.get("method") == "tools/call" and isinstance(params, dict):
        given = params.get("arguments")
        if isinstance(given, dict):
            arguments = given
            faults = [FieldError(path, rule.rule, rule.message) for path, rule in _faults(given)]
        elif given is not None:
            arguments, faults = {}, [FieldError("arguments", _OBJECT.rule, _OBJECT.message)]
        if arguments is not None:
            message = {**message, "params": {**params, "arguments": {}}}
    for path, broken in _faults(message):
        raise RefusedMessage(INVALID_REQUEST, f"{path}: {broken.message} [{broken.rule}]", known)
    try:
        jsonrpc_message_adapter.validate_python(message, by_name=False)
    except ValidationError:
        raise RefusedMessage(INVALID_REQUEST, "Body must be a JSON-RPC 2.0 message", known) from None
    if not faults:
        return raw
    message["params"]["arguments"] = {FAULTS: [[item.field, item.rule, item.message] for item in faults[:20]]}
    return json.dumps(message).encode()


def too_large(raw: bytes, limit: int) -> bytes:
    """A message over ``limit`` bytes as one whose tool says so; for pipes, where no status code can."""
    message = json.loads(screen(raw))
    if message.get("method") == "tools/call":
        fault = ["arguments", "max_bytes", f"must be at most {limit} bytes in all"]
        message["params"]["arguments"] = {FAULTS: [fault]}
        return json.dumps(message).encode()
    request_id = message.get("id")
    raise RefusedMessage(INVALID_REQUEST, f"A message must be at most {limit} bytes", request_id)


def refuse_faults(arguments: dict[str, Any]) -> None:
    """Raises InvalidInput for the faults that :func:`screen` found."""
    found = arguments.get(FAULTS)
    if found is not None:
        errors = [FieldError(*item) for item in found]
        raise InvalidInput("; ".join(f"{item.field}: {item.message}" for item in errors[:3]), errors)


def _parse(raw: bytes) -> Any:
    try:
        text = raw.decode("utf-8")
        if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH:
            text = _shallow(text)
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=lambda _: _NOT_FINITE,
            parse_int=lambda digits: int(digits) if len(digits) <= MAX_DIGITS else _TOO_LONG,
        )
    except (ValueError, RecursionError):
        raise RefusedMessage(PARSE_ERROR, "Parse error: the message is not JSON in UTF-8") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in pairs:
        out[name] = _TWICE if name in out else value
    return out


def _shallow(text: str) -> str:
    """``text`` with everything below MAX_DEPTH cut out, so that no parser can run out of stack."""
    pieces: list[str] = []
    depth = start = kept = 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in ("[", "{"):
            depth += 1
            if depth == MAX_DEPTH + 1:
                start = token.start()
        elif mark in ("]", "}"):
            depth -= 1
            if depth == MAX_DEPTH:
                pieces += (text[kept:start], json.dumps(_TOO_DEEP))
                kept = token.end()
    if depth > MAX_DEPTH:
        raise ValueError("unclosed")
    return "".join((*pieces, text[kept:]))


def _faults(value: Any, path: str = "") -> Iterator[tuple[str, Broken]]:
    if isinstance(value, Broken):
        yield path or "body", value
    elif isinstance(value, str):
        if value == _TOO_DEEP:
            yield re.split(r"[.\[]", path, maxsplit=1)[0] or "body", _DEEP
        elif _is_broken_text(value):
            yield path or "body", _SURROGATE
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _faults(item, f"{path}[{number}]")
    elif isinstance(value, dict):
        for name, item in value.items():
            if _is_broken_text(name):
                yield path or "arguments", _SURROGATE
            elif "\x00" in name:
                yield path or "arguments", _NUL
            else:
                yield from _faults(item, f"{path}.{name[:64]}" if path else name[:64])


def _is_broken_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False
