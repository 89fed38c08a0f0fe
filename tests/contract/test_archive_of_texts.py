"""Texts and turns that lie in the archive read, change, audit and purge alike on every store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.house import House, house
from tests.integration.archive_kit import (
    EN,
    ZH,
    forget_fetched,
    held_texts,
    month_later,
    objects,
    short,
    upkeep,
)

import conftest
from rearview.errors import Gone, TextLost
from rearview.usecases.maintenance import archive
from rearview.usecases.policies import PolicyBook


@pytest.fixture(params=["embedded", pytest.param("aws", marks=pytest.mark.aws)])
def home(request: pytest.FixtureRequest, tmp_path: Path, resources: ExitStack) -> Iterator[House]:
    with house(tmp_path) as one:
        if request.param == "aws":
            services = one.app.services
            services.store = conftest.STORES["dynamodb"](tmp_path, resources)
            services.archive = conftest.ARCHIVES["s3-ministack"](tmp_path, resources)
            services.policies = PolicyBook(services.store)
        yield one


def test_texts_and_turns_go_are_read_and_are_purged(home: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "CHUNK", 5)
    edited, plain = short(home, ZH), short(home, "🪴 " + EN)
    for number in range(12):
        home.patch(edited, tags=[f"t{number}"])
    home.patch(edited, content=EN)
    home.turns(
        [{"turn_id": f"t{n}", "role": "user", "content": f"第{n}步 step {n}"} for n in range(12)],
        session_id="s",
    )
    home.drain()
    history, session = home.history(edited), home.app.sessions.get(home.principal, "s", "u", None)
    result = month_later(home)
    assert (result.counts["summary_only"], result.counts["turns_archived"]) == (2, 1)
    assert not {ZH, EN} & set(held_texts(home))
    forget_fetched(home)
    assert home.get(plain)["content"] == "🪴 " + EN
    texts = [row["memory"]["content"] for row in home.history(edited)]
    assert texts == [row["memory"]["content"] for row in history]
    assert home.app.sessions.get(home.principal, "s", "u", None) == session
    assert home.audit("u", "ledger", "archive")["findings"] == []
    assert upkeep(home).counts == {}
    home.patch(edited, importance=0.3)
    home.delete(edited, "old news")
    home.clock.advance(days=31)
    home.app.sweeper.sweep()
    with pytest.raises(Gone, match="old news"):
        home.get(edited)
    assert not [key for key in objects(home) if edited in key]
    key = next(key for key in objects(home) if plain in key)
    home.app.services.archive.delete(key)
    forget_fetched(home)
    with pytest.raises(TextLost):
        home.get(plain)
    assert [finding["refs"] for finding in home.audit("u", "archive")["findings"]] == [[plain]]
