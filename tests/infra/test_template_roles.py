"""Each function may do what its work asks for, and no more."""

from __future__ import annotations

from typing import Any

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


def bedrock(function: str) -> list[dict[str, Any]]:
    """The resources of what a function's role allows on Bedrock: an alternative by condition each."""
    role = resources("AWS::IAM::Role")[f"{function}Role"]["Properties"]
    named = [given(item)["Ref"] for item in role["ManagedPolicyArns"]]
    documents = [resources()[name]["Properties"]["PolicyDocument"] for name in named]
    documents += [given(item)["PolicyDocument"] for item in role["Policies"]]
    entries = [entry for document in documents for entry in document["Statement"]]
    return [entry["Resource"] for entry in entries if "bedrock:InvokeModel" in entry["Action"]]


@pytest.mark.parametrize(
    ("function", "pairs"),
    [
        ("Read", [("EmbedderProfile", "EmbedderModel")]),
        ("Worker", [("EmbedderProfile", "EmbedderModel"), ("TextProfile", "TextModel")]),
    ],
)
def test_a_model_may_be_called_by_an_inference_profile_in_any_region_that_it_picks(
    function: str, pairs: list[tuple[str, str]]
) -> None:
    found = bedrock(function)
    assert len(found) == len(pairs)
    for resource, (profile, model) in zip(found, pairs, strict=True):
        condition, with_profile, without = resource["Fn::If"]
        assert condition == f"With{profile}"
        arns = [item["Fn::Sub"] for item in with_profile]
        assert arns[0].endswith(f":${{AWS::AccountId}}:inference-profile/${{{profile}}}")
        assert arns[1].endswith(f":bedrock:*::foundation-model/${{{model}}}")
        assert [item["Fn::Sub"] for item in without] == [
            f"arn:${{AWS::Partition}}:bedrock:${{AWS::Region}}::foundation-model/${{{model}}}"
        ]


def test_a_function_is_told_of_the_profiles_that_its_role_may_use() -> None:
    told = template()["Globals"]["Function"]["Environment"]["Variables"]
    assert told["REARVIEW_BEDROCK_PROFILE"] == {"Ref": "EmbedderProfile"}
    assert told["REARVIEW_TEXT_MODEL"] == {
        "Fn::If": ["WithTextProfile", {"Ref": "TextProfile"}, {"Ref": "TextModel"}]
    }


def test_in_a_vpc_the_functions_reach_the_ports_and_models_that_parameters_name() -> None:
    rules = resources()["FunctionGroup"]["Properties"]["SecurityGroupEgress"]
    assert [given(rule)["ToPort"] for rule in rules] == [443, {"Ref": "EgressPort"}]
    assert rules[1]["Fn::If"][0] == "WithEgressPort"
    # The text model is called whatever embeds.
    assert "WithTextModel" in str(template()["Conditions"]["MakesBedrockEndpoint"])
