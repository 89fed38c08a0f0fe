"""Both targets, once a session: they are expensive, so the tests keep apart by their users."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.e2e.targets import OPEN, Client, OnAws, Served, Target, on_aws

_numbers = count(1)


@pytest.fixture(scope="session", autouse=True)
def _closing() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    one = Served(tmp_path_factory.mktemp("served"))
    yield one
    one.stop()


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnAws]:
    folder = Path(os.environ.get("RV_E2E_FOLDER") or tmp_path_factory.mktemp("aws"))
    with on_aws(folder) as one:
        yield one


@pytest.fixture(params=["serve", "deployed"])
def target(request: pytest.FixtureRequest) -> Target:
    """Each of the two."""
    one: Target = request.getfixturevalue("served" if request.param == "serve" else "deployed")
    return one


@pytest.fixture
def client(target: Target) -> Client:
    return Client(target)


@pytest.fixture
def user() -> str:
    """A user nobody else has."""
    return f"user-{os.getpid()}-{next(_numbers)}"
