"""What an index is given, for tests of what is then sent."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from rearview.adapters.aws.opensearch_mapping import (
    Options,
)
from rearview.domain.tokens import tokenise
from rearview.ports import IndexDocument, IndexQuery

NOW = datetime(2026, 5, 1, tzinfo=UTC)
OPTIONS = Options(alias="memories")


def query(**fields: Any) -> IndexQuery:
    values: dict[str, Any] = {
        "partitions": ["anna"],
        "namespaces": [],
        "record": "memory",
        "limit": 10,
        "now": NOW,
    }
    return IndexQuery(**{**values, **fields})


def document(number: int = 1, **fields: Any) -> IndexDocument:
    values: dict[str, Any] = {
        "id": f"{number:026d}",
        "partition": "anna",
        "namespace": "shop",
        "record": "memory",
        "version": 1,
        "text": "她喜欢乌龙茶",
        "terms": tokenise("她喜欢乌龙茶"),
        "vectors": np.array([[0.6, 0.8]], np.float32),
        "status": "active",
        "memory_type": "long_term",
        "kind": "fact",
        "origin": "user",
        "audience": "user",
        "importance": 0.6,
        "created_at": NOW,
        "valid_from": NOW,
    }
    return IndexDocument(**{**values, **fields})
