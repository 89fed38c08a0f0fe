"""Schemathesis over the OpenAPI document: whatever fits it, and whatever does not, gets no 5xx."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from rearview.entrypoints.rest.app import create_app
from tests.house import house

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder: Path = tmp_path_factory.mktemp("fuzz")
    with house(folder, wait_seconds=2.0) as one:
        yield schemathesis.openapi.from_asgi("/openapi.json", create_app(one.app, auth=False))


schema = schemathesis.pytest.from_fixture("document")


@pytest.mark.slow
@schema.parametrize()
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_request_brings_a_5xx_or_an_answer_the_document_does_not_know(case: Any) -> None:
    case.call_and_validate(checks=CHECKS)
