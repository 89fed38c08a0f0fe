"""What a store reads back is what was written, whatever a record may hold."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearview.adapters.bodies import read_body

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("a键\x00 é", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text("ab键", max_size=3), VALUES, max_size=5))
def test_a_body_comes_back_as_it_was_written(body: dict[str, Any]) -> None:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    # ``repr``: -0.0 equals 0.0, and True equals 1.
    assert repr(read_body(text)) == repr(body)


@pytest.mark.parametrize("number", [0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.0, 2**53 + 1, 10**40])
def test_a_number_comes_back_to_the_last_digit(number: float) -> None:
    assert repr(read_body(json.dumps({"n": number}))["n"]) == repr(number)


@pytest.mark.parametrize("text", ["", "{", '{"a":1}x'])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="line 1"):
        read_body(text)
