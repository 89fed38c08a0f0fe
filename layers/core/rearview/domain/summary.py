"""Short forms of text: one-line summaries of memories and extractive summaries of sessions."""

import math
import re
from bisect import insort
from collections import Counter
from collections.abc import Sequence
from typing import Final

from rearview.domain.graphemes import cut
from rearview.domain.language import CJK, sentences

_SPACES: Final = re.compile(r"\s+")
__all__ = ["cut", "summarise", "summarise_session"]

_TOKEN: Final = re.compile(rf"[{CJK}]|(?:(?![{CJK}])\w)+")
_FIGURE: Final = re.compile(r"\d")
_CAPITAL: Final = re.compile(r"(?<=\s)[A-Z]\w+|[A-Z]{2,}")
_MARKUP: Final = re.compile(r"^(?:#{1,6}|[-*+>]|\d{1,3}[.)])\s+")
# Words too common to say what a text is about; the CJK half holds single characters.
_COMMON_WORDS: Final = (
    "a an the and or but if of to in on at by for with from as is am are was were be been being it its this that"
    " these those i you he she we they me him her us them my your his our their do does did have has had not no so"
    " very just can could will would should may might there here what which who when where how why than then too"
    " 的 了 是 在 我 你 他 她 它 们 这 那 有 和 与 就 都 也 很 不 还 吗 呢 吧 啊 呀 哦 嗯 好 个 一 上 下 到 说 要 会 能 把 被 给 对 为 以"
)
_COMMON: Final = frozenset(_COMMON_WORDS.split())
_SHORTEST_SESSION: Final = 80
_CENTRAL_WORDS: Final = 400
_MOST_CANDIDATES: Final = 1000


def summarise(text: str, *, limit: int = 50) -> str:
    """A one-line summary of `text`, at most `limit` characters (Python string length).

    A text that fits is its own summary. Else it is the most informative sentence, cut on a grapheme
    boundary and ended by "…" (inside the limit) where that is too long. Raises ValueError where
    `limit` is below 1.
    """
    if limit < 1:
        raise ValueError("limit must be at least 1")
    whole = _line(text)
    if len(whole) <= limit:
        return whole
    pieces = [line for sentence in sentences(text) if (line := _MARKUP.sub("", _line(sentence)))]
    if not pieces:
        return cut(whole, limit)
    weights = _weights(pieces)
    best = max(range(len(pieces)), key=lambda at: (_informative(pieces[at], weights, at, limit), -at))
    return cut(pieces[best], limit)


def _line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def _words(text: str) -> list[str]:
    """Content words and CJK bigrams of `text`, lower case."""
    found: list[str] = []
    before = ""
    for token in _TOKEN.findall(text.lower()):
        if token in _COMMON:
            before = ""
            continue
        if len(token) == 1 and not token.isascii():
            if before:
                found.append(before + token)
            before = token
        else:
            found.append(token)
            before = ""
    return found


def _weights(pieces: Sequence[str]) -> dict[str, float]:
    """How much a word counts: log-damped frequency over the whole text (Luhn 1958)."""
    counts = Counter(word for piece in pieces for word in _words(piece))
    return {word: 1 + math.log(count) for word, count in counts.items()}


def _informative(piece: str, weights: dict[str, float], at: int, limit: int) -> float:
    head = piece[: 2 * limit]
    value = sum(weights.get(word, 0) for word in set(_words(head)))
    value += 1.5 * bool(_FIGURE.search(head)) + len(set(_CAPITAL.findall(head))) * 0.5
    value /= math.sqrt(max(8, len(head) / 2))
    # Questions say little; what a text begins with is more often its point.
    value *= 0.4 if piece.endswith(("?", "？")) else 1.0
    return value * (1.15 if at == 0 else 1.0) * (1.1 if len(piece) <= limit else 1.0)


def summarise_session(turns: Sequence[str], *, share: float = 0.1) -> str:
    """The most central sentences of a conversation, in their order, one turn's to a line.

    At most `share` (0–1] of the total length of `turns`, but up to 80 characters where that is less; a
    conversation of at most 80 characters is told whole. Centrality is the sum of a sentence's words by their spread over sentences, damped by
    length; a word already told counts half (SumBasic, Nenkova and Vanderwende 2005). Raises ValueError
    where `share` is outside (0, 1].
    """
    if not 0 < share <= 1:
        raise ValueError("share must lie in (0, 1]")
    total = sum(len(turn) for turn in turns)
    budget = max(int(total * share), _SHORTEST_SESSION)
    pieces = [
        (number, line)
        for number, turn in enumerate(turns)
        for piece in sentences(turn)
        if (line := _line(piece))
    ]
    whole = "\n".join(line for turn in turns if (line := _line(turn)))
    if len(whole) <= _SHORTEST_SESSION:
        return whole
    chosen = _chosen([line for _, line in pieces], budget)
    if not chosen:
        return cut(max((line for _, line in pieces), key=lambda line: len(set(_words(line)))), budget)
    parts: list[str] = []
    for at in sorted(chosen):
        number, line = pieces[at]
        if parts:
            same_turn = number == pieces[max(one for one in chosen if one < at)][0]
            parts.append((" " if line[0].isascii() else "") if same_turn else "\n")
        parts.append(line)
    return "".join(parts)


def _chosen(lines: Sequence[str], budget: int) -> set[int]:
    bags = [set(_words(line)[:_CENTRAL_WORDS]) for line in lines]
    spread = Counter(word for bag in bags for word in bag)
    # What comes up again matters, but what is in every third sentence is a name or a manner of speech.
    weight = {
        word: math.log1p(count)
        * math.log1p(len(lines) / count)
        / (2 if count > max(3, len(lines) / 3) else 1)
        for word, count in spread.items()
    }
    left = budget
    chosen: set[int] = set()

    def value(at: int) -> float:
        asked = 0.4 if lines[at].endswith(("?", "？")) else 1.0
        figures = 1.2 if _FIGURE.search(lines[at]) else 1.0
        told = sum(weight[word] for word in bags[at])
        return asked * figures * told / math.sqrt(max(40, len(lines[at])))

    # Values only fall as words are told, so a stale value is an upper bound and one look at the best
    # few suffices (lazy greedy).
    once = {line: at for at, line in reversed(list(enumerate(lines)))}
    queue = sorted((value(at), -at) for at in once.values() if len(bags[at]) >= 3)[-_MOST_CANDIDATES:]
    while queue:
        stale, place = queue.pop()
        at = -place
        fresh = value(at)
        if queue and fresh < stale and fresh < queue[-1][0]:
            insort(queue, (fresh, place))
            continue
        cost = len(lines[at]) + (1 if chosen else 0)
        if cost <= left:
            chosen.add(at)
            left -= cost
            for word in bags[at]:
                weight[word] /= 2
        if left < 4:
            break
    return chosen
