"""The clients of AWS services: they fail fast, retry a little, and serve many threads."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from rearview.adapters.aws import clients


@pytest.fixture(autouse=True)
def _account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")


@pytest.mark.parametrize("make", [clients.dynamodb, clients.sqs, clients.s3])
def test_time_outs_are_short_and_retries_standard(make: Any) -> None:
    config = make(region="eu-central-1").meta.config
    assert config.connect_timeout <= 2
    assert config.read_timeout <= 30
    assert config.retries == {"mode": "standard", "total_max_attempts": 3}
    assert config.max_pool_connections >= 16


def test_what_a_caller_waits_for_is_given_up_long_before_api_gateway_gives_up() -> None:
    asked = [clients.dynamodb(region="eu-central-1"), clients.s3(region="eu-central-1")]
    asked += [
        clients.bedrock(name, region="eu-central-1", asked=True)
        for name in ("bedrock-runtime", "bedrock-agent-runtime")
    ]
    for client in asked:
        config = client.meta.config
        tries = config.retries["total_max_attempts"]
        assert tries * (config.connect_timeout + config.read_timeout) <= 20


def test_a_long_poll_is_no_time_out() -> None:
    assert clients.sqs(region="eu-central-1", poll_seconds=20).meta.config.read_timeout > 20


def test_region_and_endpoint_come_from_the_environment_unless_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:4566")
    assert clients.dynamodb().meta.endpoint_url == "http://localhost:4566"
    assert clients.dynamodb().meta.region_name == "eu-west-1"
    given = clients.s3(region="us-east-1", endpoint_url="http://127.0.0.1:1")
    assert (given.meta.endpoint_url, given.meta.region_name) == ("http://127.0.0.1:1", "us-east-1")
    # A stand-in under a name has no host for each bucket.
    assert clients.s3().meta.config.s3["addressing_style"] == "path"


def test_a_cold_start_pays_for_botocore_alone() -> None:
    code = "import sys, rearview.adapters.aws.clients, rearview.adapters.aws.dynamodb; print('boto3' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"
