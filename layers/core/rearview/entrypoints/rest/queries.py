"""Query strings, read through the same strict models as bodies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel

from rearview.errors import InvalidInput
from rearview.usecases.fields import read

M = TypeVar("M", bound=BaseModel)

_MAX_PAIRS = 200
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}\Z")
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?\Z")
_TRUTH = {"true": True, "false": False}


def pairs_of(query: bytes) -> list[tuple[str, str]]:
    """The pairs of a query string in their order; InvalidInput for what is no UTF-8 or too many."""
    try:
        return parse_qsl(
            query.decode("ascii"),
            keep_blank_values=True,
            encoding="utf-8",
            errors="strict",
            max_num_fields=_MAX_PAIRS,
        )
    except UnicodeDecodeError:
        raise InvalidInput.of("query", "utf8", "must be percent-encoded UTF-8") from None
    except ValueError:
        raise InvalidInput.of("query", "max_length", f"must have at most {_MAX_PAIRS} parameters") from None


def read_query(model: type[M], pairs: Iterable[tuple[str, str]]) -> M:
    """The pairs as ``model``. A list may be repeated or comma-separated; all else may be given once.

    A text that does not spell a value of the field's type is left as it is, for the model to refuse.
    """
    kinds = kinds_of(model)
    data: dict[str, Any] = {}
    for name, text in pairs:
        kind = kinds.get(name, "string")
        if kind == "array":
            data.setdefault(name, []).extend(text.split(","))
            continue
        if name in data:
            raise InvalidInput.of(name[:100], "once", "must be given once")
        data[name] = _value(kind, text)
    return read(model, data)


def _value(kind: str, text: str) -> Any:
    if kind == "boolean":
        return _TRUTH.get(text, text)
    if kind == "integer" and _INTEGER.match(text):
        return int(text)
    if kind == "number" and _NUMBER.match(text):
        return float(text)
    return text


@lru_cache(maxsize=64)
def kinds_of(model: type[BaseModel]) -> dict[str, str]:
    """Field → JSON type, from the model's schema."""
    return {name: _kind(schema) for name, schema in properties_of(model).items()}


@lru_cache(maxsize=64)
def properties_of(model: type[BaseModel]) -> dict[str, dict[str, Any]]:
    """Field → JSON schema; the models of queries are flat, so nothing refers elsewhere."""
    found: dict[str, dict[str, Any]] = model.model_json_schema().get("properties", {})
    return found


def _kind(schema: dict[str, Any]) -> str:
    for option in schema.get("anyOf", [schema]):
        kind = option.get("type")
        if kind and kind != "null":
            return str(kind)
    return "string"
