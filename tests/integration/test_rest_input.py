"""Bad input is refused with field and rule, and never half-stored; odd text is text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.integration.rest_kit import Api, api

BODY = '{"user_id":"u","content":"likes tea"'
JSON = {"content-type": "application/json"}
ULID = "01JWB5A8ZK3V9Q6M2T4X7C1D0E"


@pytest.fixture(scope="module")
def a(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with api(tmp_path_factory.mktemp("input")) as one:
        yield one


def nothing_is_stored(a: Api) -> bool:
    ledger = a.get("/v1/ledger?user_id=u")["items"]
    return not ledger and not a.get("/v1/memories?user_id=u&status=active,deleted,tentative")["items"]


@pytest.mark.parametrize(
    ("fields", "field", "rule"),
    [
        ({"content": ""}, "content", "not_blank"),
        ({"content": " \n\t"}, "content", "not_blank"),
        ({"content": "\u200b\u200d\ufeff"}, "content", "not_blank"),
        ({"content": "x" * 65_537}, "content", "max_bytes"),
        ({"content": "茶" * 22_000}, "content", "max_bytes"),
        ({"content": None}, "content", "string_type"),
        ({"content": ["a"]}, "content", "string_type"),
        ({"content": "a\x00b"}, "content", "no_nul"),
        ({"user_id": ""}, "user_id", "not_blank"),
        ({"user_id": 7}, "user_id", "string_type"),
        ({"user_id": " u"}, "user_id", "no_outer_space"),
        ({"user_id": "a\nb"}, "user_id", "no_control"),
        ({"user_id": "u" * 257}, "user_id", "max_characters"),
        ({"namespace": "a b"}, "namespace", "pattern"),
        ({"namespace": "../x"}, "namespace", "pattern"),
        ({"importance": 1.1}, "importance", "less_than_equal"),
        ({"importance": -0.1}, "importance", "greater_than_equal"),
        ({"importance": "high"}, "importance", "float_type"),
        ({"importance": True}, "importance", "float_type"),
        ({"importance": 10**90}, "importance", "less_than_equal"),
        ({"ttl_seconds": 0}, "ttl_seconds", "greater_than_equal"),
        ({"ttl_seconds": -60}, "ttl_seconds", "greater_than_equal"),
        ({"ttl_seconds": True}, "ttl_seconds", "int_type"),
        ({"ttl_seconds": 1.5}, "ttl_seconds", "int_type"),
        ({"ttl_seconds": 10**90}, "ttl_seconds", "less_than_equal"),
        ({"memory_type": "eternal"}, "memory_type", "literal_error"),
        ({"tags": "test"}, "tags", "list_type"),
        ({"tags": ["t"] * 51}, "tags", "too_long"),
        ({"tags": [""]}, "tags[0]", "not_blank"),
        ({"occurred_at": "2026-02-30T00:00:00Z"}, "occurred_at", "rfc3339"),
        ({"occurred_at": 1767225600}, "occurred_at", "string_type"),
        ({"timezone": "Mars/Olympus"}, "timezone", "iana_timezone"),
        ({"timezone": "../../etc/passwd"}, "timezone", "iana_timezone"),
        ({"metadata": [1]}, "metadata", "dict_type"),
        ({"metadata": {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}}, "metadata", "max_depth"),
        ({"metadata": {"a": "x" * 9000}}, "metadata", "max_bytes"),
        ({"source": "chat"}, "source", "object"),
        ({"source": {"decision_id": "nope"}}, "source.decision_id", "ulid"),
        ({"colour": 1}, "colour", "extra_forbidden"),
        ({"k" * 5000: 1}, "k" * 200, "extra_forbidden"),
        ({"a\r\nb": 1}, "a\ufffd\ufffdb", "extra_forbidden"),
    ],
)
def test_a_write_that_breaks_a_rule_is_refused_and_leaves_nothing(
    a: Api, fields: dict[str, Any], field: str, rule: str
) -> None:
    body = {"user_id": "u", "content": "likes tea", **fields}
    assert a.broken("POST", "/v1/memories?wait=true", body) == [(field, rule)]
    assert nothing_is_stored(a)


@pytest.mark.parametrize(
    ("raw", "field", "rule"),
    [
        (BODY + ',"importance":NaN}', "importance", "finite_number"),
        (BODY + ',"importance":1e999}', "importance", "finite_number"),
        (BODY + ',"importance":' + "9" * 5000 + "}", "importance", "max_digits"),
        (BODY + ',"content":"likes coffee"}', "content", "duplicate_key"),
        (BODY[:-1] + ' \\ud800"}', "content", "no_lone_surrogate"),
        (BODY + ',"metadata":{"\\udfff":1}}', "metadata.\ufffd", "no_lone_surrogate"),
        ('{"user_id":"u","content":"x","metadata":' + '{"a":' * 5000 + "1" + "}" * 5001, "body", "max_depth"),
        ("{", "body", "json"),
        ("[]", "body", "object"),
        ("", "body", "required"),
    ],
)
def test_a_body_that_is_no_sound_json_is_refused(a: Api, raw: str, field: str, rule: str) -> None:
    broken = a.broken("POST", "/v1/memories", status=400, content=raw.encode(), headers=JSON)
    assert broken == [(field, rule)]
    assert nothing_is_stored(a)


@pytest.mark.parametrize("value", ["1", "yes", "TRUE", "", "true&wait=true"])
def test_wait_is_a_strict_boolean(a: Api, value: str) -> None:
    body = {"user_id": "u", "content": "likes tea"}
    assert a.broken("POST", f"/v1/memories?wait={value}", body)[0][0] == "wait"
    assert nothing_is_stored(a)


def test_an_unknown_query_parameter_is_refused_on_every_method(a: Api) -> None:
    body = {"user_id": "u", "content": "likes tea"}
    for method, path, sent in (
        ("POST", "/v1/memories?wiat=true", body),
        ("POST", "/v1/recall?wait=true", {"user_id": "u", "query": "tea"}),
        ("GET", f"/v1/memories/{ULID}?full=1", None),
        ("DELETE", f"/v1/memories/{ULID}?force=1", None),
        ("POST", f"/v1/memories/{ULID}/restore?x", None),
    ):
        assert a.broken(method, path, sent)[0][1] == "extra_forbidden"


@pytest.mark.parametrize(
    ("fields", "field", "rule"),
    [
        ({"top_k": 0}, "top_k", "greater_than_equal"),
        ({"top_k": -1}, "top_k", "greater_than_equal"),
        ({"top_k": 5000}, "top_k", "less_than_equal"),
        ({"top_k": True}, "top_k", "int_type"),
        ({"query": "  "}, "query", "not_blank"),
        ({"user_id": ""}, "user_id", "not_blank"),
        ({"zz": 1}, "zz", "extra_forbidden"),
        ({"weights": {}}, "weights", "positive_sum"),
        ({"profile": "best"}, "profile", "literal_error"),
        ({"token": "garbage"}, "token", "token"),
    ],
)
def test_a_recall_that_breaks_a_rule_is_refused(
    a: Api, fields: dict[str, Any], field: str, rule: str
) -> None:
    assert a.broken("POST", "/v1/recall", {"user_id": "u", "query": "tea", **fields}) == [(field, rule)]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v1/memories/..%2f..%2fetc", "id"),
        ("/v1/memories/%00", "id"),
        ("/v1/memories/nope", "id"),
        ("/v1/memories/%ff/history", "id"),
        ("/v1/decisions/nope", "id"),
        ("/v1/audits/nope", "id"),
        ("/v1/writes/nope", "token"),
        ("/v1/sessions/%00?user_id=u", "session_id"),
        ("/v1/sessions/s", "user_id"),
    ],
)
def test_a_path_that_names_nothing_possible_is_refused(a: Api, path: str, field: str) -> None:
    assert a.broken("GET", path)[0][0] == field


def test_a_body_where_none_belongs_may_only_be_empty(a: Api) -> None:
    at = f"/v1/memories/{ULID}/restore"
    a.refused(404, "POST", at)
    a.refused(404, "POST", at, {})
    assert a.broken("POST", at, {"force": True}) == [("force", "extra_forbidden")]


def test_what_was_sent_is_not_echoed(a: Api) -> None:
    for body in (
        {"user_id": "u", "content": 1, "kind": "sec-ret"},
        {"user_id": "u", "content": "x", "importance": "sec-ret"},
    ):
        assert "sec-ret" not in a.call("POST", "/v1/memories", body).text
    raw = b'{"user_id": "u", "content": "sec-ret" "'
    assert "sec-ret" not in a.call("POST", "/v1/memories", content=raw, headers=JSON).text
    assert "sec-ret" not in a.call("GET", "/v1/memories?user_id=u&cursor=sec-ret&limit=sec-ret").text


@pytest.mark.parametrize(
    "text",
    [
        "请帮我记住：我对花生过敏",
        "I moved to Köln 🥨 in May",
        'name: O\'Brien; "quoted" (x) * AND OR NOT NEAR',
        "\ufdfa is a ligature that I like",
        "𠮷野家 is my favourite restaurant",
        "مرحبا، أحب الشاي بالنعناع",
        "ｆｕｌｌ　ｗｉｄｔｈ",
        "e\u0301clair",
        "👩‍👩‍👧‍👦 is my family",
        "<script>alert(1)</script> is my password",
    ],
)
def test_odd_text_is_kept_and_found_as_it_is(a: Api, text: str) -> None:
    user = f"odd {text}"
    written = a.write(text, user=user, admission="force")
    assert written["memory"]["content"] == unicodedata.normalize("NFC", text)
    hits = a.post("/v1/recall", {"user_id": user, "query": text})["hits"]
    assert [hit["id"] for hit in hits] == [written["id"]]


@pytest.mark.parametrize(
    "query",
    [
        'say "hi',
        "memory:safe",
        "foo AND bar",
        "(python",
        "don't",
        "GB/s",
        "*",
        "。",
        "🥨",
        "NEAR(a, 2)",
        "-tea",
        "^a",
    ],
)
def test_a_query_is_plain_text_whatever_it_looks_like(a: Api, query: str) -> None:
    user = f"q{quote(query)}"
    a.write("I like green tea", user=user)
    assert len(a.post("/v1/recall", {"user_id": user, "query": query})["hits"]) == 1


def test_a_session_id_may_hold_anything_printable(a: Api) -> None:
    for session in ("a/b", "..", "a%2Fb", "会 话?#&=+", "s" * 256):
        turns = [{"content": "I moved to Lisbon last month."}]
        a.post("/v1/turns", {"user_id": "s", "session_id": session, "turns": turns})
        shown = a.get("/v1/sessions/" + quote(session, safe="").replace(".", "%2E"), params={"user_id": "s"})
        assert shown["id"] == session


@pytest.mark.parametrize(
    "field", ["content", "kind", "tags", "importance", "confidence", "valid_from", "metadata", "confirmed"]
)
def test_a_null_that_clears_nothing_is_refused_and_is_no_version(a: Api, field: str) -> None:
    written = a.write("I prefer the window seat.", user="nulls")
    at = f"/v1/memories/{written['id']}"
    assert a.broken("PATCH", at, {field: None, "valid_to": None}) == [(field, "not_null")]
    assert a.get(at)["version"] == written["version"]


@pytest.mark.parametrize("body", [{}, {"confirmed": False}, {"version": 1, "reason": "no reason"}])
def test_an_edit_that_changes_nothing_is_refused(a: Api, body: dict[str, Any]) -> None:
    written = a.write("The window seat, please.", user="idle")
    at = f"/v1/memories/{written['id']}"
    assert [rule for _, rule in a.broken("PATCH", at, body)] == ["not_empty"]
    assert a.get(at)["version"] == written["version"]
