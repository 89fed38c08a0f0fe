"""Layers flattened into the functions, for LocalStack 4.14, which applies none.

python infra/flatten.py .aws-sam/build/template.yaml
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import yaml


class _Loader(yaml.SafeLoader):
    """YAML with CloudFormation's short tags, as long functions."""


def _tagged(loader: Any, suffix: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


yaml.add_multi_constructor("!", _tagged, _Loader)


def load(text: str) -> dict[str, Any]:
    """A template with long function names."""
    found: dict[str, Any] = yaml.load(text, _Loader)  # noqa: S506 - a safe loader, with tags
    return found


def flatten(built: Path) -> None:
    """Copies the layers into each function of a built template and takes them out of it, in place."""
    template = load(built.read_text("utf-8"))
    found = template["Resources"]
    layers = [name for name, item in found.items() if item["Type"] == "AWS::Serverless::LayerVersion"]
    for name in layers:
        del found[name]
    for name, item in found.items():
        if item["Type"] != "AWS::Serverless::Function":
            continue
        for layer in (built.parent / layer / "python" for layer in layers):
            if layer.is_dir():
                shutil.copytree(layer, built.parent / name, dirs_exist_ok=True)
    template["Globals"]["Function"].pop("Layers", None)
    built.write_text(yaml.safe_dump(template, sort_keys=False, allow_unicode=True), "utf-8")


if __name__ == "__main__":
    flatten(Path(sys.argv[1]))
