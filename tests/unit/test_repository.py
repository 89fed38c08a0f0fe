"""The repository keeps its word: documents that match the code, two commands, no trace of one machine."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import cast

import pytest

from rearview.entrypoints.cli.main import app as commands
from rearview.entrypoints.rest.app import ROOMS
from rearview.settings import Settings
from rearview.usecases.app import Rearview

ROOT = Path(__file__).resolve().parents[2]
MAX_LINES = 300
SKIPPED = {
    ".git", ".venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".schemathesis",
    "dist", "build", ".aws-sam", "rearview-data", "node_modules",
}  # fmt: skip

#: Absolute paths of a home or a workspace, and hosts that packages come from.
MACHINE_PATH = re.compile(
    r"(?<![\w.~}$/-])/(?:" + "|".join(("work", "root", "opt/wheels", r"home/\w+", r"Users/\w+")) + ")/"
)
REGISTRY_HOST = re.compile(
    r"\b(?:[\w-]+\.)*(?:"
    + "|".join((r"py" + r"pi\.org", r"python" + r"hosted\.org", r"registry\.npm" + r"js\.org"))
    + r")\b"
)
ADR_PARTS = ("## Context", "## Decision", "## Consequences", "## Rejected")


@cache
def files() -> tuple[Path, ...]:
    """Every file of the repository; what git ignores by name is left out."""
    found = []
    for folder, names, here in os.walk(ROOT):
        names[:] = [name for name in names if name not in SKIPPED]
        found += [Path(folder) / name for name in here]
    return tuple(sorted(found))


def texts() -> Iterator[tuple[Path, str]]:
    for path in files():
        try:
            yield path.relative_to(ROOT), path.read_text("utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue


def traces(text: str) -> list[str]:
    """Lines that name a path of some machine or a package registry."""
    return [line for line in text.splitlines() if MACHINE_PATH.search(line) or REGISTRY_HOST.search(line)]


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def sleeps(source: str) -> list[int]:
    """Lines that sleep for a fixed time and hope. ``sleep(0)`` only yields; a drawn moment (of a kill) is no wait."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    return [
        node.lineno
        for node in calls
        if ast.unparse(node.func).split(".")[-1] == "sleep"
        if node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value != 0
    ]


def python_files(*folders: str) -> list[Path]:
    return [path for path in files() if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in folders]


def test_a_module_has_at_most_three_hundred_lines() -> None:
    lengths = {
        path.relative_to(ROOT): len(path.read_text("utf-8").splitlines())
        for path in python_files("layers", "functions", "tests")
    }
    assert {str(path): lines for path, lines in lengths.items() if lines > MAX_LINES} == {}


def test_no_file_names_a_machine_or_a_registry() -> None:
    found = {str(path): traces(text)[:3] for path, text in texts() if path.name != "uv.lock" and traces(text)}
    assert found == {}


def test_the_lock_names_the_public_registry_alone() -> None:
    hosts = set(re.findall(r"https?://([^/\"]+)", read("uv.lock")))
    assert hosts == {"py" + "pi.org", "files.python" + "hosted.org"}


@pytest.mark.parametrize(
    "line",
    [
        "see /" + "work/main/x.py",
        "HOME=/" + "root/x",
        "'/" + "home/ann/x'",
        "https://py" + "pi.org/simple",
        "(/" + "Users/ann/x)",
    ],
)
def test_a_trace_of_a_machine_is_found(line: str) -> None:
    assert traces(line) == [line]


@pytest.mark.parametrize(
    "line",
    [
        "~/wo" + "rk/tree",
        "frame/wo" + "rk/x",
        "$HOME/wo" + "rk/x",
        "/work" + "space/x",
        "docs/home/index.md",
        "pip install uv",
    ],
)
def test_what_is_no_trace_passes(line: str) -> None:
    assert traces(line) == []


def test_tests_do_not_sleep() -> None:
    found = {str(path.relative_to(ROOT)): sleeps(path.read_text("utf-8")) for path in python_files("tests")}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_a_sleep_is_found() -> None:
    source = "time.sleep(1)\nevent.wait(1)\ntime.sleep(0)\ntime.sleep(draw())\nasync def f():\n    await sleep(0.1)\n"
    assert sleeps(source) == [1, 6]


@pytest.mark.parametrize("ending", ["rearview demo", "pytest"])
def test_the_readme_leads_with_the_two_commands(ending: str) -> None:
    commands = re.findall(r"^python3 -m pip install uv && .*$", read("README.md"), re.MULTILINE)
    assert [command for command in commands if command.endswith(f" {ending}")]
    assert read("README.md").index(commands[0]) < 1500


def test_python_is_not_pinned_for_people_who_clone() -> None:
    assert not (ROOT / ".python-version").exists()
    project = tomllib.loads(read("pyproject.toml"))
    assert project["project"]["requires-python"] == ">=3.11"
    assert project["tool"]["uv"]["default-groups"] == []


def test_the_lock_knows_every_dependency_of_the_project() -> None:
    project = tomllib.loads(read("pyproject.toml"))
    locked = next(
        item for item in tomllib.loads(read("uv.lock"))["package"] if item["name"] == "rearview-memory"
    )
    named = {
        "": project["project"]["dependencies"],
        **project["project"]["optional-dependencies"],
        **project["dependency-groups"],
    }
    requires = [
        *locked["metadata"]["requires-dist"],
        *(one for group in locked["metadata"]["requires-dev"].values() for one in group),
    ]
    wanted = {
        re.split(r"[<>=!~\[; ]", item)[0]
        for group in named.values()
        for item in group
        if isinstance(item, str)
    }
    assert locked["version"] == project["project"]["version"]
    assert wanted == {item["name"] for item in requires}


def test_the_pipeline_runs_the_same_script_as_people_do() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    subprocess.run(["bash", "-n", ROOT / ".ci" / "run"], check=True)
    assert "- run: .ci/run" in read(".github/workflows/ci.yml")


def test_every_setting_is_documented() -> None:
    told = read("docs/operations.md")
    assert [name for name in Settings.model_fields if f"`REARVIEW_{name.upper()}`" not in told] == []


def test_every_route_is_documented() -> None:
    told = read("docs/api.md")
    specs = [spec for room in ROOMS.values() for spec in room(cast("Rearview", None)).specs]
    assert specs
    assert [spec.path for spec in specs if f"\n### {spec.method} {spec.path}\n" not in told] == []


def test_every_command_is_in_the_readme() -> None:
    names = {item.name or getattr(item.callback, "__name__", "") for item in commands.registered_commands} - {
        "version"
    }
    assert "serve" in names
    assert [
        name for name in sorted(names) if not re.search(rf"`(?:rearview )?{name}`", read("README.md"))
    ] == []


def test_links_between_documents_lead_somewhere() -> None:
    broken = [
        f"{path}: {target}"
        for path, text in texts()
        if path.suffix == ".md"
        for target in re.findall(r"\]\((?!https?:|mailto:|#)([^)\s#]+)", text)
        if not (ROOT / path.parent / target).exists()
    ]
    assert broken == []


def test_decisions_are_recorded_in_one_form() -> None:
    records = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
    numbers = [int(path.name[:4]) for path in records]
    assert numbers == list(range(1, len(records) + 1))
    for path in records:
        text = path.read_text("utf-8")
        assert [part for part in ADR_PARTS if part not in text] == [], path.name
        assert text.startswith(f"# {path.name[:4]}"), path.name


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    assert "## [Unreleased]" in read("CHANGELOG.md")
