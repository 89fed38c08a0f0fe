"""The template keeps its promises: every route, retention, dead letters, TTL, least privilege, and settings that exist."""

from __future__ import annotations

import tomllib
from typing import Any, cast

import pytest

from rearview.adapters.aws import dynamodb_items as items
from rearview.adapters.aws import sqs
from rearview.entrypoints.rest.app import ROOMS
from rearview.settings import AwsSettings
from tests.infra.template import ROOT, resources, template, transformed

FUNCTIONS = ("write", "read", "trace", "audit", "mcp", "worker", "maintain")
#: What needs no room: served by the function named.
BESIDE = {
    ("GET", "/health"): "read",
    ("GET", "/ready"): "read",
    ("GET", "/console"): "read",
    ("GET", "/console/{proxy+}"): "read",
    ("GET", "/openapi.json"): "audit",
    ("GET", "/docs"): "audit",
    ("POST", "/mcp"): "mcp",
    ("GET", "/mcp"): "mcp",
    ("DELETE", "/mcp"): "mcp",
}


def function_of(logical_id: str) -> str:
    return logical_id.removesuffix("Function").lower()


def routes() -> dict[tuple[str, str], str]:
    """(method, path) → function, without preflights."""
    found: dict[tuple[str, str], str] = {}
    for name, item in resources("AWS::Serverless::Function").items():
        for event in item["Properties"]["Events"].values():
            if event["Type"] == "Api" and event["Properties"]["Method"] != "OPTIONS":
                at = event["Properties"]["Method"], event["Properties"]["Path"]
                assert at not in found, f"{at} has two functions"
                found[at] = function_of(name)
    return found


def test_every_route_of_the_api_leads_to_the_function_of_its_room() -> None:
    wanted = dict(BESIDE)
    for room, make in ROOMS.items():
        for spec in make(cast("Any", None)).specs:
            wanted[spec.method, spec.path] = room
    assert routes() == wanted


def test_every_path_answers_preflights() -> None:
    asked = {
        event["Properties"]["Path"]
        for item in resources("AWS::Serverless::Function").values()
        for event in item["Properties"]["Events"].values()
        if event["Type"] == "Api" and event["Properties"]["Method"] == "OPTIONS"
    }
    assert asked == {path for _, path in routes() if path.startswith(("/v1", "/mcp"))}


def test_there_is_a_function_for_each_folder_and_the_other_way_round() -> None:
    folders = {item.parent.name for item in (ROOT / "functions").glob("*/app.py")}
    named = {
        item["Properties"]["CodeUri"].removeprefix("functions/")
        for item in resources("AWS::Serverless::Function").values()
    }
    assert folders == named == set(FUNCTIONS)


def test_what_the_template_sets_is_what_the_settings_know() -> None:
    names = template()["Globals"]["Function"]["Environment"]["Variables"]
    known = {f"REARVIEW_{name.upper()}" for name in AwsSettings.model_fields}
    assert {name for name in names if name.startswith("REARVIEW_")} <= known


def test_every_log_group_has_a_retention_and_a_key() -> None:
    groups = resources("AWS::Logs::LogGroup")
    assert len(groups) >= len(FUNCTIONS) + 1
    assert [
        name
        for name, item in groups.items()
        if not {"RetentionInDays", "KmsKeyId"} <= set(item["Properties"])
    ] == []
    for item in resources("AWS::Serverless::Function").values():
        assert item["Properties"]["LoggingConfig"]["LogGroup"]["Ref"] in groups


def test_every_queue_has_dead_letters_and_throughput_per_group() -> None:
    queues = resources("AWS::SQS::Queue")
    plain = {
        name: item for name, item in queues.items() if not item.get("Metadata", {}).get("DeadLetterQueue")
    }
    assert set(plain) == {"Queue"}
    policy = plain["Queue"]["Properties"]["RedrivePolicy"]
    assert policy["deadLetterTargetArn"] == {"Fn::GetAtt": ["DeadLetters", "Arn"]}
    assert policy["maxReceiveCount"] == sqs.MAX_DELIVERIES
    for item in queues.values():
        for name, value in sqs.dead_letters_attributes().items():
            assert str(item["Properties"][name]).lower() == value.lower()


def test_a_message_stays_hidden_six_times_as_long_as_the_worker_may_run() -> None:
    timeout = resources()["WorkerFunction"]["Properties"]["Timeout"]
    assert resources()["Queue"]["Properties"]["VisibilityTimeout"] >= 6 * timeout
    assert template()["Globals"]["Function"]["Timeout"] == 29


def test_the_table_is_the_one_the_store_expects_with_ttl_and_backups() -> None:
    (table,) = resources("AWS::DynamoDB::Table").values()
    there = table["Properties"]
    wanted = items.table_definition("x")
    for name in ("BillingMode", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes"):
        assert there[name] == wanted[name]
    assert there["TimeToLiveSpecification"] == {"AttributeName": items.TTL, "Enabled": True}
    assert there["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True
    assert there["SSESpecification"]["SSEEnabled"] is True


def test_the_archive_is_private_versioned_and_encrypted() -> None:
    (bucket,) = resources("AWS::S3::Bucket").values()
    there = bucket["Properties"]
    assert set(there["PublicAccessBlockConfiguration"].values()) == {True}
    assert there["VersioningConfiguration"] == {"Status": "Enabled"}
    assert there["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert there["LifecycleConfiguration"]["Rules"]


def test_the_archive_lets_go_of_replaced_versions_only_and_hides_nothing_behind_a_restore() -> None:
    (bucket,) = resources("AWS::S3::Bucket").values()
    for rule in bucket["Properties"]["LifecycleConfiguration"]["Rules"]:
        assert not {name for name in rule if name.startswith("Expiration")}
        # What lies in a class of that kind cannot be read at once, and recall reads it at once.
        assert not {"GLACIER", "DEEP_ARCHIVE"} & {
            item["StorageClass"] for item in rule.get("Transitions", [])
        }


def given(item: dict[str, Any]) -> dict[str, Any]:
    """What a list holds where its condition, if it has one, is true."""
    found: dict[str, Any] = item["Fn::If"][1] if "Fn::If" in item else item
    return found


def statements(found: dict[str, Any]) -> list[tuple[str, dict[str, Any], bool]]:
    """(resource, statement, whether the resource states a reason for wildcards)."""
    told = []
    for name, item in found.items():
        reason = bool(item.get("Metadata", {}).get("Wildcards"))
        there = item.get("Properties", {})
        documents = [there.get("PolicyDocument"), there.get("KeyPolicy")]
        documents += [given(policy)["PolicyDocument"] for policy in there.get("Policies", [])]
        for document in documents:
            if isinstance(document, dict) and isinstance(document.get("Statement"), list):
                told += [(name, one, reason) for one in document["Statement"]]
    return told


def wild(statement: dict[str, Any]) -> bool:
    """Whether any action has a wildcard, or any resource is one as a whole."""

    def listed(value: Any) -> list[Any]:
        return value if isinstance(value, list) else [value]

    actions = any("*" in str(one) for one in listed(statement["Action"]))
    whole = any(one == "*" for one in listed(statement.get("Resource", "")))
    return actions or whole


@pytest.mark.aws
def test_no_policy_has_a_wildcard_without_a_reason() -> None:
    found = statements(transformed()["Resources"])
    assert len(found) > 20
    assert [(name, one) for name, one, reason in found if wild(one) and not reason] == []


@pytest.mark.aws
def test_each_function_has_a_role_of_its_own_with_no_policy_of_aws() -> None:
    made = transformed()["Resources"]
    roles = set()
    for name, item in made.items():
        if item["Type"] == "AWS::Lambda::Function":
            role = item["Properties"]["Role"]["Fn::GetAtt"][0]
            roles.add(role)
            assert "arn:aws:iam" not in str(made[role]["Properties"]["ManagedPolicyArns"]), name
    assert len(roles) == len(FUNCTIONS)


@pytest.mark.aws
@pytest.mark.parametrize("canary", ["true", "false"])
def test_a_canary_is_made_only_where_it_is_asked_for(canary: str) -> None:
    kinds = {item["Type"] for item in transformed(Canary=canary)["Resources"].values()}
    assert ("AWS::CodeDeploy::DeploymentGroup" in kinds) is (canary == "true")
    assert "AWS::Lambda::Alias" in kinds


def test_what_the_issue_asks_for_rings_an_alarm() -> None:
    watched = {
        (item["Properties"]["Namespace"], item["Properties"]["MetricName"]) for item in alarms().values()
    }
    assert watched >= {
        ("AWS/ApiGateway", "5XXError"),
        ("AWS/SQS", "ApproximateNumberOfMessagesVisible"),
        ("AWS/SQS", "ApproximateAgeOfOldestMessage"),
        ("AWS/Lambda", "Errors"),
        ("Rearview", "EnrichmentFailed"),
        ("Rearview", "IndexLag"),
        ("Rearview", "MaintenanceLag"),
        ("Rearview", "MaintenanceFailures"),
    }
    assert all(item["Properties"]["AlarmActions"] == [{"Ref": "Alarms"}] for item in alarms().values())


def alarms() -> dict[str, dict[str, Any]]:
    return resources("AWS::CloudWatch::Alarm")


def test_the_metrics_that_alarms_watch_are_those_the_functions_write() -> None:
    code = "".join(path.read_text() for path in (ROOT / "layers/core/rearview/entrypoints/aws").glob("*.py"))
    for item in alarms().values():
        there = item["Properties"]
        if there["Namespace"] == "Rearview":
            assert f'"{there["MetricName"]}"' in code
            assert {one["Name"] for one in there["Dimensions"]} == {"service", "stage"}


def test_secrets_reach_a_function_as_references_only() -> None:
    names = template()["Globals"]["Function"]["Environment"]["Variables"]
    for variable, parameter in (("SIGNING_KEY", "SigningKey"), ("OPENSEARCH_LOGIN", "OpenSearchLogin")):
        assert names[f"REARVIEW_{variable}"] == {"Ref": parameter}
        assert "secretsmanager:" in template()["Parameters"][parameter]["Description"]
    assert not any("KEY" in name or "PASSWORD" in name for name in names if name != "REARVIEW_SIGNING_KEY")


def test_samconfig_knows_every_environment_and_only_parameters_that_exist() -> None:
    config = tomllib.loads((ROOT / "samconfig.toml").read_text())
    assert {"default", "dev", "staging", "prod", "ministack", "localstack"} <= set(config)
    for name, item in config.items():
        if name == "version":
            continue
        given = dict(one.split("=", 1) for one in item["deploy"]["parameters"]["parameter_overrides"].split())
        parameters = template()["Parameters"]
        assert set(given) <= set(parameters)
        for key, value in given.items():
            assert (
                value in parameters[key].get("AllowedValues", [value])
                or int(value) in parameters[key]["AllowedValues"]
            )


def test_upkeep_that_fails_rings_although_it_comes_once_an_hour() -> None:
    """Each schedule's invocation that fails is tried again so many times: all of these are errors of one hour."""
    maintain = resources()["MaintainFunction"]["Properties"]
    rarest = template()["Parameters"]["AuditEvery"]["Default"]
    alarm = alarms()["MaintainErrors"]["Properties"]
    assert rarest == "rate(1 hour)"
    assert alarm["Period"] * alarm["EvaluationPeriods"] >= 3600
    assert alarm["Threshold"] <= 1 + maintain["EventInvokeConfig"]["MaximumRetryAttempts"]


def test_a_worker_that_can_do_nothing_ends_its_canary() -> None:
    watched = template()["Globals"]["Function"]["DeploymentPreference"]["Alarms"]
    assert {"Ref": "MessagesFail"} in watched
    assert alarms()["MessagesFail"]["Properties"]["MetricName"] == "MessagesFailed"
