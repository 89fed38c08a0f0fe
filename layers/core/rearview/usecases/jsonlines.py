"""JSON that comes from outside: strict, and each refusal named by field and rule."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

from rearview.errors import MalformedBody

#: Bytes of one line, and of a document that is no JSONL: beyond, the file is something else.
MAX_BYTES = 256 * 1024 * 1024


def strict_json(raw: bytes | str, field: str = "line") -> Any:
    """The value of one JSON text. MalformedBody (``utf8``, ``json``, ``unique_keys``, ``finite_number``,
    ``max_depth``) naming ``field`` otherwise; the text itself is never echoed."""
    try:
        text = raw.decode("utf-8-sig") if isinstance(raw, bytes) else raw
    except UnicodeDecodeError:
        raise MalformedBody.of(field, "utf8", "must be UTF-8 text") from None

    def constant(_name: str) -> NoReturn:
        raise MalformedBody.of(field, "finite_number", "must hold finite numbers only")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            raise MalformedBody.of(field, "unique_keys", "must not hold a key twice in one object")
        return found

    def number(digits: str) -> float:
        value = float(digits)
        if value - value != 0:
            constant(digits)
        return value

    try:
        return json.loads(text, parse_constant=constant, parse_float=number, object_pairs_hook=pairs)
    except RecursionError:
        raise MalformedBody.of(field, "max_depth", "is nested too deep") from None
    except MalformedBody:
        raise
    except ValueError:
        raise MalformedBody.of(field, "json", "must be a JSON text") from None


def numbered_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """(line number from 1, line without its end) of every line that is not blank."""
    number = 0
    while True:
        line = stream.readline(MAX_BYTES + 1)
        if not line:
            return
        number += 1
        if len(line) > MAX_BYTES:
            raise MalformedBody.of("line", "max_bytes", f"line {number} is longer than {MAX_BYTES} bytes")
        stripped = line.strip()
        if stripped and stripped != b"\xef\xbb\xbf":
            yield number, stripped
