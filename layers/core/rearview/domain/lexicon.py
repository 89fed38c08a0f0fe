"""Compiles the word lists of the rule files, and puts text into the one form they are matched against."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from re import Pattern
from typing import Any, Final

_SPACES: Final = re.compile(r"\s+")
# Tokenised corpora and speech-to-text write "you 're" and "do n't".
_SPLIT_CLITIC: Final = re.compile(r" (?=(?:'(?:s|re|m|ll|ve|d|t)|n't)\b)")
_MARKUP: Final = re.compile(r"<[^<>\n]{0,40}>")
_QUOTES: Final = str.maketrans(
    {"’": "'", "‘": "'", "＇": "'", "“": '"', "”": '"', "\u200b": "", "\ufeff": ""}
)
NEVER: Final = re.compile(r"(?!)")


def normalise(text: str) -> str:
    """`text` as the rules see it: NFKC, lower case, straight quotes, single blanks, no <markup>."""
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    plain = _SPACES.sub(" ", _MARKUP.sub(" ", plain))
    return _SPLIT_CLITIC.sub("", plain).strip()


def fragments(table: Mapping[str, Any], key: str) -> Sequence[str]:
    """The list of pattern fragments under `key`; raises ValueError where it is no list of strings."""
    found = table.get(key, [])
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise ValueError(f"rules: {key!r} must be a list of strings")
    return found


def compile_words(table: Mapping[str, Any], en: str = "en", zh: str = "zh") -> Pattern[str]:
    """One pattern for both languages' fragments: English ones as whole words, Chinese ones anywhere.

    Raises ValueError (with the fragment's list) where a fragment is no valid pattern.
    """
    english, chinese = fragments(table, en), fragments(table, zh)
    parts = [rf"(?<![a-z0-9])(?:{'|'.join(english)})(?![a-z0-9])"] if english else []
    parts += [f"(?:{'|'.join(chinese)})"] if chinese else []
    return compile_pattern("|".join(parts)) if parts else NEVER


def compile_pattern(pattern: str) -> Pattern[str]:
    """`pattern` compiled for normalised text; raises ValueError where it is no valid pattern."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"rules: {error.msg} in {pattern[:80]!r}") from error


def compile_tables(tables: Mapping[str, Any]) -> dict[str, Pattern[str]]:
    """A pattern for each sub-table of `tables`, in their order."""
    return {name: compile_words(table) for name, table in tables.items() if isinstance(table, Mapping)}
