"""The console as `serve` and the deployed stack hand it out: below a stage, unharmed by the gateway."""

from __future__ import annotations

import re
from importlib.resources import files
from urllib.parse import urljoin

import httpx
import pytest

from rearview.entrypoints.rest.console import FILES, POLICY
from tests.e2e.targets import Client, Target

pytestmark = pytest.mark.aws


def test_the_page_and_all_it_names_come_from_beside_it(client: Client, target: Target) -> None:
    page = client.call("GET", "/console", headers={"x-api-key": ""})
    assert page.status_code == 200
    assert page.headers["content-type"] == FILES["index.html"]
    named = re.findall(r'(?:src|href)="(console/[^"]+)"', page.text)
    assert sorted(named) == ["console/app.css", "console/app.js"]
    for name in named:
        # As a browser does: relative to the page, below whatever stage it has.
        answer = httpx.get(urljoin(f"{target.url}/console", name), timeout=60)
        plain = name.removeprefix("console/")
        assert answer.status_code == 200
        assert answer.headers["content-type"] == FILES[plain]
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.content == files("rearview").joinpath("console", plain).read_bytes()


def test_what_the_console_does_not_have_is_a_problem(client: Client) -> None:
    answer = client.call("GET", "/console/nothing.js")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_browser_keeps_its_copy(client: Client) -> None:
    first = client.call("GET", "/console/app.js")
    again = client.call("GET", "/console/app.js", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
