"""Builds a Lambda layer: what runs, for one architecture, with bytecode; nothing that only development needs.

    python3.13 build.py core  --architecture arm64  --out FOLDER
    python3.13 build.py model --architecture x86_64 --out FOLDER
    python3.13 build.py function --source functions/write --out FOLDER

A function's folder gets a ``revision`` that changes with the package: SAM publishes a new version when a function's
code changes, and would not notice that its layer did. ``sam build`` runs it through the Makefile beside it. It must run under the Python that the functions run on, because
bytecode belongs to one version. It needs `uv` (on the PATH or as a module) or pip, and the requirements beside it.
"""

from __future__ import annotations

import argparse
import compileall
import hashlib
import os
import py_compile
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
RUNTIME = (3, 13)
#: Amazon Linux 2023 has glibc 2.34.
GLIBC = 34
MACHINES = {"arm64": "aarch64", "x86_64": "x86_64"}
#: The services whose descriptions botocore keeps: those that the adapters call.
SERVICES = (
    "dynamodb",
    "sqs",
    "s3",
    "ssm",
    "secretsmanager",
    "sts",
    "bedrock-runtime",
    "bedrock-agent-runtime",
)
#: Whole folders (below a package) that no import reaches.
FOLDERS = {"tests", "test", "testing", "_pyinstaller", "f2py", "examples", "include"}
SUFFIXES = {".pyi", ".c", ".h", ".pxd", ".pyx", ".a", ".pyc", ".typed", ".cmake", ".map"}
#: Of a distribution's own folder: what is read at run time, and what the licences ask for.
DIST_INFO = re.compile(
    r"(METADATA|entry_points\.txt|LICEN[CS]E.*|NOTICE.*|COPYING.*|licenses)\Z", re.IGNORECASE
)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("core", "model", "function"))
    parser.add_argument("--architecture", choices=tuple(MACHINES), default="arm64")
    parser.add_argument("--source", type=Path, help="the folder of a function")
    parser.add_argument("--out", type=Path, required=True, help="the layer's folder; `python/` is made in it")
    parser.add_argument("--requirements", type=Path, default=HERE / "requirements.txt")
    asked = parser.parse_args()
    if sys.version_info[:2] != RUNTIME:
        sys.stderr.write(f"needs Python {RUNTIME[0]}.{RUNTIME[1]}, runs on {sys.version.split()[0]}\n")
        return 2
    if asked.what == "function":
        build_function(asked.source, asked.out)
    else:
        build(asked.what, asked.architecture, asked.out, asked.requirements)
    return 0


def build_function(source: Path, out: Path) -> None:
    """A function's modules with bytecode, and the revision of what they call."""
    out.mkdir(parents=True, exist_ok=True)
    for path in source.glob("*.py"):
        shutil.copyfile(path, out / path.name)
    (out / "revision").write_text(revision() + "\n")
    compile_all(out, "/var/task")


def revision() -> str:
    """Changes whenever package or pins do."""
    digest = hashlib.sha256()
    shipped = (".py", ".toml", ".html", ".js", ".css", ".txt")
    files = [path for path in (HERE / "rearview").rglob("*") if path.suffix in shipped]
    for path in sorted([*files, *HERE.glob("requirements*.txt"), HERE / "build.py"]):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(HERE).as_posix()} {len(content)} ".encode() + content)
    return digest.hexdigest()


def build(layer: str, architecture: str, out: Path, requirements: Path) -> Path:
    """Fills ``out/python`` and answers it. ``layer``: ``core`` (package and dependencies) or ``model`` (weights)."""
    wanted = os.environ.get("REARVIEW_LAYERS", "all").split(",")
    if "all" not in wanted and f"{layer}-{architecture}" not in wanted:
        # The template's condition leaves this layer out of the stack; `sam build` builds all it sees.
        out.mkdir(parents=True, exist_ok=True)
        (out / "not-built").write_text("left out by REARVIEW_LAYERS\n")
        return out
    python = out / "python"
    if python.exists():
        shutil.rmtree(python)
    python.mkdir(parents=True)
    install(python, architecture, requirements)
    if layer == "core":
        shutil.copytree(HERE / "rearview", python / "rearview", ignore=shutil.ignore_patterns("__pycache__"))
        stamp(python, version_of(requirements))
    prune(python)
    compile_all(python)
    return python


def install(python: Path, architecture: str, requirements: Path) -> None:
    """Exactly what the requirements pin, by hash, as wheels for that machine."""
    machine = MACHINES[architecture]
    version = f"{RUNTIME[0]}.{RUNTIME[1]}"
    common = ["--no-deps", "--require-hashes", "--target", str(python), "-r", str(requirements)]
    uv = _uv()
    if uv:
        command = [
            *uv,
            "pip",
            "install",
            "--quiet",
            "--no-config",
            "--only-binary",
            ":all:",
            "--link-mode",
            "copy",
        ]
        command += [
            "--python-platform",
            f"{machine}-manylinux_2_{GLIBC}",
            "--python-version",
            version,
            *common,
        ]
    else:
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-compile",
            "--only-binary",
            ":all:",
        ]
        tags = [f"manylinux_2_{minor}" for minor in range(GLIBC, 16, -1)] + ["manylinux2014"]
        command += [part for tag in tags for part in ("--platform", f"{tag}_{machine}")]
        command += ["--implementation", "cp", "--python-version", version, *common]
    environment = {
        key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH")
    }
    subprocess.run(command, check=True, env=environment)  # noqa: S603 - the command is ours


def _uv() -> list[str]:
    """A uv that runs; a name on the PATH may be a shim that does not."""
    for command in (["uv"], [sys.executable, "-m", "uv"], ["python3", "-m", "uv"]):
        try:
            subprocess.run([*command, "--version"], check=True, capture_output=True)  # noqa: S603
        except (OSError, subprocess.CalledProcessError):
            continue
        return command
    return []


def version_of(requirements: Path) -> str:
    """The version of the package, which the first line of its requirements carries."""
    found = re.match(r"# rearview-memory (\S+)", requirements.read_text())
    if found is None:
        raise SystemExit(f"{requirements} does not begin with '# rearview-memory VERSION'")
    return found[1]


def stamp(python: Path, version: str) -> None:
    """So that ``importlib.metadata`` knows the package."""
    folder = python / f"rearview_memory-{version}.dist-info"
    folder.mkdir()
    text = f"Metadata-Version: 2.4\nName: rearview-memory\nVersion: {version}\n"
    (folder / "METADATA").write_text(text)


def prune(python: Path) -> None:
    """Takes out what no import reaches."""
    shutil.rmtree(python / "bin", ignore_errors=True)
    for lock in python.glob(".lock"):
        lock.unlink()
    for folder in sorted(_folders(python), key=lambda path: len(path.parts), reverse=True):
        inside = folder.relative_to(python)
        if (folder.name in FOLDERS and len(inside.parts) > 1) or folder.name == "__pycache__":
            shutil.rmtree(folder)
    for path in python.rglob("*"):
        if path.is_file() and path.suffix in SUFFIXES:
            path.unlink()
    for info in python.glob("*.dist-info"):
        for path in info.iterdir():
            if DIST_INFO.match(path.name):
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
    data = python / "botocore" / "data"
    if data.is_dir():
        for folder in data.iterdir():
            if folder.is_dir() and folder.name not in SERVICES:
                shutil.rmtree(folder)
        for path in [*data.rglob("examples-*.json*"), *data.rglob("paginators-1.sdk-extras.json")]:
            path.unlink()


def _folders(root: Path) -> Iterator[Path]:
    return (path for path in root.rglob("*") if path.is_dir())


def compile_all(python: Path, place: str = "/opt/python") -> None:
    """Bytecode beside every module. Lambda's code folder is read-only and its files carry the time of the deployment:
    what is checked by hash, or not at all, is valid there."""
    good = compileall.compile_dir(
        python,
        quiet=2,
        force=True,
        stripdir=str(python),
        prependdir=place,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
    if not good:
        sys.stderr.write("some modules have no bytecode (templates or code of other Pythons)\n")


if __name__ == "__main__":
    sys.exit(main())
