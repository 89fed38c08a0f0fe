"""The strict JSON reader."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.entrypoints.rest.bodies import MAX_DEPTH, MAX_DIGITS, parse
from rearview.errors import FieldError, MalformedBody


def broken(raw: str | bytes) -> list[tuple[str, str]]:
    with pytest.raises(MalformedBody) as caught:
        parse(raw.encode() if isinstance(raw, str) else raw)
    return [(item.field, item.rule) for item in caught.value.errors]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), JSON, max_size=5), st.booleans())
def test_what_is_json_comes_out_as_it_went_in(value: dict[str, Any], ascii_only: bool) -> None:
    assert parse(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.binary(max_size=200) | st.text('{}[]":,\\u0d8tfn1e.-+ ', max_size=80).map(str.encode))
def test_any_bytes_are_read_or_refused_with_a_field_and_a_rule(raw: bytes) -> None:
    try:
        errors = [] if isinstance(parse(raw), dict) else [FieldError("", "", "")]
    except MalformedBody as error:
        errors = list(error.errors)
    assert all(item.field and item.rule for item in errors)


def test_a_byte_order_mark_is_skipped() -> None:
    assert parse(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('{"a": 1, "a": 2}', [("a", "duplicate_key")]),
        ('{"m": {"b": [{"c": 1, "c": 1}]}}', [("m.b[0].c", "duplicate_key")]),
        ('{"a": NaN}', [("a", "finite_number")]),
        ('{"a": [1, -Infinity]}', [("a[1]", "finite_number")]),
        ('{"a": 1e999}', [("a", "finite_number")]),
        ('{"a": -1e999}', [("a", "finite_number")]),
        ('{"a": ' + "9" * 5000 + "}", [("a", "max_digits")]),
        ('{"a": "x\\ud800"}', [("a", "no_lone_surrogate")]),
        ('{"a": "\\udc00\\ud83d"}', [("a", "no_lone_surrogate")]),
        ('{"\\ud800": 1}', [("\ufffd", "no_lone_surrogate")]),
        ('{"a": NaN, "b": "\\uDFFF"}', [("a", "finite_number"), ("b", "no_lone_surrogate")]),
    ],
)
def test_what_two_readers_may_read_differently_is_refused_by_name(
    raw: str, expected: list[tuple[str, str]]
) -> None:
    assert broken(raw) == expected


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        ("", "required"),
        (" \n", "required"),
        ("{", "json"),
        ('{"a": 1} {}', "json"),
        ("{'a': 1}", "json"),
        ('{"a": "\x00"}', "json"),
        ('{"a": "tab\there"}', "json"),
        ("[]", "object"),
        ("null", "object"),
        ('"text"', "object"),
        ("12", "object"),
        (b'{"a": "\xff"}', "utf8"),
        (b'{"a": "\xed\xa0\x80"}', "utf8"),
        ('{"a": 1}'.encode("utf-16"), "utf8"),
        ('{"a": 1}'.encode("utf-16-le"), "json"),
    ],
)
def test_what_is_no_json_object_is_refused_as_a_body(raw: str | bytes, rule: str) -> None:
    assert broken(raw) == [("body", rule)]


@pytest.mark.parametrize(
    "raw",
    [
        '{"a":' * 5000 + "1" + "}" * 5000,
        '{"a":' + "[" * 5000 + "]" * 5000 + "}",
        '{"a":' * 5000,
        "[" * 500_000,
    ],
)
def test_nesting_is_bounded_whatever_the_interpreter_can_take(raw: str) -> None:
    assert broken(raw) == [("body", "max_depth")]


def test_brackets_inside_of_texts_are_no_nesting() -> None:
    text = '[{"' * 500
    assert parse(json.dumps({"a": text, "b": "\\" * 99}).encode()) == {"a": text, "b": "\\" * 99}


def test_the_bounds_themselves_are_let_in() -> None:
    number = int("9" * MAX_DIGITS)
    assert parse(f'{{"a": {number}}}'.encode()) == {"a": number}
    assert parse(b'{"a":' + b"[" * (MAX_DEPTH - 1) + b"]" * (MAX_DEPTH - 1) + b"}")


@pytest.mark.parametrize("unit", ['"', "\\", '"\\', "[],", '{"', '"a":[', "\\ud800"])
def test_a_megabyte_of_anything_is_read_in_linear_time(unit: str) -> None:
    raw = ('{"a":"' + unit * (1_000_000 // len(unit))).encode()
    started = time.process_time()
    broken(raw)
    assert time.process_time() - started < 2.0


def test_a_problem_shows_neither_the_text_nor_an_endless_key() -> None:
    with pytest.raises(MalformedBody) as caught:
        parse(json.dumps({"k" * 5000: {"a": "secret \ud800"}}).encode())
    assert "secret" not in caught.value.detail
    assert len(caught.value.errors[0].field) < 200
