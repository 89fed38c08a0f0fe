"""Each function may do what its work asks for, and no more."""

from __future__ import annotations

import pytest

from tests.infra.template import resources, template
from tests.infra.test_template import FUNCTIONS, given


def actions_of(function: str, service: str) -> set[str]:
    """What a function's role allows on a service, by its managed and its own policies."""
    role = resources("AWS::IAM::Role")[f"{function}Role"]["Properties"]
    named = [given(item)["Ref"] for item in role["ManagedPolicyArns"]]
    documents = [resources()[name]["Properties"]["PolicyDocument"] for name in named]
    documents += [given(item)["PolicyDocument"] for item in role["Policies"]]
    listed = [entry["Action"] for document in documents for entry in document["Statement"]]
    flat = {action for item in listed for action in ([item] if isinstance(item, str) else item)}
    return {action for action in flat if action.startswith(f"{service}:")}


READS = {"s3:GetObject", "s3:ListBucket"}
KEEPS = READS | {"s3:PutObject", "s3:DeleteObject", "s3:DeleteObjectVersion", "s3:ListBucketVersions"}


@pytest.mark.parametrize(
    ("function", "archive"),
    [
        # Whoever shows a memory fetches its text; whoever wakes one writes to the table and rings.
        ("Write", READS),
        ("Read", READS),
        ("Trace", READS),
        ("Audit", READS),
        ("Mcp", READS),
        # Texts and packs are put by upkeep, and purged with all their versions by upkeep and by the sweep.
        ("Worker", KEEPS),
        ("Maintain", KEEPS),
    ],
)
def test_a_function_may_do_with_the_archive_what_its_work_asks_for(function: str, archive: set[str]) -> None:
    assert actions_of(function, "s3") == archive
    assert actions_of(function, "kms") == {"kms:Decrypt", "kms:GenerateDataKey"}
    assert "sqs:SendMessage" in actions_of(function, "sqs")
    assert actions_of(function, "dynamodb") >= {"dynamodb:PutItem", "dynamodb:ConditionCheckItem"}


def test_upkeep_leaves_concurrency_to_the_callers() -> None:
    events = resources()["WorkerFunction"]["Properties"]["Events"]
    limit = events["Doorbell"]["Properties"]["ScalingConfig"]["MaximumConcurrency"]
    assert limit == {"Ref": "WorkerConcurrency"}
    assert template()["Parameters"]["WorkerConcurrency"]["Default"] <= 100


@pytest.mark.aws
def test_no_role_holds_more_managed_policies_than_an_account_allows() -> None:
    made = resources()
    for name in FUNCTIONS:
        assert len(made[f"{name.capitalize()}Role"]["Properties"]["ManagedPolicyArns"]) <= 10, name


@pytest.mark.aws
def test_only_those_functions_may_reach_the_queue_and_the_dead_letters_that_need_to() -> None:
    made = resources()
    holders = {
        policy: {name for name in FUNCTIONS if policy in str(made[f"{name.capitalize()}Role"]["Properties"])}
        for policy in ("WorkQueue", "MoveLetters", "FillIndex", "UseArchive", "ReadArchive", "RingQueue")
    }
    assert holders == {
        "WorkQueue": {"worker"},
        "MoveLetters": {"audit", "worker", "maintain"},
        "FillIndex": {"worker", "maintain"},
        "UseArchive": {"worker", "maintain"},
        "ReadArchive": {"write", "read", "trace", "audit", "mcp"},
        "RingQueue": {"write", "read", "trace", "audit", "mcp", "worker", "maintain"},
    }
