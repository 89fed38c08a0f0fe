"""How large each function is, and what its start costs: ``make size``.

    python infra/size.py [--layer FOLDER] [--json]

Builds the core layer for this machine (or takes a built one), then imports each function's ``app.py`` in a fresh
interpreter that sees nothing but the layer, as Lambda does. CPU time is the median of several starts: wall time on a
busy machine says nothing. Nothing is asked of AWS: the store is a stand-in that answers an empty table.

``everything`` is what the functions would cost if each imported all that any of them needs, without bytecode.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
FUNCTIONS: Final = ("write", "read", "trace", "audit", "mcp", "worker", "maintain")
#: The bound of the project for a function with its core layer; Lambda's own is 262,144,000.
LIMIT: Final = 150_000_000
STARTS: Final = 5

#: Runs in the function's interpreter. botocore's HTTP is cut off before anything is sent.
_START = """
import sys, time
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from botocore.httpsession import URLLib3Session
class Answer:
    status_code, headers = 200, {}
    content, text = b'{"Item": {"b": {"S": "{\\\\"key\\\\": \\\\"AAAA\\\\"}"}}}', ""
URLLib3Session.send = lambda self, request: Answer()
started = time.process_time()
import app
print((time.process_time() - started) * 1000)
"""
_BASE = "import time; print(time.process_time() * 1000)"
_EVERYTHING = """
import sys, time
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import botocore.session, opensearchpy, numpy, mangum, fastapi, mcp.server, aws_lambda_powertools
import aws_lambda_powertools.utilities.batch
import rearview.entrypoints.rest.app, rearview.entrypoints.mcp.server, rearview.bootstrap
rearview.bootstrap.load_rules()
botocore.session.Session().create_client("dynamodb", region_name="us-east-1")
print(time.process_time() * 1000)
"""


def measure(layer: Path, python: str) -> dict[str, Any]:
    """{"layer_bytes", "everything_ms", "functions": {name: {"bytes", "init_ms", "all_ms"}}}.

    ``all_ms``: with what the first calls load, too (index client, embedder, rules).
    """
    layer_bytes = size_of(layer)
    functions = {}
    for name in FUNCTIONS:
        folder = ROOT / "functions" / name
        times = [_run(python, _START, str(folder), str(layer)) for _ in range(STARTS)]
        all_times = [_run(python, _START, str(folder), str(layer), whole=True) for _ in range(STARTS)]
        functions[name] = {
            "bytes": layer_bytes + sum(path.stat().st_size for path in folder.glob("*.py")),
            "init_ms": round(statistics.median(times)),
            "all_ms": round(statistics.median(all_times)),
        }
    with tempfile.TemporaryDirectory() as bare:
        copy = Path(bare) / "python"
        shutil.copytree(layer, copy, ignore=shutil.ignore_patterns("__pycache__"))
        everything = statistics.median(_run(python, _EVERYTHING, str(copy)) for _ in range(3))
    base = statistics.median(_run(python, _BASE) for _ in range(STARTS))
    return {"layer_bytes": layer_bytes, "everything_ms": round(everything - base), "functions": functions}


def size_of(folder: Path) -> int:
    """Bytes of all files, as Lambda counts what is unzipped."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _run(python: str, code: str, *arguments: str, whole: bool = False) -> float:
    environment = {
        # Where a snapshot is taken after the start, all is loaded at once that the function needs.
        **({"AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start"} if whole else {}),
        "PATH": os.environ.get("PATH", ""),
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "REARVIEW_TABLE": "t",
        "REARVIEW_QUEUE_URL": "http://127.0.0.1:9/q.fifo",
        "REARVIEW_DEAD_LETTERS_URL": "http://127.0.0.1:9/d.fifo",
        "REARVIEW_OPENSEARCH_URL": "http://127.0.0.1:9",
        "REARVIEW_OPENSEARCH_AUTH": "none",
        "REARVIEW_EMBEDDER": "hashing",
    }
    command = [python, "-S", "-c", code, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise SystemExit(f"a function does not start:\n{done.stderr[-3000:]}")
    return float(done.stdout.strip().splitlines()[-1])


def main() -> int:
    """The command line; exit status 1 when a function is over the limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--layer", type=Path, help="a built layer's python/ folder")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from infra.local import tools

    python = tools.python()
    with tempfile.TemporaryDirectory() as folder:
        layer = given.layer
        if layer is None:
            machine = "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"
            script = str(ROOT / "infra" / "build_layers.py")
            subprocess.run([python, script, "build", "core", machine, folder], check=True)  # noqa: S603
            layer = Path(folder) / "python"
        found = measure(layer, python)
    if given.json:
        print(json.dumps(found))
    else:
        _show(found)
    return int(any(item["bytes"] > LIMIT for item in found["functions"].values()))


def _show(found: dict[str, Any]) -> None:
    everything = found["everything_ms"]
    print(
        f"{'function':<10} {'MB unzipped':>12} {'init CPU ms':>12} {'of everything':>14} {'with first calls':>17}"
    )
    for name, item in found["functions"].items():
        share = item["init_ms"] / everything
        print(
            f"{name:<10} {item['bytes'] / 1e6:>12.1f} {item['init_ms']:>12} {share:>14.0%} {item['all_ms']:>17}"
        )
    print(f"everything, without bytecode: {everything} ms; core layer {found['layer_bytes'] / 1e6:.1f} MB")


if __name__ == "__main__":
    sys.exit(main())
