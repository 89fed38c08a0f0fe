"""What only the OpenSearch index has: indexes behind aliases, swaps under load, versions, fields for people."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import opensearch_nodes
import pytest

from rearview.domain.tokens import tokenise
from rearview.errors import Conflicting, Unavailable
from rearview.ports import IndexDocument, IndexQuery, Scored

if TYPE_CHECKING:
    from rearview.adapters.aws.opensearch import OpenSearchIndex

pytestmark = pytest.mark.aws

Make = Callable[..., IndexDocument]
START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=30)


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


@pytest.fixture(params=opensearch_nodes.VERSIONS)
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(request.param, stack)


def ask(
    index: OpenSearchIndex, text: str = "", vector: list[float] | None = None, **fields: Any
) -> list[Scored]:
    unit = None if vector is None else np.array(vector, np.float32)
    values: dict[str, Any] = {
        "partitions": ["anna"],
        "namespaces": [],
        "record": "memory",
        "limit": 100,
        "now": NOW,
        "vector": unit,
        "terms": tokenise(text),
    }
    answer = index.search(IndexQuery(**{**values, **fields}))
    assert answer.degraded == []
    return answer.candidates


def numbers(found: list[Scored]) -> set[int]:
    return {int(one.id) for one in found}


def test_the_fields_for_people_find_single_characters_pairs_and_stems(
    cluster: Cluster, make_document: Make
) -> None:
    cluster.open().upsert(
        [make_document(0, "他喜欢喝ＡＢＣ茶"), make_document(1, "Migrating the payment services")]
    )
    assert cluster.find({"match": {"text.cjk": "茶"}}) == {0}
    assert cluster.find({"match_phrase": {"text.cjk": "喝abc"}}) == {0}
    assert cluster.find({"match": {"text.english": "service migration"}}) == {1}
    (hit,) = cluster.client.search(index=cluster.alias, body={"query": {"term": {"id": f"{0:026d}"}}})[
        "hits"
    ]["hits"]
    assert "喜欢" not in str(hit)


def test_times_filter_to_the_microsecond_in_all_years(cluster: Cluster, make_document: Make) -> None:
    index = cluster.open()
    tick = timedelta(microseconds=1)
    moments = [datetime(1, 1, 2, tzinfo=UTC), START, START + tick, datetime(9999, 12, 30, tzinfo=UTC)]
    index.upsert([make_document(n, "text", valid_from=one, created_at=one) for n, one in enumerate(moments)])
    assert numbers(ask(index, "text", since=START + tick)) == {2, 3}
    assert numbers(ask(index, "text", until=START)) == {0, 1}
    assert numbers(ask(index, recent=1, limit=0)) == {3}
    index.upsert([make_document(5, "ends", expires_at=NOW + tick), make_document(6, "ends", expires_at=NOW)])
    assert numbers(ask(index, "ends")) == {5}


def test_a_late_write_of_what_was_deleted_a_moment_ago_is_held_off(
    cluster: Cluster, make_document: Make
) -> None:
    index = cluster.open()
    index.upsert([make_document(0, "text", version=5, vector=[1, 0])])
    index.delete([f"{0:026d}"])
    with pytest.raises(Unavailable, match="deleted a moment ago"):
        index.upsert([make_document(0, "text", version=4)])
    assert index.versions("anna") == {}
    index.delete([f"{0:026d}"])
    assert index.upsert([make_document(0, "text", version=6)]) == []
    assert index.versions("anna") == {f"{0:026d}": 6}


def test_processes_that_start_together_make_one_index(cluster: Cluster, make_document: Make) -> None:
    gate = threading.Barrier(4)
    failures: list[Exception] = []

    def start(number: int) -> None:
        index = cluster.open("model-a" if number % 2 else "model-b")
        gate.wait()
        try:
            assert index.upsert([make_document(number, "text")]) == []
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=start, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(cluster.indexes()) == 1
    assert numbers(ask(cluster.open(), "text")) == {0, 1, 2, 3}


def test_the_first_vectors_of_two_models_do_not_mix(cluster: Cluster, make_document: Make) -> None:
    gate = threading.Barrier(2)
    cluster.open().upsert([make_document(9, "there already")])

    def write(model: str, number: int) -> None:
        index = cluster.open(model)
        gate.wait()
        try:
            index.upsert([make_document(number, "text", vector=[1, 0])])
        except Unavailable:
            refused.append(model)

    refused: list[str] = []
    threads = [threading.Thread(target=write, args=(f"model-{n}", n)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    model = cluster.open().fingerprint()
    assert model in ("model-0", "model-1")
    (found,) = ask(cluster.open(model), vector=[1.0, 0.0])
    assert f"model-{int(found.id)}" == model


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


def test_a_field_nobody_planned_is_refused(cluster: Cluster, make_document: Make) -> None:
    cluster.open().upsert([make_document(0, "text")])
    (index,) = cluster.indexes()
    with pytest.raises(Exception, match="strict_dynamic_mapping_exception"):
        cluster.client.index(index=index, body={"surprise": 1})


def test_versions_go_on_beyond_a_page(
    cluster: Cluster, make_document: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rearview.adapters.aws.opensearch_search._PAGE", 3)
    index = cluster.open()
    index.upsert([make_document(n, "text", version=n + 1) for n in range(9)])
    assert index.versions("anna") == {f"{n:026d}": n + 1 for n in range(9)}


@pytest.mark.slow
def test_scrubbing_leaves_no_deleted_document_in_a_segment(
    cluster: Cluster, make_document: Make, until: Callable[..., None]
) -> None:
    index = cluster.open()
    index.upsert([make_document(n, f"text {n}", vector=[1, n]) for n in range(30)])
    index.delete([f"{0:026d}"])

    def gone() -> bool:
        index.scrub()
        cluster.client.indices.refresh(index=cluster.alias)
        stats = cluster.client.indices.stats(index=cluster.alias, metric="docs")
        return bool(stats["_all"]["primaries"]["docs"]["deleted"] == 0)

    # Until the shard's retention lease moves on, which it does every 30 seconds.
    until(gone, 60)


def test_without_refreshing_a_write_waits_for_the_interval(
    cluster: Cluster, make_document: Make, until: Callable[..., None]
) -> None:
    quick = cluster.open(refresh="false", refresh_interval="100ms")
    quick.upsert([make_document(0, "text")])
    until(lambda: numbers(ask(quick, "text")) == {0})
    patient = cluster.open(refresh="wait_for")
    patient.upsert([make_document(1, "text")])
    assert numbers(ask(patient, "text")) == {0, 1}


def test_more_documents_than_one_request_takes(
    cluster: Cluster, make_document: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rearview.adapters.aws.opensearch_bulk.MOST_OPERATIONS", 4)
    monkeypatch.setattr("rearview.adapters.aws.opensearch_bulk._READ", 4)
    index = cluster.open()
    documents = [make_document(n, "text", vector=[1, n]) for n in range(11)]
    index.upsert(documents)
    index.upsert([replace(one, vectors=None, version=2) for one in documents])
    assert numbers(ask(index, vector=[1.0, 0.0])) == set(range(11))
    index.delete([one.id for one in documents[1:]])
    assert numbers(ask(index, "text")) == {0}


def test_warming_up_before_and_after_there_is_an_index(cluster: Cluster, make_document: Make) -> None:
    index = cluster.open()
    assert index.warm_up() is True
    index.upsert([make_document(0, "text", vector=[1, 0])])
    assert cluster.open().warm_up() is True
