"""The doctor of an AWS account: what it says about facts, however they came."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from rearview.domain.checkup import (
    BucketFacts,
    CheckResult,
    IdentityFacts,
    IndexFacts,
    QueueFacts,
    TableFacts,
    VectorFieldFacts,
)
from rearview.usecases import doctor_aws


def statuses(results: Iterable[CheckResult]) -> dict[str, str]:
    """Status by check. What is not well says what to do."""
    found = list(results)
    assert all(item.advice for item in found if item.status != "ok"), found
    return {item.check: item.status for item in found}


TABLE = TableFacts(
    "t", "ACTIVE", {"": ("pk", "sk"), "due": ("dp", "ds")}, {"": ("pk", "sk"), "due": ("dp", "ds")}, True, "ttl", "ttl", True, True
)  # fmt: skip
QUEUE = QueueFacts("q.fifo", True, True, True, "arn:dead", "arn:dead", 5, 5, True, 90, 0, 0)
VECTOR = VectorFieldFacts("chunks.v_1", 1024, "lucene", "cosinesimil")
INDEX = IndexFacts((3, 6), "opensearch", "green", "rearview", ("rearview-1",), 12, (VECTOR,))
BUCKET = BucketFacts("b", "aws:kms", True, True, True)


def worst(results: Iterable[CheckResult]) -> dict[str, str]:
    return {check: status for check, status in statuses(results).items() if status != "ok"}


@pytest.mark.parametrize(
    ("skew", "arn", "expected"),
    [
        (0.4, "arn:aws:sts::1:assumed-role/dev/x", {}),
        (None, "arn:aws:sts::1:assumed-role/dev/x", {}),
        (-30.0, "arn:aws:sts::1:assumed-role/dev/x", {"clock": "warn"}),
        (290.0, "arn:aws:sts::1:assumed-role/dev/x", {"clock": "fail"}),
        (0.0, "arn:aws:iam::1:root", {"identity": "warn"}),
    ],
)
def test_identity_and_clock(skew: float | None, arn: str, expected: dict[str, str]) -> None:
    assert worst(doctor_aws.judge_identity(IdentityFacts("1", arn, "eu-west-1", skew))) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, {}),
        ({"status": "CREATING"}, {"table": "fail"}),
        ({"keys": {"": ("id",), "due": ("dp", "ds")}}, {"table.keys": "fail"}),
        ({"keys": {"": ("pk", "sk")}}, {"table.keys": "fail"}),
        ({"recovery": False}, {"table.recovery": "warn"}),
        ({"ttl": None}, {"table.ttl": "warn"}),
        ({"ttl": "expires"}, {"table.ttl": "warn"}),
        ({"protected": False}, {}),
    ],
)
def test_the_table(change: dict[str, Any], expected: dict[str, str]) -> None:
    assert worst(doctor_aws.judge_table(replace(TABLE, **change))) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, {}),
        ({"fifo": False}, {"queue": "fail"}),
        ({"dead_fifo": False}, {"queue": "fail"}),
        ({"per_group": False}, {"queue": "warn"}),
        ({"dead_letters": None}, {"queue.dead_letters": "fail"}),
        ({"dead_letters": "arn:else"}, {"queue.dead_letters": "fail"}),
        ({"deliveries": 1}, {"queue.dead_letters": "warn"}),
        ({"encrypted": False}, {"queue.encryption": "warn"}),
        ({"dead": 2}, {"queue.depth": "warn"}),
        ({"waiting": 20_000}, {"queue.depth": "warn"}),
    ],
)
def test_the_queue(change: dict[str, Any], expected: dict[str, str]) -> None:
    assert worst(doctor_aws.judge_queue(replace(QUEUE, **change))) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, {}),
        ({"version": (2, 19)}, {}),
        ({"version": (2, 17)}, {"index": "fail"}),
        ({"distribution": "elasticsearch", "version": (8, 1)}, {"index": "fail"}),
        ({"health": "red"}, {"index": "fail"}),
        ({"indexes": (), "vectors": ()}, {}),
        ({"indexes": ("a", "b")}, {"index.alias": "fail"}),
        ({"vectors": (replace(VECTOR, dims=384),)}, {"index.vectors": "fail"}),
        ({"vectors": (replace(VECTOR, engine="faiss"),)}, {"index.vectors": "fail"}),
        ({"vectors": (replace(VECTOR, space=None),)}, {"index.vectors": "fail"}),
    ],
)
def test_the_index(change: dict[str, Any], expected: dict[str, str]) -> None:
    assert worst(doctor_aws.judge_index(replace(INDEX, **change), 1024)) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, {}),
        ({"encryption": None}, {"bucket": "fail"}),
        ({"versioned": False}, {"bucket.versions": "warn"}),
        ({"private": False}, {"bucket.private": "fail"}),
        ({"expires": False}, {"bucket.lifecycle": "warn"}),
    ],
)
def test_the_bucket(change: dict[str, Any], expected: dict[str, str]) -> None:
    assert worst(doctor_aws.judge_bucket(replace(BUCKET, **change))) == expected
