"""What every index promises of who may see what, and of filters."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from index_kit import START, Make, ask, numbers

from rearview.ports import VectorIndex

# --- who may see what


def test_a_search_keeps_to_its_partitions(index: VectorIndex, make_document: Make) -> None:
    index.upsert(
        [
            make_document(0, "secret plan", vector=[1, 0]),
            make_document(1, "secret plan", vector=[1, 0], partition="ben"),
            make_document(2, "secret plan", vector=[1, 0], partition="anna@work", namespace="work"),
        ]
    )
    for arms in ({"text": "secret"}, {"vector": [1.0, 0.0]}, {"recent": 9}):
        assert numbers(ask(index, **arms)) == {0}  # type: ignore[arg-type]
        assert numbers(ask(index, partitions=["anna", "anna@work"], **arms)) == {0, 2}  # type: ignore[arg-type]
        assert numbers(ask(index, partitions=["nobody"], **arms)) == set()  # type: ignore[arg-type]


def test_shared_memories_come_from_any_user_of_the_namespace(index: VectorIndex, make_document: Make) -> None:
    shared = {"audience": "namespace"}
    index.upsert(
        [
            make_document(0, "lesson", vector=[1, 0], **shared),
            make_document(1, "lesson", vector=[1, 0], partition="ben", **shared),
            make_document(2, "lesson", vector=[1, 0], partition="ben"),
            make_document(3, "lesson", vector=[1, 0], partition="eve", namespace="other", **shared),
        ]
    )
    for arms in ({"text": "lesson"}, {"vector": [1.0, 0.0]}, {"recent": 9}):
        assert numbers(ask(index, namespaces=["shop"], **arms)) == {0, 1}  # type: ignore[arg-type]
        assert numbers(ask(index, namespaces=[], **arms)) == {0}  # type: ignore[arg-type]
        assert numbers(ask(index, partitions=[], namespaces=["other"], **arms)) == {3}  # type: ignore[arg-type]


def test_a_memory_that_is_shared_no_more_is_found_no_more(index: VectorIndex, make_document: Make) -> None:
    document = make_document(0, "lesson", vector=[1, 0], partition="ben", audience="namespace")
    index.upsert([document])
    assert numbers(ask(index, "lesson", vector=[1, 0], namespaces=["shop"])) == {0}
    index.upsert([replace(document, version=2, audience="user")])
    assert ask(index, "lesson", vector=[1, 0], namespaces=["shop"], recent=5) == []
    index.upsert([replace(document, version=3)])
    assert numbers(ask(index, vector=[1, 0], namespaces=["shop"])) == {0}


def test_memories_and_decisions_do_not_mix(index: VectorIndex, make_document: Make) -> None:
    index.upsert(
        [
            make_document(0, "refund", vector=[1, 0]),
            make_document(1, "refund", vector=[1, 0], record="decision"),
        ]
    )
    assert numbers(ask(index, "refund", vector=[1, 0], recent=5)) == {0}
    assert numbers(ask(index, "refund", vector=[1, 0], recent=5, record="decision")) == {1}


# --- filters


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, {0, 1, 2, 3, 4, 5}),
        ({"statuses": ["active"]}, {0, 1, 3, 4, 5}),
        ({"statuses": ["disputed", "archived"]}, {2}),
        ({"memory_types": ["short_term", "working"]}, {1, 3}),
        ({"kinds": ["event"]}, {3}),
        ({"origins": ["agent", "tool"]}, {4, 5}),
        ({"tags": ["茶"]}, {0, 1}),
        ({"tags": ['x"y', "none"]}, set()),
        ({"tags": ['x"y', "茶"]}, {1}),
        ({"tags": ["none"]}, set()),
        ({"agent_id": "bot"}, {2}),
        ({"session_id": "s/1"}, {3}),
        ({"since": at(3)}, {3, 4, 5}),
        ({"until": at(3)}, {0, 1, 2, 3}),
        ({"since": at(2), "until": at(2)}, {2}),
        ({"valid_at": at(1)}, {0, 1}),
        ({"valid_at": at(100)}, {0, 1, 2, 3, 5}),
        ({"valid_at": at(49.9)}, {0, 1, 2, 3, 4, 5}),
        ({"min_importance": 0.6}, {0, 1, 2, 3, 4}),
        ({"exclude": [f"{n:026d}" for n in (0, 5, 77)]}, {1, 2, 3, 4}),
        ({"now": at(1000)}, {0, 1, 2, 3, 4, 5}),
        ({"now": at(999)}, {0, 1, 2, 3, 4, 5, 6}),
        ({"statuses": ["active"], "since": at(1), "tags": ["茶"]}, {1}),
    ],
)
def test_every_filter_holds_in_every_arm(
    index: VectorIndex, make_document: Make, filters: dict[str, Any], expected: set[int]
) -> None:
    fields: list[dict[str, Any]] = [
        {"tags": ["茶"]},
        {"tags": ['x"y', "茶"], "memory_type": "short_term"},
        {"status": "disputed", "agent_id": "bot"},
        {"memory_type": "working", "session_id": "s/1", "kind": "event"},
        {"valid_to": at(50), "origin": "agent"},
        {"origin": "tool", "importance": 0.599},
        {"expires_at": at(1000)},
    ]
    index.upsert([make_document(n, "同样的 words", vector=[1, n], **one) for n, one in enumerate(fields)])
    assert numbers(ask(index, "words", **filters)) == expected
    assert numbers(ask(index, vector=[1, 1], **filters)) == expected
    assert numbers(ask(index, recent=20, **filters)) == expected
    assert numbers(ask(index, "同样", vector=[1, 1], recent=2, limit=3, **filters)) <= expected


def test_results_are_those_of_going_through_everything(index: VectorIndex, make_document: Make) -> None:
    draw = random.Random(8)
    documents = [
        make_document(
            number,
            f"common word{draw.randrange(20)}",
            vector=[[draw.gauss(0, 1) for _ in range(8)] for _ in range(draw.choice([1, 1, 3]))],
            partition=draw.choice(["anna", "ben"]),
            status=draw.choice(["active", "active", "archived"]),
            kind=draw.choice(["fact"] * 30 + ["event"]),
            audience=draw.choice(["user"] * 4 + ["namespace"]),
        )
        for number in range(600)
    ]
    for begin in range(0, 600, 150):
        index.upsert(documents[begin : begin + 150])
    for limit in (1, 7, 50):
        for filters in (
            {},
            {"statuses": ["active"]},
            {"kinds": ["event"]},
            {"kinds": ["event"], "statuses": ["active"]},
        ):
            query = np.array([draw.gauss(0, 1) for _ in range(8)], np.float32)
            query /= np.linalg.norm(query)
            passing = [
                (float((one.vectors @ query).max()), one.id)  # type: ignore[operator]
                for one in documents
                if (one.partition == "anna" or one.audience == "namespace")
                and one.status in filters.get("statuses", [one.status])
                and one.kind in filters.get("kinds", [one.kind])
            ]
            best = sorted(passing, reverse=True)[:limit]
            found = ask(index, vector=query.tolist(), namespaces=["shop"], limit=limit, **filters)
            assert {one.id for one in found} == {one for _, one in best}
            assert {one.id: one.vector for one in found} == {
                one: pytest.approx(score, abs=1e-5) for score, one in best
            }
