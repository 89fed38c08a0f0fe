"""Parameters in paths: percent-encoded, and each of a kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import unquote

from rearview.domain.ids import is_ulid
from rearview.domain.text import identifier
from rearview.errors import InvalidInput

_NAMES = re.compile(r"\{(\w+)\}")


def names_of(template: str) -> list[str]:
    """The parameters of a path template, in their order."""
    return _NAMES.findall(template)


def decoded(raw: Mapping[str, str]) -> dict[str, str]:
    """The parameters as texts; InvalidInput naming the one that is no percent-encoded UTF-8, or not of its kind."""
    return {name: _KINDS.get(name, _ulid)(_text(value, name), name) for name, value in raw.items()}


def _text(value: str, name: str) -> str:
    try:
        return unquote(value, errors="strict")
    except UnicodeDecodeError:
        raise InvalidInput.of(name, "utf8", "must be percent-encoded UTF-8") from None


def _ulid(text: str, name: str) -> str:
    if not is_ulid(text):
        raise InvalidInput.of(name, "ulid", "must be a ULID (26 characters, Crockford base 32)")
    return text


def _token(text: str, name: str) -> str:
    if len(text) > 2000:
        raise InvalidInput.of(name, "max_length", "must be at most 2000 characters")
    return text


_KINDS: dict[str, Callable[[str, str], str]] = {"session_id": identifier, "token": _token}
