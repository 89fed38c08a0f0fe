"""The doctor's probes of an AWS account, over clients that answer as AWS does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from rearview.adapters.aws import dynamodb_items as items
from rearview.adapters.aws.probes import AwsAccount, stack_settings
from rearview.adapters.aws.sqs import queue_attributes
from rearview.domain.checkup import (
    BucketFacts,
    CheckResult,
    ProbeFailed,
    VectorFieldFacts,
)
from rearview.usecases import doctor, doctor_aws
from rearview.usecases.doctor import examine


def statuses(results: Iterable[CheckResult]) -> dict[str, str]:
    """Status by check. What is not well says what to do."""
    found = list(results)
    assert all(item.advice for item in found if item.status != "ok"), found
    return {item.check: item.status for item in found}


def worst(results: Iterable[CheckResult]) -> dict[str, str]:
    return {check: status for check, status in statuses(results).items() if status != "ok"}


class Fake:
    """A client of any service: answers by operation; a ClientError's code in the place of an answer is raised."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers, self.meta = answers, SimpleNamespace(region_name="eu-west-1")

    def __getattr__(self, operation: str) -> Any:
        def call(**request: Any) -> Any:
            found = self.answers[operation]
            if callable(found):
                found = found(**request)
            if isinstance(found, str):
                raise ClientError({"Error": {"Code": found, "Message": "said"}}, operation)
            return found

        return call


class FakeSearch:
    """An OpenSearch client with one index behind the alias."""

    def __init__(self, found: Mapping[str, Any], number: str = "3.6.0") -> None:
        self._found, self._number = found, number
        self.cluster = SimpleNamespace(health=lambda: {"status": "green"})
        self.indices = SimpleNamespace(get=lambda **_: self._found)

    def info(self) -> dict[str, Any]:
        return {"version": {"number": self._number, "distribution": "opensearch"}}

    def count(self, **_: Any) -> dict[str, Any]:
        return {"count": 7}


NOW = 1_798_761_600.0
FIFO = {
    "QueueArn": "arn:aws:sqs:eu-west-1:1:w.fifo",
    "ApproximateNumberOfMessages": "2",
    "ApproximateNumberOfMessagesNotVisible": "1",
    "ApproximateNumberOfMessagesDelayed": "0",
    "VisibilityTimeout": "90",
    "SqsManagedSseEnabled": "true",
    **queue_attributes("arn:aws:sqs:eu-west-1:1:dead.fifo"),
}
DEAD = {
    "QueueArn": "arn:aws:sqs:eu-west-1:1:dead.fifo",
    "FifoQueue": "true",
    "ApproximateNumberOfMessages": "3",
}
MAPPING = {
    "properties": {
        "status": {"type": "keyword"},
        "chunks": {
            "type": "nested",
            "properties": {
                "v_1": {
                    "type": "knn_vector",
                    "dimension": 512,
                    "method": {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"},
                }
            },
        },
    }
}


def account(answers: Mapping[str, Mapping[str, Any]], search: Any = None) -> AwsAccount:
    return AwsAccount(
        make=lambda service: Fake(answers[service]),
        opensearch=lambda: search,
        table="t",
        queue_url="https://sqs/1/w.fifo",
        dead_letters_url="https://sqs/1/dead.fifo",
        alias="rearview",
        bucket="b",
        now=lambda: NOW,
    )


def test_identity_comes_from_sts_and_the_clock_from_its_date() -> None:
    answer = {
        "Account": "1",
        "Arn": "arn:aws:iam::1:user/u",
        "ResponseMetadata": {"HTTPHeaders": {"date": "Fri, 01 Jan 2027 00:00:10 GMT"}},
    }
    facts = account({"sts": {"get_caller_identity": answer}}).identity()
    assert (facts.account, facts.region) == ("1", "eu-west-1")
    assert facts.skew_seconds == pytest.approx(-10.5)


def test_a_table_as_the_template_makes_it_is_well() -> None:
    description = {
        **items.table_definition("t"),
        "TableStatus": "ACTIVE",
        "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
        "DeletionProtectionEnabled": True,
    }
    recovery = {"PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "ENABLED"}}
    facts = account(
        {
            "dynamodb": {
                "describe_table": {"Table": description},
                "describe_continuous_backups": {"ContinuousBackupsDescription": recovery},
                "describe_time_to_live": {
                    "TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
                },
            }
        }
    ).table()
    assert worst(doctor_aws.judge_table(facts)) == {}
    assert facts.keys["pending"] == ("pp", "ps")


def test_queues_as_the_template_makes_them_are_read() -> None:
    def attributes(QueueUrl: str, **_: Any) -> dict[str, Any]:
        return {"Attributes": DEAD if "dead" in QueueUrl else FIFO}

    facts = account({"sqs": {"get_queue_attributes": attributes}}).queue()
    assert worst(doctor_aws.judge_queue(facts)) == {"queue.depth": "warn"}
    assert (facts.waiting, facts.dead) == (3, 3)


def test_vectors_are_found_wherever_they_are_nested() -> None:
    search = FakeSearch({"rearview-1": {"mappings": MAPPING}}, "2.19.1")
    facts = account({}, search).index()
    assert (facts.version, facts.documents, facts.indexes) == ((2, 19), 7, ("rearview-1",))
    assert facts.vectors == (VectorFieldFacts("chunks.v_1", 512, "lucene", "cosinesimil"),)


def test_an_empty_alias_is_no_trouble() -> None:
    facts = account({}, FakeSearch({})).index()
    assert (facts.indexes, facts.documents) == ((), 0)
    assert worst(doctor_aws.judge_index(facts, 256)) == {}


def test_a_bucket_without_settings_lacks_them() -> None:
    answers = {
        "get_bucket_encryption": "ServerSideEncryptionConfigurationNotFoundError",
        "get_public_access_block": "NoSuchPublicAccessBlockConfiguration",
        "get_bucket_lifecycle_configuration": "NoSuchLifecycleConfiguration",
        "get_bucket_versioning": {},
    }
    assert account({"s3": answers}).bucket() == BucketFacts("b", None, False, False, False)


def test_a_bucket_that_may_not_be_read_names_the_permission() -> None:
    with pytest.raises(ProbeFailed) as caught:
        account({"s3": {"get_bucket_encryption": "AccessDenied"}}).bucket()
    assert (caught.value.code, caught.value.asked) == ("AccessDenied", "s3:GetEncryptionConfiguration")


def test_what_the_settings_do_not_name_is_not_asked_for() -> None:
    checks = doctor_aws.aws_checks(account({}), dims=None, named=lambda _part: False)
    found = statuses(examine(checks[1:]))
    assert found == {"table": "fail", "queue": "fail", "index": "fail", "bucket": "warn"}


def test_a_stack_tells_its_settings() -> None:
    outputs = [{"OutputKey": "WorkerFunctionName", "OutputValue": "w"}]
    answers: dict[str, Any] = {
        "cloudformation": {"describe_stacks": {"Stacks": [{"Outputs": outputs}]}},
        "lambda": {
            "get_function_configuration": {
                "Environment": {"Variables": {"REARVIEW_TABLE": "t", "POWERTOOLS_SERVICE_NAME": "x"}}
            }
        },
    }
    assert stack_settings(lambda service: Fake(answers[service]), "s") == {"REARVIEW_TABLE": "t"}


def test_a_stack_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(ProbeFailed) as caught:
        stack_settings(lambda _service: Fake({"describe_stacks": "ValidationError"}), "s")
    assert "not there" in (doctor.failed("settings", caught.value).advice or "")
