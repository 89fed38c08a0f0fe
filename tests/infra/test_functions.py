"""The functions' entrances on recorded events, over an embedded house: what API Gateway, SQS and schedules send."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rearview.domain import keys
from rearview.domain.scope import Scope
from rearview.entrypoints.aws.gateway import Handler, http_handler
from rearview.entrypoints.aws.maintain import Maintain
from rearview.entrypoints.aws.observe import Observer
from rearview.entrypoints.aws.worker import Worker
from rearview.entrypoints.rest.app import create_app
from rearview.errors import Gone, Unavailable
from rearview.settings import AwsSettings
from tests.house import House, house

EVENTS = Path(__file__).resolve().parents[1] / "events"
SETTINGS = AwsSettings(allowed_origins="https://chat.example.com")


class Context:
    """What Lambda hands over."""

    aws_request_id = "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"
    function_name = "rearview-test"

    def __init__(self, milliseconds: int = 60_000) -> None:
        self.milliseconds = milliseconds

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds


class Letters:
    """A queue that only remembers."""

    def __init__(self) -> None:
        self.rung: list[tuple[str, str]] = []
        self.buried: list[dict[str, Any]] = []

    def send(self, group: str, deduplication_id: str, body: dict[str, Any]) -> None:
        self.rung.append((group, deduplication_id))

    def bury(self, group: str, deduplication_id: str, body: dict[str, Any]) -> None:
        self.buried.append(body)

    def depth(self) -> tuple[int, int]:
        return 0, len(self.buried)


@pytest.fixture(autouse=True)
def _logging() -> Iterator[None]:
    """The functions' logger takes the house's over; given back."""
    ours = logging.getLogger("rearview")
    handlers, level, propagate = list(ours.handlers), ours.level, ours.propagate
    yield
    ours.handlers, ours.propagate = handlers, propagate
    ours.setLevel(level)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


@pytest.fixture
def letters(home: House) -> Letters:
    queue = Letters()
    home.app.services.queue = queue  # type: ignore[assignment]
    home.runtime = replace(home.runtime, queue=queue)  # type: ignore[arg-type]
    home.app.services.inline = False
    return queue


@pytest.fixture
def loops() -> Iterator[None]:
    """The loop that a function keeps for life, closed."""
    yield
    asyncio.get_event_loop().close()
    asyncio.set_event_loop(None)


def rest(home: House, name: str = "test") -> Handler:
    return http_handler(create_app(home.app, auth=False), home.runtime, Observer(name, SETTINGS), SETTINGS)


def request(method: str, path: str, body: bytes = b"", **headers: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / "api_gateway_rest.json").read_text())
    event |= {"httpMethod": method, "path": path, "pathParameters": None}
    event |= {"queryStringParameters": None, "multiValueQueryStringParameters": None}
    event["multiValueHeaders"] |= {name.replace("_", "-"): [value] for name, value in headers.items()}
    if body:
        event |= {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}
        event["multiValueHeaders"]["Content-Type"] = ["application/json"]
    return event


def doorbells(*groups: str, **changes: str) -> dict[str, Any]:
    records = []
    for number, group in enumerate(groups):
        text = (EVENTS / "sqs_fifo.json").read_text().replace("GROUP", group)
        record = json.loads(text)["Records"][0] | {"messageId": f"m{number}"} | changes
        records.append(record)
    return {"Records": records}


def test_a_slash_in_an_id_stays_in_its_segment(home: House, loops: None) -> None:
    event = json.loads((EVENTS / "api_gateway_rest.json").read_text())
    turn = {"role": "user", "content": "My order number is A-4711 and it is late."}
    home.turns([turn], user="mira", session_id="2026-05-03/1")
    answer = rest(home)(event, Context())
    assert answer["statusCode"] == 200, answer["body"]
    assert json.loads(answer["body"])["id"] == "2026-05-03/1"


def test_a_problem_is_text_and_carries_the_gateways_request_id(home: House, loops: None) -> None:
    answer = rest(home)(request("GET", "/v1/nothing"), Context())
    assert answer["statusCode"] == 404
    assert answer["isBase64Encoded"] is False
    assert answer["headers"]["content-type"] == "application/problem+json"
    assert json.loads(answer["body"])["request_id"] == "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"


def test_broken_utf8_arrives_byte_by_byte_and_is_refused_by_name(home: House, loops: None) -> None:
    answer = rest(home)(request("POST", "/v1/memories", b'{"user_id": "\xff"}'), Context())
    assert answer["statusCode"] == 400
    assert json.loads(answer["body"])["errors"][0]["rule"] == "utf8"


def test_a_warm_function_answers_again_and_again(home: House, loops: None) -> None:
    handler = rest(home)
    body = '{"user_id": "u", "content": "我对花生过敏"}'.encode()
    statuses = [handler(request("POST", "/v1/memories", body), Context())["statusCode"] for _ in range(3)]
    assert statuses == [202, 200, 200]


def test_only_the_pages_named_may_call_from_a_browser(home: House, loops: None) -> None:
    handler = rest(home)
    asks = {"Access_Control_Request_Method": "POST"}
    good = handler(request("OPTIONS", "/v1/recall", Origin="https://chat.example.com", **asks), Context())
    assert good["headers"]["access-control-allow-origin"] == "https://chat.example.com"
    bad = handler(request("OPTIONS", "/v1/recall", Origin="https://evil.example", **asks), Context())
    assert "access-control-allow-origin" not in bad["headers"]


def test_logs_and_metrics_hold_no_content_and_no_user(
    home: House, capsys: pytest.CaptureFixture[str]
) -> None:
    body = b'{"user_id": "mira-lind", "content": "I am allergic to peanuts."}'
    # A logger keeps the standard output of the time it was made.
    rest(home, "logs")(request("POST", "/v1/memories", body), Context())
    out = capsys.readouterr().out
    assert '"Latency"' in out
    assert "c6af9ac6-7b61-11e6-9a41-93e8deadbeef" in out
    assert "mira" not in out
    assert "peanuts" not in out


def test_a_doorbell_gets_a_users_pending_work_done(home: House, letters: Letters) -> None:
    written = home.write("The spare key hangs in the shed", wait=False, admission="force")
    group = Scope("default", "u").partition
    worker = Worker(home.runtime, Observer("worker", SETTINGS))
    assert worker(doorbells(group), Context()) == {"batchItemFailures": []}
    assert home.get(written["id"])["enrichment"] == "done"
    assert worker(doorbells(group), Context()) == {"batchItemFailures": []}


def test_more_than_one_drain_is_rung_for_again(home: House, letters: Letters) -> None:
    home.batch(
        [{"user_id": "u", "content": f"Note {n}", "admission": "verbatim"} for n in range(100)], wait=False
    )
    home.batch(
        [{"user_id": "u", "content": f"More {n}", "admission": "verbatim"} for n in range(10)], wait=False
    )
    group = Scope("default", "u").partition
    letters.rung.clear()
    worker = Worker(home.runtime, Observer("worker", SETTINGS))
    worker(doorbells(group), Context())
    assert letters.rung == [(group, "101-rest")]


def test_a_message_nobody_can_read_is_buried_without_its_text(home: House, letters: Letters) -> None:
    worker = Worker(home.runtime, Observer("worker", SETTINGS))
    group = Scope("default", "u").partition
    assert worker(doorbells(group, body="{secret"), Context()) == {"batchItemFailures": []}
    assert letters.buried == [{"partition": group, "unreadable": "m0"}]


def test_a_store_that_is_away_fails_its_group_from_there_on_and_no_other(
    home: House, letters: Letters, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = Scope("default", "a").partition, Scope("default", "b").partition
    drain = type(home.app.enricher).drain

    def drained(self: Any, partition: str, limit: int = 100) -> int:
        if partition == a:
            raise Unavailable("the store is away")
        return drain(self, partition, limit)

    monkeypatch.setattr(type(home.app.enricher), "drain", drained)
    written = home.write("Keep the lid shut", user="b", wait=False, admission="force")
    worker = Worker(home.runtime, Observer("worker", SETTINGS))
    answer = worker(doorbells(a, b, a), Context())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}, {"itemIdentifier": "m2"}]}
    assert home.get(written["id"])["enrichment"] == "done"


def test_a_batch_that_fails_as_a_whole_is_answered_and_not_raised(home: House, letters: Letters) -> None:
    worker = Worker(home.runtime, Observer("worker", SETTINGS))
    group = Scope("default", "u").partition
    answer = worker(doorbells(group), Context(milliseconds=1_000))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}]}


def maintain(home: House) -> Maintain:
    return Maintain(home.runtime, Observer("maintain", SETTINGS))


def test_the_sweep_expires_and_rings_for_what_waits(home: House, letters: Letters) -> None:
    gone = home.write("The code is 1234", wait=False, admission="force", ttl_seconds=60)
    letters.rung.clear()
    home.clock.advance(seconds=90)
    answer = maintain(home)({"action": "sweep"}, Context())
    assert answer["swept"] == 1
    assert answer["waiting"] == 1
    assert answer["lag_seconds"] >= 0
    assert letters.rung
    with pytest.raises(Gone):
        home.get(gone["id"])


def test_the_sweep_enriches_what_has_waited_so_long_that_its_message_must_be_stuck(
    home: House, letters: Letters
) -> None:
    early = home.write("The lighthouse is white", wait=False, admission="force")
    assert maintain(home)({"action": "sweep"}, Context())["helped"] == 0
    assert home.get(early["id"])["enrichment"] == "pending"
    home.clock.advance(seconds=90)
    fresh = home.write("The harbour is deep", user="other", wait=False, admission="force")
    answer = maintain(home)({"action": "sweep"}, Context())
    assert answer["helped"] == 1
    assert home.get(early["id"])["enrichment"] == "done"
    assert home.get(fresh["id"])["enrichment"] == "pending"


def test_the_sweep_stops_helping_when_nothing_goes_for_several_users(
    home: House, letters: Letters, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        home.write("The lighthouse is white", user=f"u{number}", wait=False, admission="force")
    home.clock.advance(seconds=90)
    asked: list[str] = []
    monkeypatch.setattr(home.app.enricher, "drain", lambda partition: asked.append(partition) or 0)
    assert maintain(home)({"action": "sweep"}, Context())["helped"] == 0
    assert len(asked) == 3


def test_the_first_key_is_given_once_and_further_ones_on_request(home: House, letters: Letters) -> None:
    function = maintain(home)
    key = function({"action": "first_key"}, Context())["key"]
    assert home.app.keyring.principal(key).namespaces == {"default"}
    assert function({"action": "first_key"}, Context()) == {"key": None}
    event = {"action": "create_key", "name": "bot", "namespaces": ["shop"], "permissions": ["read"]}
    made = function(event, Context())
    assert home.app.keyring.principal(made["key"]).permissions == {"read"}
    refused = function({"action": "create_key", "name": "bot"}, Context())
    assert refused["error"]["status"] == 422


def test_an_audit_goes_on_where_it_had_to_stop(home: House, letters: Letters) -> None:
    for number in range(3):
        home.write("The lighthouse is white", user=f"u{number}", wait=False, admission="force")
    function = maintain(home)
    times = 0
    users = 0
    done = False
    while not done:
        answer = function({"action": "audit"}, Context(milliseconds=1_000))
        users, times, done = users + answer["users"], times + 1, answer["done"]
        assert times < 10
    assert users == 3
    assert times > 1
    report = home.app.services.store.query(keys.directory("default"), keys.AUDITS).items
    assert len(report) == 3
    assert function({"action": "audit"}, Context())["users"] == 3


def test_an_action_nobody_knows_is_answered_as_a_problem(home: House, letters: Letters) -> None:
    assert maintain(home)({"action": "dance"}, Context())["error"]["errors"][0]["field"] == "action"
