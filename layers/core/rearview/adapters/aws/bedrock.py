"""The embedder over Bedrock's InvokeModel: Cohere Embed v4, Titan Text v2, Nova multimodal."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Final

import numpy as np
from botocore.exceptions import BotoCoreError
from numpy.typing import NDArray

from rearview.adapters.aws.bedrock_calls import Client, Pause, call
from rearview.adapters.aws.bedrock_models import embedding_model
from rearview.domain.chunks import TEXT_FORM
from rearview.errors import Unavailable

Vectors = NDArray[np.float32]

#: Our tries: a memory can wait for its turn, somebody who asks cannot.
_PASSAGE_TRIES: Final = 4
_QUERY_TRIES: Final = 1
#: Models refuse an empty text; this says as little.
_NOTHING: Final = "."
_DROPPED: Final = re.compile("[\x00\ud800-\udfff]")


class BedrockEmbedder:
    """Embeds texts as L2-normalised float32 rows of ``dims`` numbers. Safe among threads.

    Raises ModelNotUsable (an Unavailable) for what an operator has to mend, ModelRefused for a text that the model
    does not take, Unavailable for throttling and outages.
    """

    def __init__(
        self,
        client: Client,
        model: str,
        *,
        dims: int,
        profile: str = "",
        concurrency: int = 4,
        pause: Pause = time.sleep,
        patient: Callable[[], Client] | None = None,
    ) -> None:
        """``client``: of ``bedrock-runtime``. ``profile``: id or ARN of an inference profile to call instead of the
        model itself. ``concurrency``: calls at a time, where a model takes one text a call. ``patient``: makes,
        when there are first passages to embed, the client for them, which gives up later than that for queries; none: the
        same. Only workers embed passages, and a client costs the start of all others a twentieth of a second."""
        self._client, self._model = client, embedding_model(model, dims)
        self._lasting, self._patient, self._lock = client, patient, Lock()
        self._target = profile or model
        self._concurrency = max(1, concurrency)
        self._pause = pause
        self.name: str = self._model.id
        self.dims: int = dims
        self.max_weight: int = self._model.max_weight
        self.noise: tuple[float, float] | None = None

    @property
    def fingerprint(self) -> str:
        """Names everything vectors depend on. A profile only says where the model runs: it is not part of it."""
        return f"{self.name}/bedrock/{self.dims}/{TEXT_FORM}"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One row per text, for what is stored: shape (len(texts), dims)."""
        return self._embed(texts, is_query=False)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """One row per text, for what is asked: shape (len(texts), dims)."""
        return self._embed(texts, is_query=True)

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        vectors: Vectors = np.empty((len(texts), self.dims), dtype=np.float32)
        clean = [self._clean(text) for text in texts]
        size = self._model.batch
        starts = range(0, len(clean), size)
        # Made before there are threads.
        client = self._client if is_query else self._for_passages()
        batches = [clean[start : start + size] for start in starts]
        if min(self._concurrency, len(batches)) <= 1:
            answers = [self._ask(client, batch, is_query) for batch in batches]
        else:
            with ThreadPoolExecutor(min(self._concurrency, len(batches)), "bedrock") as pool:
                asked = [pool.submit(self._ask, client, batch, is_query) for batch in batches]
                try:
                    answers = [one.result() for one in asked]
                finally:
                    # After a refusal the rest would be paid for nothing.
                    for one in asked:
                        one.cancel()
        for start, rows in zip(starts, answers, strict=True):
            vectors[start : start + len(rows)] = rows
        return vectors

    def _clean(self, text: str) -> str:
        """What JSON and the model can take: no NUL, no lone surrogate, not blank, not beyond the model's limit."""
        kept = _DROPPED.sub("", text)[: self._model.max_chars]
        return kept if kept.strip() else _NOTHING

    def _for_passages(self) -> Client:
        with self._lock:
            if self._patient is not None:
                self._lasting, self._patient = self._patient(), None
            return self._lasting

    def _ask(self, client: Client, batch: Sequence[str], is_query: bool) -> Vectors:
        body = self._model.request(batch, self.dims, is_query)
        answer = call(
            client,
            "invoke_model",
            self._target,
            tries=_QUERY_TRIES if is_query else _PASSAGE_TRIES,
            pause=self._pause,
            modelId=self._target,
            body=json.dumps(body, ensure_ascii=False).encode(),
            contentType="application/json",
            accept="application/json",
        )
        return self._rows(_read(answer), len(batch))

    def _rows(self, answer: Any, count: int) -> Vectors:
        try:
            rows: Vectors = np.array(self._model.rows(answer), dtype=np.float32)
        except (KeyError, TypeError, ValueError):
            raise Unavailable(f"{self.name} answered no vectors") from None
        if rows.shape != (count, self.dims):
            raise Unavailable(f"{self.name} answered vectors of shape {rows.shape}, not {(count, self.dims)}")
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(rows).all() and (norms > 0).all()):
            raise Unavailable(f"{self.name} answered a vector that is zero or not finite")
        normalised: Vectors = (rows / norms).astype(np.float32)
        return normalised


def _read(answer: dict[str, Any]) -> Any:
    try:
        return json.loads(answer["body"].read())
    except ValueError:
        raise Unavailable("Bedrock answered no JSON") from None
    except (BotoCoreError, OSError) as error:
        raise Unavailable(f"Bedrock broke off: {type(error).__name__}") from None
