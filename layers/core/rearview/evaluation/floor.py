"""Floors: what a few lines without any understanding reach on the same rows. A figure means something beside them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Final

from rearview.domain.bm25 import Bm25
from rearview.domain.tokens import query_terms, tokenise
from rearview.evaluation.sets import Record

#: From so many characters on an utterance, and a turn of a conversation, counts as informative.
LONG_UTTERANCE: Final = 10
LONG_TURN: Final = 15
#: From such a share of common terms on two texts count as alike, or as the same.
ALIKE: Final = 0.5
SAME: Final = 0.8

_NEGATION: Final = re.compile(
    r"\b(?:no|not|never|nobody|nothing|none|nowhere|neither|nor|without|cannot)\b|n['’]t\b"
    "|不|没|沒|无|無|未|别|莫|并非|从来没",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
_INJECTION: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:previous|prior|above|all|earlier|system)\b",
        r"\b(?:system prompt|developer mode|jailbreak|admin(?:istrator)? mode)\b",
        r"\byou are now\b|\bfrom now on,? you\b|\bact as (?:an? )?(?:unrestricted|admin|root)",
        r"\b(?:do not|don't|never) (?:tell|inform|alert|mention|ask) (?:the )?(?:user|anyone)",
        r"\b(?:send|post|forward|upload|exfiltrate)\b.{0,60}(?:https?://|@[\w-]+\.\w+)",
        r"\b(?:reveal|print|leak|dump)\b.{0,40}\b(?:prompt|password|secret|credential|api key|token)s?\b",
        r"<\s*/?\s*(?:system|assistant|instructions?)\s*>|\[\s*(?:system|inst)\s*\]",
        r"(?:忽略|无视|忘记|忘掉|绕过|覆盖).{0,12}(?:之前|以前|上面|上述|先前|所有|系统|原有).{0,8}(?:指令|指示|规则|设定|要求|限制)",
        r"系统提示词|开发者模式|越狱|管理员模式",
        r"(?:不要|别|不得|无需)(?:告诉|告知|通知|询问|提醒)(?:用户|任何人)",
        r"(?:把|将).{0,20}(?:发送|转发|上传|发)(?:到|给|至).{0,40}(?:https?://|@)",
        r"从现在(?:起|开始).{0,30}(?:必须|一律|无需|不再|直接)|(?:无需|不必|跳过|绕过).{0,6}(?:确认|审核|审批|验证|授权|检查)",
        r"(?:最高权限|超级管理员|root ?权限|不受.{0,6}限制)",
        r"(?:泄露|输出|贴出|打印|透露).{0,16}(?:提示词|密码|密钥|口令|令牌|\.env)",
    )
)


class KeywordFloor:
    """BM25 over ``date speaker: text``, within one group at a time, by the service's own tokens."""

    def __init__(self, records: Sequence[Record]) -> None:
        ids: dict[str, list[str]] = defaultdict(list)
        documents: dict[str, list[list[str]]] = defaultdict(list)
        for record in records:
            ids[record.group].append(record.id)
            documents[record.group].append(tokenise(document(record)))
        self._ids = dict(ids)
        self._ranked = {group: Bm25(docs) for group, docs in documents.items()}

    def top(self, group: str, query: str, k: int, ignored: Collection[str] = ()) -> list[str]:
        """The ids of the best ``k`` records that share a term with ``query``; of equals the earlier first."""
        scores = self._ranked[group].scores(query_terms(query))
        found = [(-score, at) for at, score in enumerate(scores) if score > 0]
        ids = (self._ids[group][at] for _, at in sorted(found))
        return [one for one in ids if one not in ignored][:k]


def document(record: Record) -> str:
    """A record as the floor sees it."""
    return (
        f"{record.at[:10]} {record.speaker}: {record.text}"
        if record.speaker
        else f"{record.at[:10]} {record.text}"
    )


def is_long(content: str, characters: int) -> bool:
    """The length rule: the same number of characters in every language, which is what is wrong with it."""
    return len(content.strip()) >= characters


def overlap(one: str, other: str) -> float:
    """Share of common terms among all terms of two texts (Jaccard), 0-1."""
    a, b = set(tokenise(one)), set(tokenise(other))
    return len(a & b) / len(a | b) if a | b else 0.0


def relation(old: str, new: str) -> str:
    """``contradicts`` where two texts are alike and one is negated or their numbers differ, ``duplicates`` by word
    overlap, else ``none``."""
    common = overlap(_NEGATION.sub(" ", _NUMBER.sub(" ", old)), _NEGATION.sub(" ", _NUMBER.sub(" ", new)))
    numbers = set(_NUMBER.findall(old)), set(_NUMBER.findall(new))
    negated = (_NEGATION.search(old) is None) != (_NEGATION.search(new) is None)
    if common >= ALIKE and (negated or (all(numbers) and numbers[0] != numbers[1])):
        return "contradicts"
    return "duplicates" if overlap(old, new) >= SAME else "none"


def looks_planted(content: str) -> bool:
    """A handful of regular expressions for instructions that a memory should not hold."""
    return any(pattern.search(content) for pattern in _INJECTION)


def covered(gold: str, found: str) -> float:
    """Share of the gold text's terms that a found text holds, 0-1."""
    wanted = set(tokenise(gold))
    return len(wanted & set(tokenise(found))) / len(wanted) if wanted else 0.0
