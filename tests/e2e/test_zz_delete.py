"""The end of a stack; last, because nothing is there after it."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from infra import deploy
from tests.e2e.targets import OnAws

pytestmark = pytest.mark.aws


def test_a_deleted_stack_leaves_no_function_queue_or_api(deployed: OnAws) -> None:
    deploy.delete(deployed.stack_name, env=deployed.env)
    functions = deployed.deployed.client("lambda").list_functions()["Functions"]
    assert [item for item in functions if item["FunctionName"].startswith(deployed.stack_name)] == []
    apis = deployed.deployed.client("apigateway").get_rest_apis()["items"]
    assert deployed.deployed.outputs["ApiId"] not in [item["id"] for item in apis]
    with pytest.raises(ClientError):
        deployed.deployed.client("sqs").get_queue_attributes(
            QueueUrl=deployed.deployed.outputs["QueueUrl"], AttributeNames=["QueueArn"]
        )
