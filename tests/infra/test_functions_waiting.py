"""A caller that waits for its write gets an answer before API Gateway gives up."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from tests.house import House
from tests.infra.test_functions import Context, Letters, _logging, home, letters, loops, request, rest

__all__ = ["_logging", "home", "letters", "loops"]


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/memories/batch", "/v1/turns"])
def test_a_waiting_writer_is_answered_before_the_function_is_ended_however_long_the_writing_took(
    home: House, letters: Letters, loops: None, path: str
) -> None:
    said: dict[str, Any] = {"user_id": "u", "content": "我对花生过敏"}
    bodies: dict[str, dict[str, Any]] = {
        "/v1/memories": said,
        "/v1/memories/batch": {"items": [said]},
        "/v1/turns": {"user_id": "u", "turns": [{"role": "user", "content": said["content"]}]},
    }
    event = request("POST", path, json.dumps(bodies[path]).encode())
    event["multiValueQueryStringParameters"] = {"wait": ["true"]}
    started = time.monotonic()
    answer = rest(home)(event, Context(milliseconds=4_000))
    assert time.monotonic() - started < 10
    assert answer["statusCode"] in (200, 202), answer["body"]
    assert '"pending":true' in answer["body"]
