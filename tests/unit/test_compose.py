"""compose.yaml: no Docker here, so what can be told from its text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from infra.local.stack import LOCALSTACK_PORT, MINISTACK_PORT, OPENSEARCH_PORT

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    document = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    found: dict[str, Any] = document["services"]
    return found


def test_opensearch_and_ministack_start_by_default_and_localstack_by_its_profile(
    services: dict[str, Any],
) -> None:
    default = {name for name, service in services.items() if not service.get("profiles")}
    assert default == {"opensearch", "ministack"}
    assert services["localstack"]["profiles"] == ["localstack"]


def test_every_port_is_bound_to_loopback_alone(services: dict[str, Any]) -> None:
    outside = {name: service["ports"] for name, service in services.items()}
    assert outside == {
        "opensearch": [f"127.0.0.1:{OPENSEARCH_PORT}:9200"],
        "ministack": [f"127.0.0.1:{MINISTACK_PORT}:4566"],
        "localstack": [f"127.0.0.1:{LOCALSTACK_PORT}:4566"],
    }


def test_versions_are_stated_and_localstack_is_the_last_that_needs_no_token(services: dict[str, Any]) -> None:
    assert services["localstack"]["image"] == "localstack/localstack:4.14.0"
    assert services["opensearch"]["image"] == "opensearchproject/opensearch:3.6.0"
    assert services["ministack"]["image"] == "ministackorg/ministack:full"


def test_opensearch_is_a_single_node_without_security_within_its_memory(services: dict[str, Any]) -> None:
    environment = services["opensearch"]["environment"]
    assert environment["discovery.type"] == "single-node"
    assert environment["DISABLE_SECURITY_PLUGIN"] == "true"
    assert "-Xmx1g" in environment["OPENSEARCH_JAVA_OPTS"]


def test_every_service_has_a_memory_limit_and_a_health_check(services: dict[str, Any]) -> None:
    for name, service in services.items():
        assert service["mem_limit"], name
        assert service["healthcheck"]["test"], name
        for other in service.get("depends_on", {}):
            assert other in services
