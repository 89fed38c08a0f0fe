"""Redrive: what enrichment gave up on gets another chance, and nothing else is touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rearview.adapters.models.faulty import FaultyEmbedder
from rearview.adapters.models.hashing import HashingEmbedder
from rearview.domain.principal import LOCAL, Principal
from rearview.errors import Forbidden
from rearview.usecases.fields import read
from rearview.usecases.redrive import Redrive
from tests.house import House, house

MARK = "⚡"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        one.app.services.embedder = FaultyEmbedder(HashingEmbedder(), MARK)
        yield one


def redrive(home: House, principal: Principal = LOCAL, **fields: Any) -> dict[str, Any]:
    return home.app.redriver.run(principal, read(Redrive, fields))


def mend(home: House) -> None:
    home.app.services.embedder = HashingEmbedder()


def test_what_failed_is_enriched_after_the_mending_and_its_neighbours_were_all_along(home: House) -> None:
    bad = home.write(f"The pilot {MARK} is called Jonas", admission="force")
    good = home.write("The harbour master is called Ines", admission="force")
    assert home.get(bad["id"])["enrichment"] == "failed"
    assert home.get(good["id"])["enrichment"] == "done"
    version = home.get(bad["id"])["version"]
    mend(home)
    assert redrive(home, user_id="u") == {"redriven": 1, "more": False}
    home.write("等一等，再写一条。", admission="force")
    found = home.get(bad["id"])
    assert (found["enrichment"], found["version"]) == ("done", version)
    assert redrive(home, user_id="u") == {"redriven": 0, "more": False}
    report = home.audit()
    assert report["ok"] is True


def test_a_namespace_is_redriven_up_to_the_limit_and_told_that_more_is_left(home: House) -> None:
    for number in range(3):
        home.write(f"第 {number} 件事 {MARK}", user=f"u{number}", admission="force")
    mend(home)
    assert redrive(home, limit=2) == {"redriven": 2, "more": True}
    assert redrive(home, limit=2) == {"redriven": 1, "more": False}


def test_each_item_that_is_given_up_is_told_without_its_content(home: House) -> None:
    told: list[tuple[str, dict[str, Any]]] = []
    home.app.services.gave_up = lambda partition, what: told.append((partition, dict(what)))
    bad = home.write(f"The pilot {MARK} is called Jonas", admission="force")
    assert [what for _, what in told] == [
        {"seq": 1, "what": "memory", "ref": bad["id"], "error": "InjectedFault"}
    ]


def test_a_caller_without_the_permission_redrives_nothing(home: House) -> None:
    reader = Principal(id="key:x", namespaces=frozenset({"default"}), permissions=frozenset({"read"}))
    with pytest.raises(Forbidden):
        redrive(home, reader, user_id="u")
