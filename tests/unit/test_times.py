"""Arithmetic at the ends of what UTC can express."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rearview.domain.times import MAX, MIN, plus

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)
CENTURY = timedelta(days=36_500)


@pytest.mark.parametrize(
    ("moment", "delta", "there"),
    [
        (NOON, timedelta(days=1), datetime(2026, 5, 4, 12, tzinfo=UTC)),
        (NOON, timedelta(days=-1), datetime(2026, 5, 2, 12, tzinfo=UTC)),
        (MAX, CENTURY, MAX),
        (MAX, timedelta(days=1), MAX),
        (MIN, -CENTURY, MIN),
        (MIN, timedelta(days=-1), MIN),
        (datetime(50, 1, 1, tzinfo=UTC), -CENTURY, MIN),
    ],
)
def test_a_sum_beyond_the_first_or_last_year_ends_there_and_not_at_the_other_end(
    moment: datetime, delta: timedelta, there: datetime
) -> None:
    assert plus(moment, delta) == there
