"""What only the OpenSearch index has: one index of many processes, versions, fields for people, refreshing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from cluster_kit import Cluster, ask
from index_kit import NOW, START, Make, numbers

from rearview.errors import Unavailable

pytestmark = pytest.mark.aws


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
