"""How items hang together: sparse edges, clusters by what is shared, islands."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rearview.domain.graph import NEAR, Edge, Graph, Item, strongest, weave

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
#: Farther apart than what counts as near.
APART = NEAR + timedelta(hours=1)


def item(name: str, number: int = 0, **more: Any) -> Item:
    return Item(id=name, at=START + number * APART, **more)


def drawn(items: list[Item], graph: Graph) -> set[tuple[str, str, str]]:
    return {(items[edge.start].id, edge.kind, items[edge.end].id) for edge in graph.edges}


def clusters(items: list[Item]) -> list[set[str]]:
    return [{items[place].id for place in members} for members in weave(items).clusters]


def test_a_shared_tag_joins_each_bearer_to_the_next_in_time() -> None:
    items = [item(name, number, tags=("garden",)) for name, number in (("c", 2), ("a", 0), ("b", 1))]
    assert drawn(items, weave(items)) == {("a", "same_tag", "b"), ("b", "same_tag", "c")}


def test_a_tag_of_many_takes_one_edge_less_than_it_has_bearers() -> None:
    items = [item(f"{number:04}", number, tags=("生活",)) for number in range(400)]
    assert len(weave(items).edges) == 399


def test_the_rarer_a_shared_tag_the_more_its_edge_weighs() -> None:
    common = [item(f"c{number}", number, tags=("work",)) for number in range(16)]
    pair = [item("p", 20, tags=("violin",)), item("q", 21, tags=("violin",))]
    weights = {edge.weight for edge in weave(common).edges}
    assert weights == {0.25}
    assert [edge.weight for edge in weave(pair).edges] == [1.0]


def test_several_shared_tags_are_one_edge_that_weighs_more() -> None:
    items = [item(f"{number}", number, tags=("tea", "花茶")) for number in range(4)]
    assert [round(edge.weight, 3) for edge in weave(items).edges] == [1.0, 1.0, 1.0]
    one = [item(f"{number}", number, tags=("tea",)) for number in range(4)]
    assert [round(edge.weight, 3) for edge in weave(one).edges] == [0.5, 0.5, 0.5]


def test_one_session_and_one_document_join_what_came_from_them() -> None:
    items = [
        item("a", 0, sources=("session:一",)),
        item("b", 1, sources=("session:一", "document:lease.pdf")),
        item("c", 2, sources=("document:lease.pdf",)),
    ]
    assert drawn(items, weave(items)) == {("a", "same_source", "b"), ("b", "same_source", "c")}


def test_pointers_are_drawn_where_both_ends_are_there() -> None:
    items = [
        item("new", 1, links=(("supersedes", "old"), ("evidence", "elsewhere"), ("parent", "new"))),
        item("old", 0),
    ]
    assert drawn(items, weave(items)) == {("new", "supersedes", "old")}


def test_a_conflict_joins_its_memories_older_to_newer() -> None:
    items = [item("b", 1, conflicts=("k",)), item("a", 0, conflicts=("k",)), item("z", 2, conflicts=("l",))]
    assert drawn(items, weave(items)) == {("a", "conflicts", "b")}


def test_near_in_time_ends_at_six_hours() -> None:
    items = [Item("a", START), Item("b", START + NEAR), Item("c", START + 2 * NEAR + timedelta(seconds=1))]
    graph = weave(items)
    assert drawn(items, graph) == {("a", "near_in_time", "b")}
    assert graph.edges[0].weight == pytest.approx(1 / 7)


def test_what_only_time_joins_is_an_island_and_in_no_cluster() -> None:
    items = [
        Item("a", START, tags=("tea",)),
        Item("b", START, tags=("tea",)),
        Item("c", START, tags=("ink",)),
    ]
    graph = weave(items)
    assert ("b", "near_in_time", "c") in drawn(items, graph)
    assert graph.islands == [2]
    assert graph.clusters == [[0, 1]]


@pytest.mark.parametrize(("one", "two", "both"), [("garden", "taxes", "2026"), ("花园", "报税", "今年")])
def test_two_topics_stay_two_clusters_though_one_tag_is_on_everything(one: str, two: str, both: str) -> None:
    items = [
        *(item(f"a{number}", number, tags=(one, both)) for number in range(8)),
        *(item(f"b{number}", number + 20, tags=(two, both)) for number in range(6)),
    ]
    assert clusters(items) == [{f"a{number}" for number in range(8)}, {f"b{number}" for number in range(6)}]


def test_a_decision_falls_to_the_memories_that_it_rests_on() -> None:
    items = [
        item("m1", 0, tags=("parcel",)),
        item("m2", 1, tags=("parcel",)),
        item("n1", 2, tags=("violin",)),
        item("n2", 3, tags=("violin",)),
        item("d", 4, links=(("rests_on", "m1"), ("rests_on", "m2"))),
    ]
    assert clusters(items) == [{"m1", "m2", "d"}, {"n1", "n2"}]


def test_no_items_make_an_empty_graph() -> None:
    assert weave([]) == Graph()


def test_the_strongest_edges_are_pointers_then_weight_and_keep_their_order() -> None:
    edges = [
        Edge(0, 1, "same_tag", 0.2),
        Edge(1, 2, "same_tag", 0.9),
        Edge(2, 3, "rests_on"),
        Edge(3, 4, "same_source"),
        Edge(4, 5, "conflicts"),
    ]
    assert strongest(edges, 4) == edges[1:]
    assert strongest(edges, 2) == [edges[2], edges[4]]
    assert strongest(edges, 5) == edges


NAMES = [f"i{number}" for number in range(12)]
TAGS = st.lists(st.sampled_from(["a", "b", "c", "茶", "墨", "\u202ex", "👪"]), max_size=4)
ITEM = st.builds(
    lambda hours, tags, sources, conflicts, links: (hours, tags, sources, conflicts, links),
    st.integers(0, 60),
    TAGS,
    st.lists(st.sampled_from(["s", "t", "u"]), max_size=2),
    st.lists(st.sampled_from(["k", "l"]), max_size=1),
    st.lists(
        st.tuples(st.sampled_from(["supersedes", "rests_on", "parent"]), st.sampled_from(NAMES)), max_size=3
    ),
)


def built(rows: list[Any]) -> list[Item]:
    return [
        Item(
            name, START + timedelta(hours=hours), tuple(tags), tuple(sources), tuple(conflicts), tuple(links)
        )
        for name, (hours, tags, sources, conflicts, links) in zip(NAMES, rows, strict=False)
    ]


@settings(max_examples=200, deadline=None)
@given(st.lists(ITEM, max_size=len(NAMES)), st.randoms(use_true_random=False))
def test_whatever_the_items_the_graph_holds_together(rows: list[Any], chance: random.Random) -> None:
    items = built(rows)
    graph = weave(items)
    # No loops, nothing twice.
    ends = [(edge.start, edge.end, edge.kind) for edge in graph.edges]
    assert len(set(ends)) == len(ends)
    assert all(start != end for start, end, _ in ends)
    assert all(0 < edge.weight <= 1 for edge in graph.edges)
    # Islands are those that time alone joins; clusters do not overlap and have none of them.
    told = {place for edge in graph.edges if edge.kind != "near_in_time" for place in (edge.start, edge.end)}
    assert set(graph.islands) == set(range(len(items))) - told
    members = [place for cluster in graph.clusters for place in cluster]
    assert len(set(members)) == len(members)
    assert set(members) <= told
    assert all(len(cluster) > 1 for cluster in graph.clusters)
    sizes = [len(cluster) for cluster in graph.clusters]
    assert sizes == sorted(sizes, reverse=True)
    # The order in which the items come changes nothing.
    shuffled = items[:]
    chance.shuffle(shuffled)
    other = weave(shuffled)
    assert drawn(shuffled, other) == drawn(items, graph)
    assert sorted(map(sorted, clusters(shuffled))) == sorted(map(sorted, clusters(items)))


def test_five_thousand_items_take_less_than_a_second() -> None:
    chance = random.Random(5)
    items = [
        Item(
            f"{number:05}",
            START + timedelta(hours=2 * number),
            tuple({f"tag {int(chance.paretovariate(0.6)) % 300}" for _ in range(3)}),
            (f"session:{number // 7}",),
            links=(("rests_on", f"{chance.randrange(5000):05}"),) if number % 9 == 0 else (),
        )
        for number in range(5000)
    ]
    started = time.process_time()
    graph = weave(items)
    assert time.process_time() - started < 1
    assert len(graph.edges) < 5 * len(items)
    assert len(graph.clusters) > 10
