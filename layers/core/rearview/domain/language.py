"""Which language a text is in, and where its sentences end: Chinese and English, often mixed."""

import re
from typing import Final, Literal

Language = Literal["zh", "en"]

# Han, kana, bopomofo, hangul and the compatibility and supplementary Han blocks.
CJK: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u303b\u3040-\u30ff\u3100-\u312f\u3130-\u318f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U000323af"
)
_CJK_CHARACTER: Final = re.compile(f"[{CJK}]")
_WORD: Final = re.compile(rf"(?:(?![{CJK}])[^\W\d_])+")

_CLOSERS: Final = "\"'”’」』）)】]》〉"
# A run of end marks with the quotes and brackets that close behind it, or a line break.
_BREAK: Final = re.compile(rf"[。！？!?｡．.…；]+[{re.escape(_CLOSERS)}]*|[\r\n\u2028\u2029]+")
_ALWAYS: Final = frozenset("。！？｡；…")
# Never the end of a sentence, whatever follows.
_TITLE_WORDS: Final = (
    "e.g i.e mr mrs ms dr prof st vs cf no nos fig approx viz al gen sen rep col capt est sgt"
)
_TITLES: Final = frozenset(_TITLE_WORDS.split())
# The end of a sentence only if a capital follows.
_OFTEN_LAST: Final = frozenset(
    ["a.m", "p.m", "etc", "inc", "ltd", "co", "corp", "jr", "sr", "u.s", "u.k", "u.n", "dept", "ave", "blvd"]
)
_LAST_WORD: Final = re.compile(r"[^\s(（\[\"“'‘]{1,24}$")


def cjk_share(text: str) -> float:
    """The share of CJK letters among all letters of `text`, 0 to 1; 0 where there are no letters."""
    found = len(_CJK_CHARACTER.findall(text))
    letters = sum(map(str.isalpha, text)) if found else 0
    return found / letters if letters else 0.0


def language_of(text: str) -> Language:
    """`zh` where `text` has at least as many CJK characters as words of other scripts, else `en`.

    Words and not letters are compared, because a Chinese sentence keeps few but long English terms.
    """
    characters = len(_CJK_CHARACTER.findall(text))
    return "zh" if characters and characters >= len(_WORD.findall(text)) else "en"


def sentences(text: str) -> list[str]:
    """The sentences of `text` in order, verbatim with their end marks, without outer blanks.

    Numbers ("3.5"), versions, abbreviations, initials, list numbers and URLs stay whole; a line
    break always ends a sentence. Blank pieces are left out.
    """
    found: list[str] = []
    begin = 0
    for mark in _BREAK.finditer(text):
        if _ends(text, begin, mark):
            found.append(text[begin : mark.end()].strip())
            begin = mark.end()
    found.append(text[begin:].strip())
    return [sentence for sentence in found if sentence]


def _ends(text: str, begin: int, mark: re.Match[str]) -> bool:
    run = mark[0]
    if run[0] in "\r\n\u2028\u2029" or any(character in _ALWAYS for character in run):
        return True
    following = text[mark.end() : mark.end() + 1]
    if following and not following.isspace() and not _CJK_CHARACTER.match(following):
        return False  # inside a number, a version, a URL, a file name
    if run.rstrip(_CLOSERS) != ".":
        return True
    word = _LAST_WORD.search(text, max(begin, mark.start() - 24), mark.start())
    if word is None:
        return True
    before = word[0].lower()
    if before in _TITLES or (len(word[0]) == 1 and word[0].isupper() and word[0] != "I"):
        return False
    if before.isdigit() and not text[begin : word.start()].strip():
        return False  # the number of a list item
    if before in _OFTEN_LAST:
        rest = text[mark.end() : mark.end() + 8].lstrip()
        return not rest or not rest[0].isalpha() or rest[0].isupper()
    return True
