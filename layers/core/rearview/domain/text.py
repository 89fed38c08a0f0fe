"""What a text must be to enter, and what makes two texts the same."""

from __future__ import annotations

import unicodedata

from rearview.errors import InvalidInput

CONTENT_LIMIT = 65_536
_INVISIBLE = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp", "Mn"})
_TRAILING = ".。!！ "


def clean(text: str, field: str, *, limit: int = CONTENT_LIMIT, what: str = "bytes") -> str:
    """NFC of ``text``; refuses NUL, lone surrogates, blank texts and more than ``limit`` bytes (or characters).

    Raises InvalidInput naming ``field`` and the rule: ``no_nul``, ``no_lone_surrogate``, ``not_blank``, ``max_bytes``.
    """
    text = refuse_broken(text, field)
    text = unicodedata.normalize("NFC", text)
    if all(unicodedata.category(char) in _INVISIBLE for char in text):
        raise InvalidInput.of(field, "not_blank", "must hold at least one visible character")
    size = len(text.encode()) if what == "bytes" else len(text)
    if size > limit:
        raise InvalidInput.of(field, f"max_{what}", f"must be at most {limit} {what}, not {size}")
    return text


def refuse_broken(text: str, field: str) -> str:
    """The text itself, unless it holds NUL or a lone surrogate."""
    if "\x00" in text:
        raise InvalidInput.of(field, "no_nul", "must not hold the character NUL (U+0000)")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise InvalidInput.of(field, "no_lone_surrogate", "must not hold lone surrogates (U+D800-U+DFFF)")
    return text


def identifier(text: str, field: str, *, limit: int = 256) -> str:
    """A user, agent or session id: 1-256 characters, no control characters, not blank, NFC, taken as it is otherwise.

    Leading and trailing white space is refused in every verb rather than trimmed in some.
    """
    text = clean(text, field, limit=limit, what="characters")
    if text != text.strip():
        raise InvalidInput.of(field, "no_outer_space", "must not begin or end with white space")
    if any(unicodedata.category(char) == "Cc" for char in text):
        raise InvalidInput.of(field, "no_control", "must not hold control characters")
    return text


def identity(text: str) -> str:
    """The form whose equality makes two contents the same.

    NFC, full-width ASCII folded, white space collapsed, format characters and the closing full stop dropped. Case,
    digits and superscripts stay: they tell identifiers and numbers apart (NFKC would make 10² and 102 equal).
    """
    folded = (
        chr(ord(char) - 0xFEE0) if "\uff01" <= char <= "\uff5e" else char
        for char in unicodedata.normalize("NFC", text)
        if unicodedata.category(char) != "Cf"
    )
    joined = " ".join("".join(folded).split())
    return joined.rstrip(_TRAILING) or joined
