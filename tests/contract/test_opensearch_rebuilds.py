"""What only the OpenSearch index has: indexes behind aliases and swaps under load."""

from __future__ import annotations

import threading

import pytest
from cluster_kit import Cluster, ask
from index_kit import Make, numbers

from rearview.errors import Conflicting, Unavailable

pytestmark = pytest.mark.aws


def test_a_write_through_an_old_view_does_not_bring_a_dropped_index_back(
    cluster: Cluster, make_document: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = cluster.open()
    index.upsert([make_document(0, "text", vector=[1, 0])])
    (old,) = cluster.indexes()
    before = index._generations.read()
    rebuild = cluster.open().begin_rebuild("model-a")
    rebuild.upsert([make_document(0, "text", vector=[1, 0])])
    rebuild.commit()
    views = [before]
    fresh = index._generations.ensure
    monkeypatch.setattr(index._generations, "ensure", lambda model: views.pop() if views else fresh(model))
    assert index.upsert([make_document(1, "text", vector=[0, 1])]) == []
    assert numbers(ask(index, vector=[0.0, 1.0])) == {0, 1}
    (now,) = cluster.indexes()
    assert now != old


def test_live_writes_and_searches_go_on_through_a_rebuild(cluster: Cluster, make_document: Make) -> None:
    index, documents = cluster.open(), [make_document(n, "text", vector=[1, n]) for n in range(60)]
    index.upsert(documents)
    stop, failures = threading.Event(), []
    written: list[int] = []

    def write() -> None:
        writer = cluster.open()
        number = 1000
        while not stop.is_set():
            try:
                assert writer.upsert([make_document(number, "text", vector=[1, number])]) == []
            except Exception as error:
                failures.append(error)
                return
            written.append(number)
            number += 1

    def search() -> None:
        reader = cluster.open()
        while not stop.is_set():
            try:
                assert {0, 59} <= numbers(ask(reader, "text", limit=5000))
            except Exception as error:
                failures.append(error)
                return

    threads = [threading.Thread(target=write), threading.Thread(target=search)]
    for thread in threads:
        thread.start()
    for _ in range(2):
        rebuild = cluster.open().begin_rebuild("model-a")
        # What was acknowledged before is in the store and is read from there; what comes later reaches both.
        known = list(written)
        rebuild.upsert(documents + [make_document(n, "text", vector=[1, n]) for n in known])
        rebuild.commit()
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert written
    assert numbers(ask(index, "text", limit=5000)) == {*range(60), *written}
    assert len(cluster.indexes()) == 1


def test_vectors_of_an_unchanged_text_survive_a_field_change_in_both_generations(
    cluster: Cluster, make_document: Make
) -> None:
    index = cluster.open()
    index.upsert([make_document(0, "text", vector=[1, 0])])
    rebuild = index.begin_rebuild("model-a")
    rebuild.upsert([make_document(0, "text", vector=[1, 0])])
    index.upsert([make_document(0, "text", version=2, importance=0.9)])
    assert numbers(ask(index, vector=[1.0, 0.0], min_importance=0.9)) == {0}
    rebuild.commit()
    assert numbers(ask(index, vector=[1.0, 0.0], min_importance=0.9)) == {0}


def test_a_rebuild_tells_what_still_lacks_vectors(cluster: Cluster, make_document: Make) -> None:
    old, new = cluster.open("model-a"), cluster.open("model-b")
    old.upsert([make_document(n, "text", vector=[1, n]) for n in range(2)])
    rebuild = new.begin_rebuild("model-b")
    rebuild.upsert([make_document(0, "text", vector=[1, 0, 0])])
    old.upsert([make_document(1, "changed", version=2, vector=[1, 0])])
    assert rebuild.missing() == [("anna", f"{1:026d}")]
    new.upsert([make_document(1, "changed", version=2, vector=[1, 0, 0])])
    assert rebuild.missing() == []


def test_two_rebuilds_cannot_both_be_under_way(cluster: Cluster, make_document: Make) -> None:
    cluster.open().upsert([make_document(0, "text", vector=[1, 0])])
    first = cluster.open().begin_rebuild("model-a")
    second = cluster.open().begin_rebuild("model-a")
    assert len(cluster.indexes()) == 2
    for act in (first.commit, lambda: first.upsert([make_document(0, "text", vector=[1, 0])]), first.missing):
        with pytest.raises(Conflicting):
            act()
    second.abort()
    assert len(cluster.indexes()) == 1


def test_what_an_interrupted_swap_left_behind_goes_with_the_next_rebuild(
    cluster: Cluster, make_document: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = cluster.open()
    index.upsert([make_document(0, "text", vector=[1, 0])])
    neighbour = f"{cluster.alias}-other-{'0' * 8}-0001-{'a' * 6}"
    cluster.client.indices.create(index=neighbour)
    rebuild = index.begin_rebuild("model-a")
    rebuild.upsert([make_document(0, "text", vector=[1, 0])])

    def away(_: object) -> None:
        raise Unavailable("the node went away")

    with monkeypatch.context() as patch:
        patch.setattr(index._generations, "discard", away)
        rebuild.commit()
    assert numbers(ask(index, "text", vector=[1.0, 0.0])) == {0}
    assert len(cluster.indexes()) == 3
    index.begin_rebuild("model-a").abort()
    assert len(cluster.indexes()) == 2
    assert neighbour in cluster.indexes()
