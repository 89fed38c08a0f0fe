"""`rearview eval consolidation` on pairs made here, and the generator of habits."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from evaluation_kit import figures, put, run

from rearview.evaluation.consolidating_data import generate


def test_pairs_that_are_joined_are_counted_alone_and_in_one_store(tmp_path: Path) -> None:
    texts = [("Fed the carp", "Fed the carp again"), ("Fed the hens", "Fed 3 hens"), ("喂了鹅", "没喂鹅")]
    put(
        tmp_path,
        "slot_pairs.jsonl",
        *(
            {"id": f"p{number}", "old": old, "new": new, "label": "compatible"}
            for number, (old, new) in enumerate(texts)
        ),
        {"id": "d", "old": "Fed the swans", "new": "Fed the swans", "label": "duplicates"},
    )
    got = figures(run(tmp_path, "consolidation", limit=3))
    assert got["hard pairs, each alone"] == {"n": 3, "joined": 1}
    assert got["hard pairs, all in one store"]["joined"] == 1
    assert got["of them sides of one pair"]["joined"] == 1
    assert got["habits, all"]["n"] == 3
    assert got["habits, all"]["foreign"] == 0


def test_the_habits_are_the_same_for_each_seed_and_of_the_asked_sizes() -> None:
    users = generate(60)
    assert users == generate(60)
    assert users != generate(60, seed=8)
    sizes = Counter(one.group for told in users for one in told)
    assert sizes.pop(None) >= 60
    assert len(sizes) == 60
    assert set(sizes.values()) <= set(range(3, 13))


def test_habits_are_told_in_both_languages_word_for_word_at_times() -> None:
    told = [one for some in generate(60) for one in some if one.group is not None]
    assert {one.text.isascii() for one in told} == {True, False}
    assert max(Counter((one.group, one.text) for one in told).values()) > 1
