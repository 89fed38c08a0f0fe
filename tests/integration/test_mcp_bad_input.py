"""Bad input over MCP: a tool error that names field and rule, nothing of the input repeated, nothing half-stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from rearview.entrypoints.mcp.messages import MAX_DEPTH, RefusedMessage, screen, too_large
from rearview.usecases.questions import Recall
from tests.house import House, house
from tests.integration.mcp_kit import ERAS, Connect, Mcp, callers, rules, text

ULID = "01KJPWD6M0CHBKRZQW72TM024A"


@pytest.fixture(scope="module")
def h(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    # One for all: what is refused leaves nothing behind.
    with house(tmp_path_factory.mktemp("house")) as one:
        yield one


@pytest.fixture(scope="module")
def connect(h: House) -> Iterator[Connect]:
    with callers(h) as make:
        yield make


@pytest.fixture(scope="module", params=ERAS)
def mcp(request: pytest.FixtureRequest, connect: Connect) -> Mcp:
    return connect(request.param)


WRITE = {"user_id": "u", "content": "My locker number is 4711"}
READ = {"user_id": "u", "query": "locker"}

#: (tool, arguments, field, rule)
BAD: list[tuple[str, dict[str, Any], str, str]] = [
    ("write_memory", {"content": "x is y"}, "user_id", "missing"),
    ("write_memory", {"user_id": "u"}, "content", "missing"),
    ("write_memory", {**WRITE, "content": ""}, "content", "not_blank"),
    ("write_memory", {**WRITE, "content": " \t\n\u3000"}, "content", "not_blank"),
    ("write_memory", {**WRITE, "content": "\u200b\u200d\ufeff"}, "content", "not_blank"),
    ("write_memory", {**WRITE, "content": "界" * 30_000}, "content", "max_bytes"),
    ("write_memory", {**WRITE, "content": "nul \x00 inside"}, "content", "no_nul"),
    ("write_memory", {**WRITE, "content": 5}, "content", "string_type"),
    ("write_memory", {**WRITE, "content": None}, "content", "string_type"),
    ("write_memory", {**WRITE, "user_id": "a\nb"}, "user_id", "no_control"),
    ("write_memory", {**WRITE, "user_id": "x" * 257}, "user_id", "max_characters"),
    ("write_memory", {**WRITE, "importance": True}, "importance", "float_type"),
    ("write_memory", {**WRITE, "importance": "0.5"}, "importance", "float_type"),
    ("write_memory", {**WRITE, "importance": 1.5}, "importance", "less_than_equal"),
    ("write_memory", {**WRITE, "ttl_seconds": 0}, "ttl_seconds", "greater_than_equal"),
    ("write_memory", {**WRITE, "ttl_seconds": -60}, "ttl_seconds", "greater_than_equal"),
    ("write_memory", {**WRITE, "ttl_seconds": True}, "ttl_seconds", "int_type"),
    ("write_memory", {**WRITE, "namespace": "a/b"}, "namespace", "pattern"),
    ("write_memory", {**WRITE, "kind": "rumour"}, "kind", "literal_error"),
    ("write_memory", {**WRITE, "tags": "one"}, "tags", "list_type"),
    ("write_memory", {**WRITE, "tags": ["x" * 65]}, "tags[0]", "max_characters"),
    ("write_memory", {**WRITE, "occurred_at": "yesterday"}, "occurred_at", "rfc3339"),
    ("write_memory", {**WRITE, "timezone": "Mars/Olympus"}, "timezone", "iana_timezone"),
    (
        "write_memory",
        {**WRITE, "metadata": {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}},
        "metadata",
        "max_depth",
    ),
    ("write_memory", {**WRITE, "metadata": {"a": "x" * 9000}}, "metadata", "max_bytes"),
    ("write_memory", {**WRITE, "source": {"planet": "Mars"}}, "source.planet", "extra_forbidden"),
    ("write_memory", {**WRITE, "wait": "yes"}, "wait", "bool_type"),
    ("write_memory", {**WRITE, "idempotency_key": ""}, "idempotency_key", "not_blank"),
    ("write_memory", {**WRITE, "foo": 1}, "foo", "extra_forbidden"),
    ("read_memory", {**READ, "query": " "}, "query", "not_blank"),
    ("read_memory", {**READ, "top_k": 0}, "top_k", "greater_than_equal"),
    ("read_memory", {**READ, "top_k": 5000}, "top_k", "less_than_equal"),
    ("read_memory", {**READ, "top_k": True}, "top_k", "int_type"),
    ("read_memory", {**READ, "weights": {"vector": 1}}, "weights", "extra_forbidden"),
    ("read_memory", {**READ, "context_tokens": 1}, "context_tokens", "greater_than_equal"),
    ("read_memory", {**READ, "token": "garbage"}, "token", "token"),
    ("get_memory", {"memory_id": "a/b"}, "memory_id", "ulid"),
    ("get_memory", {}, "memory_id", "missing"),
    ("trace_memory", {"decision_id": "nonsense"}, "decision_id", "ulid"),
    ("trace_memory", {"user_id": "u", "context": "rain", "top_k": 0}, "top_k", "greater_than_equal"),
    ("record_decision", {"user_id": "u", "context": "rain"}, "action", "missing"),
    (
        "record_decision",
        {"user_id": "u", "context": "rain", "action": "run", "memory_ids": [ULID]},
        "memory_ids[0]",
        "unknown_id",
    ),
    (
        "record_decision",
        {"user_id": "u", "context": "rain", "action": "run", "recall_id": "x"},
        "recall_id",
        "token",
    ),
    ("record_outcome", {"decision_id": ULID, "result": "splendid"}, "result", "literal_error"),
    ("record_outcome", {"decision_id": ULID, "result": "success", "score": 2}, "score", "less_than_equal"),
    ("forget_memory", {"user_id": "u", "ids": []}, "ids", "too_short"),
    ("list_conflicts", {"user_id": "u", "cursor": "garbage"}, "cursor", "token"),
    ("list_conflicts", {"user_id": "u", "limit": 201}, "limit", "less_than_equal"),
    ("resolve_conflict", {"conflict_id": "a/b", "keep_both": True}, "conflict_id", "ulid"),
]


def test_every_bad_argument_is_refused_by_field_and_rule(mcp: Mcp) -> None:
    for tool, arguments, field, rule in BAD:
        result = mcp.call(tool, **arguments)
        assert result.is_error, (tool, arguments)
        found = rules(result.meta["rearview/problem"])
        assert (field, rule) in found, (tool, arguments, found)
        assert field in text(result)
        assert rule in text(result)
        assert len(text(result)) < 1000
    assert mcp.house.memories() == []
    assert mcp.house.audit()["findings"] == []


def test_all_broken_rules_are_told_at_once(mcp: Mcp) -> None:
    refusal = mcp.refused("write_memory", content="", importance=7, wait=1, foo=2)
    assert rules(refusal) == {
        ("user_id", "missing"),
        ("content", "not_blank"),
        ("importance", "less_than_equal"),
        ("wait", "bool_type"),
        ("foo", "extra_forbidden"),
    }


def test_refusals_do_not_repeat_what_was_sent(mcp: Mcp) -> None:
    secret = "tr0ub4dor&3"
    for name in ("user_id", "kind", "occurred_at", "namespace", "timezone", "metadata", "importance"):
        bad = f"{secret}\x00/" if name == "user_id" else f"{secret}/ {secret}"
        result = mcp.call("write_memory", **{**WRITE, name: bad})
        assert result.is_error
        assert secret not in result.model_dump_json()


@pytest.mark.parametrize(
    ("arguments", "field", "rule"),
    [
        ('{"user_id": "u", "content": "a \\ud800 b"}', "content", "no_lone_surrogate"),
        ('{"user_id": "u", "content": "x is y", "metadata": {"\\udc00": 1}}', "metadata", "no_lone_surrogate"),
        ('{"user_id": "u", "content": "x is y", "content": "x is z"}', "content", "duplicate_key"),
        ('{"user_id": "u", "content": "x is y", "metadata": {"a": 1, "a": 2}}', "metadata.a", "duplicate_key"),
        ('{"user_id": "u", "content": "x is y", "importance": NaN}', "importance", "finite_number"),
        ('{"user_id": "u", "content": "x is y", "importance": -Infinity}', "importance", "finite_number"),
        ('{"user_id": "u", "content": "x is y", "importance": 1e999}', "importance", "finite_number"),
        ('{"user_id": "u", "content": "x is y", "ttl_seconds": ' + "9" * 5000 + "}", "ttl_seconds", "number_size"),
        (
            '{"user_id": "u", "content": "x is y", "metadata": ' + "[" * 5000 + "]" * 5000 + "}",
            "metadata",
            "max_depth",
        ),
        (
            '{"user_id": "u", "content": ' + '{"a":' * 5000 + "1" + "}" * 5000 + "}",
            "content",
            "max_depth",
        ),
        ('{"user_id": "u", "content": "x is y", "\\u0000faults": [["a", "b", "c"]]}', "arguments", "no_nul"),
        ("[1, 2]", "arguments", "object"),
        ('"text"', "arguments", "object"),
    ],
)  # fmt: skip
def test_what_parsers_swallow_or_choke_on_is_a_tool_error_too(
    mcp: Mcp, arguments: str, field: str, rule: str
) -> None:
    result = mcp.raw_call("write_memory", arguments)["result"]
    assert result["isError"] is True
    assert (field, rule) in rules(result["_meta"]["rearview/problem"])
    assert mcp.house.memories() == []


@pytest.mark.parametrize(
    "query", ['say "hi', "foo AND bar", "(python", "*", "。", "🙂", "a:b NEAR/2", "'; --", "\\"]
)
def test_queries_are_plain_text(mcp: Mcp, query: str) -> None:
    mcp.ok("read_memory", user_id="u", query=query)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe{}",
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": ' + b"[" * 100_000,
        b'"' + b'\\"' * 200_000,
        b"[" * 200_000 + b"]" * 200_000,
    ],
)
def test_what_is_no_json_is_a_parse_error_without_an_echo(mcp: Mcp, body: bytes) -> None:
    response = mcp.post(body)
    assert response.status_code == 400
    assert response.json()["error"]["code"] in (-32700, -32600)
    assert len(response.content) < 300


@pytest.mark.parametrize(
    "message",
    [
        [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
        "ping",
        {"id": 1, "method": "ping"},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": {"secret": "tr0ub4dor"}, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": ["tr0ub4dor"]},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": "tr0ub4dor"},
    ],
)
def test_what_is_no_message_is_an_invalid_request_without_an_echo(mcp: Mcp, message: Any) -> None:
    response = mcp.post(message)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == -32600
    assert "tr0ub4dor" not in response.text


def test_faults_outside_of_a_tools_arguments_are_invalid_requests_with_the_requests_id() -> None:
    for raw in (
        b'{"jsonrpc": "2.0", "id": 3, "id": 3, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 3, "method": "ping", "params": {"_meta": {"a": "\\ud800"}}}',
        b'{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "\\ud800"}}',
    ):
        with pytest.raises(RefusedMessage) as refused:
            screen(raw)
        assert refused.value.code == -32600
        assert "\ud800" not in refused.value.message


def test_a_good_message_is_handed_on_byte_for_byte() -> None:
    raw = ' {"jsonrpc":"2.0", "id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":"[[[é"}}} '.encode()
    assert screen(raw) == raw


def test_brackets_in_a_text_are_not_nesting() -> None:
    content = "[" * 500 + '\\" {' * 500
    raw = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"a": content}}).encode()
    assert screen(raw) == raw


def test_nesting_is_allowed_up_to_its_bound() -> None:
    def nested(depth: int) -> bytes:
        inner = "[" * depth + "]" * depth
        return f'{{"jsonrpc": "2.0", "id": 1, "method": "x", "params": {{"a": {inner}}}}}'.encode()

    assert screen(nested(MAX_DEPTH - 2)) == nested(MAX_DEPTH - 2)
    with pytest.raises(RefusedMessage):
        screen(nested(MAX_DEPTH - 1))


def test_an_oversized_message_on_a_pipe_becomes_a_refusal_of_its_tool() -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "x", "arguments": {"a": "y"}},
    }
    assert b"max_bytes" in too_large(json.dumps(call).encode(), 10)
    with pytest.raises(RefusedMessage):
        too_large(json.dumps({**call, "method": "x"}).encode(), 10)


def test_an_unknown_tool_is_refused(mcp: Mcp) -> None:
    assert mcp.call("drop_tables").is_error


def test_asking_for_a_prompt_or_a_resource_that_is_not_there_is_refused_without_a_crash(
    mcp: Mcp, caplog: pytest.LogCaptureFixture
) -> None:
    for ask in (lambda c: c.get_prompt("tr0ub4dor"), lambda c: c.read_resource("file:///tr0ub4dor")):
        with pytest.raises(MCPError) as refused:
            mcp.with_client(ask)
        assert refused.value.error.code == -32602
    assert "tr0ub4dor" not in caplog.text


def test_an_error_nobody_foresaw_says_nothing_of_its_cause(
    mcp: Mcp, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: object, __: object, request: Recall) -> None:
        raise RuntimeError(f"cannot recall {request.query}")

    monkeypatch.setattr(type(mcp.house.app.recaller), "recall", broken)
    result = mcp.call("read_memory", user_id="u", query="tr0ub4dor")
    assert result.is_error
    assert result.meta["rearview/problem"]["status"] == 500
    assert "tr0ub4dor" not in result.model_dump_json() + caplog.text
    assert "RuntimeError" in caplog.text
