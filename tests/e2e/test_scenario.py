"""The same story told to ``rearview serve`` and to the stack as deployed: the same answers, and every route taken."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.e2e.scenario import Story, tell
from tests.e2e.targets import Client, OnAws, Served, Target

pytestmark = pytest.mark.aws

_told: dict[str, Story] = {}


def told(target: Target) -> Story:
    """The story of a target, told once."""
    if target.name not in _told:
        _told[target.name] = tell(Client(target))
    return _told[target.name]


@cache
def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{\w+\}", "[^/]+", template))


def test_the_deployed_stack_answers_as_serve_does(served: Served, deployed: OnAws) -> None:
    here, there = told(served), told(deployed)
    assert len(there.steps) == len(here.steps)
    for mine, yours in zip(there.steps, here.steps, strict=True):
        assert mine == yours


def test_every_route_of_the_document_is_driven(target: Target) -> None:
    client = Client(target)
    document = client.get("/openapi.json")
    routes = {
        (method.upper(), path)
        for path, item in document["paths"].items()
        for method in item
        if method != "parameters"
    }
    taken = told(target).client.taken
    missed = {
        (method, path)
        for method, path in routes
        if not any(how == method and _pattern(path).fullmatch(where) for how, where in taken)
    }
    assert missed == set()


def test_no_step_of_the_story_meets_a_fault_of_ours(target: Target) -> None:
    assert [step for step in told(target).steps if step[1] >= 500] == []
