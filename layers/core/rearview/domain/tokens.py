"""The one tokeniser of the service: text in, index terms out, for every back end and both languages.

The terms are written space-separated into SQLite FTS5 (``tokenize="ascii"``) and into OpenSearch
(whitespace analyzer), and are counted by the pure Python BM25; documents and queries go through the
same function, so what one engine finds the others find too. A term holds ASCII letters and digits
and characters from U+0080 upwards only: both engines leave it in one piece.

- Scripts written without spaces (Chinese, Japanese, Thai …) and Hangul give unigrams and bigrams:
  bigrams carry the precision, unigrams let a query of one character hit.
- Other words are case- and accent-folded and, when English, stemmed (Snowball "english", Porter 2).
  A compound (``OvertimeService``, ``snake_case``, ``GH-60021``, ``GB/s``) gives its joined form and
  its parts, so that it is found however it was spelt.
- An emoji is a term; skin tones, variation selectors and joiners are not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from snowballstemmer.english_stemmer import EnglishStemmer

from rearview.domain.stopwords import CONTRACTIONS, FUNCTION_CHARACTERS, STOP_WORDS
from rearview.domain.token_dates import DATE, date_terms, numeral_date_terms

MAX_TOKEN_CHARS: Final = 64

# Stands for the point, colon, slash or hyphen inside a number ("3.5" must not meet "35"). It is a
# letter to Unicode (Lm) and no ASCII, so that no engine cuts the term there.
NUMBER_JOINT: Final = "\u02d1"

# Scripts whose words are not divided by spaces, and Hangul, whose particles cling to the noun.
_UNSPACED: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0ece"  # Thai, Lao
    "\u0f40-\u0fbc\u1000-\u109f\u1780-\u17d3"  # Tibetan, Myanmar, Khmer
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff"  # Hangul
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # ideographs
)
# Vowel signs of the Indic scripts are marks, hence no \w, yet belong to the word.
_INDIC: Final = "\u0900-\u0963\u0966-\u0dff"
_UNSPACED_RUN: Final = re.compile(f"[{_UNSPACED}]+")
# How many terms a query must have for its single characters to be left out.
_TELLING_ENOUGH: Final = 3
_WORD_CHAR: Final = rf"(?:[^\W_{_UNSPACED}]|[{_INDIC}])"
_FLAG: Final = "[\U0001f1e6-\U0001f1ff]{2}"
_EMOJI: Final = (
    "[\u231a-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
)
_SCAN: Final = re.compile(
    rf"(?P<date>{DATE})"
    rf"|(?P<unspaced>[{_UNSPACED}]+)"
    rf"|(?P<word>{_WORD_CHAR}+(?:[-_./'&@:,+]{_WORD_CHAR}+)*(?:\+\+|\#)?)"
    rf"|(?P<emoji>{_FLAG}|{_EMOJI})"
)
_JOINTS: Final = re.compile(r"[-_./'&@:,+]")
_CAMEL: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")
_RUNS: Final = re.compile(r"[A-Za-z]+|[0-9]+")
_DIGIT_JOINT: Final = re.compile(r"(?<=[0-9])[-_./:](?=[0-9])")
_THOUSANDS: Final = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])")
# Latin, Greek, Cyrillic accents; Hebrew points; Arabic vowel signs and the stretching tatweel.
_FOLDED_MARKS: Final = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u0640\u064b-\u065f\u0670]+"
)
_APOSTROPHES: Final = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2018": "'", "\u2044": "/"})


def tokenise(text: str) -> list[str]:
    """Index terms of ``text`` in reading order, repeated as often as they occur.

    Any Unicode may come in. Stop words are dropped unless nothing else is left; a text of
    punctuation only gives ``[]``. No term is longer than 64 characters.
    """
    kept: list[str] = []
    stopped: list[str] = []
    for match in _SCAN.finditer(_normalise(text)):
        group = match.lastgroup
        piece = match.group()
        if group == "date":
            kept.extend(date_terms(match))
        elif group == "unspaced":
            kept.extend(_grams(piece))
        elif group == "emoji":
            kept.append(piece)
        else:
            # "US" and "IT" in capitals are names, "us" and "it" are not.
            named = len(piece) > 1 and piece.isupper() and piece.isalpha()
            droppable = CONTRACTIONS if "'" in piece else STOP_WORDS
            for term in _word_terms(piece):
                (stopped if term in droppable and not named else kept).append(term)
    return [_final(term) for term in (kept or stopped)]


def query_terms(query: str, limit: int = 64) -> list[str]:
    """The distinct terms by which to search for ``query``, first come first, at most ``limit`` of them.

    Of Chinese, terms with a function character in them (的, 什么 …) are left out; and in a question long enough
    to have several telling terms, also characters that a bigram of it holds: they would hit at random.
    A query that has nothing else keeps all.
    """
    terms = list(dict.fromkeys(tokenise(query)))
    content = [term for term in terms if FUNCTION_CHARACTERS.isdisjoint(term)] or terms
    telling = [term for term in content if len(term) > 1 or not _is_unspaced(term)]
    if len(telling) >= _TELLING_ENOUGH:
        covered = {character for term in telling if _is_unspaced(term) for character in term}
        content = [term for term in content if len(term) > 1 or term not in covered]
    return content[:limit]


def _is_unspaced(term: str) -> bool:
    return _UNSPACED_RUN.fullmatch(term) is not None


def _normalise(text: str) -> str:
    """NFKC (full-width becomes ASCII) with accents folded; the case stays, it marks camelCase."""
    if text.isascii():
        return text
    compatible = unicodedata.normalize("NFKC", text)
    bare = _FOLDED_MARKS.sub("", unicodedata.normalize("NFD", compatible))
    return unicodedata.normalize("NFC", bare).translate(_APOSTROPHES)


def _grams(run: str) -> Iterator[str]:
    for i, character in enumerate(run):
        yield character
        if i + 1 < len(run):
            yield run[i : i + 2]
    if "月" in run:
        yield from numeral_date_terms(run)


def _word_terms(word: str) -> Iterator[str]:
    """Unstemmed, lower-case terms of one word or compound."""
    if word.isalpha() and (word.islower() or word.istitle()):
        yield word.casefold()
        return
    if word.endswith(("'s", "'S")):
        word = word[:-2]
    if word.endswith("++"):
        word = word[:-2] + "plusplus"
    elif word.endswith("#"):
        word = word[:-1] + ("sharp" if len(word) == 2 else "")
    word = _THOUSANDS.sub(lambda m: m.group().replace(",", ""), word)
    for piece in word.split(","):
        yield from _compound_terms(piece)


def _compound_terms(word: str) -> Iterator[str]:
    if "'" in word:  # don't, l'école: the joined form for the stop list, the parts for the rest
        joined = word.replace("'", "")
        if joined.casefold() in CONTRACTIONS:
            yield joined.casefold()
            return
    whole = _JOINTS.sub("", _DIGIT_JOINT.sub(NUMBER_JOINT, word)).casefold()
    parts = [part.casefold() for piece in _JOINTS.split(word) for part in _split_identifier(piece)]
    long_enough = [part for part in dict.fromkeys(parts) if len(part) > 1 and part != whole]
    if len(whole) <= MAX_TOKEN_CHARS or not long_enough:
        yield whole
    yield from long_enough


def _split_identifier(piece: str) -> list[str]:
    """``OvertimeService2`` → Overtime, Service, 2; ``iPhone15`` → also iPhone; other scripts stay whole."""
    if not piece.isascii():
        return [piece]
    return _CAMEL.findall(piece) + _RUNS.findall(piece)


def _final(term: str) -> str:
    if term.isascii() and term.isalpha() and len(term) > 2:
        return _stem(term[:MAX_TOKEN_CHARS])
    return term[:MAX_TOKEN_CHARS]


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    # A stemmer keeps its word in itself while it works: one per call is safe among threads.
    stemmed: str = EnglishStemmer().stemWord(word)
    return stemmed
