"""Rerank: a second look at the best hits by a model that reads query and text together, where one is configured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rearview.domain.memory import Memory
from rearview.domain.rank import Ranked
from rearview.usecases.services import Services, told

#: Hits that the model reads, and its share of their score; the fused score keeps recency, importance and origin in.
WINDOW = 50
SHARE = 0.6


def reranked(
    services: Services, query: str, ranked: Sequence[Ranked], memories: Mapping[str, Memory]
) -> tuple[list[Ranked], list[str]]:
    """The hits with the model's relevance (0-1) in ``parts["rerank"]`` and in the score, and what is degraded.

    Only the first WINDOW are read; they stay before the rest. Of texts that lie in the archive it reads the summary: to
    fetch so many would take longer than to rank them. If the model is away, the order stays as it was.
    """
    if services.reranker is None or not ranked:
        return list(ranked), []
    window, rest = list(ranked[:WINDOW]), list(ranked[WINDOW:])
    try:
        scores = services.reranker.rerank(query, [memories[item.id].gist for item in window])
    except Exception as error:
        told("the reranker is away", error)
        return [*window, *rest], ["rerank"]
    read = [
        replace(item, score=(1 - SHARE) * item.score + SHARE * score, parts={**item.parts, "rerank": score})
        for item, score in zip(window, scores, strict=True)
    ]
    read.sort(key=lambda item: (item.score, item.id), reverse=True)
    return [*read, *rest], []
