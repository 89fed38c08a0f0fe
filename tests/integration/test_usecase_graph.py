"""The graph of a user's memory: nodes with what is known of them, edges of every kind, bounds and permissions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rearview.domain import keys
from rearview.domain.principal import LOCAL, Principal
from rearview.domain.scope import Scope
from rearview.errors import Forbidden
from rearview.ports import UnitOfWork
from rearview.usecases import graph as graphs
from rearview.usecases.fields import read
from rearview.usecases.questions import ShowGraph
from tests.house import House, house


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def graph(h: House, principal: Principal = LOCAL, **asked: Any) -> dict[str, Any]:
    return h.app.grapher.graph(principal, read(ShowGraph, {"user_id": "u", **asked}))


def edges(found: dict[str, Any], *kinds: str) -> set[tuple[str, str, str]]:
    return {
        (edge["from"], edge["kind"], edge["to"])
        for edge in found["edges"]
        if not kinds or edge["kind"] in kinds
    }


def keep(h: House, content: str, **more: Any) -> str:
    answer = h.write(content, **{"admission": "verbatim", **more})
    assert isinstance(answer["id"], str)
    return answer["id"]


def node(found: dict[str, Any], node_id: str) -> dict[str, Any]:
    (one,) = [item for item in found["nodes"] if item["id"] == node_id]
    return dict(one)


def test_an_unknown_user_has_an_empty_graph(h: House) -> None:
    found = graph(h)
    assert (found["nodes"], found["edges"], found["clusters"], found["islands"]) == ([], [], [], 0)
    assert (found["truncated"], found["withheld"]) == (False, [])


@pytest.mark.parametrize(("text", "tag"), [("The beds need compost", "garden"), ("菜地要施肥了", "花园")])
def test_memories_are_nodes_and_a_shared_tag_joins_them(h: House, text: str, tag: str) -> None:
    one = keep(h, text, tags=[tag], importance=0.7, occurred_at="2026-01-05", kind="fact")
    two = keep(h, text + "!", tags=[tag, "x"])
    found = graph(h)
    assert [item["id"] for item in found["nodes"]] == [one, two]
    first = node(found, one)
    assert first["type"] == "memory"
    assert (first["summary"], first["tags"], first["importance"]) == (text, [tag], 0.7)
    assert (first["kind"], first["memory_type"], first["status"]) == ("fact", "long_term", "active")
    assert first["valid_from"] == "2026-01-05T00:00:00.000000Z"
    assert (first["overdue"], first["cluster"], first["island"]) == (False, 0, False)
    assert edges(found) == {(one, "same_tag", two)}
    assert found["clusters"][0]["tags"] == [tag, "x"]
    assert found["counts"]["edges"]["same_tag"] == 1


def test_a_decision_points_at_what_it_rested_on_and_at_its_parent(h: House) -> None:
    memory = keep(h, "I live in Lisbon")
    parent = h.decide("A late parcel", "wait")["id"]
    child = h.decide("包裹还是没到", "退款", memory_ids=[memory], parent_id=parent, tags=["late"])["id"]
    h.outcome(child, "success")
    h.outcome(child, "failure")
    h.app.tracer.revert(LOCAL, h.outcome(child, "mixed")["id"])
    found = graph(h)
    assert edges(found, "rests_on", "parent") == {(child, "rests_on", memory), (child, "parent", parent)}
    drawn = node(found, child)
    assert (drawn["type"], drawn["action"], drawn["tags"]) == ("decision", "退款", ["late"])
    assert drawn["outcomes"] == {"success": 1, "failure": 1, "mixed": 0, "unknown": 0}
    assert found["counts"]["decisions"] == 2


def test_a_decision_is_overdue_when_its_outcome_is(h: House) -> None:
    late = h.decide("a", "wait", outcome_due_at="2026-03-02T10:00:00Z")["id"]
    told = h.decide("b", "wait", outcome_due_at="2026-03-02T10:00:00Z")["id"]
    open_ = h.decide("c", "wait", outcome_due_at="2026-03-04T10:00:00Z")["id"]
    h.outcome(told, "unknown")
    assert not any(item["overdue"] for item in graph(h)["nodes"])
    h.clock.advance(days=1)
    found = graph(h)
    assert {item["id"]: item["overdue"] for item in found["nodes"]} == {late: True, told: False, open_: False}


def test_what_replaced_what_and_what_is_in_conflict_is_drawn(h: House) -> None:
    one = h.write("My phone number is 5550101")
    two = h.write("My phone number is 5550202")
    assert edges(graph(h), "conflicts", "supersedes") == {(one["id"], "conflicts", two["id"])}
    h.resolve(two["conflicts"][0]["id"], keep=two["id"])
    found = graph(h)
    assert edges(found, "conflicts", "supersedes") == {(two["id"], "supersedes", one["id"])}
    assert node(found, one["id"])["status"] == "superseded"


def test_a_merged_memory_leads_to_its_survivor(h: House) -> None:
    one = h.write("My sister lives in Porto")["id"]
    two = h.write("My sister lives in Porto, you know")
    assert two["duplicate_of"] == one
    assert edges(graph(h), "merged_into") == {(two["id"], "merged_into", one)}


def test_a_consolidated_memory_points_at_the_episodes_behind_it(h: House) -> None:
    episodes = [
        keep(h, text) for text in ("She asked for the list in May", "她六月又要了清单", "And in July")
    ]
    made = keep(h, "She asked for the list three times")
    at = keys.memory(Scope("default", "u").partition, made)

    def work(uow: UnitOfWork) -> None:
        uow.put(at, {**(uow.get(at) or {}), "evidence": [*episodes[:2], "elsewhere"]})

    h.app.services.store.transact(at.partition, work)
    assert edges(graph(h), "evidence") == {(made, "evidence", item) for item in episodes[:2]}


def test_one_session_joins_what_was_said_and_decided_in_it(h: House) -> None:
    said = keep(h, "The order number is A-4711", session_id="s/1")
    decided = h.decide("A late parcel", "refund", session_id="s/1")["id"]
    keep(h, "Something else", session_id="s/2")
    assert edges(graph(h), "same_source") == {(said, "same_source", decided)}


def test_only_the_kinds_of_edges_that_are_asked_for_come(h: House) -> None:
    for number in range(3):
        keep(h, f"Ticket {number}", tags=["odd"])
    assert {edge["kind"] for edge in graph(h)["edges"]} == {"same_tag", "near_in_time"}
    assert {edge["kind"] for edge in graph(h, edges=["same_tag"])["edges"]} == {"same_tag"}


def test_islands_are_marked_and_counted(h: House) -> None:
    alone = keep(h, "Ticket 0")
    for number in (1, 2):
        keep(h, f"Ticket {number}", tags=["odd"])
    found = graph(h)
    assert found["islands"] == 1
    assert [item["id"] for item in found["nodes"] if item["island"]] == [alone]


def test_an_expired_memory_is_gone_until_it_is_overdue_and_then_without_its_text(h: House) -> None:
    kept = keep(h, "The gate code is 4321", ttl_seconds=3600, tags=["gate"])
    keep(h, "The gate squeaks", tags=["gate"])
    h.clock.advance(minutes=90)
    assert kept not in [item["id"] for item in graph(h)["nodes"]]
    h.clock.advance(hours=1)
    found = graph(h)
    late = node(found, kept)
    assert (late["overdue"], late["summary"], late["tags"]) == (True, "", [])
    assert edges(found, "same_tag") == set()


def test_deleted_and_quarantined_ones_come_only_when_asked_for(h: House) -> None:
    gone = keep(h, "Ticket 0")
    here = keep(h, "Ticket 1")
    h.delete(gone)
    assert [item["id"] for item in graph(h)["nodes"]] == [here]
    assert [item["id"] for item in graph(h, status=["deleted"])["nodes"]] == [gone]


def test_memories_are_chosen_by_kind_type_tag_and_time(h: House) -> None:
    one = keep(h, "a", kind="fact", occurred_at="2026-01-05", tags=["t"])
    two = keep(h, "b", kind="event", memory_type="short_term", occurred_at="2026-01-07")
    decided = h.decide("c", "wait", occurred_at="2026-01-06", tags=["t"])["id"]

    def found(**asked: Any) -> list[str]:
        return [item["id"] for item in graph(h, **asked)["nodes"]]

    assert found(kinds=["fact"], decisions=False) == [one]
    assert found(memory_types=["short_term"], decisions=False) == [two]
    assert found(tag="t") == [one, decided]
    assert found(since="2026-01-06") == [two, decided]
    assert found(until="2026-01-06") == [one, decided]
    assert found(decisions=False) == [one, two]


def test_without_the_permission_trace_there_are_memories_only(h: House) -> None:
    memory = keep(h, "I live in Lisbon")
    h.decide("A late parcel", "refund", memory_ids=[memory])
    found = graph(h, Principal("reader", None, frozenset({"read"})))
    assert [item["id"] for item in found["nodes"]] == [memory]
    assert found["withheld"] == ["decisions"]
    with pytest.raises(Forbidden):
        graph(h, Principal("tracer", None, frozenset({"trace"})))


def test_another_users_records_are_no_nodes_and_no_ends_of_edges(h: House) -> None:
    foreign = keep(h, "I live in Lisbon", user="v", tags=["home"], audience="namespace")
    keep(h, "I live in Porto", tags=["home"])
    h.decide("Where to?", "north", memory_ids=[foreign])
    found = graph(h)
    assert foreign not in [item["id"] for item in found["nodes"]]
    assert edges(found, "same_tag", "rests_on") == set()


def test_the_newest_nodes_are_kept_and_the_answer_says_that_it_is_cut(h: House) -> None:
    ids = [keep(h, f"Ticket {number}") for number in range(4)]
    ids.append(h.decide("A late parcel", "refund")["id"])
    found = graph(h, limit=3)
    assert [item["id"] for item in found["nodes"]] == ids[-3:]
    assert found["truncated"]
    assert not graph(h, limit=5)["truncated"]


def test_nodes_and_edges_that_no_answer_could_hold_are_left_out_and_told(
    h: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [keep(h, f"第{number}张票", tags=["票"]) for number in range(6)]
    monkeypatch.setattr(graphs, "NODE_BYTES", 2200)
    found = graph(h)
    assert 0 < len(found["nodes"]) < 6
    assert [item["id"] for item in found["nodes"]] == ids[-len(found["nodes"]) :]
    assert found["truncated"]
    monkeypatch.undo()
    monkeypatch.setattr(graphs, "EDGES", 3)
    found = graph(h)
    assert len(found["edges"]) == 3
    assert found["edges_left_out"] == 7
    assert not found["truncated"]


def test_texts_of_any_unicode_pass_through(h: House) -> None:
    for text in ("👨\u200d👩\u200d👧 עברית \u202e<img src=x onerror=1>", "ｆｕｌｌ　ｗｉｄｔｈ", "e\u0301"):
        keep(h, text, tags=["\u200fתג", "🏷"])
    found = graph(h)
    assert len(found["nodes"]) == 3
    assert found["counts"]["edges"]["same_tag"] == 2
