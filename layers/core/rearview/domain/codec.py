"""Records to JSON-safe dictionaries and back, the same on every store."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from rearview.domain.times import from_text, to_text

T = TypeVar("T")
Body = dict[str, Any]
_Convert = Callable[[Any], Any]


def _plain(value: Any) -> Any:
    return value


@lru_cache(maxsize=256)
def _encoder(kind: Any) -> _Convert:
    return _converter(kind, encode)


@lru_cache(maxsize=256)
def _decoder(kind: Any) -> _Convert:
    return _converter(kind, lambda value: decode(kind, value))


def _converter(kind: Any, nested: _Convert) -> _Convert:
    """The conversion of one field's type: times, records, tuples of those; all else is JSON already."""
    encoding = nested is encode
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        inner = [arg for arg in get_args(kind) if arg is not type(None)]
        convert = (_encoder if encoding else _decoder)(inner[0]) if len(inner) == 1 else _plain
        # None and plain values pass as they are.
        return _plain if convert is _plain else lambda value: None if value is None else convert(value)
    if origin is tuple:
        convert = (_encoder if encoding else _decoder)(get_args(kind)[0])
        if encoding:
            return lambda value: [convert(item) for item in value]
        return lambda value: tuple(convert(item) for item in value)
    if kind is datetime:
        return to_text if encoding else from_text
    if isinstance(kind, type) and is_dataclass(kind):
        return nested
    if origin is not None and origin is not Literal:
        return dict if isinstance(origin, type) and issubclass(origin, Mapping) else _plain
    return _plain


@lru_cache(maxsize=64)
def _plan(kind: Any) -> tuple[tuple[str, _Convert | None, _Convert | None], ...]:
    """Of each field its name and conversions, None where there is nothing to convert."""
    hints = get_type_hints(kind)
    rows = ((item.name, _encoder(hints[item.name]), _decoder(hints[item.name])) for item in fields(kind))
    return tuple(
        (name, None if out is _plain else out, None if back is _plain else back) for name, out, back in rows
    )


def encode(record: Any) -> Body:
    """A dataclass record as JSON types; times as RFC 3339 text, tuples as lists. None is kept."""
    return {
        name: getattr(record, name) if out is None else out(getattr(record, name))
        for name, out, _ in _plan(cast("Any", type(record)))
    }


def decode(kind: type[T], body: Mapping[str, Any]) -> T:
    """The inverse of :func:`encode`. Unknown keys are ignored and missing ones take the record's default, so that
    older and newer versions of the code can read each other's rows."""
    return kind(
        **{
            name: body[name] if back is None else back(body[name])
            for name, _, back in _plan(cast("Any", kind))
            if name in body
        }
    )
