"""The doctor's looks at an AWS account: reads of settings and counts, never of what is stored."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final, cast

from botocore.exceptions import BotoCoreError, ClientError

from rearview.adapters.aws import dynamodb_items as items
from rearview.adapters.aws.sqs import MAX_DELIVERIES
from rearview.domain.checkup import (
    BucketFacts,
    IdentityFacts,
    IndexFacts,
    ProbeFailed,
    QueueFacts,
    TableFacts,
    VectorFieldFacts,
)

#: boto3's and opensearch-py's clients, made when they are first needed.
Make = Callable[[], Any]
Json = dict[str, Any]

#: The output of template.yaml that names the function whose settings are the stack's.
WORKER_OUTPUT: Final = "WorkerFunctionName"
#: What S3 says of a setting that was never made.
_UNSET: Final = frozenset(
    {
        "ServerSideEncryptionConfigurationNotFoundError",
        "NoSuchPublicAccessBlockConfiguration",
        "NoSuchLifecycleConfiguration",
    }
)
#: Permissions that are not named after their operation.
_PERMISSIONS: Final = {
    "get_bucket_encryption": "s3:GetEncryptionConfiguration",
    "get_bucket_lifecycle_configuration": "s3:GetLifecycleConfiguration",
    "get_public_access_block": "s3:GetBucketPublicAccessBlock",
}


def ask(service: str, operation: str, client: Any, **request: Any) -> Json:
    """One call of a boto3 client; ProbeFailed with AWS's code and the permission that it takes."""
    named = f"{service}:{''.join(part.capitalize() for part in operation.split('_'))}"
    asked = _PERMISSIONS.get(operation, named)
    try:
        return cast("Json", getattr(client, operation)(**request))
    except ClientError as error:
        raise ProbeFailed(str(error.response.get("Error", {}).get("Code", "unknown")), asked) from None
    except BotoCoreError as error:
        raise ProbeFailed(type(error).__name__, asked) from None


def stack_settings(make: Callable[[str], Any], stack: str) -> dict[str, str]:
    """What a deployed stack tells its worker: variables ``REARVIEW_…`` by name. Secrets are references there."""
    try:
        answer = ask("cloudformation", "describe_stacks", make("cloudformation"), StackName=stack)
    except ProbeFailed as error:
        if error.code != "ValidationError":
            raise
        # What CloudFormation says of a stack that is not there.
        raise ProbeFailed("NotFound", f"stack {stack}") from None
    outputs = {item["OutputKey"]: item["OutputValue"] for item in answer["Stacks"][0].get("Outputs", [])}
    worker = outputs.get(WORKER_OUTPUT)
    if worker is None:
        raise ProbeFailed("NotFound", f"output {WORKER_OUTPUT} of stack {stack}")
    told = ask("lambda", "get_function_configuration", make("lambda"), FunctionName=worker)
    variables = told.get("Environment", {}).get("Variables", {})
    return {name: value for name, value in variables.items() if name.startswith("REARVIEW_")}


class AwsAccount:
    """Implements :class:`rearview.usecases.doctor_aws.AwsProbes`."""

    def __init__(
        self,
        *,
        make: Callable[[str], Any],
        opensearch: Make,
        table: str,
        queue_url: str,
        dead_letters_url: str,
        alias: str,
        bucket: str,
        now: Callable[[], float] = time.time,
    ) -> None:
        """``make(service)``: a boto3 client. ``now``: seconds since 1970."""
        self._make, self._opensearch, self._now = make, opensearch, now
        self._table, self._alias, self._bucket = table, alias, bucket
        self._queue_url, self._dead_url = queue_url, dead_letters_url

    def identity(self) -> IdentityFacts:
        """By STS, which needs no permission; its answer's date tells AWS's time."""
        client = self._make("sts")
        before = self._now()
        answer = ask("sts", "get_caller_identity", client)
        middle = (before + self._now()) / 2
        stamp = answer["ResponseMetadata"].get("HTTPHeaders", {}).get("date")
        skew = None
        if stamp:
            # Whole seconds, cut off: on average half a second more.
            skew = middle - (parsedate_to_datetime(stamp).timestamp() + 0.5)
        return IdentityFacts(answer["Account"], answer["Arn"], client.meta.region_name, skew)

    def table(self) -> TableFacts:
        """Three descriptions."""
        client, name = self._make("dynamodb"), self._table
        found = ask("dynamodb", "describe_table", client, TableName=name)["Table"]
        backups = ask("dynamodb", "describe_continuous_backups", client, TableName=name)
        ttl = ask("dynamodb", "describe_time_to_live", client, TableName=name)["TimeToLiveDescription"]
        recovery = backups["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
        is_on = ttl.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
        return TableFacts(
            name=name,
            status=found["TableStatus"],
            keys=_keys(found),
            wanted_keys=_keys(items.table_definition(name)),
            recovery=recovery.get("PointInTimeRecoveryStatus") == "ENABLED",
            ttl=ttl.get("AttributeName") if is_on else None,
            wanted_ttl=items.TTL,
            protected=bool(found.get("DeletionProtectionEnabled")),
            on_demand=found.get("BillingModeSummary", {}).get("BillingMode") == "PAY_PER_REQUEST",
        )

    def queue(self) -> QueueFacts:
        """Attributes of both queues."""
        client = self._make("sqs")

        def attributes(url: str) -> Mapping[str, str]:
            answer = ask("sqs", "get_queue_attributes", client, QueueUrl=url, AttributeNames=["All"])
            return cast("Mapping[str, str]", answer.get("Attributes", {}))

        queue, dead = attributes(self._queue_url), attributes(self._dead_url)
        policy = json.loads(queue.get("RedrivePolicy") or "{}")
        deliveries = policy.get("maxReceiveCount")
        return QueueFacts(
            name=queue.get("QueueArn", "").rpartition(":")[2],
            fifo=queue.get("FifoQueue") == "true",
            dead_fifo=dead.get("FifoQueue") == "true",
            per_group=queue.get("FifoThroughputLimit") == "perMessageGroupId"
            and queue.get("DeduplicationScope") == "messageGroup",
            dead_letters=policy.get("deadLetterTargetArn"),
            wanted_dead_letters=dead.get("QueueArn", ""),
            deliveries=int(deliveries) if deliveries is not None else None,
            wanted_deliveries=MAX_DELIVERIES,
            encrypted=queue.get("SqsManagedSseEnabled") == "true" or "KmsMasterKeyId" in queue,
            visibility_seconds=int(queue.get("VisibilityTimeout", 0)),
            waiting=_count(queue),
            dead=_count(dead),
        )

    def index(self) -> IndexFacts:
        """Version, health, mapping and count behind the alias."""
        try:
            client = self._opensearch()
        except ValueError:
            raise ProbeFailed("NoRegion or NoCredentials", "signing requests to OpenSearch") from None
        version = self._search("GET /", client.info)["version"]
        # Serverless collections have no cluster to ask.
        health = "unknown"
        if version.get("build_flavor") != "serverless":
            health = self._search("GET /_cluster/health", client.cluster.health)["status"]
        found = self._search(
            f"GET /{self._alias}",
            lambda: client.indices.get(index=self._alias, ignore_unavailable=True, allow_no_indices=True),
        )
        count = 0
        if found:
            count = self._search(f"GET /{self._alias}/_count", lambda: client.count(index=self._alias))[
                "count"
            ]
        major, minor = (int(part) for part in str(version["number"]).split(".")[:2])
        return IndexFacts(
            version=(major, minor),
            distribution=version.get("distribution", "elasticsearch"),
            health=health,
            alias=self._alias,
            indexes=tuple(sorted(found)),
            documents=count,
            vectors=tuple(
                field for body in found.values() for field in _vectors(body.get("mappings", {}), "")
            ),
        )

    @staticmethod
    def _search(asked: str, work: Callable[[], Any]) -> Json:
        """Errors of opensearch-py carry a status ("N/A" when nothing answered), and of botocore when it signs."""
        try:
            return cast("Json", work())
        except Exception as error:
            status = getattr(error, "status_code", None)
            code = f"{type(error).__name__} {status}" if isinstance(status, int) else type(error).__name__
            raise ProbeFailed(code, asked) from None

    def bucket(self) -> BucketFacts:
        """Encryption, versioning, public access, lifecycle."""
        encryption = self._bucket_setting("get_bucket_encryption").get(
            "ServerSideEncryptionConfiguration", {}
        )
        rules = encryption.get("Rules", [])
        access = self._bucket_setting("get_public_access_block").get("PublicAccessBlockConfiguration", {})
        lifecycle = self._bucket_setting("get_bucket_lifecycle_configuration").get("Rules", [])
        return BucketFacts(
            name=self._bucket,
            encryption=rules[0].get("ApplyServerSideEncryptionByDefault", {}).get("SSEAlgorithm")
            if rules
            else None,
            versioned=self._bucket_setting("get_bucket_versioning").get("Status") == "Enabled",
            private=len(access) == 4 and all(access.values()),
            expires=any(
                "NoncurrentVersionExpiration" in rule and rule.get("Status") == "Enabled"
                for rule in lifecycle
            ),
        )

    def _bucket_setting(self, operation: str) -> Json:
        try:
            return ask("s3", operation, self._make("s3"), Bucket=self._bucket)
        except ProbeFailed as error:
            if error.code in _UNSET:
                return {}
            raise


def _keys(description: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Key attributes of a table ("") and of its indexes, partition first."""
    places = {
        "": description,
        **{one["IndexName"]: one for one in description.get("GlobalSecondaryIndexes", [])},
    }
    return {
        name: tuple(
            key["AttributeName"] for key in sorted(place["KeySchema"], key=lambda key: key["KeyType"])
        )
        for name, place in places.items()
    }


def _count(attributes: Mapping[str, str]) -> int:
    return sum(
        int(value) for name, value in attributes.items() if name.startswith("ApproximateNumberOfMessages")
    )


def _vectors(mapping: Mapping[str, Any], path: str) -> list[VectorFieldFacts]:
    """Every ``knn_vector`` of a mapping, nested ones too."""
    found: list[VectorFieldFacts] = []
    for name, body in mapping.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        if body.get("type") == "knn_vector":
            method = body.get("method", {})
            space = method.get("space_type", body.get("space_type"))
            found.append(VectorFieldFacts(here, int(body["dimension"]), method.get("engine"), space))
        found += _vectors(body, here)
    return found
