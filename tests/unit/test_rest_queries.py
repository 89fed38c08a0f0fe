"""Query strings and paths."""

from __future__ import annotations

import pytest

from rearview.entrypoints.rest.paths import decoded
from rearview.entrypoints.rest.queries import pairs_of, read_query
from rearview.entrypoints.rest.wire import canonical_path
from rearview.errors import InvalidInput
from rearview.usecases.questions import ListMemories

ULID = "01JWB5A8ZK3V9Q6M2T4X7C1D0E"


def listed(query: str) -> ListMemories:
    return read_query(ListMemories, pairs_of(query.encode()))


def broken(query: str) -> list[tuple[str, str]]:
    with pytest.raises(InvalidInput) as caught:
        listed(query)
    return [(item.field, item.rule) for item in caught.value.errors]


def test_values_are_read_as_the_type_of_their_field() -> None:
    found = listed("user_id=%E7%B1%B3%E6%8B%89&limit=7&tag=a%2Cb&session_id=1")
    assert (found.user_id, found.limit, found.tag, found.session_id) == ("米拉", 7, "a,b", "1")


@pytest.mark.parametrize(
    "query", ["status=active&status=deleted", "status=active,deleted", "status=active%2Cdeleted"]
)
def test_a_list_may_be_repeated_or_comma_separated(query: str) -> None:
    assert listed("user_id=u&" + query).status == ["active", "deleted"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [("user_id", "missing")]),
        ("user_id=u&limit=true", [("limit", "int_type")]),
        ("user_id=u&limit=1.0", [("limit", "int_type")]),
        ("user_id=u&limit=", [("limit", "int_type")]),
        ("user_id=u&limit=%D9%A1", [("limit", "int_type")]),
        ("user_id=u&limit=" + "9" * 5000, [("limit", "int_type")]),
        ("user_id=u&limit=0", [("limit", "greater_than_equal")]),
        ("user_id=u&limit=201", [("limit", "less_than_equal")]),
        ("user_id=u&user_id=v", [("user_id", "once")]),
        ("user_id=u&colour=red", [("colour", "extra_forbidden")]),
        ("user_id=u&status=", [("status[0]", "literal_error")]),
        ("user_id=%00", [("user_id", "no_nul")]),
        ("user_id=%ff", [("query", "utf8")]),
        ("user_id=u" + "&x=1" * 300, [("query", "max_length")]),
    ],
)
def test_a_broken_parameter_is_named_with_its_rule(query: str, expected: list[tuple[str, str]]) -> None:
    assert broken(query) == expected


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b"/v1/sessions/a%2Fb", "/v1/sessions/a%2Fb"),
        (b"/v1/%6demories", "/v1/memories"),
        (b"/v1/sessions/%2f..%2F", "/v1/sessions/%2F..%2F"),
        ("/v1/sessions/会".encode(), "/v1/sessions/%E4%BC%9A"),
        (b"/v1/sessions/a%zzb?x=/y", "/v1/sessions/a%25zzb"),
    ],
)
def test_a_path_has_one_spelling_and_keeps_encoded_slashes_in_their_segment(raw: bytes, path: str) -> None:
    assert canonical_path(raw) == path


def test_path_parameters_are_decoded_and_of_their_kind() -> None:
    assert decoded({"id": ULID, "session_id": "a%2Fb%20%E4%BC%9A"}) == {"id": ULID, "session_id": "a/b 会"}


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        ({"id": "nope"}, "ulid"),
        ({"id": ULID.lower()}, "ulid"),
        ({"id": ULID + "%0A"}, "ulid"),
        ({"id": "%FF"}, "utf8"),
        ({"session_id": "a%00b"}, "no_nul"),
        ({"session_id": "%20"}, "not_blank"),
        ({"session_id": "a" * 257}, "max_characters"),
        ({"token": "a" * 2001}, "max_length"),
    ],
)
def test_a_broken_path_parameter_is_named_with_its_rule(raw: dict[str, str], rule: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        decoded(raw)
    assert [(item.field, item.rule) for item in caught.value.errors] == [(next(iter(raw)), rule)]
