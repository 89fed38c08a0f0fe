"""Portions are bounded by number and by size, keep the order and lose nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rearview.usecases.portions import PORTION_BYTES, portions


@given(st.lists(st.integers(1, PORTION_BYTES * 2), max_size=60), st.integers(1, 10))
def test_portions_keep_everything_in_order_within_both_bounds(sizes: list[int], most: int) -> None:
    cut = list(portions(sizes, most, lambda size: size))
    assert [size for some in cut for size in some] == sizes
    assert all(0 < len(some) <= most for some in cut)
    assert all(sum(some) <= PORTION_BYTES or len(some) == 1 for some in cut)
