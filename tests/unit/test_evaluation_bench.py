"""`rearview bench`: that it measures what it says. How long anything takes is never asserted."""

import json
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from rearview.domain.tokens import tokenise
from rearview.errors import InvalidInput
from rearview.evaluation import bench
from rearview.evaluation.bench_data import samples
from rearview.evaluation.bench_floor import BareStore
from rearview.evaluation.bench_service import percentile
from rearview.settings import Settings

HASHING = Settings(embedder="hashing", data=Path("never-made"))


def test_the_memories_are_the_same_for_the_same_seed_whoever_gets_them() -> None:
    one, fifty = samples(120, 1), samples(120, 50)
    assert [sample.content for sample in one] == [sample.content for sample in fifty]
    assert {sample.user for sample in one} == {"user-0"}
    assert len({sample.user for sample in fifty}) == 50
    assert [sample.content for sample in samples(120, 1, seed=7)] != [sample.content for sample in one]


def test_no_memory_is_there_twice_and_both_languages_are() -> None:
    contents = [sample.content for sample in samples(1000, 1)]
    assert len(set(contents)) == 1000
    assert 400 < sum(content.isascii() for content in contents) < 600


def test_no_field_is_left_open() -> None:
    assert not [sample for sample in samples(60, 1) if "{" in sample.content + sample.question]


@pytest.mark.parametrize(("share", "value"), [(0.0, 1), (0.5, 2), (0.75, 3), (0.99, 4), (1.0, 4)])
def test_percentiles_are_by_nearest_rank(share: float, value: int) -> None:
    assert percentile([4, 1, 3, 2], share) == value


def test_the_bare_store_fuses_words_and_meaning_within_one_owner(tmp_path: Path) -> None:
    vectors = np.eye(3, dtype=np.float32)
    texts = [("a", "rye bread"), ("a", "绿茶和台灯"), ("b", "rye bread again")]
    with closing(BareStore(tmp_path, 3, 3)) as store:
        for at, (owner, content) in enumerate(texts):
            number = store.write(owner, content, tokenise(content))
            store.embed(owner, [number], vectors[at : at + 1])
        by_words = store.search("a", tokenise("rye"), np.zeros(3, np.float32), 5)
        by_meaning = store.search("a", [], vectors[1], 5)
        assert store.search("nobody", ["rye"], vectors[0], 5) == []
    assert [content for _, content in by_words] == ["rye bread", "绿茶和台灯"]
    assert by_meaning[0] == (1.0, "绿茶和台灯")


def test_the_bare_store_takes_any_term(tmp_path: Path) -> None:
    with closing(BareStore(tmp_path, 2, 1)) as store:
        number = store.write('o"x', "c", ['say"hi', "AND", "3ˑ5"])
        store.embed('o"x', [number], np.ones((1, 2), np.float32))
        assert store.search('o"x', ['say"hi', "AND", "3ˑ5", "NOT"], np.ones(2, np.float32), 1)


def test_a_small_bench_fills_both_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "FOLLOWED", 2)
    told: list[str] = []
    report = bench.run(HASHING, 11, lambda what, done, total: told.append(f"{what} {done}/{total}"))
    assert [table.name for table in report.tables] == ["11 users", "one user"]
    for table in report.tables:
        assert sum(count for what, count in table.counts.items() if what.startswith("written")) == 11
        assert table.counts["questions answered by rearview"] == table.counts["questions answered by bare"]
        assert "writes not found in time" not in table.counts
        assert {row.n for row in table.rows if row.label.startswith("recall")} == {11}
        for row in table.rows:
            assert row.figures["rearview"] is not None, row.label
            assert (row.figures["bare"] is None) == row.label.startswith("found by keyword")
    assert {
        "bare: embed 11/11",
        "11 users: write 11/11",
        "one user: enrich 11/11",
        "one user: follow 2/2",
    } <= set(told)
    json.dumps(report.as_json(), allow_nan=False)


def test_the_bench_leaves_the_settings_own_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "FOLLOWED", 1)
    bench.run(Settings(embedder="hashing", data=tmp_path / "kept"), 1)
    assert not (tmp_path / "kept").exists()


def test_a_bench_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        bench.run(HASHING, 0)
    assert refused.value.errors[0].field == "memories"


def test_sizes_are_of_all_files_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b").write_bytes(b"123")
    assert bench.folder_bytes(tmp_path) == 8


def test_this_process_holds_memory() -> None:
    assert bench.resident_bytes() > 1_000_000
