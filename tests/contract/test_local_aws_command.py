"""The command that starts the local AWS, with the real servers."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path

import boto3
import pytest
from aws_services import ENVIRONMENT, REGION
from infra.local import processes
from infra.local.command import main
from infra.local.stack import Stack, started

pytestmark = pytest.mark.aws


def test_up_starts_what_down_stops_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (ENVIRONMENT | {"REARVIEW_LOCAL_AWS": str(tmp_path)}).items():
        monkeypatch.setenv(name, value)
    port = processes.free_port()
    up = ["up", "--no-opensearch", "--port", str(port)]
    try:
        assert main(up) == 0
        (first,) = Stack.running().servers
        assert (first.name, first.url) == ("ministack", f"http://127.0.0.1:{port}")
        # A second time it finds what runs.
        assert main(up) == 0
        assert Stack.running().servers == [first]
        capsys.readouterr()
        assert main(["status"]) == 0
        assert str(first.pid) in capsys.readouterr().out
        assert main(["env"]) == 0
        assert f"export AWS_ENDPOINT_URL=http://127.0.0.1:{port}" in capsys.readouterr().out
        # It listens on loopback alone.
        if Path("/proc/net/tcp").exists():
            assert listening_addresses(port) == {"0100007F"}
    finally:
        assert main(["down"]) == 0
    assert not first.alive()
    assert not processes.taken(port)
    assert main(["status"]) == 3


def test_functions_that_ran_leave_nothing_unpacked_behind(tmp_path: Path) -> None:
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as packed:
        packed.writestr("app.py", "def handler(event, context):\n    return __file__\n")
    with started(tmp_path) as stack:
        lambdas = boto3.Session(region_name=REGION).client(
            "lambda", endpoint_url=stack.aws_url, aws_access_key_id="test", aws_secret_access_key="test"
        )
        lambdas.create_function(
            FunctionName="tells-where",
            Runtime="python3.13",
            Role="arn:aws:iam::000000000000:role/any",
            Handler="app.handler",
            Code={"ZipFile": code.getvalue()},
        )
        where = json.loads(lambdas.invoke(FunctionName="tells-where")["Payload"].read())
        lambdas.close()
        assert Path(where).is_relative_to(tmp_path)
    assert not Path(where).exists()
    assert not list(tmp_path.glob("*-files"))


def listening_addresses(port: int) -> set[str]:
    """Local addresses of listening sockets on a port, in hexadecimal as Linux shows them."""
    rows = [line.split() for table in ("tcp", "tcp6") for line in _lines(f"/proc/net/{table}")]
    return {row[1].split(":")[0] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == port}


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()[1:] if os.path.exists(path) else []
