"""An OpenSearch node and a name on it, for what only that index has."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

import index_kit
import opensearch_nodes

if TYPE_CHECKING:
    from rearview.adapters.aws.opensearch import OpenSearchIndex


#: Asks for more than the tests write, so that a missing document is one that was not found.
ask = partial(index_kit.ask, limit=100)


class Cluster:
    """A node and a name on it."""

    def __init__(self, version: str, stack: ExitStack) -> None:
        self.alias = opensearch_nodes.fresh_alias(version, stack)
        self.client = opensearch_nodes.client(version, stack)

    def open(self, fingerprint: str = "model-a", **options: Any) -> OpenSearchIndex:
        from rearview.adapters.aws.opensearch import OpenSearchIndex
        from rearview.adapters.aws.opensearch_mapping import Options

        return OpenSearchIndex(
            self.client, fingerprint, Options(alias=self.alias, **{"search_seconds": 30.0, **options})
        )

    def indexes(self) -> list[str]:
        return sorted(self.client.indices.get(index=f"{self.alias}-*"))

    def find(self, query: dict[str, Any]) -> set[int]:
        answer = self.client.search(index=self.alias, body={"query": query, "size": 100})
        return {int(hit["_id"]) for hit in answer["hits"]["hits"]}
