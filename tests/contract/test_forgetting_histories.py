"""No memory that a user confirmed, corrected or called important is ever forgotten without being asked: on every store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import opensearch_nodes
import pytest
from aws_services import SERVICES
from hypothesis import HealthCheck, given, settings
from tests.histories_kit import STEPS, Tale
from tests.house import House, house

from rearview.usecases.policies import PolicyBook

#: How many histories: on the stand-ins of AWS, where one takes seven to nine seconds; in the quick suite; and where there
#: is time: minutes here, hours there (``RV_HISTORIES``, for less).
FEW, QUICK, ALL = 5, 50, int(os.environ.get("RV_HISTORIES", "1000"))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path) as one:
        yield one


@pytest.fixture
def on_dynamodb(home: House, resources: ExitStack) -> House:
    """The same house with its records, which are all that decides what is forgotten, in DynamoDB."""
    from rearview.adapters.aws.dynamodb import DynamoStore

    client = SERVICES.client("dynamodb")
    store = DynamoStore(client, SERVICES.table(client))
    resources.callback(store.close)
    home.app.services.store = store
    home.app.services.policies = PolicyBook(store)
    return home


@pytest.fixture
def on_aws(on_dynamodb: House, resources: ExitStack) -> House:
    """Over DynamoDB, OpenSearch and S3, or what stands in for them."""
    from rearview.adapters.aws.opensearch import OpenSearchIndex
    from rearview.adapters.aws.opensearch_mapping import Options
    from rearview.adapters.aws.s3 import S3Archive

    services, newest = on_dynamodb.app.services, opensearch_nodes.VERSIONS[-1]
    client = SERVICES.client("s3")
    resources.callback(client.close)
    services.archive = S3Archive(client, SERVICES.bucket(client), prefix="archive/")
    options = Options(alias=opensearch_nodes.fresh_alias(newest, resources), search_seconds=30.0)
    node = opensearch_nodes.client(newest, resources)
    services.index = OpenSearchIndex(node, services.embedder.fingerprint, options)
    return on_dynamodb


def tell(home: House, histories: int) -> None:
    """Tells so many histories; some of them must have forgotten something, or nothing was shown."""
    forgotten: list[int] = []

    @settings(
        max_examples=histories,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(steps=STEPS)
    def run(steps: list[tuple[Any, ...]]) -> None:
        forgotten.append(Tale(home).tell(steps))

    run()
    assert sum(item > 0 for item in forgotten) >= max(1, len(forgotten) // 10)


def test_what_a_user_stands_by_is_never_forgotten_unasked(home: House) -> None:
    tell(home, QUICK)


@pytest.mark.slow
def test_what_a_user_stands_by_is_never_forgotten_unasked_in_a_thousand_histories(home: House) -> None:
    tell(home, ALL)


@pytest.mark.aws
def test_what_a_user_stands_by_is_never_forgotten_unasked_on_aws(on_aws: House) -> None:
    tell(on_aws, FEW)


@pytest.mark.aws
def test_what_a_user_stands_by_is_never_forgotten_unasked_on_dynamodb(on_dynamodb: House) -> None:
    tell(on_dynamodb, FEW)


@pytest.mark.aws
@pytest.mark.slow
def test_what_a_user_stands_by_is_never_forgotten_unasked_in_a_thousand_histories_on_dynamodb(
    on_dynamodb: House,
) -> None:
    tell(on_dynamodb, ALL)
