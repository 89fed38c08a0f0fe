"""What the DynamoDB store does when the table says no, says nothing, or says it too late."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError

from rearview.adapters.aws import dynamodb_items as items
from rearview.adapters.aws.dynamodb import DynamoStore
from rearview.domain.keys import Key
from rearview.errors import InvalidInput, TooManyWrites, Unavailable
from rearview.ports import AlreadyThere, UnitOfWork

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TIMEOUT = ReadTimeoutError(endpoint_url="http://127.0.0.1")


def refusal(code: str, message: str = "", status: int = 400, **more: Any) -> ClientError:
    response = {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError({**response, **more}, "TransactWriteItems")  # type: ignore[arg-type]


def cancelled(*codes: str, item: dict[str, Any] | None = None) -> ClientError:
    reasons: list[dict[str, Any]] = [{"Code": code} for code in codes]
    if item is not None:
        reasons[-1]["Item"] = item
    return refusal("TransactionCanceledException", CancellationReasons=reasons)


class FakeTable:
    """A client of an empty table whose transactions answer what it is told, then succeed."""

    def __init__(self, *answers: Exception | Callable[[dict[str, Any]], Exception | None]) -> None:
        self.answers = list(answers)
        self.sent: list[dict[str, Any]] = []
        self.guard: dict[str, Any] | None = None
        self.reads = 0

    def get_item(self, **request: Any) -> dict[str, Any]:
        self.reads += 1
        return {"Item": self.guard} if self.guard and request["Key"]["sk"]["S"] == "HEAD" else {}

    def transact_write_items(self, **request: Any) -> dict[str, Any]:
        self.sent.append(request)
        answer = self.answers.pop(0) if self.answers else None
        if callable(answer):
            answer = answer(request)
        if answer is not None:
            raise answer
        return {}


def store_over(table: Any, patience: float = 5.0) -> DynamoStore:
    return DynamoStore(table, "memories", patience=patience, pause=lambda _: None)


def write(unit: UnitOfWork) -> None:
    unit.put(Key("a", "M#1"), {"v": 1})


@pytest.mark.parametrize(
    "first",
    [
        cancelled("None", "ConditionalCheckFailed"),
        cancelled("TransactionConflict", "None"),
        cancelled("ThrottlingError", "None"),
        refusal("ProvisionedThroughputExceededException"),
        refusal("TransactionConflictException"),
    ],
)
def test_a_collision_or_a_throttle_runs_the_work_again(first: ClientError) -> None:
    table, runs = FakeTable(first), []
    store_over(table).transact("a", lambda unit: (write(unit), runs.append(1)))
    assert len(runs) == 2
    assert table.sent[0]["ClientRequestToken"] != table.sent[1]["ClientRequestToken"]


@pytest.mark.parametrize(
    "first",
    [
        TIMEOUT,
        EndpointConnectionError(endpoint_url="http://127.0.0.1"),
        refusal("InternalServerError", status=500),
        refusal("TransactionInProgressException"),
    ],
)
def test_a_lost_answer_sends_the_very_same_request_again(first: Exception) -> None:
    table, runs = FakeTable(first), []
    store_over(table).transact("a", lambda unit: (write(unit), runs.append(1)))
    assert len(runs) == 1
    assert table.sent[0] == table.sent[1]


def test_a_write_that_had_gone_through_is_not_done_twice() -> None:
    def moved(request: dict[str, Any]) -> Exception:
        fresh = request["TransactItems"][-1]["Update"]["ExpressionAttributeValues"][":new"]
        return cancelled("None", "ConditionalCheckFailed", item={"rev": fresh})

    table, runs = FakeTable(TIMEOUT, moved), []
    store_over(table).transact("a", lambda unit: (write(unit), runs.append(1)))
    assert (len(runs), len(table.sent)) == (1, 2)


def test_writers_that_keep_colliding_are_told_to_come_back() -> None:
    table = FakeTable(*[cancelled("None", "ConditionalCheckFailed")] * 10_000)
    with pytest.raises(TooManyWrites):
        store_over(table, patience=0.05).transact("a", write)
    assert len(table.sent) > 1


def test_a_table_that_never_answers_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="ReadTimeoutError"):
        store_over(FakeTable(*[TIMEOUT] * 10_000), patience=0.05).transact("a", write)


def test_an_existing_key_is_named() -> None:
    def work(unit: UnitOfWork) -> None:
        write(unit)
        unit.put(Key("b", "X#1"), {}, absent=True)

    with pytest.raises(AlreadyThere) as caught:
        store_over(FakeTable(cancelled("None", "ConditionalCheckFailed", "None"))).transact("a", work)
    assert caught.value.key == Key("b", "X#1")


def test_a_stale_read_counts_before_an_existing_key() -> None:
    def work(unit: UnitOfWork) -> None:
        unit.put(Key("a", "X#1"), {}, absent=True)

    table = FakeTable(cancelled("ConditionalCheckFailed", "ConditionalCheckFailed"))
    store_over(table).transact("a", work)
    assert len(table.sent) == 2


def test_an_error_that_came_of_a_torn_read_is_no_error() -> None:
    table, seen = FakeTable(), []

    def work(unit: UnitOfWork) -> str:
        unit.get(Key("a", "M#1"))
        if not seen:
            seen.append(1)
            table.guard = {"pk": {"S": "a"}, "sk": {"S": "HEAD"}, "rev": {"S": "moved"}}
            raise KeyError("half of one state, half of the next")
        return "whole"

    assert store_over(table).transact("a", work) == "whole"


def test_an_error_of_the_work_itself_goes_to_the_caller_and_writes_nothing() -> None:
    table = FakeTable()

    def work(unit: UnitOfWork) -> None:
        write(unit)
        raise LookupError("stop")

    with pytest.raises(LookupError, match="stop"):
        store_over(table).transact("a", work)
    assert table.sent == []


def test_reading_alone_is_repeated_until_it_saw_one_state() -> None:
    table, runs = FakeTable(), []

    def work(unit: UnitOfWork) -> None:
        unit.get(Key("a", "M#1"))
        if not runs:
            table.guard = {"rev": {"S": "moved"}}
        runs.append(1)

    store_over(table).transact("a", work)
    assert len(runs) == 2


@pytest.mark.parametrize("size", [items.ITEM_BYTES, 3 * items.ITEM_BYTES])
def test_a_record_over_400_kb_names_the_rule_and_sends_nothing(size: int) -> None:
    table = FakeTable()
    with pytest.raises(InvalidInput) as caught:
        store_over(table).transact("a", lambda unit: unit.put(Key("a", "M#1"), {"text": "茶" * (size // 3)}))
    assert [error.rule for error in caught.value.errors] == ["max_item_bytes"]
    assert table.sent == []


def test_a_transaction_over_4_mb_names_the_rule_and_sends_nothing() -> None:
    table = FakeTable()

    def work(unit: UnitOfWork) -> None:
        for number in range(12):
            unit.put(Key("a", f"M#{number}"), {"text": "x" * 380_000})

    with pytest.raises(InvalidInput) as caught:
        store_over(table).transact("a", work)
    assert [error.rule for error in caught.value.errors] == ["max_transaction_bytes"]
    assert table.sent == []


@pytest.mark.parametrize(
    "answer",
    [
        refusal("ValidationException", "Item size has exceeded the maximum allowed size"),
        cancelled("ValidationError", "None"),
    ],
)
def test_what_the_table_itself_finds_too_large_names_the_rule_too(answer: ClientError) -> None:
    with pytest.raises(InvalidInput):
        store_over(FakeTable(answer)).transact("a", write)


def test_other_refusals_name_their_code_and_no_content() -> None:
    with pytest.raises(Unavailable, match="AccessDeniedException") as caught:
        store_over(FakeTable(refusal("AccessDeniedException", "user anna may not"))).transact("a", write)
    assert "anna" not in str(caught.value)


def test_the_ttl_is_seven_days_after_the_expiry_in_whole_seconds() -> None:
    def work(unit: UnitOfWork) -> None:
        unit.put(Key("a", "M#1"), {}, expires_at=NOW + timedelta(microseconds=5), ttl=True)
        unit.put(Key("a", "M#2"), {}, expires_at=NOW)

    table = FakeTable()
    store_over(table).transact("a", work)
    first, second, _ = (operation for operation in table.sent[0]["TransactItems"])
    assert first["Put"]["Item"]["ttl"] == {"N": str(int((NOW + timedelta(days=7)).timestamp()))}
    assert "ttl" not in second["Put"]["Item"]
    assert second["Put"]["Item"]["ds"] == {"S": "2026-03-01T00:00:00.000000Z"}


def test_every_transaction_moves_the_guard_to_a_revision_never_seen_before() -> None:
    table, seen = FakeTable(), set()
    for _ in range(3):
        store_over(table).transact("a", write)
    for request in table.sent:
        move = request["TransactItems"][-1]["Update"]
        assert (move["Key"]["sk"]["S"], move["ConditionExpression"]) == ("HEAD", "attribute_not_exists(rev)")
        seen.add(move["ExpressionAttributeValues"][":new"]["S"])
    assert len(seen) == 3


def test_a_key_put_deleted_and_put_again_still_has_to_be_absent() -> None:
    def work(unit: UnitOfWork) -> None:
        unit.put(Key("a", "X#1"), {"v": 1}, absent=True)
        unit.delete(Key("a", "X#1"))
        unit.put(Key("a", "X#1"), {"v": 2}, absent=True)
        unit.put(Key("a", "X#2"), {"v": 1}, absent=True)
        unit.delete(Key("a", "X#2"))
        unit.delete(Key("a", "X#3"))
        unit.put(Key("a", "X#3"), {"v": 3}, absent=True)

    table = FakeTable()
    store_over(table).transact("a", work)
    first, second, third, _ = table.sent[0]["TransactItems"]
    assert first["Put"]["ConditionExpression"] == "attribute_not_exists(b)"
    assert second["ConditionCheck"]["ConditionExpression"] == "attribute_not_exists(b)"
    assert "ConditionExpression" not in third["Put"]


def test_a_transaction_inside_one_of_the_same_partition_is_a_mistake() -> None:
    store = store_over(FakeTable())
    with pytest.raises(RuntimeError, match="inside a write transaction"):
        store.transact("a", lambda unit: store.transact("a", write))
    store.transact("a", lambda unit: store.transact("b", lambda inner: inner.put(Key("b", "M#1"), {})))


def test_reads_that_fail_are_unavailable_and_a_throttle_says_busy() -> None:
    class Down:
        def __init__(self, error: Exception) -> None:
            self.error = error

        def get_item(self, **_: Any) -> None:
            raise self.error

    with pytest.raises(Unavailable, match="busy"):
        store_over(Down(refusal("ThrottlingException"))).get(Key("a", "M#1"))
    with pytest.raises(Unavailable, match="ReadTimeoutError"):
        store_over(Down(TIMEOUT)).get(Key("a", "M#1"))


def test_a_batch_read_cut_short_is_continued_and_given_up_in_the_end() -> None:
    class Short:
        def __init__(self, left: int) -> None:
            self.left = left

        def batch_get_item(self, RequestItems: dict[str, Any]) -> dict[str, Any]:
            asked = RequestItems["memories"]["Keys"]
            self.left -= 1
            if self.left >= 0:
                return {"Responses": {}, "UnprocessedKeys": {"memories": {"Keys": asked}}}
            served = [{**key, "b": {"S": '{"v":1}'}} for key in asked[:60]]
            rest = {"memories": {"Keys": asked[60:]}} if asked[60:] else {}
            return {"Responses": {"memories": served}, "UnprocessedKeys": rest}

    keys = [Key("a", f"M#{number:03d}") for number in range(150)]
    assert store_over(Short(3)).get_many(keys) == {key: {"v": 1} for key in keys}
    with pytest.raises(Unavailable, match="busy"):
        store_over(Short(10**9), patience=0.02).get_many(keys)
