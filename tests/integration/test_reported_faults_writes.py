"""Faults that users reported against other memory services, each with the outcome that ours must show:
A concurrent writes, B near-duplicates, C update and delete.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from rearview.errors import InvalidInput, Unavailable
from rearview.usecases.commands import Forget, WriteMemory
from rearview.usecases.fields import read
from rearview.usecases.idempotency import run_once
from rearview.usecases.questions import ListMemories, Recall
from tests.house import House, house


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


# --- A


def test_a1_two_writers_of_one_fact_at_once_get_one_row_and_the_same_id(h: House) -> None:
    gate, answers = Barrier(2), []

    def go() -> None:
        gate.wait()
        answers.append(h.write("likes coffee", admission="force")["id"])

    threads = [Thread(target=go) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [item["id"] for item in h.memories()] == [answers[0]]
    assert answers[0] == answers[1]


def test_a3_five_writes_replayed_thirty_times_are_five_rows(h: House) -> None:
    for _ in range(30):
        for number in range(5):
            h.write(f"Order {number} goes to dock {number}", admission="force", wait=False)
    assert len(h.memories()) == 5


def test_a3_an_idempotency_key_tells_a_repeat_from_a_deliberate_second_write(h: House) -> None:
    request = {"user_id": "u", "content": "Served pump 3", "admission": "verbatim"}

    def send(key: str) -> tuple[int, dict[str, Any], bool]:
        return run_once(
            h.app.services,
            h.principal,
            None,
            "POST /v1/memories",
            key,
            request,
            lambda once: h.app.writer.write(h.principal, read(WriteMemory, request), once=once),
        )

    first, again, other = send("k1"), send("k1"), send("k2")
    assert (first[1]["id"], again[2]) == (again[1]["id"], True)
    assert other[1]["id"] != first[1]["id"]
    assert len(h.memories()) == 2


@pytest.mark.parametrize(
    ("compound", "part", "query"),
    [
        ("X runs on port 8080 and uses TLS", "X uses TLS", "does X use TLS"),
        ("网关运行在8080端口并且启用了TLS", "网关启用了TLS", "网关 TLS"),
    ],
)
def test_a5_a_part_of_a_compound_fact_is_shown_once(h: House, compound: str, part: str, query: str) -> None:
    first, second = h.write(compound, admission="force"), h.write(part, admission="force")
    assert (second["verdict"], second["duplicate_of"]) == ("duplicate", first["id"])
    assert h.contents(query) == [compound]


# --- B


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("deadline is October 15th", "deadline is October 16th"),
        ("The deadline is 15 October", "The deadline is 16 October"),
        ("截止日期是10月15日", "截止日期是10月16日"),
    ],
)
def test_b7_different_numbers_are_never_a_duplicate(h: House, old: str, new: str) -> None:
    first, second = h.write(old, admission="force"), h.write(new, admission="force")
    assert second["verdict"] == "admit"
    assert [item["memory_ids"] for item in second["conflicts"]] == [[first["id"], second["id"]]]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Species P was not previously recorded at site 1", "Species Q was not seen in the dry season"),
        ("P物种此前不在1号样地出现", "旱季没有看到Q物种"),
    ],
)
def test_b9_a_bare_not_is_no_contradiction(h: House, old: str, new: str) -> None:
    h.write(old, admission="force")
    second = h.write(new, admission="force")
    assert (second["verdict"], second["conflicts"]) == ("admit", [])
    assert len(h.memories()) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("K is assigned to project one", "K is now assigned to project two"),
        ("My favourite tea is oolong", "My favourite tea is matcha"),
        ("我最喜欢的茶是乌龙茶", "我最喜欢的茶是抹茶"),
    ],
)
def test_b11_b13_under_latest_the_first_ends_when_the_second_starts(
    tmp_path: Path, old: str, new: str
) -> None:
    with house(tmp_path, conflict_policy="latest") as h:
        first = h.write(old, admission="force")
        h.clock.advance(days=1)
        second = h.write(new, admission="force")
        if not second["supersedes"]:
            pytest.fail("the newer value did not supersede the older one")
        ended = h.get(first["id"])
        assert (ended["valid_to"], ended["superseded_by"]) == (second["memory"]["valid_from"], second["id"])
        assert h.contents(new) == [new]


# --- C


def test_c15_a_deleted_better_match_leaves_its_place_to_the_live_one(h: House) -> None:
    better = h.write("pump maintenance schedule pump", admission="force")
    worse = h.write("the schedule of the boiler", admission="force")
    h.delete(better["id"])
    assert [hit.id for hit in h.recall("pump maintenance schedule", top_k=1).hits] == [worse["id"]]


def test_c17_delete_by_user_leaves_none_or_says_how_many(h: House) -> None:
    h.batch([{"user_id": "u", "content": f"Fact {n}", "admission": "force"} for n in range(100)], wait=False)
    h.batch(
        [{"user_id": "u", "content": f"Fact {n}", "admission": "force"} for n in range(100, 148)], wait=False
    )
    assert h.forget(everything=True)["count"] == 148
    assert h.memories() == []


def test_c19_one_rule_for_ids_in_every_verb(h: House) -> None:
    h.write("I like tea", user="alice")
    calls = [
        lambda: read(WriteMemory, {"user_id": "  alice  ", "content": "x"}),
        lambda: read(Recall, {"user_id": "  alice  ", "query": "x"}),
        lambda: read(Forget, {"user_id": "  alice  ", "everything": True}),
        lambda: read(ListMemories, {"user_id": "  alice  "}),
    ]
    for call in calls:
        with pytest.raises(InvalidInput) as refused:
            call()
        assert (refused.value.errors[0].field, refused.value.errors[0].rule) == ("user_id", "no_outer_space")


def test_c21_an_update_keeps_untouched_metadata_and_null_removes(h: House) -> None:
    one = h.write("I like tea", metadata={"category": "drink", "priority": 2})
    h.patch(one["id"], content="I like green tea")
    assert h.get(one["id"])["metadata"] == {"category": "drink", "priority": 2}
    h.patch(one["id"], metadata={"priority": None})
    assert h.get(one["id"])["metadata"] == {"category": "drink"}


def test_c23_an_edit_by_another_agent_keeps_the_creator(h: House) -> None:
    one = h.write("I like tea", agent_id="a")
    h.patch(one["id"], content="I like green tea", agent_id="b")
    assert h.get(one["id"])["agent_id"] == "a"
    h.drain()
    assert h.contents("green tea", agent_id="a") == ["I like green tea"]


def test_c25_an_update_whose_indexing_fails_loses_nothing(h: House, monkeypatch: pytest.MonkeyPatch) -> None:
    one = h.write("I like tea")

    def away(*_: object) -> None:
        raise Unavailable("index is down")

    with monkeypatch.context() as patched:
        patched.setattr(type(h.app.services.index), "upsert", away)
        h.patch(one["id"], content="I like green tea")
        assert h.drain() == 0
        assert h.contents("green tea") == ["I like green tea"]
    assert h.drain() == 1
    assert h.recall("green tea").hits[0].pending is False


@pytest.mark.parametrize("namespace", ["", "a.b,", "a/b", "名", "x" * 65, " "])
def test_c27_delete_refuses_the_same_namespaces_as_write(namespace: str) -> None:
    for model, rest in (
        (WriteMemory, {"content": "x"}),
        (Forget, {"everything": True}),
        (Recall, {"query": "x"}),
        (ListMemories, {}),
    ):
        with pytest.raises(InvalidInput) as refused:
            read(model, {"user_id": "u", "namespace": namespace, **rest})
        assert refused.value.errors[0].field == "namespace"
