"""Several processes on one file, and processes that are killed."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from rearview.adapters.embedded.database import Database
from rearview.adapters.embedded.index import SqliteIndex
from rearview.adapters.embedded.queue import SqliteQueue
from rearview.adapters.embedded.store import SqliteStore
from rearview.domain.keys import Key
from rearview.ports import IndexDocument, IndexQuery, UnitOfWork

NOW = datetime(2026, 3, 1, tzinfo=UTC)

# Writes six items a transaction under the user's next number, and says the number once it is committed.
WRITER = """
import sys
from pathlib import Path
from rearview.adapters.embedded.database import Database
from rearview.adapters.embedded.store import SqliteStore
from rearview.domain.keys import Key

store = SqliteStore(Database(Path(sys.argv[1])))
user, name, count = sys.argv[2], sys.argv[3], int(sys.argv[4])

def work(unit):
    head = unit.get(Key(user, "HEAD")) or {"seq": 0}
    seq = head["seq"] + 1
    unit.put(Key(user, "HEAD"), {"seq": seq})
    for kind in ("M#", "H#", "L#", "P#", "X#"):
        unit.put(Key(user, f"{kind}{seq:012d}"), {"by": name, "text": "x" * 500}, absent=True)
    return seq

print("ready", flush=True)
sys.stdin.readline()
for _ in range(count):
    print(store.transact(user, work), flush=True)
store.close()
"""


Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a script and waits until it is ready; none outlives the test."""
    children: list[subprocess.Popen[str]] = []

    def begin(script: str, *arguments: object) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-c", script, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        children.append(child)
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        return child

    yield begin
    for child in children:
        if child.returncode is None:
            child.kill()
            child.communicate()


def tell(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()


def whole_transactions(store: SqliteStore, user: str) -> int:
    """The number of transactions, after checking that each is there with all its items."""
    head = store.get(Key(user, "HEAD")) or {"seq": 0}
    expected = [f"{seq:012d}" for seq in range(1, head["seq"] + 1)]
    for kind in ("M#", "H#", "L#", "P#", "X#"):
        assert [key.sort[2:] for key, _ in store.query(user, kind, limit=100_000).items] == expected
    return int(head["seq"])


def test_two_processes_on_one_user_interleave_without_loss(start: Start, tmp_path: Path) -> None:
    Database(tmp_path).close()
    children = [start(WRITER, tmp_path, "anna", name, 60) for name in ("one", "two")]
    for child in children:
        tell(child)
    acknowledged = [[int(line) for line in child.communicate(timeout=60)[0].split()] for child in children]
    assert [child.returncode for child in children] == [0, 0]
    assert sorted(acknowledged[0] + acknowledged[1]) == list(range(1, 121))
    with Database(tmp_path) as database:
        assert whole_transactions(SqliteStore(database), "anna") == 120


def kill_in_the_middle(start: Start, folder: Path, rounds: int) -> None:
    draw = random.Random(11)
    acknowledged = {"anna": 0, "ben": 0}
    for _ in range(rounds):
        children = {user: start(WRITER, folder, user, "x", 100_000) for user in acknowledged}
        for child in children.values():
            tell(child)
        told: dict[str, list[str]] = {}
        for user, child in children.items():
            assert child.stdout is not None
            told[user] = [child.stdout.readline()]
        time.sleep(draw.uniform(0.0, 0.1))
        for child in children.values():
            child.kill()
        for user, child in children.items():
            assert child.stdout is not None
            # Not communicate(): it passes over what readline() has already taken out of the pipe.
            told[user] += child.stdout.readlines()
            child.communicate()
            acknowledged[user] = max(int(line) for line in told[user] if line.endswith("\n"))
        with Database(folder) as database:
            store = SqliteStore(database)
            for user, last in acknowledged.items():
                # At most the transaction that was committed but not yet told of may be there on top.
                assert last <= whole_transactions(store, user) <= last + 1
            acknowledged = {user: whole_transactions(store, user) for user in acknowledged}
            with database.read() as connection:
                assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert min(acknowledged.values()) >= rounds


def test_killed_processes_lose_nothing_acknowledged_and_leave_nothing_half(
    start: Start, tmp_path: Path
) -> None:
    kill_in_the_middle(start, tmp_path, 4)


@pytest.mark.slow
def test_two_hundred_killed_processes_lose_nothing(start: Start, tmp_path: Path) -> None:
    kill_in_the_middle(start, tmp_path, 100)


INDEXER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
import numpy as np
from rearview.adapters.embedded.database import Database
from rearview.adapters.embedded.index import SqliteIndex
from rearview.ports import IndexDocument

now = datetime(2026, 3, 1, tzinfo=UTC)
index = SqliteIndex(Database(Path(sys.argv[1])), "model")
print("ready", flush=True)
for line in sys.stdin:
    number, action = line.split()
    if action == "delete":
        index.delete([f"{int(number):026d}"])
    elif action == "abandon":
        index.begin_rebuild("model").upsert([])
    else:
        vector = np.array([[1, int(number)]], np.float32)
        index.upsert([IndexDocument(f"{int(number):026d}", "anna", "shop", "memory", 1, action, [action],
            vector / np.linalg.norm(vector), "active", "long_term", "fact", "user", "user", 0.6, now, now)])
    print("done", flush=True)
"""


def tell_indexer(child: subprocess.Popen[str], line: str) -> None:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(line + "\n")
    child.stdin.flush()
    assert child.stdout.readline() == "done\n"


def test_another_processs_documents_are_found_at_once(start: Start, tmp_path: Path) -> None:
    with Database(tmp_path) as database:
        index = SqliteIndex(database, "model")

        def found() -> set[int]:
            query = IndexQuery(["anna"], [], "memory", 50, NOW, vector=np.array([1, 0], np.float32))
            return {int(one.id) for one in index.search(query).candidates}

        assert found() == set()
        child = start(INDEXER, tmp_path)
        expected = set()
        for number in range(8):
            tell_indexer(child, f"{number} tea")
            expected.add(number)
            assert found() == expected
        tell_indexer(child, "3 delete")
        assert found() == expected - {3}
        # Its own writes between those of the other must not hide them.
        index.delete([f"{5:026d}"])
        tell_indexer(child, "9 tea")
        assert found() == (expected | {9}) - {3, 5}
        tell_indexer(child, "0 abandon")
        child.kill()
        child.communicate()
        assert found() == (expected | {9}) - {3, 5}
        rebuild = index.begin_rebuild("model")
        document = IndexDocument(
            f"{1:026d}", "anna", "shop", "memory", 1, "tea", ["tea"], np.array([[1, 0]], np.float32),
            "active", "long_term", "fact", "user", "user", 0.6, NOW, NOW,
        )  # fmt: skip
        rebuild.upsert([document])
        rebuild.commit()
        assert found() == {1}
        with database.read() as connection:
            assert connection.execute("SELECT count(*) FROM vectors").fetchone() == (1,)


SENDER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from rearview.adapters.embedded.database import Database
from rearview.adapters.embedded.queue import SqliteQueue

class Clock:
    def now(self):
        return datetime.now(UTC)

queue = SqliteQueue(Database(Path(sys.argv[1])), Clock())
print("ready", flush=True)
sys.stdin.readline()
queue.send("anna", "1", {"seq": 1})
sys.stdin.readline()
"""


class WallClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


def test_a_worker_wakes_for_another_processs_message_even_if_that_is_killed(
    start: Start, tmp_path: Path
) -> None:
    with Database(tmp_path) as database:
        queue = SqliteQueue(database, WallClock())
        child = start(SENDER, tmp_path)
        assert queue.wait(0.0) is False
        tell(child)
        assert queue.wait(20.0) is True
        child.kill()
        child.communicate()
        (message,) = queue.receive()
        assert message.body == {"seq": 1}


def test_a_store_is_not_carried_across_a_fork(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Database(tmp_path) as database:
        store = SqliteStore(database)

        def put(unit: UnitOfWork) -> None:
            unit.put(Key("a", "M#1"), {})

        with monkeypatch.context() as patched:
            patched.setattr("os.getpid", lambda: -1)
            with pytest.raises(Exception, match="before a fork"):
                store.transact("a", put)
        store.transact("a", put)
