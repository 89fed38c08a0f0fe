"""Writing: what is kept, under which id, in which order, and what a repetition does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Barrier, Thread

import pytest

from rearview.domain import keys
from rearview.domain.principal import Principal
from rearview.domain.scope import Scope
from rearview.errors import Forbidden, InvalidInput, NotFound
from tests.house import House, house


@pytest.fixture
def h(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


def test_a_write_is_there_for_its_writer_before_enrichment(h: House) -> None:
    answer = h.write("My locker number is 4711", wait=False)
    assert answer["verdict"] == "admit"
    assert answer["memory"]["pending"] is True
    hit = h.recall("locker number").hits[0]
    assert (hit.id, hit.pending) == (answer["id"], True)


def test_after_enrichment_the_same_memory_is_found_and_no_longer_pending(h: House) -> None:
    answer = h.write("My locker number is 4711")
    hit = h.recall("locker number").hits[0]
    assert (hit.id, hit.pending) == (answer["id"], False)
    assert answer["memory"]["enrichment"] == "done"


@pytest.mark.parametrize("text", ["我对花生过敏", "I am allergic to peanuts"])
def test_the_same_words_again_confirm_the_memory_instead_of_adding_one(h: House, text: str) -> None:
    first = h.write(text)
    again = h.write(text + "。" if "我" in text else f"  {text}. ")
    assert again["verdict"] == "duplicate"
    assert again["id"] == again["duplicate_of"] == first["id"]
    memory = h.get(first["id"])
    assert memory["confirmations"] == 1
    assert memory["confidence"] > first["memory"]["confidence"]
    assert len(h.memories()) == 1


def test_the_same_text_of_another_user_or_namespace_is_another_memory(h: House) -> None:
    ids = {
        h.write("I like tea")["id"],
        h.write("I like tea", user="v")["id"],
        h.write("I like tea", namespace="other")["id"],
    }
    assert len(ids) == 3


def test_verbatim_neither_reads_nor_claims_duplicate_identity(h: House) -> None:
    first = h.write("Yes!", admission="verbatim")
    second = h.write("Yes!", admission="verbatim")
    third = h.write("Yes!", admission="force")
    assert len({first["id"], second["id"], third["id"]}) == 3
    assert third["verdict"] == "admit"


def test_a_drop_has_no_id_names_its_reason_and_stores_nothing(h: House) -> None:
    answer = h.write("ok thanks, bye!")
    assert (answer["verdict"], answer["id"]) == ("drop", None)
    assert answer["reasons"]
    assert h.memories() == []


def test_force_keeps_what_the_sieves_would_drop(h: House) -> None:
    assert h.write("ok thanks, bye!", admission="force")["verdict"] == "admit"


def test_ids_and_times_sort_in_the_order_of_acknowledgement_even_when_the_clock_goes_back(h: House) -> None:
    ids = []
    for number in range(20):
        h.clock.advance(seconds=-5)
        ids.append(h.write(f"Fact number {number} about the boiler", wait=False)["id"])
    listed = h.memories()
    assert [item["id"] for item in listed] == ids
    assert sorted(listed, key=lambda item: (item["created_at"], item["id"])) == listed


def test_two_threads_with_the_same_fact_get_one_memory_and_one_id(h: House) -> None:
    for number in range(10):
        gate, answers = Barrier(4), []

        def go(text: str, gate: Barrier = gate, answers: list[str] = answers) -> None:
            gate.wait()
            answers.append(h.write(text, admission="force")["id"])

        threads = [Thread(target=go, args=(f"My locker is {number}",)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(answers)) == 1
        assert len(answers) == 4
    assert len(h.memories()) == 10


def test_a_batch_judges_each_item_by_itself_and_keeps_their_order(h: House) -> None:
    results = h.batch(
        [
            {"user_id": "u", "content": "I work at Kestrel Labs"},
            {"user_id": "u", "content": ""},
            {"user_id": "v", "content": "我喜欢喝龙井茶"},
            {"user_id": "u", "content": "thanks!"},
            {"user_id": "u", "content": "I work at Kestrel Labs", "colour": 1},
        ]
    )
    assert [item.get("verdict") for item in results] == ["admit", None, "admit", "drop", None]
    assert results[1]["error"]["errors"][0]["field"] == "items[1].content"
    assert results[4]["error"]["errors"][0]["rule"] == "extra_forbidden"
    assert len(h.memories()) == 1


def test_the_history_holds_every_state_and_the_times_from_which_it_was_known(h: House) -> None:
    answer = h.write("I live in Ghent")
    h.patch(answer["id"], tags=["home"])
    h.delete(answer["id"])
    rows = h.history(answer["id"])
    assert [row["version"] for row in rows] == [1, 2, 3]
    assert [row["change"] for row in rows] == ["created", "updated", "forgotten"]
    assert rows[0]["known_to"] == rows[1]["known_from"]
    assert rows[2]["known_to"] is None


def test_a_patch_merges_metadata_and_null_removes_a_key(h: House) -> None:
    answer = h.write("I live in Ghent", metadata={"a": 1, "b": 0.0, "c": "x"})
    h.patch(answer["id"], content="I live in Bruges", metadata={"a": None, "d": 2})
    assert h.get(answer["id"])["metadata"] == {"b": 0.0, "c": "x", "d": 2}


def test_a_patch_keeps_scope_and_creator_and_records_the_editor(h: House) -> None:
    answer = h.write("I live in Ghent", agent_id="alpha")
    other = House(h.runtime, h.clock, Principal("key:2", None))
    other.patch(answer["id"], content="I live in Bruges", agent_id="beta")
    memory = h.get(answer["id"])
    assert (memory["agent_id"], memory["created_by"], memory["updated_by"]) == ("alpha", "local", "key:2")


def test_an_edited_memory_is_found_by_its_new_words_and_its_old_identity_is_free(h: House) -> None:
    answer = h.write("I live in Ghent")
    h.patch(answer["id"], content="I live in Bruges")
    h.drain()
    assert h.contents("Bruges") == ["I live in Bruges"]
    assert h.write("I live in Ghent", admission="force", wait=False)["verdict"] == "admit"


def test_forgetting_by_filter_needs_the_code_of_its_dry_run_and_takes_all(h: House) -> None:
    for numbers in (range(100), range(100, 148)):
        h.batch(
            [
                {
                    "user_id": "u",
                    "content": f"Note {number}: pump {number} was serviced",
                    "admission": "force",
                }
                for number in numbers
            ],
            wait=False,
        )
    with pytest.raises(InvalidInput, match="confirm"):
        h.app.editor.forget(h.principal, _forget(dry_run=False))
    assert h.forget(everything=True)["count"] == 148
    assert h.memories() == []
    assert h.recall("pump serviced").hits == []


def _forget(**more: object) -> object:
    from rearview.usecases.commands import Forget
    from rearview.usecases.fields import read

    return read(Forget, {"user_id": "u", "everything": True, **more})


def test_a_forgotten_memory_comes_back_by_restore_and_its_words_are_free_meanwhile(h: House) -> None:
    first = h.write("I live in Ghent")
    h.delete(first["id"], "wrong")
    assert h.recall("Ghent").hits == []
    assert h.restore(first["id"])["status"] == "active"
    h.drain()
    assert h.contents("Ghent") == ["I live in Ghent"]
    h.delete(first["id"])
    second = h.write("I live in Ghent")
    assert second["verdict"] == "admit"
    assert second["id"] != first["id"]


def test_a_foreign_namespace_is_refused_and_a_foreign_id_is_not_there(h: House) -> None:
    answer = h.write("I live in Ghent", namespace="blue")
    stranger = House(h.runtime, h.clock, Principal("key:9", frozenset({"red"}), default_namespace="red"))
    with pytest.raises(Forbidden):
        stranger.write("I live here", namespace="blue")
    with pytest.raises(Forbidden):
        stranger.recall("Ghent", namespace="blue")
    for call in (stranger.get, stranger.delete, stranger.restore, stranger.history):
        with pytest.raises(NotFound):
            call(answer["id"])
    assert stranger.recall("Ghent").hits == []


def test_what_the_queue_refuses_is_written_all_the_same_and_found_by_the_sweep(
    h: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("queue is down")

    monkeypatch.setattr(type(h.runtime.queue), "send", refuse)
    h.write("I live in Ghent", wait=False)
    assert h.app.services.store.pending_partitions() == [Scope("default", "u").partition]
    assert h.drain() == 1
    assert h.recall("Ghent").hits[0].pending is False


def test_every_write_has_a_ledger_entry_and_the_chain_holds(h: House) -> None:
    first = h.write("I live in Ghent")
    h.patch(first["id"], tags=["home"])
    h.delete(first["id"])
    store = h.app.services.store
    entries = [body for _, body in store.query(Scope("default", "u").partition, keys.LEDGER).items]
    assert [body["action"] for body in entries] == ["created", "updated", "forgotten"]
    assert [body["seq"] for body in entries] == [1, 2, 3]
    assert "Ghent" not in str(entries)
    assert h.audit()["ok"]


def test_the_ledger_check_finds_a_changed_memory_a_changed_entry_and_a_missing_one(h: House) -> None:
    ids = [h.write(f"Pump {number} stands in hall {number}", admission="force")["id"] for number in range(3)]
    partition = Scope("default", "u").partition
    store = h.app.services.store

    def tamper(at: keys.Key, **fields: object) -> None:
        store.transact(partition, lambda uow: uow.put(at, {**(uow.get(at) or {}), **fields}))

    tamper(keys.memory(partition, ids[0]), content="Pump 0 was stolen")
    assert h.audit("u", "ledger")["findings"][0]["refs"] == [ids[0]]
    tamper(keys.ledger(partition, 2), ref=ids[0])
    details = [item["detail"] for item in h.audit("u", "ledger")["findings"]]
    assert "entry 2: was changed" in details
    store.transact(partition, lambda uow: uow.delete(keys.ledger(partition, 2)))
    details = [item["detail"] for item in h.audit("u", "ledger")["findings"]]
    assert "entry 2: missing" in details
