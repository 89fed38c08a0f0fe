"""A year in minutes over DynamoDB, SQS, S3 and OpenSearch: a quarter of one, in namespaces of its own."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import opensearch_nodes
import pytest
from aws_services import REGION, SERVICES
from tests.unit.evaluation_kit import quarter

from rearview.evaluation import eval as evaluation
from rearview.settings import Settings

pytestmark = [pytest.mark.aws, pytest.mark.slow]


@pytest.fixture
def installation(monkeypatch: pytest.MonkeyPatch, resources: ExitStack) -> None:
    """The settings of a fresh installation on the stand-ins."""
    newest = opensearch_nodes.VERSIONS[-1]
    dynamodb, sqs, s3 = (SERVICES.client(name) for name in ("dynamodb", "sqs", "s3"))
    queue, dead = SERVICES.queues(sqs)
    settings = {
        "REARVIEW_TABLE": SERVICES.table(dynamodb),
        "REARVIEW_QUEUE_URL": queue,
        "REARVIEW_DEAD_LETTERS_URL": dead,
        "REARVIEW_BUCKET": SERVICES.bucket(s3),
        "REARVIEW_OPENSEARCH_URL": opensearch_nodes.url(newest),
        "REARVIEW_OPENSEARCH_AUTH": "none",
        "REARVIEW_OPENSEARCH_INDEX": opensearch_nodes.fresh_alias(newest, resources),
        "REARVIEW_EMBEDDER": "hashing",
        "AWS_ENDPOINT_URL": SERVICES.url("ministack"),
        "AWS_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    for client in (dynamodb, sqs, s3):
        resources.callback(client.close)


@pytest.mark.usefixtures("installation")
def test_a_year_on_aws_cools_down_loses_nothing_and_is_still_found(tmp_path: Path) -> None:
    quarter(tmp_path)
    (table,) = evaluation.run(tmp_path, Settings(embedder="hashing"), ["years"], aws=True).tables
    counts = table.counts
    assert (counts["memories"], counts["hot at the year's end"]) == (21, 18)
    assert counts["documents in its index"] == 18
    assert (counts["ids that answer with their text"], counts["ids that answer anything else"]) == (21, 0)
    rows = {row.label: row.figures for row in table.rows}
    assert rows["all"]["R@10 kept"] == rows["all"]["R@10 with archive"] == 1.0
