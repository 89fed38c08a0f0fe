"""The start of a function that will search."""

from __future__ import annotations

import pytest

from rearview.entrypoints.aws.rest import warm


class Index:
    """Counts; ``away`` fails as a missing library or a wrong login would."""

    def __init__(self, *, away: bool = False) -> None:
        self.asked, self.away = 0, away

    def warm_up(self) -> bool:
        self.asked += 1
        if self.away:
            raise RuntimeError("secret of somebody")
        return True


def test_the_index_is_warmed_and_trouble_is_told_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    good, bad = Index(), Index(away=True)
    warm(good)
    assert caplog.text == ""
    warm(bad)
    assert (good.asked, bad.asked) == (1, 1)
    assert "the index is not warm" in caplog.text
    assert "somebody" not in caplog.text
