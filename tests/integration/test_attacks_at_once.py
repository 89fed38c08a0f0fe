"""Attacks by many at once: audits while writers write, resolutions against their undoing, forgetting twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rearview.adapters.embedded.index import SqliteIndex
from rearview.adapters.models.hashing import HashingEmbedder
from rearview.errors import Conflicting, RearviewError
from rearview.ports import MemoryStore
from rearview.usecases.commands import Forget
from rearview.usecases.fields import read
from tests.house import FakeClock, House, house


class WallClock(FakeClock):
    """The machine's clock, for threads."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class OtherModel(HashingEmbedder):
    """The same arithmetic under another name."""

    fingerprint = "another-model"


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path, clock=WallClock()) as one:
        yield one


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """The answers, or the service's own refusals."""

    def run(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except RearviewError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


@pytest.mark.parametrize("look", ["ledger", "index"])
def test_an_audit_does_not_take_what_is_written_meanwhile_for_a_fault(
    h: House, monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    h.write("Order 1 goes to hall 4", admission="force")
    written: list[str] = []

    def meddle() -> None:
        if len(written) < 4:
            written.append("busy")
            made = h.write(f"Order {len(written) + 1} goes to hall 9", admission="force")["id"]
            h.patch(made, importance=0.4)
            h.drain()

    if look == "index":
        versions = SqliteIndex.versions

        def after_looking(self: SqliteIndex, partition: str) -> dict[str, int]:
            found = dict(versions(self, partition))
            meddle()
            return found

        monkeypatch.setattr(SqliteIndex, "versions", after_looking)
    else:
        kind: type[MemoryStore] = type(h.app.services.store)
        query = kind.query

        def before_looking(self: MemoryStore, partition: str, prefix: str, **more: Any) -> Any:
            if prefix in ("L#", "M#"):
                meddle()
            return query(self, partition, prefix, **more)

        monkeypatch.setattr(kind, "query", before_looking)
    report = h.audit()
    assert written
    assert report["ok"], report["findings"]


def test_resolving_and_undoing_at_once_ends_in_a_state_that_holds_together(h: House) -> None:
    first, second = h.write("I live in Ghent")["id"], h.write("I live in Bruges")
    conflict = second["conflicts"][0]["id"]
    for _ in range(5):
        answers = at_once(
            lambda: h.resolve(conflict, keep=first),
            lambda: h.resolve(conflict, keep=second["id"]),
            lambda: h.app.settler.undo(h.principal, conflict),
            lambda: h.delete(first),
            lambda: h.restore(first),
        )
        refused = [item for item in answers if isinstance(item, RearviewError)]
        assert all(isinstance(item, Conflicting) for item in refused), refused
        now = {h.get(item)["status"] for item in (first, second["id"])}
        assert now == {"disputed"} or "disputed" not in now
    h.drain()
    assert h.audit()["ok"]


def test_forgetting_everything_twice_at_once_forgets_it_once(h: House) -> None:
    for number in range(20):
        h.write(f"Parcel {number} lies on shelf {number * 13}", admission="force", wait=False)
    asked = {"user_id": "u", "everything": True}
    code = h.app.editor.forget(h.principal, read(Forget, asked))[1]["confirm"]
    real = read(Forget, {**asked, "dry_run": False, "confirm": code})
    answers = at_once(*[lambda: h.app.editor.forget(h.principal, real)] * 3)
    refused = [item for item in answers if isinstance(item, RearviewError)]
    assert len(refused) < 3
    assert all(isinstance(item, Conflicting) for item in refused)
    h.drain()
    assert h.memories() == []
    assert {len(h.history(item["id"])) for item in h.memories(status=["deleted"])} == {2}
    assert h.audit()["ok"]


def test_conversations_at_once_number_their_turns_apart(h: House) -> None:
    def say(number: int) -> Callable[[], Any]:
        said = [{"content": f"My locker number in building {number} is {4471 + number}."}]
        return lambda: h.turns(said, session_id="s", wait=False)

    answers = at_once(*[say(number) for number in range(6)])
    session = h.app.sessions.get(h.principal, "s", "u", None)
    told = sorted(result["turn_id"] for answer in answers for result in answer["results"])
    assert told == sorted(turn["turn_id"] for turn in session["turns"]) == [str(n) for n in range(1, 7)]


def test_an_audit_names_what_was_written_under_another_embedding_model(tmp_path: Path) -> None:
    with house(tmp_path) as h:
        h.write("The cat is called Miso")
    with house(tmp_path, embedder=OtherModel()) as other:
        written = other.write("The dog is called Rex")["id"]
        assert other.contents("dog Rex")[0] == "The dog is called Rex"
    with house(tmp_path) as h:
        found = [item for item in h.audit()["findings"] if written in item["refs"]]
        assert [(item["severity"], item["mend"]) for item in found] == [("warning", "rearview reindex")]
        h.app.reindexer.reindex()
        assert h.audit()["findings"] == []
