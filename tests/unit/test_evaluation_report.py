"""Reports: the same figures as text and as JSON."""

import json

from rearview.evaluation.report import Report, Row, Table, align, precision_recall, shape, share

TABLE = Table(
    name="made",
    title="made up",
    columns=("R@5", "MRR", "unused"),
    rows=(
        Row("a", 4, {"R@5": 0.75, "MRR": 0.5}, {"R@5": 0.25}),
        Row("longer label", 12, {"R@5": None, "MRR": 1.0}),
    ),
    counts={"unknown rows": 2},
    notes=("a note",),
    seconds=1.25,
)


def test_a_column_with_a_floor_is_followed_by_it_and_others_are_not() -> None:
    lines = TABLE.as_text().splitlines()
    assert lines[1].split() == ["n", "R@5", "floor", "MRR"]
    assert lines[2].split() == ["a", "4", "0.750", "0.250", "0.500"]
    assert lines[3].split() == ["longer", "label", "12", "-", "-", "1.000"]


def test_what_was_left_out_and_the_notes_stand_below() -> None:
    assert TABLE.as_text().splitlines()[-2:] == ["2 unknown rows", "a note"]


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert align([["x", "1"], ["yyy", "22"]]) == ["x     1", "yyy  22"]


def test_json_holds_every_figure_with_its_floor() -> None:
    report = Report("rearview eval", {"embedder": "none"}, (TABLE,), ("other: no file",), 2.0)
    plain = json.loads(json.dumps(report.as_json()))
    assert plain["tables"]["made"]["figures"]["a"] == {
        "n": 4,
        "R@5": 0.75,
        "MRR": 0.5,
        "floor": {"R@5": 0.25},
    }
    assert "floor" not in plain["tables"]["made"]["figures"]["longer label"]
    assert plain["missing"] == ["other: no file"]


def test_missing_sets_are_named_in_the_text() -> None:
    assert "other: no file" in Report("t", {}, (), ("other: no file",)).as_text()


def test_figures_keep_about_three_digits() -> None:
    assert [shape(value) for value in (None, 7, "x", 0.12345, 12.345, 12345.6)] == [
        "-", "7", "x", "0.123", "12.3", "12346",
    ]  # fmt: skip


def test_precision_and_recall_count_truth_against_claim() -> None:
    pairs = [(True, True), (True, False), (True, False), (False, True), (False, False)]
    assert precision_recall(pairs) == (0.5, 0.3333)


def test_nothing_to_divide_by_gives_no_figure() -> None:
    assert share(0, 0) is None
    assert precision_recall([(False, False)]) == (None, None)
