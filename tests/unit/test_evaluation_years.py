"""The year in minutes, on a quarter of one: what is hot, what still answers, what recall loses."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.unit.evaluation_kit import FIRST, quarter, run

from rearview.evaluation.years_clock import CachedEmbedder, YearClock


def test_a_year_cools_down_loses_nothing_and_is_still_found_with_the_archive(tmp_path: Path) -> None:
    quarter(tmp_path)
    (table,) = run(tmp_path, "years").tables
    counts = table.counts
    # The three of September were used by nobody for ninety days.
    assert (counts["memories"], counts["hot at the year's end"]) == (21, 18)
    assert counts["documents in its index"] == 18
    assert counts["ids that answer with their text"] == 21
    assert counts["ids that answer anything else"] == 0
    rows = {row.label: row.figures for row in table.rows}
    assert rows["all"]["R@10 kept"] == rows["all"]["R@10 with archive"] == 1.0
    assert "gold older than 90 days" in rows
    assert any("ratio" in note for note in table.notes)


def test_a_clock_that_is_set_goes_on_by_a_microsecond_a_look() -> None:
    clock = YearClock(FIRST)
    assert clock.now() < clock.now()
    clock.set(FIRST + timedelta(days=1))
    assert clock.now() > FIRST + timedelta(days=1)


def test_a_text_is_embedded_once() -> None:
    from rearview.adapters.models.hashing import HashingEmbedder

    class Counted(HashingEmbedder):
        seen = 0

        def embed_passages(self, texts: Any) -> Any:
            self.seen += len(texts)
            return super().embed_passages(texts)

    inner = Counted()
    cached = CachedEmbedder(inner)
    first = cached.embed_passages(["灯", "lamp", "灯"])
    assert (cached.embed_passages(["lamp", "灯"]) == first[[1, 0]]).all()
    assert inner.seen == 2
