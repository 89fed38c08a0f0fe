"""An embedder behind an OpenAI-compatible ``POST {url}/embeddings``: a model server of the team's own, or a vendor's."""

from __future__ import annotations

import http.client
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from rearview.domain.chunks import TEXT_FORM
from rearview.errors import Unavailable

Vectors = NDArray[np.float32]

_BATCH: Final = 64
_ATTEMPTS: Final = 3
_LONGEST_PAUSE: Final = 5.0
_LARGEST_ANSWER: Final = 64 * 1024 * 1024
_RETRIED: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_DROPPED: Final = re.compile("[\x00\ud800-\udfff]")
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class OpenAICompatibleEmbedder:
    """Embeds texts as L2-normalised float32 rows of ``dims`` numbers over HTTP.

    The protocol does not say whether a text is a question or a passage, so models that want to know are told
    by ``query_prefix`` and ``passage_prefix`` (e5: ``query: `` and ``passage: ``). Safe among threads.
    Raises `Unavailable` when the endpoint is down, refuses, or answers something else than vectors.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        dims: int,
        query_prefix: str = "",
        passage_prefix: str = "",
        api_key: str | None = None,
        max_weight: int = 400,
        timeout: float = 30.0,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """``url``: up to and with ``/v1``; ``max_weight``: see `chunks.chunk`; ``timeout``: seconds a request."""
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("the embedder's url must be http or https with a host")
        self.name = model
        self.noise: tuple[float, float] | None = None
        self.dims = dims
        self.max_weight = max_weight
        self._endpoint = url.rstrip("/") + "/embeddings"
        self._prefixes = (query_prefix, passage_prefix)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._timeout = timeout
        self._pause = pause
        # A proxy of the environment is for the world outside, not for a model server on this machine.
        handlers = [urllib.request.ProxyHandler({})] if parts.hostname in _LOOPBACK else []
        self._opener = urllib.request.build_opener(*handlers)

    @property
    def fingerprint(self) -> str:
        """Names everything vectors depend on: equal fingerprints may be compared, others may not."""
        query, passage = self._prefixes
        return f"{self.name}/openai/{self.dims}/{query},{passage}/{TEXT_FORM}"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One row per text, for what is stored: shape (len(texts), dims)."""
        return self._embed(texts, self._prefixes[1])

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """One row per text, for what is asked: shape (len(texts), dims)."""
        return self._embed(texts, self._prefixes[0])

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        vectors: Vectors = np.empty((len(texts), self.dims), dtype=np.float32)
        # Many servers refuse an empty input; a blank says as little.
        inputs = [prefix + (_DROPPED.sub("", text) or " ") for text in texts]
        for start in range(0, len(inputs), _BATCH):
            batch = inputs[start : start + _BATCH]
            vectors[start : start + len(batch)] = self._rows(self._ask(batch), len(batch))
        return vectors

    def _ask(self, batch: list[str]) -> Any:
        body = json.dumps({"model": self.name, "input": batch, "encoding_format": "float"}).encode()
        request = urllib.request.Request(self._endpoint, body, self._headers, method="POST")  # noqa: S310
        for attempt in range(1, _ATTEMPTS + 1):
            wait = min(_LONGEST_PAUSE, 0.25 * 2**attempt)
            try:
                with self._opener.open(request, timeout=self._timeout) as answer:
                    return json.loads(answer.read(_LARGEST_ANSWER))
            except urllib.error.HTTPError as error:
                with error:
                    if error.code not in _RETRIED:
                        raise Unavailable(f"the embedding endpoint answered {error.code}") from None
                    problem = f"the embedding endpoint answered {error.code}"
                    wait = _retry_after(error.headers.get("Retry-After"), wait)
            except (OSError, http.client.HTTPException) as error:
                problem = f"the embedding endpoint cannot be reached: {type(error).__name__}"
            except ValueError:
                raise Unavailable("the embedding endpoint answered no JSON") from None
            if attempt < _ATTEMPTS:
                self._pause(wait)
        raise Unavailable(problem)

    def _rows(self, answer: Any, count: int) -> Vectors:
        try:
            items = sorted(answer["data"], key=lambda item: int(item["index"]))
            rows: Vectors = np.array([item["embedding"] for item in items], dtype=np.float32)
        except (KeyError, TypeError, ValueError):
            raise Unavailable("the embedding endpoint answered no vectors") from None
        if rows.shape != (count, self.dims):
            raise Unavailable(
                f"the embedding endpoint answered vectors of shape {rows.shape}, not {(count, self.dims)}"
            )
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(rows).all() and (norms > 0).all()):
            raise Unavailable("the embedding endpoint answered a vector that is zero or not finite")
        normalised: Vectors = (rows / norms).astype(np.float32)
        return normalised


def _retry_after(header: str | None, otherwise: float) -> float:
    """Seconds of a Retry-After header, bounded; its date form is not worth a clock here."""
    if header and header.strip().isdigit():
        return min(_LONGEST_PAUSE, float(header))
    return otherwise
