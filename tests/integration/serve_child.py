"""`serve` as a process of its own, with the embedder that needs no model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rearview.entrypoints.local import serve
from rearview.settings import Settings


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--no-auth", action="store_true")
    parser.add_argument("--slow-seconds", type=float, default=0.0, help="what each embedded passage takes")
    given = parser.parse_args()
    if given.slow_seconds:
        _slow_down(given.slow_seconds)
    return serve(
        Settings(data=given.data, embedder="hashing"), given.host, given.port, auth=not given.no_auth
    )


def _slow_down(seconds: float) -> None:
    import time

    from rearview.adapters.models.hashing import HashingEmbedder

    quick = HashingEmbedder.embed_passages

    def slow(self: HashingEmbedder, texts: list[str]) -> object:
        time.sleep(seconds * len(texts))  # as a model that cannot be interrupted would
        return quick(self, texts)

    HashingEmbedder.embed_passages = slow  # type: ignore[assignment, method-assign]


if __name__ == "__main__":
    sys.exit(main())
