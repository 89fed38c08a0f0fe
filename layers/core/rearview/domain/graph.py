"""How memories and decisions hang together: sparse edges, clusters, islands. Pure, and the same for the same items.

What many share (a tag, a session, a document) is a hub. Drawn as a clique, a hub of n members would take n²/2 edges;
here each member is joined to the next one in time, so that it takes n − 1. Clusters come from the hubs themselves, by
label propagation (Raghavan, Albert, Kumara 2007, "Near linear time algorithm to detect community structures in
large-scale networks") on the bipartite graph of items and hubs, the rarer the hub the more its word counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from math import log2
from typing import Final, Literal

EdgeKind = Literal[
    "supersedes",
    "conflicts",
    "rests_on",
    "parent",
    "merged_into",
    "evidence",
    "same_source",
    "same_tag",
    "near_in_time",
]

#: Between two neighbours in time that count as near.
NEAR: Final = timedelta(hours=6)
#: Of an item's shared tags the rarest so many join it to others: what everything bears tells nothing apart.
TAGS: Final = 8
#: What a source tells beside a tag of as many: a conversation wanders, and by their sources alone the clusters would be
#: the sessions.
SOURCE: Final = 0.5
#: Rounds of label propagation at most; it settles after a few.
ROUNDS: Final = 12


@dataclass(frozen=True, slots=True)
class Item:
    """One node. ``at`` is when it was so, ``sources`` name what it came from (any text; equal ones are one source),
    ``conflicts`` the ids of the conflicts it is in, ``links`` point at other items: (kind, id)."""

    id: str
    at: datetime
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    links: tuple[tuple[EdgeKind, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """From one item to another, by their places; ``weight`` in (0, 1]."""

    start: int
    end: int
    kind: EdgeKind
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Graph:
    """``clusters``: the places of their items in order, biggest cluster first, none of fewer than two. ``islands``: the
    places of items that nothing but nearness in time joins to others."""

    edges: list[Edge] = field(default_factory=list)
    clusters: list[list[int]] = field(default_factory=list)
    islands: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Hub:
    kind: EdgeKind
    weight: float
    members: list[int]


def weave(items: Sequence[Item]) -> Graph:
    """The graph of these items; their ids differ. Linear in items, links and shared tags, but for sorting by time.

    - pointers: ``item.links`` as they are, where the other end is among the items;
    - ``conflicts``, ``same_source``, ``same_tag``: each member with the next in time, older to newer. The weight of a
      tag that n items bear is 1/log2(n) (n ≥ 2), of a source :data:`SOURCE` of that; two items with several in common
      have one edge of a kind, of the sum of their weights, at most 1;
    - ``near_in_time``: each item with the next, if at most :data:`NEAR` lies between; weight 1/(1 + hours).
    """
    order = sorted(range(len(items)), key=lambda place: (items[place].at, items[place].id))
    pointers = list(_pointers(items))
    hubs = _hubs(items, order)
    edges = _merged([*pointers, *_chains(hubs)])
    joined = {place for edge in edges for place in (edge.start, edge.end)}
    near = list(_near(items, order))
    return Graph(
        edges=edges + near,
        clusters=_clusters(len(items), hubs, pointers, order),
        islands=[place for place in range(len(items)) if place not in joined],
    )


def strongest(edges: Sequence[Edge], limit: int) -> list[Edge]:
    """The ``limit`` edges that tell most, in their order: pointers and conflicts before the rest, then by weight."""
    if len(edges) <= limit:
        return list(edges)
    loose = ("same_source", "same_tag", "near_in_time")
    places = sorted(
        range(len(edges)), key=lambda place: (edges[place].kind in loose, -edges[place].weight, place)
    )
    return [edges[place] for place in sorted(places[:limit])]


# --- edges ---


def _pointers(items: Sequence[Item]) -> Iterator[Edge]:
    at = {item.id: place for place, item in enumerate(items)}
    for place, item in enumerate(items):
        for kind, other in item.links:
            end = at.get(other)
            if end is not None and end != place:
                yield Edge(place, end, kind)


def _hubs(items: Sequence[Item], order: Sequence[int]) -> list[_Hub]:
    """What two or more items share, its members in the order of time."""
    conflicts: dict[str, list[int]] = {}
    sources: dict[str, list[int]] = {}
    tags: dict[str, list[int]] = {}
    bearers = Counter(tag for item in items for tag in set(item.tags))
    for place in order:
        item = items[place]
        for conflict in dict.fromkeys(item.conflicts):
            conflicts.setdefault(conflict, []).append(place)
        for source in dict.fromkeys(item.sources):
            sources.setdefault(source, []).append(place)
        shared = sorted((bearers[tag], tag) for tag in set(item.tags) if bearers[tag] > 1)
        for _, tag in shared[:TAGS]:
            tags.setdefault(tag, []).append(place)
    # Of one member there is nothing to share, and it must not vote for itself.
    return [
        *(_Hub("conflicts", 1.0, members) for members in conflicts.values() if len(members) > 1),
        *(
            _Hub("same_source", SOURCE / log2(len(members)), members)
            for members in sources.values()
            if len(members) > 1
        ),
        *(
            _Hub("same_tag", 1 / log2(bearers[tag]), members)
            for tag, members in tags.items()
            if len(members) > 1
        ),
    ]


def _chains(hubs: Iterable[_Hub]) -> Iterator[Edge]:
    for hub in hubs:
        for one, two in pairwise(hub.members):
            yield Edge(one, two, hub.kind, hub.weight)


def _near(items: Sequence[Item], order: Sequence[int]) -> Iterator[Edge]:
    for one, two in pairwise(order):
        gap = items[two].at - items[one].at
        if gap <= NEAR:
            yield Edge(one, two, "near_in_time", 1 / (1 + gap / timedelta(hours=1)))


def _merged(edges: Iterable[Edge]) -> list[Edge]:
    """One edge of a kind between two items, of the sum of the weights."""
    weights: dict[tuple[int, int, EdgeKind], float] = {}
    for edge in edges:
        key = (edge.start, edge.end, edge.kind)
        weights[key] = min(1.0, weights.get(key, 0.0) + edge.weight)
    return [Edge(*key, weight) for key, weight in weights.items()]


# --- clusters ---


def _clusters(
    count: int, hubs: Sequence[_Hub], pointers: Sequence[Edge], order: Sequence[int]
) -> list[list[int]]:
    labels = _propagated(count, hubs, pointers, order)
    # Labels may have left two pieces behind that nothing joins any more: those are two clusters.
    roots = list(range(count))

    def root(place: int) -> int:
        while roots[place] != place:
            roots[place] = roots[roots[place]]
            place = roots[place]
        return place

    for edge in pointers:
        if labels[edge.start] == labels[edge.end]:
            roots[root(edge.end)] = root(edge.start)
    for hub in hubs:
        first: dict[int, int] = {}
        for place in hub.members:
            roots[root(place)] = root(first.setdefault(labels[place], place))
    found: dict[int, list[int]] = {}
    for place in range(count):
        found.setdefault(root(place), []).append(place)
    clusters = [members for members in found.values() if len(members) > 1]
    return sorted(clusters, key=lambda members: (-len(members), members[0]))


def _propagated(
    count: int, hubs: Sequence[_Hub], pointers: Sequence[Edge], order: Sequence[int]
) -> list[int]:
    """Item → label. Hubs take the label of most of their members, then items, oldest first, the one that their hubs and
    neighbours give most weight to; of equals the older label wins, so that no chance is in it."""
    age = [0] * count
    for number, place in enumerate(order):
        age[place] = number
    # Labels are ages: the smaller, the older the item that it came from.
    labels = age[:]
    of_item: list[list[int]] = [[] for _ in range(count)]
    for number, hub in enumerate(hubs):
        for place in hub.members:
            of_item[place].append(number)
    beside: list[list[int]] = [[] for _ in range(count)]
    for edge in pointers:
        beside[edge.start].append(edge.end)
        beside[edge.end].append(edge.start)
    for _ in range(ROUNDS):
        of_hub = [_most(Counter(labels[place] for place in hub.members)) for hub in hubs]
        changed = False
        for place in order:
            votes: dict[int, float] = {}
            for number in of_item[place]:
                votes[of_hub[number]] = votes.get(of_hub[number], 0.0) + hubs[number].weight
            for other in beside[place]:
                votes[labels[other]] = votes.get(labels[other], 0.0) + 1.0
            if not votes:
                continue
            best = _most(votes)
            if votes.get(labels[place], 0.0) < votes[best]:
                labels[place] = best
                changed = True
        if not changed:
            break
    return labels


def _most(votes: dict[int, float] | Counter[int]) -> int:
    return min(votes, key=lambda label: (-votes[label], label))
