"""The console's files: what is served at ``/console``, under which policy, and nothing beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from rearview.entrypoints.rest.app import create_app
from rearview.entrypoints.rest.console import FILES
from tests.house import house
from tests.integration.rest_kit import Api, api

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@pytest.fixture
def a(tmp_path: Path) -> Iterator[Api]:
    """A caller without a key, where keys are asked for."""
    with api(tmp_path, auth=True) as one:
        yield one


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/console", "text/html; charset=utf-8"),
        ("/console/index.html", "text/html; charset=utf-8"),
        ("/console/app.js", "text/javascript; charset=utf-8"),
        ("/console/app.css", "text/css; charset=utf-8"),
        ("/console/LICENSES.txt", "text/plain; charset=utf-8"),
    ],
)
def test_each_file_has_its_type_and_the_strict_policy_and_needs_no_key(a: Api, path: str, kind: str) -> None:
    answer = a.call("GET", path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == kind
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-cache"
    assert len(answer.content) > 100


def test_a_file_that_the_browser_has_already_is_not_sent_again(a: Api) -> None:
    tag = a.call("GET", "/console/app.js").headers["etag"]
    for known in (tag, f'"other", W/{tag}', "*"):
        again = a.call("GET", "/console/app.js", headers={"if-none-match": known})
        assert again.status_code == 304
        assert again.content == b""
        assert again.headers["etag"] == tag
        assert again.headers["content-security-policy"] == POLICY
    assert a.call("GET", "/console/app.js", headers={"if-none-match": '"stale"'}).status_code == 200
    assert a.call("GET", "/console/app.css").headers["etag"] != tag


def test_head_tells_the_length_and_sends_nothing(a: Api) -> None:
    whole = a.call("GET", "/console/app.css")
    head = a.call("HEAD", "/console/app.css")
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == str(len(whole.content))
    assert head.headers["etag"] == whole.headers["etag"]


def test_a_slash_too_many_leads_back_without_naming_host_or_prefix(a: Api) -> None:
    answer = a.call("GET", "/console/", follow_redirects=False)
    assert answer.status_code == 308
    assert answer.headers["location"] == "../console"


@pytest.mark.parametrize(
    "path",
    [
        "/console/nothing.js",
        "/console/../pyproject.toml",
        "/console/..%2f__init__.py",
        "/console/%2e%2e/settings.py",
        "/console/..%5c..%5csettings.py",
        "/console//etc/passwd",
        "/console/app.js/",
        "/console/APP.JS",
        "/console/app.js%00",
        "/console/%ff",
        "/console/console/app.js",
    ],
)
def test_nothing_but_its_files_is_served(a: Api, path: str) -> None:
    assert a.refused(404, "GET", path)["title"] == "Not found"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_it_is_only_read(a: Api, method: str) -> None:
    a.refused(405, method, "/console")
    a.refused(405, method, "/console/app.js")


def test_the_page_holds_no_script_and_no_style_of_its_own_and_names_everything_relative_to_itself() -> None:
    page = files("rearview").joinpath("console", "index.html").read_text("utf-8")
    assert re.findall(r"<script[^>]*>([^<]*)</script>", page) == [""]
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", page)
    named = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert sorted(item for item in named if not item.startswith("data:")) == [
        "console/app.css",
        "console/app.js",
    ]
    script = files("rearview").joinpath("console", "app.js").read_text("utf-8")
    assert not re.search(r"\beval\(|new Function\(", script)


def test_the_files_of_the_package_are_those_that_are_served_and_stay_small() -> None:
    there = {item.name: len(item.read_bytes()) for item in files("rearview").joinpath("console").iterdir()}
    assert set(there) == set(FILES)
    assert sum(there.values()) < 400_000


def test_only_the_function_that_reads_serves_it(tmp_path: Path) -> None:
    with house(tmp_path) as one:
        for room, status in (("read", 200), ("write", 404), ("trace", 404)):
            assert Api(create_app(one.app, rooms=(room,)), one).call("GET", "/console").status_code == status
