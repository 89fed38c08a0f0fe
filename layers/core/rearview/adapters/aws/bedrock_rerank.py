"""The reranker over bedrock-agent-runtime: Cohere Rerank 3.5 and Amazon Rerank 1.0."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any, Final

from rearview.adapters.aws.bedrock_calls import Client, Pause, call
from rearview.errors import Unavailable

#: The API's bounds: documents a call, characters of a query or a document.
BATCH: Final = 1_000
MAX_CHARS: Final = 32_000
_NOTHING: Final = "."
_DROPPED: Final = re.compile("[\x00\ud800-\udfff]")


class BedrockReranker:
    """Implements :class:`rearview.ports.Reranker`. Safe among threads; raises what the embedder raises."""

    def __init__(
        self,
        client: Client,
        model: str = "cohere.rerank-v3-5:0",
        *,
        tries: int = 1,
        pause: Pause = time.sleep,
    ) -> None:
        """``client``: of ``bedrock-agent-runtime``. ``model``: an id, or an ARN. ``tries``: somebody waits for it."""
        self._client, self._model, self._tries, self._pause = client, model, tries, pause

    @property
    def name(self) -> str:
        """The model's id."""
        return self._model.rpartition("/")[2]

    def rerank(self, query: str, documents: Sequence[str]) -> list[float]:
        """Relevance of each document to the query, 0-1, in the order given."""
        scores: list[float] = []
        for start in range(0, len(documents), BATCH):
            scores += self._some(_clean(query), [_clean(text) for text in documents[start : start + BATCH]])
        return scores

    def _some(self, query: str, documents: list[str]) -> list[float]:
        request: dict[str, Any] = {
            "queries": [{"type": "TEXT", "textQuery": {"text": query}}],
            "sources": [
                {
                    "type": "INLINE",
                    "inlineDocumentSource": {"type": "TEXT", "textDocument": {"text": text}},
                }
                for text in documents
            ],
            "rerankingConfiguration": {
                "type": "BEDROCK_RERANKING_MODEL",
                "bedrockRerankingConfiguration": {
                    "numberOfResults": len(documents),
                    "modelConfiguration": {"modelArn": self._arn()},
                },
            },
        }
        scores: dict[int, float] = {}
        # A page is never empty; the bound is for an endpoint that goes on for ever.
        for _ in range(len(documents)):
            answer = call(
                self._client,
                "rerank",
                self._model,
                tries=self._tries,
                pause=self._pause,
                permission="bedrock:Rerank and bedrock:InvokeModel",
                **request,
            )
            for result in answer["results"]:
                scores[int(result["index"])] = min(1.0, max(0.0, float(result["relevanceScore"])))
            token = answer.get("nextToken")
            if not token:
                break
            request["nextToken"] = token
        if scores.keys() != set(range(len(documents))):
            raise Unavailable(f"{self.name} did not score every document")
        return [scores[index] for index in range(len(documents))]

    def _arn(self) -> str:
        if self._model.startswith("arn:"):
            return self._model
        meta = self._client.meta
        return f"arn:{meta.partition}:bedrock:{meta.region_name}::foundation-model/{self._model}"


def _clean(text: str) -> str:
    kept = _DROPPED.sub("", text)[:MAX_CHARS]
    return kept if kept.strip() else _NOTHING
