"""The export's lines: one header, then sessions, turns, memories with their history, conflicts, decisions, outcomes.

A line is ``{"type", "namespace", "user_id", …}``. What another store must make anew is left out: sequence numbers,
embeddings, enrichment states, content hashes (HMACs under a key that is never exported), signatures of recall ids, and
which texts lie in the archive: they are written out whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from rearview.domain.codec import Body, decode, encode
from rearview.domain.ids import is_ulid
from rearview.domain.memory import History, Memory
from rearview.domain.records import Conflict, Decision, Outcome, Session, Turn
from rearview.domain.scope import Scope, check_namespace
from rearview.domain.text import CONTENT_LIMIT, clean, identifier, refuse_broken
from rearview.errors import InvalidInput
from rearview.usecases.fields import Metadata, invalid
from rearview.usecases.transcripts import HEADER

R = TypeVar("R")

VERSION: Final = 1
#: How far ahead of this machine's clock another's may be.
SKEW: Final = timedelta(days=1)
_DEPTH: Final = 12
_DERIVED: Final = frozenset(
    {
        *("scope", "seq", "enrichment", "embedding", "content_hash"),
        # Where a text lies is this store's own business: a line holds it whole.
        *("text_archived", "text_digest", "turns_archived", "turns_cleared", "turns_digest", "turns_before"),
        # Read out of the text again.
        *("said", "said_stamp"),
    }
)
_ULIDS: Final = frozenset(
    {
        "id",
        "decision_id",
        "memory_id",
        "superseded_by",
        "merged_into",
        "follows",
        "keep",
        "parent_id",
        "summary_memory_id",
    }
)
_ULID_LISTS: Final = frozenset({"memory_ids", "conflicts"})
_BOUNDED: Final = {"importance": (0.0, 1.0), "confidence": (0.0, 1.0), "score": (-1.0, 1.0)}
_IDENTIFIERS: Final = frozenset({"user_id", "agent_id", "session_id", "turn_id", "speaker", "tool"})
#: Records whose times say when this store learned of them; they cannot lie in the future.
_KNOWN_TIMES: Final = ("created_at", "updated_at", "known_from", "deleted_at", "reverted_at", "ended_at")


def header(exported_at: str, namespace: str | None, user_id: str | None) -> Body:
    """The first line."""
    return {
        "type": HEADER,
        "format": VERSION,
        "exported_at": exported_at,
        "namespace": namespace,
        "user_id": user_id,
    }


def check_header(line: Mapping[str, Any]) -> None:
    """Raises InvalidInput for a format that this version cannot read."""
    version = line.get("format")
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= VERSION:
        raise InvalidInput.of("format", "supported_version", f"must be a format up to {VERSION}")


def line_of(scope: Scope, kind: str, record: Any, **more: Any) -> Body:
    """One record as a line; ``more`` is laid over it."""
    body = {key: value for key, value in encode(record).items() if key not in _DERIVED}
    return {"type": kind, "namespace": scope.namespace, "user_id": scope.user_id, kind: {**body, **more}}


def memory_line(scope: Scope, memory: Memory, history: Sequence[History]) -> Body:
    """A memory with all its states. The first is whole, each later one holds what changed."""
    line = line_of(scope, "memory", memory)
    if memory.pending and memory.version == 1 and not memory.verbatim:
        # Not yet held against the others of its user: whoever imports it does that.
        line["unrelated"] = True
    rows, before = [], Body()
    for row in history:
        state = {key: value for key, value in encode(row.memory).items() if key not in _DERIVED}
        changed = {key: value for key, value in state.items() if key not in before or before[key] != value}
        about = {key: value for key, value in encode(row).items() if key != "memory"}
        rows.append({**about, "memory": changed})
        before = state
    return {**line, "history": rows}


def scope_of(line: Mapping[str, Any]) -> Scope:
    """Whose record a line is."""
    namespace, user_id = line.get("namespace"), line.get("user_id")
    for name, value in (("namespace", namespace), ("user_id", user_id)):
        if not isinstance(value, str):
            raise InvalidInput.of(name, "string_type", "must be a text")
    return Scope(check_namespace(cast("str", namespace)), identifier(cast("str", user_id), "user_id"))


def memory_of(line: Mapping[str, Any], scope: Scope, now: datetime) -> tuple[Memory, list[History]]:
    """The memory of a line and its states, oldest first; InvalidInput if they do not hold together."""
    memory = _read(Memory, line.get("memory"), scope, now, "memory")
    rows = list(_states(line.get("history"), scope, now))
    if [row.memory.version for row in rows] != list(range(1, len(rows) + 1)) or not rows:
        raise InvalidInput.of("history", "consecutive_versions", "must hold the versions 1, 2, 3, …")
    if any(row.memory.id != memory.id for row in rows) or rows[-1].memory.version != memory.version:
        raise InvalidInput.of("history", "same_memory", "must end with the memory's present version")
    times = [row.known_from for row in rows]
    if times != sorted(times):
        raise InvalidInput.of("history", "ascending_times", "must be in the order of known_from")
    return memory, rows


def _states(rows: Any, scope: Scope, now: datetime) -> Iterator[History]:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidInput.of("history", "list_type", "must be a list of objects")
    state: Body = {}
    for number, row in enumerate(rows):
        at = f"history[{number}]"
        changed = row.get("memory")
        if not isinstance(changed, dict):
            raise InvalidInput.of(f"{at}.memory", "object", "must be an object")
        state = {**state, **changed}
        memory = _read(Memory, state, scope, now, f"{at}.memory")
        about = {key: value for key, value in row.items() if key != "memory"}
        _check(about, at)
        about["memory"] = encode(memory)
        yield _validated(History, about, at, now)


def record_of(kind: type[R], name: str, line: Mapping[str, Any], scope: Scope, now: datetime) -> R:
    """The conflict, decision, outcome, session or turn of a line."""
    return _read(kind, line.get(name), scope, now, name)


def _read(kind: type[R], body: Any, scope: Scope, now: datetime, at: str) -> R:
    if not isinstance(body, dict):
        raise InvalidInput.of(at, "object", "must be an object")
    names = {item.name for item in fields(cast("Any", kind))}
    made = {"scope": encode(scope), "seq": 0, "content_hash": ""}
    kept = {key: value for key, value in body.items() if key in names and key not in _DERIVED}
    _check(kept, at)
    return _validated(kind, {**kept, **{key: value for key, value in made.items() if key in names}}, at, now)


@lru_cache(maxsize=16)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _validated(kind: type[R], body: Body, at: str, now: datetime) -> R:
    try:
        record = _adapter(cast("Any", kind)).validate_json(json.dumps(body), strict=True)
    except ValidationError as error:
        raise invalid(error, at) from None
    for item in fields(record):
        value = getattr(record, item.name)
        if isinstance(value, datetime):
            if value.tzinfo is None:
                raise InvalidInput.of(f"{at}.{item.name}", "rfc3339", "must be a time with its offset")
            if item.name in _KNOWN_TIMES and value > now + SKEW:
                raise InvalidInput.of(f"{at}.{item.name}", "not_in_future", "must not lie in the future")
    # Once through the codec, so that tuples, numbers and times are as this store writes them.
    return decode(kind, encode(record))


def _check(value: Any, at: str, level: int = 0) -> None:
    """What types alone do not say: texts that may be stored, ids that are ids, shares in their range."""
    if level > _DEPTH:
        raise InvalidInput.of(at, "max_depth", f"must be nested at most {_DEPTH} deep")
    if isinstance(value, str):
        refuse_broken(value, at)
        if len(value.encode()) > CONTENT_LIMIT:
            raise InvalidInput.of(at, "max_bytes", f"must be at most {CONTENT_LIMIT} bytes")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _check(item, f"{at}[{number}]", level + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            here = f"{at}.{refuse_broken(key, at)}"
            if key == "metadata":
                _metadata(item, here)
            else:
                _check(item, here, level + 1)
                _check_named(key, item, here)


def _metadata(value: Any, at: str) -> None:
    try:
        _adapter(Metadata).validate_python(value, strict=True)
    except ValidationError as error:
        raise invalid(error, at) from None


def _check_named(key: str, value: Any, at: str) -> None:
    if value is None:
        return
    if key == "content" and isinstance(value, str):
        clean(value, at)
    if (key in _IDENTIFIERS or at == "session.id") and isinstance(value, str):
        identifier(value, at)
    bounds = _BOUNDED.get(key)
    if bounds and isinstance(value, int | float) and not bounds[0] <= value <= bounds[1]:
        raise InvalidInput.of(at, "range", f"must lie in {bounds[0]:g}…{bounds[1]:g}")
    if at == "session.id":
        return
    wanted = [value] if key in _ULIDS else value if key in _ULID_LISTS and isinstance(value, list) else []
    if not all(isinstance(item, str) and is_ulid(item) for item in wanted):
        raise InvalidInput.of(at, "ulid", "must be a ULID (26 characters, Crockford base 32)")


RECORDS: Final[Mapping[str, type[Any]]] = {
    "session": Session,
    "turn": Turn,
    "conflict": Conflict,
    "decision": Decision,
    "outcome": Outcome,
}
