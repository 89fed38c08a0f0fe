"""Logs and metrics of the functions: JSON lines with a correlation id, and EMF metrics by function and stage.

No content, no ids of users or namespaces: neither in lines nor in dimensions.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

from rearview.settings import AwsSettings

NAMESPACE = "Rearview"
COUNT, MILLISECONDS, SECONDS = MetricUnit.Count, MetricUnit.Milliseconds, MetricUnit.Seconds


class Observer:
    """One function's logger and metrics."""

    def __init__(self, function: str, settings: AwsSettings) -> None:
        self.function = function
        self.logger = Logger(
            service=f"rearview-{function}", level=os.environ.get("REARVIEW_LOG_LEVEL", "INFO")
        )
        self.metrics = Metrics(namespace=NAMESPACE, service=f"rearview-{function}")
        self.metrics.set_default_dimensions(stage=settings.stage)
        house = logging.getLogger("rearview")
        house.handlers = [self.logger.registered_handler]
        house.setLevel(self.logger.log_level)
        house.propagate = False
        self._cold = True

    @contextmanager
    def invocation(self, context: Any, correlation: str | None = None) -> Iterator[None]:
        """Around one invocation: its ids on every line, its metrics written at the end, whatever happens."""
        self.logger.append_keys(request=getattr(context, "aws_request_id", None), cold_start=self._cold)
        self.logger.set_correlation_id(correlation)
        if self._cold:
            self.metrics.add_metric("ColdStart", COUNT, 1)
        self._cold = False
        try:
            yield
        finally:
            if self.metrics.metric_set:
                self.metrics.flush_metrics()

    def count(self, name: str, value: float = 1) -> None:
        """Adds to a count."""
        self.metrics.add_metric(name, COUNT, value)

    def took(self, name: str, milliseconds: float) -> None:
        """A duration."""
        self.metrics.add_metric(name, MILLISECONDS, milliseconds)

    def age(self, name: str, seconds: float) -> None:
        """How old the oldest of something is."""
        self.metrics.add_metric(name, SECONDS, seconds)
