"""The programs that stand in for AWS, each in an environment of its own (they cannot share one), made by uv."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
NODE: Final = ROOT / "infra" / "opensearch-node"
#: Handlers run on ministack's interpreter, so it is the version that the template names.
PYTHON: Final = "3.13"
INSTALL_SECONDS: Final = 900

REQUIREMENTS: Final[dict[str, tuple[str, ...]]] = {
    # Without the translator it deploys no SAM template. It pins botocore, so it cannot share an environment with sam.
    "ministack": ("ministack==1.5.33", "aws-sam-translator>=1.100", "boto3"),
    "sam": ("aws-sam-cli==1.170.*", "cfn-lint>=1.58"),
    "checkov": ("checkov>=3.2",),
}
#: Locked with the project, each in the dependency group of its name.
GROUPS: Final = ("localstack",)
LOCK: Final = ROOT / "uv.lock"
OPENSEARCH_VERSIONS: Final = ("3.6.0", "2.19.1")


class ToolError(RuntimeError):
    """A tool cannot be made or started; the message says what to do about it."""


def folder() -> Path:
    """Where the tools are kept: ``REARVIEW_TOOLS``, else ``build/tools`` of the checkout."""
    return Path(os.environ.get("REARVIEW_TOOLS") or ROOT / "build" / "tools").resolve()


def program(tool: str, name: str) -> Path:
    """The path of a program of a tool's environment, which is made first if need be: ``program("sam", "sam")``."""
    return environment(tool) / "bin" / name


def environment(tool: str) -> Path:
    """The environment of ``ministack``, ``sam``, ``localstack`` or ``checkov``; made or brought up to date first."""
    home = folder() / tool
    wanted = LOCK.read_text() if tool in GROUPS else "\n".join(REQUIREMENTS[tool])
    stamp = hashlib.sha256(f"{PYTHON}\n{wanted}".encode()).hexdigest()
    ready = home / ".rearview-ready"
    with _alone(tool):
        if ready.is_file() and ready.read_text() == stamp:
            return home
        if not (home / "bin" / "python").exists():
            _run([*uv(), "venv", "--quiet", "--python", python(), str(home)])
        # What is there already and fits is left alone, so a half-made environment is completed.
        its = ["--quiet", "--python", str(home / "bin" / "python")]
        if tool in GROUPS:
            sync = ["sync", "--project", str(ROOT), "--frozen", "--only-group", tool]
            _run([*uv(), *sync, *its], UV_PROJECT_ENVIRONMENT=str(home))
        else:
            _run([*uv(), "pip", "install", *its, *REQUIREMENTS[tool]])
        ready.write_text(stamp)
    return home


def opensearch(version: str) -> Path:
    """The folder of a built OpenSearch node; built first if need be (Maven and a JDK are needed for that)."""
    home = folder() / f"opensearch-{version}"
    pom = (NODE / f"pom-{version}.xml").read_bytes()
    ready, stamp = home / ".rearview-ready", hashlib.sha256(pom).hexdigest()
    with _alone(home.name):
        if not (ready.is_file() and ready.read_text() == stamp):
            if shutil.which("mvn") is None:
                raise ToolError(
                    "OpenSearch nodes are built by Maven: install `mvn` and a JDK (21+ for 3.6.0)"
                )
            _run(["bash", str(NODE / "node.sh"), "build", version, str(home)])
            ready.write_text(stamp)
    return home


def python() -> str:
    """A Python of the template's version that runs: ``UV_PYTHON``, pyenv's, the PATH's, or the version for uv to find."""
    candidates = [os.environ.get("UV_PYTHON"), _pyenv(), shutil.which(f"python{PYTHON}"), sys.executable]
    for candidate in filter(None, candidates):
        # On a PATH with pyenv the name may be a shim that fails unless the version is selected.
        probe = [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2]); print(sys.executable)"]
        try:
            answer = subprocess.run(probe, capture_output=True, text=True, timeout=30, check=False)
        except OSError:
            continue
        if answer.returncode == 0 and answer.stdout.split("\n")[0] == PYTHON:
            return answer.stdout.split("\n")[1]
    return PYTHON


def _pyenv() -> str | None:
    if shutil.which("pyenv") is None:
        return None
    answer = subprocess.run(["pyenv", "prefix", PYTHON], capture_output=True, text=True, check=False)
    return f"{answer.stdout.strip()}/bin/python{PYTHON}" if answer.returncode == 0 else None


def uv() -> list[str]:
    """The command of uv: ``UV``, this Python's module, the one on the PATH, or one installed among the tools."""
    own = folder() / "uv" / "bin" / "python"
    base = str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}")
    for command in (
        [os.environ["UV"]] if os.environ.get("UV") else [],
        [str(own), "-m", "uv"],
        [sys.executable, "-m", "uv"],
        [base, "-m", "uv"],
        ["python3", "-m", "uv"],
        ["uv"],
    ):
        if command and _runs([*command, "--version"]):
            return command
    _run([sys.executable, "-m", "venv", str(own.parents[1])])
    _run([str(own), "-m", "pip", "install", "--quiet", "uv"])
    return [str(own), "-m", "uv"]


def _runs(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 0
    except OSError:
        return False


def _run(command: list[str], **env: str) -> None:
    # An environment that is active here must not be taken for the one meant.
    strange = ("VIRTUAL_ENV", "PYTHONPATH", "UV_PROJECT_ENVIRONMENT")
    clean = {name: value for name, value in os.environ.items() if name not in strange} | env
    answer = subprocess.run(
        command, capture_output=True, text=True, timeout=INSTALL_SECONDS, env=clean, check=False
    )
    if answer.returncode:
        raise ToolError(f"{' '.join(command)} failed:\n{(answer.stdout + answer.stderr)[-4000:]}")


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Several processes may want the same tool at once: one makes it, the others wait."""
    folder().mkdir(parents=True, exist_ok=True)
    with (folder() / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
