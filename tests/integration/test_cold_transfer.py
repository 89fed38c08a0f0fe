"""Cold memories on the move: they leave with their texts and arrive as what they were."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

from rearview.domain.policy import Policy
from rearview.domain.principal import LOCAL
from rearview.domain.scope import Scope
from rearview.usecases.importing import Defaults, Importer
from rearview.usecases.maintenance.cold import ColdTask
from rearview.usecases.maintenance.task import Job
from rearview.usecases.transcripts import read_records
from rearview.usecases.transfer import Exporter
from tests.house import FakeClock, House, house

TEXTS = [
    "Booked the harbour hotel in Bergen for the spring trip.",
    "预订了四月去杭州出差的高铁票，座位靠窗。",
]


def upkeep(home: House) -> dict[str, int]:
    job = Job("run", Scope("default", "u"), home.clock.now(), Policy("default"))
    return ColdTask(home.app.services).run(job, lambda: False).counts


def test_an_export_of_cold_memories_imports_to_the_same_state(tmp_path: Path) -> None:
    clock = FakeClock()
    with house(tmp_path / "from", clock=clock) as before:
        ids = [
            before.write(text, memory_type="short_term", kind="event", admission="force")["id"]
            for text in TEXTS
        ]
        clock.advance(days=91)
        assert upkeep(before)["archived"] == 2
        lines = list(Exporter(before.app.services).export(LOCAL))
    sent = [line["memory"]["content"] for line in lines if "memory" in line]
    assert sent == TEXTS

    with house(tmp_path / "to", clock=clock) as after:
        raw = BytesIO("\n".join(json.dumps(line) for line in lines).encode())
        report = Importer(after.app, LOCAL, Defaults()).run(read_records(raw, name="chat"))
        assert report.refused == 0
        after.drain()
        assert [after.get(one)["content"] for one in ids] == TEXTS
        assert {after.get(one)["status"] for one in ids} == {"archived"}
        assert after.app.services.index.versions(Scope("default", "u").partition) == {}

        assert upkeep(after) == {"strays_packed": 2}
        for query, one in zip(("harbour hotel in Bergen", "杭州出差的高铁票"), ids, strict=True):
            assert after.recall(query, include_archived=True, explain=True).hits[0].id == one
        assert upkeep(after) == {}
        assert after.audit()["ok"]
