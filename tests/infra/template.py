"""The template as CloudFormation sees it: parsed, and transformed by SAM's own translator."""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from infra.flatten import load
from infra.local import tools

ROOT = Path(__file__).resolve().parents[2]


@cache
def _text() -> str:
    return (ROOT / "template.yaml").read_text("utf-8")


def template() -> dict[str, Any]:
    """The template with long function names."""
    return load(_text())


def resources(kind: str | None = None) -> dict[str, dict[str, Any]]:
    """The resources, of one type if given."""
    return {name: item for name, item in template()["Resources"].items() if kind in (None, item["Type"])}


@cache
def _transformed(parameters: str) -> str:
    # The translator lives in ministack's environment, because it drags boto3 along.
    source = template()
    for name, item in source["Resources"].items():
        # What `sam build` and `sam deploy` put there.
        for field in ("CodeUri", "ContentUri"):
            if field in item.get("Properties", {}):
                item["Properties"][field] = f"s3://bucket/{name}"
    defaults = {name: str(item.get("Default", "")) for name, item in source["Parameters"].items()}
    pseudo = {"AWS::Region": "eu-central-1", "AWS::Partition": "aws", "AWS::StackName": "rearview"}
    given = {"template": source, "parameters": {**pseudo, **defaults, **json.loads(parameters)}}
    python = tools.environment("ministack") / "bin" / "python"
    done = subprocess.run(
        [python, "-c", _TRANSLATE],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "AWS_DEFAULT_REGION": "eu-central-1"},
    )
    return done.stdout


_TRANSLATE = """
import json, sys
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
given = json.load(sys.stdin)
found = Translator({}, Parser()).translate(given["template"], given["parameters"])
json.dump(found, sys.stdout)
"""


def transformed(**parameters: str) -> dict[str, Any]:
    """What the SAM transform makes of it."""
    found: dict[str, Any] = json.loads(_transformed(json.dumps(parameters, sort_keys=True)))
    return found
