"""What is embedded and tokenised for a memory: its text form, cut to what an embedder can take."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from rearview.domain.language import language_of
from rearview.domain.tokens import tokenise

# Version of `index_text`; part of an embedder's fingerprint, since vectors of two forms do not mix.
TEXT_FORM: Final = "t1"

# How many memories of the session before it lend a memory their words, and how many words each: measured
# best with two; a long one must not drown the memory itself.
CONTEXT_MEMORIES: Final = 2
_CONTEXT_TERMS: Final = 80

# No strftime: its names follow the process's locale.
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

# Characters that cost an embedding tokenizer about a token each: ideographs, kana, Hangul, emoji …
_HEAVY: Final = re.compile("[\u0e00-\u1fff\u2e80-\ud7ff\uf900-\ufaff\U00010000-\U0010ffff]")
_LIGHT_WEIGHT: Final = 0.3
# Where a text may be cut, best place first.
_PARAGRAPH: Final = re.compile(r"(?<=\n)")
_SENTENCE: Final = re.compile(r"(?<=[。！？!?；;…])|(?<=[.]\s)|(?<=\n)")
_CLAUSE: Final = re.compile(r"(?<=[，、,：])")
_WORD: Final = re.compile(r"(?<=\s)")


def weight(text: str) -> float:
    """Estimated embedding tokens of ``text``: 1 for a CJK character, 0.3 for any other."""
    heavy = len(_HEAVY.findall(text)) if not text.isascii() else 0
    return heavy + _LIGHT_WEIGHT * (len(text) - heavy)


def index_text(
    content: str, *, occurred_at: datetime, speaker: str | None, context: str | None = None
) -> str:
    """The form of a memory that is embedded: ``8 May 2023 Caroline: content``, ``2023年5月8日 小林：content``.

    Day and speaker answer "when" and "who"; the month is a word, so that "in May" finds it. `context`
    goes before, for embedders that gain by it; the service embeds without (see `index_terms`).
    """
    before = f"{context.strip()}\n" if context and context.strip() else ""
    day = occurred_at
    if language_of(content) == "zh":
        who = f"{speaker}：" if speaker else ""
        return f"{before}{day.year}年{day.month}月{day.day}日 {who}{content}"
    who = f"{speaker}: " if speaker else ""
    return f"{before}{day.day} {_MONTHS[day.month - 1]} {day.year} {who}{content}"


def index_terms(
    content: str, *, occurred_at: datetime, speaker: str | None, context: Sequence[str] = ()
) -> list[str]:
    """The terms under which a memory is found by keyword, to be written into an engine as they are.

    `context`: the contents of the memories before it in its session, the nearest first; an answer is
    often found by the words of its question only. The memory's own terms are given twice, so that they
    count double beside it; terms of a memory without context too, so that both kinds compare.
    """
    own = tokenise(index_text(content, occurred_at=occurred_at, speaker=speaker))
    nearby = [term for text in context[:CONTEXT_MEMORIES] for term in tokenise(text)[:_CONTEXT_TERMS]]
    return own + own + nearby


def chunk(text: str, *, max_chars_weight: int) -> list[str]:
    """Cut ``text`` into pieces of at most ``max_chars_weight`` (see `weight`), in order, at sentence ends.

    A short text comes back as ``[text]``. Pieces overlap by one sentence where it is short, so that a
    fact told in two sentences stays in one piece; nothing is left out.
    """
    if weight(text) <= max_chars_weight:
        return [text]
    budget = float(max(max_chars_weight, 8))
    chunks: list[str] = []
    current: list[str] = []
    load = 0.0
    for sentence in _pieces(text, budget):
        cost = weight(sentence)
        if current and load + cost > budget:
            chunks.append("".join(current))
            last = weight(current[-1])
            keep = len(current) > 1 and last <= budget / 4 and last + cost <= budget
            current, load = ([current[-1]], last) if keep else ([], 0.0)
        current.append(sentence)
        load += cost
    chunks.append("".join(current))
    stripped = [piece for piece in map(str.strip, chunks) if piece]
    return stripped or [text[:1]]


def _pieces(text: str, budget: float) -> Iterator[str]:
    """Sentences of ``text``; one that is too heavy is cut at commas, then at spaces, then anywhere."""
    pending = [(text, 0)]
    separators = (_PARAGRAPH, _SENTENCE, _CLAUSE, _WORD)
    while pending:
        piece, level = pending.pop()
        if level >= 2 and weight(piece) <= budget:
            yield piece
        elif level < len(separators):
            parts = [part for part in separators[level].split(piece) if part]
            pending.extend((part, level + 1) for part in reversed(parts))
        else:
            yield from _hard_cut(piece, budget)


def _hard_cut(piece: str, budget: float) -> Iterator[str]:
    size = max(1, int(budget if _HEAVY.search(piece) else budget / _LIGHT_WEIGHT))
    for start in range(0, len(piece), size):
        yield piece[start : start + size]
