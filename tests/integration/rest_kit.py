"""The REST entrance over a house on a temporary folder, with callers of their own keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from fastapi import FastAPI
from starlette.testclient import TestClient

from rearview.domain.principal import LOCAL
from rearview.entrypoints.rest.app import ROOMS, create_app
from rearview.usecases.commands import CreateKey
from rearview.usecases.fields import read
from tests.house import House, house

PROBLEM_FIELDS = {"type", "title", "status", "detail", "errors", "request_id"}


#: The rooms only hold on to the application until a call comes.
SPECS = [spec for room in ROOMS.values() for spec in room(cast("Any", None)).specs]


def as_described(method: str, path: str, status: int, body: dict[str, Any]) -> None:
    """Holds an answer to the model that the document shows for it: nothing missing, nothing more."""
    path = path.split("?")[0]
    for spec in SPECS:
        template = re.sub(r"\{\w+\}", "[^/]+", spec.path)
        if spec.method == method and re.fullmatch(template, path):
            spec.answers[status][0].model_validate(body)
            return


class Api:
    """One caller."""

    def __init__(self, app: FastAPI, house: House, key: str | None = None) -> None:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self.client = TestClient(app, headers=headers)
        self.house, self.app, self.key = house, app, key

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        if body is not None:
            more["json"] = body
        return self.client.request(method, path, **more)

    def ok(self, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        answer = self.call(method, path, body, **more)
        assert answer.status_code < 300, answer.text
        found: dict[str, Any] = answer.json()
        as_described(method, path, answer.status_code, found)
        return found

    def post(self, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        return self.ok("POST", path, body, **more)

    def get(self, path: str, **more: Any) -> dict[str, Any]:
        return self.ok("GET", path, **more)

    def write(self, content: str, user: str = "u", **more: Any) -> dict[str, Any]:
        return self.post("/v1/memories?wait=true", {"user_id": user, "content": content, **more})

    def refused(self, status: int, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        """The problem that answers, checked for its form."""
        answer = self.call(method, path, body, **more)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        found: dict[str, Any] = answer.json()
        assert set(found) == PROBLEM_FIELDS
        assert found["status"] == status
        assert found["request_id"] == answer.headers["x-request-id"]
        return found

    def broken(self, method: str, path: str, body: Any = None, status: int = 422, **more: Any) -> list[Any]:
        """(field, rule) of what a refused request breaks."""
        problem = self.refused(status, method, path, body, **more)
        return [(item["field"], item["rule"]) for item in problem["errors"]]


@contextmanager
def api(folder: Path, *, auth: bool = False, **more: Any) -> Iterator[Api]:
    """One local caller; with ``auth``, one that has no key."""
    with house(folder) as one:
        yield Api(create_app(one.app, auth=auth, **more), one)


def caller(api: Api, *namespaces: str, **more: Any) -> Api:
    """A caller with a new key for these namespaces."""
    request = read(CreateKey, {"name": "test", "namespaces": list(namespaces), **more})
    return Api(api.app, api.house, api.house.app.keyring.create(LOCAL, request)["key"])
