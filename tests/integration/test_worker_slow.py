"""Workers whose embedding model hangs longer than their lease lasts: slow, not dead."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rearview.domain import keys
from rearview.domain.records import Lease
from rearview.domain.scope import Scope
from rearview.errors import Unavailable
from rearview.usecases import lease as leases
from tests.house import House, house

PARTITION = Scope("default", "u").partition


def crashes(home: House) -> list[int]:
    marks = home.app.services.store.query(PARTITION, keys.PENDING).items
    return [int(body.get("crashes", 0)) for _, body in marks]


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on AWS, where nobody can tell whether another worker lives."""
    monkeypatch.setattr("rearview.adapters.process.alive", lambda _owner: True)


def take_over(home: House) -> Lease:
    home.clock.advance(seconds=leases.SECONDS + 5)
    lease = leases.acquire(home.app.services, PARTITION)
    assert lease is not None
    return lease


def test_a_model_that_hangs_for_many_turns_costs_no_memory_its_meaning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: None
) -> None:
    with house(tmp_path) as home:
        services = home.app.services
        written = home.write("我对花生过敏", wait=False, admission="force")
        held: list[Lease] = []

        def hangs(texts: Sequence[str]) -> Any:
            # Until it gives up another worker takes the user over, and hangs as well.
            held.append(take_over(home))
            raise Unavailable("no answer")

        with monkeypatch.context() as patched:
            patched.setattr(services.embedder, "embed_passages", hangs)
            for _ in range(leases.CRASHES + 2):
                home.app.enricher.drain(PARTITION)
                leases.release(services, PARTITION, held.pop())
        assert crashes(home) == [0]
        assert home.app.enricher.drain(PARTITION) == 1
        assert home.get(written["id"])["enrichment"] == "done"


def test_a_worker_that_never_comes_back_is_still_counted(tmp_path: Path, alone: None) -> None:
    with house(tmp_path) as home:
        home.write("The spare key hangs in the shed", wait=False, admission="force")
        take_over(home)
        for died in range(1, 4):
            take_over(home)
            assert crashes(home) == [died]
