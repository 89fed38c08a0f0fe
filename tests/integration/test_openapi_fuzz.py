"""Schemathesis over the OpenAPI document: whatever fits it, and whatever does not, gets no 5xx."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from rearview.domain.principal import LOCAL
from rearview.entrypoints.rest.app import create_app
from rearview.usecases.commands import RecordDecision
from rearview.usecases.fields import read
from tests.house import house
from tests.integration.rest_kit import SPECS

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with house(tmp_path_factory.mktemp("fuzz"), wait_seconds=2.0) as one:
        one.write("I live in Lisbon")
        decision = {"user_id": "u", "context": "late parcel", "action": "refund"}
        one.app.tracer.decide(LOCAL, read(RecordDecision, decision))
        yield schemathesis.openapi.from_asgi("/openapi.json", create_app(one.app, auth=False))


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize(("method", "path"), [(spec.method, spec.path) for spec in SPECS])
def test_no_request_brings_a_5xx_or_an_answer_the_document_does_not_know(
    schema: Any, method: str, path: str, mode: GenerationMode
) -> None:
    operation = schema[path][method]

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=operation.as_strategy(generation_mode=mode))
    def fuzz(case: Any) -> None:
        case.call_and_validate(checks=CHECKS)

    fuzz()
