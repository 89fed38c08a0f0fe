"""Flattening: what LocalStack gets instead of layers."""

from __future__ import annotations

from pathlib import Path

from infra.flatten import flatten, load

BUILT = """
Globals: {Function: {Runtime: python3.13, Layers: [!Ref Core]}}
Resources:
  Core: {Type: AWS::Serverless::LayerVersion, Properties: {ContentUri: Core}}
  Left: {Type: AWS::Serverless::LayerVersion, Properties: {ContentUri: Left}}
  Write: {Type: AWS::Serverless::Function, Properties: {CodeUri: Write, Role: !GetAtt Role.Arn, Name: !Sub "${AWS::StackName}-write"}}
"""


def test_a_function_carries_what_its_layers_held(tmp_path: Path) -> None:
    template = tmp_path / "template.yaml"
    template.write_text(BUILT)
    for name, text in (
        ("Core/python/package/a.py", "A = 1"),
        ("Left/not-built", ""),
        ("Write/app.py", "import package"),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    flatten(template)
    assert (tmp_path / "Write" / "package" / "a.py").read_text() == "A = 1"
    found = load(template.read_text())
    assert set(found["Resources"]) == {"Write"}
    assert "Layers" not in found["Globals"]["Function"]
    assert found["Resources"]["Write"]["Properties"]["Role"] == {"Fn::GetAtt": ["Role", "Arn"]}
    assert found["Resources"]["Write"]["Properties"]["Name"] == {"Fn::Sub": "${AWS::StackName}-write"}
