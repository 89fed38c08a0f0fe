"""The graph of a user's memory: memories and decisions as nodes, how they hang together as edges, in one answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, get_args

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.graph import Edge, EdgeKind, Graph, Item, strongest, weave
from rearview.domain.memory import Memory
from rearview.domain.principal import Principal
from rearview.domain.records import Decision
from rearview.domain.scope import Scope
from rearview.domain.times import optional_text, to_text
from rearview.domain.types import STATUSES
from rearview.ports import Filter
from rearview.usecases.audit import OVERDUE_HOURS
from rearview.usecases.lists import between, outcomes_between
from rearview.usecases.paging import fitting
from rearview.usecases.questions import ShowGraph
from rearview.usecases.services import Services

#: What a graph shows of memories unless asked: the ends of all its edges, and nothing that somebody took away.
SHOWN: Final = tuple(status for status in STATUSES if status not in ("deleted", "quarantined"))
EDGE_KINDS: Final[tuple[EdgeKind, ...]] = get_args(EdgeKind)
RESULTS: Final = ("success", "failure", "mixed", "unknown")
#: A Lambda function may answer 6 MB: nodes to this weight, edges (140 bytes each) and clusters to so many pieces. Six
#: thousand nodes of the usual kind fit.
NODE_BYTES: Final = 3_000_000
EDGES: Final = 18_000
CLUSTERS: Final = 300
NODE_TAGS: Final = 5
CLUSTER_TAGS: Final = 3
Record = Memory | Decision


class Grapher:
    """The verb that draws."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def graph(self, principal: Principal, request: ShowGraph) -> dict[str, Any]:
        """The newest ``limit`` memories and decisions as nodes, oldest first, with edges, clusters and islands.

        One pass over the user's memories, decisions and outcomes; edges as sparse as :func:`domain.graph.weave` makes
        them. A caller without the permission ``trace`` gets memories only. What the answer's bounds leave out are the
        oldest nodes (``truncated``) and the weakest edges (``edges_left_out``). A memory whose shelf life is over is
        no longer read; one that the sweep has overlooked is a node all the same, overdue and without its text.
        """
        scope = principal.scope("read", request.namespace, request.user_id)
        now = self.services.now()
        traced = "trace" in principal.permissions
        memories, more = self._memories(scope, request, now)
        decisions: list[Decision] = []
        if traced and request.decisions:
            decisions, also = self._decisions(scope, request)
            more = more or also
        records: list[Record] = sorted([*memories, *decisions], key=lambda item: item.id)
        more = more or len(records) > request.limit
        records = records[-request.limit :]
        outcomes = self._outcomes(scope, [item for item in records if isinstance(item, Decision)])
        nodes = [
            _memory_node(item, now) if isinstance(item, Memory) else _decision_node(item, outcomes, now)
            for item in records
        ]
        fit = fitting(nodes[::-1], NODE_BYTES)
        nodes, records, more = nodes[-fit:], records[-fit:] if fit else [], more or fit < len(nodes)
        graph = weave(_items(records, nodes))
        for number, members in enumerate(graph.clusters):
            for place in members:
                nodes[place]["cluster"] = number
        for place in graph.islands:
            nodes[place]["island"] = True
        wanted = [edge for edge in graph.edges if not request.edges or edge.kind in request.edges]
        edges = strongest(wanted, EDGES)
        return {
            "nodes": nodes,
            "edges": [_edge(edge, nodes) for edge in edges],
            "clusters": _clusters(graph, nodes, records),
            "islands": len(graph.islands),
            "counts": _counts(nodes, wanted),
            "withheld": [] if traced else ["decisions"],
            "truncated": more,
            "edges_left_out": len(wanted) - len(edges),
        }

    def _memories(self, scope: Scope, request: ShowGraph, now: datetime) -> tuple[list[Memory], bool]:
        where = [
            Filter("status", "in", list(request.status or SHOWN)),
            *_around("valid_from", request),
        ]
        if request.kinds:
            where.append(Filter("kind", "in", list(request.kinds)))
        if request.memory_types:
            where.append(Filter("memory_type", "in", list(request.memory_types)))
        bodies, more = self._newest(scope, keys.MEMORIES, where, request.limit)
        found = [decode(Memory, body) for body in bodies]
        return [item for item in found if not item.expired(now) or overdue(item, now) or _gone(item)], more

    def _decisions(self, scope: Scope, request: ShowGraph) -> tuple[list[Decision], bool]:
        where = _around("occurred_at", request)
        bodies, more = self._newest(scope, keys.DECISIONS, where, request.limit)
        return [decode(Decision, body) for body in bodies], more

    def _newest(
        self, scope: Scope, prefix: str, where: Sequence[Filter], limit: int
    ) -> tuple[list[dict[str, Any]], bool]:
        page = self.services.store.query(scope.partition, prefix, limit=limit, reverse=True, where=where)
        return [body for _, body in page.items], page.last is not None

    def _outcomes(self, scope: Scope, decisions: Sequence[Decision]) -> dict[str, Counter[str]]:
        """Decision → result → how often; what was reverted does not count."""
        found: dict[str, Counter[str]] = {item.id: Counter() for item in decisions}
        if found:
            for outcome in outcomes_between(self.services.store, scope.partition, min(found), max(found)):
                if outcome.reverted_at is None and outcome.decision_id in found:
                    found[outcome.decision_id][outcome.result] += 1
        return found


def overdue(memory: Memory, now: datetime) -> bool:
    """Whether its shelf life ended so long ago that an audit would say so, and it is still there."""
    if memory.expires_at is None or _gone(memory):
        return False
    return now - memory.expires_at > timedelta(hours=OVERDUE_HOURS)


def _gone(memory: Memory) -> bool:
    # What is deleted may be expired as well; it is there until it is purged.
    return memory.status == "deleted"


def _around(field: str, request: ShowGraph) -> list[Filter]:
    since, until = request.moment(request.since), request.moment(request.until, upper=True)
    tag = [] if request.tag is None else [Filter("tags", "has", request.tag)]
    return [*between(field, since, until), *tag]


# --- nodes ---


def _memory_node(memory: Memory, now: datetime) -> dict[str, Any]:
    late = overdue(memory, now)
    return {
        "type": "memory",
        "id": memory.id,
        # Nothing reads an expired text any more.
        "summary": "" if late else memory.summary,
        "memory_type": memory.memory_type,
        "kind": memory.kind,
        "status": memory.status,
        "origin": memory.origin,
        "importance": memory.importance,
        "created_at": to_text(memory.created_at),
        "valid_from": to_text(memory.valid_from),
        "valid_to": optional_text(memory.valid_to),
        "expires_at": optional_text(memory.expires_at),
        "tags": [] if late else list(memory.tags[:NODE_TAGS]),
        "overdue": late,
        "cluster": None,
        "island": False,
    }


def _decision_node(decision: Decision, outcomes: dict[str, Counter[str]], now: datetime) -> dict[str, Any]:
    counted, due = outcomes[decision.id], decision.outcome_due_at
    return {
        "type": "decision",
        "id": decision.id,
        "summary": decision.summary,
        "action": decision.action,
        "created_at": to_text(decision.created_at),
        "occurred_at": to_text(decision.occurred_at),
        "outcome_due_at": optional_text(due),
        "outcomes": {result: counted[result] for result in RESULTS},
        "tags": list(decision.tags[:NODE_TAGS]),
        "overdue": due is not None and due < now and not counted,
        "cluster": None,
        "island": False,
    }


def _items(records: Sequence[Record], nodes: Sequence[dict[str, Any]]) -> list[Item]:
    # The old memory names its successor; the edge goes the other way.
    ended: dict[str, list[str]] = {}
    for record in records:
        if isinstance(record, Memory) and record.superseded_by is not None:
            ended.setdefault(record.superseded_by, []).append(record.id)
    return [
        _item(record, node, ended.get(record.id, ())) for record, node in zip(records, nodes, strict=True)
    ]


def _item(record: Record, node: dict[str, Any], ended: Iterable[str]) -> Item:
    """What joins a record to others."""
    if isinstance(record, Decision):
        rested: list[tuple[EdgeKind, str]] = [("rests_on", item) for item in record.memory_ids]
        if record.parent_id is not None:
            rested.append(("parent", record.parent_id))
        # A memory may have come from this decision: both name it as their source.
        sources = _sources(record.session_id, None, record.id)
        return Item(record.id, record.occurred_at, record.tags, sources, links=tuple(rested))
    links: list[tuple[EdgeKind, str]] = [("supersedes", item) for item in ended]
    links += [("evidence", item) for item in record.evidence]
    if record.merged_into is not None:
        links.append(("merged_into", record.merged_into))
    source = record.source
    return Item(
        record.id,
        record.valid_from,
        () if node["overdue"] else record.tags,
        _sources(record.session_id or source.session_id, source.document, source.decision_id),
        record.conflicts,
        tuple(links),
    )


def _sources(session: str | None, document: str | None, decision: str | None) -> tuple[str, ...]:
    named = (("session", session), ("document", document), ("decision", decision))
    return tuple(f"{what}:{value}" for what, value in named if value is not None)


# --- edges and clusters ---


def _edge(edge: Edge, nodes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "from": nodes[edge.start]["id"],
        "to": nodes[edge.end]["id"],
        "kind": edge.kind,
        "weight": round(edge.weight, 3),
    }


def _clusters(
    graph: Graph, nodes: Sequence[dict[str, Any]], records: Sequence[Record]
) -> Iterable[dict[str, Any]]:
    found = []
    for number, members in enumerate(graph.clusters[:CLUSTERS]):
        own = [nodes[place] for place in members]
        tags = Counter(tag for node in own for tag in node["tags"])
        times = [_at(records[place]) for place in members]
        found.append(
            {
                "id": number,
                "size": len(own),
                "memories": sum(node["type"] == "memory" for node in own),
                "decisions": sum(node["type"] == "decision" for node in own),
                "overdue": sum(node["overdue"] for node in own),
                "tags": sorted(tags, key=lambda tag: (-tags[tag], tag))[:CLUSTER_TAGS],
                "first": to_text(min(times)),
                "last": to_text(max(times)),
            }
        )
    return found


def _at(record: Record) -> datetime:
    return record.valid_from if isinstance(record, Memory) else record.occurred_at


def _counts(nodes: Sequence[dict[str, Any]], edges: Sequence[Edge]) -> dict[str, Any]:
    types = Counter(node["type"] for node in nodes)
    kinds = Counter(edge.kind for edge in edges)
    return {
        "memories": types["memory"],
        "decisions": types["decision"],
        "edges": {kind: kinds[kind] for kind in EDGE_KINDS},
    }
