"""The port's filters as SQL over JSON bodies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from rearview.ports import Filter

Condition = tuple[str, list[Any]]

_COMPARED: Final = {"le": "<=", "ge": ">=", "lt": "<", "gt": ">", "open_or_gt": ">"}


def compile_filters(filters: Sequence[Filter]) -> tuple[list[Condition], list[Filter]]:
    """The conditions that SQL states exactly as :meth:`Filter.holds` does, with values to bind, and the rest.

    SQLite before 3.43 may read a JSON number one bit off, so numbers are left to Python; likewise NUL, at which
    its texts end.
    """
    conditions: list[Condition] = []
    rest: list[Filter] = []
    for one in filters:
        condition = _compile(one) if one.field.isascii() and one.field.isidentifier() else None
        if condition is None:
            rest.append(one)
        else:
            conditions.append(condition)
    return conditions, rest


def _compile(one: Filter) -> Condition | None:
    path = f"$.{one.field}"
    if one.op in ("eq", "in", "has"):
        if one.op != "in":
            values = [one.value]
        elif isinstance(one.value, (list, tuple, set, frozenset)):
            values = list(one.value)
        else:
            return None
        if not all(value is None or isinstance(value, bool) or _is_text(value) for value in values):
            return None
        return _has(path, one.value) if one.op == "has" else _one_of(path, values)
    if not _is_text(one.value):
        return None
    sql = f"json_extract(body, ?) {_COMPARED[one.op]} ?"
    if one.op == "open_or_gt":
        return f"(json_extract(body, ?) IS NULL OR {sql})", [path, path, one.value]
    return sql, [path, one.value]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _one_of(path: str, values: list[Any]) -> Condition:
    """Equal to one of the values. Lists and objects come out of json_extract as text, hence the type check."""
    parts = []
    parameters: list[Any] = []
    if None in values:
        parts.append("json_extract(body, ?) IS NULL")
        parameters.append(path)
    texts = [value for value in values if isinstance(value, str)]
    if texts:
        parts.append(
            "(json_extract(body, ?) IN (SELECT value FROM json_each(?)) AND json_type(body, ?) = 'text')"
        )
        parameters += [path, json.dumps(texts), path]
    for flag in {value for value in values if isinstance(value, bool)}:
        # As in Python, true is 1 and 1.0; json_extract gives true as 1, and no text equals a number.
        parts.append("json_extract(body, ?) = ?")
        parameters += [path, int(flag)]
    return f"({' OR '.join(parts) or '0'})", parameters


def _has(path: str, value: Any) -> Condition:
    if value is None:
        inside, bound = "type = 'null'", []
    elif isinstance(value, bool):
        inside, bound = "type IN ('true', 'false', 'integer', 'real') AND value = ?", [int(value)]
    else:
        inside, bound = "type = 'text' AND value = ?", [value]
    elements = f"SELECT 1 FROM json_each(items.body, ?) WHERE {inside}"  # noqa: S608 - one of the texts above
    return f"(json_type(body, ?) = 'array' AND EXISTS ({elements}))", [path, path, *bound]
