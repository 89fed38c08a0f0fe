"""Cuts text where a reader sees a border between characters."""

import re
import unicodedata
from typing import Final

ELLIPSIS: Final = "…"
_JOINER: Final = "\u200d"
_SAFE_ASCII: Final = re.compile(r"[\x20-\x7e]")
_LATIN: Final = re.compile(r"[A-Za-z0-9\u00c0-\u024f'’_-]")


def cut(text: str, limit: int) -> str:
    """`text` where it has at most `limit` characters, else its beginning with "…" in `limit` characters.

    The cut never parts a grapheme: combining marks, variation selectors, emoji with skin tones or
    joiners, flags, Hangul syllables and CR LF stay whole. Words of the Latin script stay whole where that costs no more
    than a quarter of the limit. Raises ValueError where `limit` is below 1.
    """
    if limit < 1:
        raise ValueError("limit must be at least 1")
    if len(text) <= limit:
        return text
    end = boundary(text, limit - 1)
    word = end
    while word > 0 and word > end - max(1, limit // 4) and _in_word(text, word):
        word = boundary(text, word - 1)
    if word > 0 and not _in_word(text, word):
        end = word
    return text[:end].rstrip(" \t\r\n,，、;；:：") + ELLIPSIS


def boundary(text: str, at: int) -> int:
    """The last grapheme boundary of `text` at or before `at` (extended grapheme clusters, UAX #29,
    without the Indic conjunct rule)."""
    at = min(at, len(text))
    while 0 < at < len(text) and _inside(text, at):
        at -= 1
    return at


def _inside(text: str, at: int) -> bool:
    left, right = text[at - 1], text[at]
    if _SAFE_ASCII.match(left) and _SAFE_ASCII.match(right):
        return False
    if left == "\r" and right == "\n":
        return True
    if _extends(right) or right == _JOINER:
        return left not in "\r\n"
    if left == _JOINER:
        return _pictographic(right)
    if _regional(right) and _regional(left):
        run = at
        while run > 0 and _regional(text[run - 1]):
            run -= 1
        return (at - run) % 2 == 1
    if "\ud800" <= left <= "\udbff" and "\udc00" <= right <= "\udfff":
        return True
    return _jamo(left, right)


def _extends(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Mn", "Me", "Mc")
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
        or character in "\u200c\uff9e\uff9f"
    )


def _pictographic(character: str) -> bool:
    return (
        "\U0001f000" <= character <= "\U0001faff"
        or "\u2190" <= character <= "\u2bff"
        or character in "©®‼⁉〰〽㊗㊙"
    )


def _regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _jamo(left: str, right: str) -> bool:
    leading, vowel, trailing = (
        "\u1100" <= left <= "\u115f",
        "\u1160" <= right <= "\u11a7",
        "\u11a8" <= right <= "\u11ff",
    )
    if leading:
        return "\u1100" <= right <= "\u11a7" or "\uac00" <= right <= "\ud7a3"
    syllable = "\uac00" <= left <= "\ud7a3"
    if syllable:
        return trailing or (vowel and (ord(left) - 0xAC00) % 28 == 0)
    if "\u1160" <= left <= "\u11a7":
        return vowel or trailing
    return "\u11a8" <= left <= "\u11ff" and trailing


def _in_word(text: str, at: int) -> bool:
    if not 0 < at < len(text):
        return False
    return bool(_LATIN.match(text[at - 1]) and _LATIN.match(text[at]))
