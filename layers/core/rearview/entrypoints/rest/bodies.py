"""JSON bodies, read strictly: what two readers could understand differently is refused by name.

Python's own reader takes duplicate keys, NaN, half surrogate pairs and numbers beyond every bound; each of them would
reach the store, or come out of it, as something else than the caller meant.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from rearview.errors import FieldError, MalformedBody

#: Deeper than any shape of this service: metadata, the deepest, may hold five levels.
MAX_DEPTH = 32
#: Digits of an integer; Python refuses to print more than 4,300, and no field needs more than a few.
MAX_DIGITS = 100
_MAX_ERRORS = 20
#: Characters of a key that a problem shows.
MAX_NAME = 100

# An unterminated string runs to the end, so that no position is looked at twice.
_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Refused:
    """Stands in the document where a value is refused, until its path is known."""

    def __init__(self, rule: str, message: str) -> None:
        self.rule, self.message = rule, message


class _Twice(dict[str, Any]):
    """An object that names a key more than once."""

    key = ""


def parse(raw: bytes) -> dict[str, Any]:
    """The JSON object in ``raw`` (UTF-8, a byte order mark is skipped).

    Raises MalformedBody naming field and rule: ``required``, ``utf8``, ``json``, ``object``, ``max_depth``,
    ``duplicate_key``, ``finite_number``, ``max_digits``, ``no_lone_surrogate``.
    """
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        _refuse("utf8", f"must be UTF-8; byte {error.start} is not")
    if not text.strip():
        _refuse("required", "must be a JSON object, and is empty")
    if _too_deep(text):
        _refuse("max_depth", f"must be nested at most {MAX_DEPTH} deep")
    value, suspicious = _decode(text)
    if suspicious or _ESCAPED_SURROGATE.search(text):
        errors = [error for error, _ in zip(_faults(value), range(_MAX_ERRORS), strict=False)]
        if errors:
            raise MalformedBody("; ".join(f"{item.field}: {item.message}" for item in errors[:3]), errors)
    if not isinstance(value, dict):
        _refuse("object", "must be a JSON object")
    return value


def _decode(text: str) -> tuple[Any, bool]:
    """The value, and whether something in it is refused."""
    found: list[_Refused | _Twice] = []

    def refused(rule: str, message: str) -> _Refused:
        found.append(_Refused(rule, message))
        return found[-1]  # type: ignore[return-value]

    def constant(_: str) -> Any:
        return refused("finite_number", "must be a finite number")

    def real(digits: str) -> Any:
        value = float(digits)
        return value if math.isfinite(value) else constant(digits)

    def whole(digits: str) -> Any:
        if len(digits) <= MAX_DIGITS:
            return int(digits)
        return refused("max_digits", f"must have at most {MAX_DIGITS} digits")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(items)
        if len(value) == len(items):
            return value
        twice = _Twice(value)
        seen: set[str] = set()
        twice.key = next(key for key, _ in items if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        found.append(twice)
        return twice

    try:
        value = json.loads(
            text, object_pairs_hook=pairs, parse_constant=constant, parse_float=real, parse_int=whole
        )
    except json.JSONDecodeError as error:
        _refuse("json", f"must be JSON: {error.msg} at line {error.lineno}, column {error.colno}")
    except RecursionError:
        _refuse("max_depth", f"must be nested at most {MAX_DEPTH} deep")
    return value, bool(found)


def _too_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for token in _TOKENS.finditer(text):
        first = text[token.start()]
        if first in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif first in "]}":
            depth -= 1
    return False


def _faults(value: Any, path: str = "") -> Iterator[FieldError]:
    """What is refused, with its path. The depth is bounded already."""
    if isinstance(value, _Refused):
        yield FieldError(path or "body", value.rule, value.message)
    elif isinstance(value, str):
        if _SURROGATE.search(value):
            yield _surrogate(path)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _faults(item, f"{path}[{number}]")
    elif isinstance(value, dict):
        if isinstance(value, _Twice):
            yield FieldError(_join(path, value.key), "duplicate_key", "must be given once")
        for key, item in value.items():
            at = _join(path, key)
            if _SURROGATE.search(key):
                yield _surrogate(at)
            yield from _faults(item, at)


def _surrogate(path: str) -> FieldError:
    return FieldError(path or "body", "no_lone_surrogate", "must not hold lone surrogates (U+D800-U+DFFF)")


def _join(path: str, key: str) -> str:
    name = "".join(char if char.isprintable() else "\ufffd" for char in key[:MAX_NAME])
    return f"{path}.{name}" if path else name


def _refuse(rule: str, message: str) -> NoReturn:
    raise MalformedBody.of("body", rule, message)
