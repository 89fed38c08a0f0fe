"""What an import file holds: memories, chat transcripts in their common shapes, or an export; told apart by shape.

Pure reading: values in, :class:`Record` out. Nothing is stored here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, BinaryIO, Final, Literal

from rearview.domain.times import to_text
from rearview.errors import InvalidInput, MalformedBody, RearviewError
from rearview.usecases.jsonlines import numbered_lines, strict_json

Format = Literal["auto", "memories", "transcript", "export"]
RecordKind = Literal["header", "line", "memory", "turn", "refused"]

#: Bytes of a file that is one JSON document.
DOCUMENT_BYTES: Final = 64 * 1024 * 1024
#: ``type`` of the first line of an export; the lines after it carry one of ``EXPORT_LINES``.
HEADER: Final = "rearview_export"
EXPORT_LINES: Final = ("session", "turn", "memory", "conflict", "decision", "outcome")

_ROLES: Final = {
    "user": "user", "human": "user", "customer": "user", "client": "user", "用户": "user",
    "assistant": "assistant", "ai": "assistant", "bot": "assistant", "model": "assistant", "gpt": "assistant",
    "agent": "assistant", "chatgpt": "assistant", "claude": "assistant", "助手": "assistant",
    "system": "system", "developer": "system", "系统": "system",
    "tool": "tool", "function": "tool", "工具": "tool",
}  # fmt: skip
_TEXT: Final = ("content", "value", "text", "message")
_TIME: Final = ("at", "timestamp", "created_at", "create_time", "time", "date")
_SESSION: Final = ("session_id", "conversation_id", "session", "thread_id")
_CONVERSATION: Final = ("messages", "turns", "conversations", "conversation")


@dataclass(frozen=True, slots=True)
class Record:
    """One thing to import and where it stood. ``refused``: the error that keeps it out."""

    kind: RecordKind
    line: int
    body: Mapping[str, Any] = field(default_factory=dict)
    refused: RearviewError | None = None
    at: str = ""


def read_records(stream: BinaryIO, *, name: str, format: Format = "auto") -> Iterator[Record]:
    """The records of a file, in order. ``name`` (a file's stem) names the session of turns that name none.

    A file is JSONL, one value a line, or one JSON document (a list of messages, an object with ``messages``, a list
    of either). A line that cannot be read becomes a ``refused`` record; the others go on.
    """
    sessions = _Sessions(name)
    for line, value, error in _values(stream):
        if error is not None:
            yield Record("refused", line, refused=error)
        else:
            yield from _records(value, line, sessions, format, "")


def _values(stream: BinaryIO) -> Iterator[tuple[int, Any, RearviewError | None]]:
    lines = numbered_lines(stream)
    first = next(lines, None)
    if first is None:
        return
    try:
        strict_json(first[1])
    except RearviewError:
        # No JSON by itself: a document over several lines, or JSONL with a bad first line.
        rest = _up_to(DOCUMENT_BYTES, lines)
        try:
            yield first[0], strict_json(b"\n".join([first[1], *(text for _, text in rest)]), "document"), None
            return
        except MalformedBody as error:
            if not any(text.startswith(b"{") and text.endswith(b"}") for _, text in rest):
                yield first[0], None, error
                return
            lines = itertools.chain(rest, lines)
    for number, text in itertools.chain([first], lines):
        try:
            value = strict_json(text)
        except MalformedBody as error:
            yield number, None, error
        else:
            yield number, value, None


def _up_to(limit: int, lines: Iterator[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Lines until they are ``limit`` bytes together; what lies beyond stays in ``lines``."""
    taken: list[tuple[int, bytes]] = []
    size = 0
    for line in lines:
        taken.append(line)
        size += len(line[1])
        if size > limit:
            break
    return taken


class _Sessions:
    """Names for conversations that bring none, and turn numbers within each."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._conversations = itertools.count(1)
        self._numbers: dict[str, int] = {}

    @property
    def default(self) -> str:
        return self._name

    def next_conversation(self) -> str:
        return f"{self._name}-{next(self._conversations)}"

    def number(self, session: str) -> int:
        self._numbers[session] = self._numbers.get(session, 0) + 1
        return self._numbers[session]


def _records(value: Any, line: int, sessions: _Sessions, format: Format, at: str) -> Iterator[Record]:
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _records(item, line, sessions, format, f"{at}[{number}]")
        return
    if not isinstance(value, dict):
        yield _refused(line, at, "object", "must be a JSON object or a list of them")
        return
    kind = value.get("type")
    if format in ("auto", "export") and (
        kind == HEADER or (format == "export" or (kind in EXPORT_LINES and "role" not in value))
    ):
        yield Record("header" if kind == HEADER else "line", line, value, at=at)
        return
    items = value.get("items")
    if format != "transcript" and isinstance(items, list) and "content" not in value:
        yield from _records(items, line, sessions, format, f"{at}.items" if at else "items")
        return
    messages = next((value[key] for key in _CONVERSATION if isinstance(value.get(key), list)), None)
    if format != "memories" and messages is not None:
        yield from _conversation(value, messages, line, sessions, at)
    elif format == "transcript" or (format == "auto" and _is_turn(value)):
        yield _turn(value, line, sessions, at, {})
    else:
        yield Record("memory", line, value, at=at)


def _is_turn(value: Mapping[str, Any]) -> bool:
    return any(key in value for key in ("role", "speaker", "from")) and any(key in value for key in _TEXT)


def _conversation(
    value: Mapping[str, Any], messages: list[Any], line: int, sessions: _Sessions, at: str
) -> Iterator[Record]:
    common = {
        "session_id": _first(value, (*_SESSION, "id")) or sessions.next_conversation(),
        "user_id": value.get("user_id"),
        "namespace": value.get("namespace"),
        "agent_id": value.get("agent_id"),
    }
    for number, item in enumerate(messages):
        where = f"{at}messages[{number}]"
        if isinstance(item, dict):
            yield _turn(item, line, sessions, where, common)
        else:
            yield _refused(line, where, "object", "must be a JSON object")


def _turn(
    value: Mapping[str, Any], line: int, sessions: _Sessions, at: str, common: Mapping[str, Any]
) -> Record:
    """One message as a turn of ``POST /v1/turns``, with the scope fields beside it."""
    try:
        session = str(_first(value, _SESSION) or common.get("session_id") or sessions.default)
        number = sessions.number(session)
        speaker = value.get("speaker") or value.get("name")
        turn: dict[str, Any] = {
            "turn_id": str(_first(value, ("turn_id", "id", "message_id")) or number),
            "role": _role(value),
            "content": _text(value),
            "speaker": speaker,
            "at": _time(_first(value, _TIME)),
        }
    except InvalidInput as error:
        return Record("refused", line, refused=error, at=at)
    body = {
        "session_id": session,
        "turn": {key: item for key, item in turn.items() if item is not None},
        **{key: value.get(key) or common.get(key) for key in ("user_id", "namespace", "agent_id")},
    }
    return Record("turn", line, body, at=at)


def _first(value: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _role(value: Mapping[str, Any]) -> str:
    given = _first(value, ("role", "from"))
    if given is None and isinstance(value.get("author"), dict):
        given = value["author"].get("role")
    if given is None:
        # A named speaker without a role is a person, unless the name is that of a role.
        return _ROLES.get(str(value.get("speaker", "user")).lower(), "user")
    role = _ROLES.get(str(given).lower())
    if role is None:
        raise InvalidInput.of("role", "literal_error", "must be user, assistant, system or tool")
    return role


def _text(value: Mapping[str, Any]) -> str:
    content = _first(value, _TEXT)
    if isinstance(content, dict):
        content = content.get("parts") or content.get("text")
    if isinstance(content, list):
        # The parts form: only text is memory; images and tool calls are not.
        parts = [
            item if isinstance(item, str) else item.get("text")
            for item in content
            if isinstance(item, str | dict)
        ]
        content = "\n".join(part for part in parts if isinstance(part, str))
    if content is None:
        raise InvalidInput.of("content", "missing", "must hold a text")
    if not isinstance(content, str):
        raise InvalidInput.of("content", "string_type", "must be a text")
    return content


def _time(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value / 1000 if abs(value) > 1e11 else value
        try:
            return to_text(datetime.fromtimestamp(seconds, UTC))
        except (ValueError, OverflowError, OSError):
            pass
    raise InvalidInput.of("at", "rfc3339", "must be an RFC 3339 time or seconds since 1970")


def _refused(line: int, at: str, rule: str, message: str) -> Record:
    return Record("refused", line, refused=InvalidInput.of(at or "line", rule, message), at=at)
