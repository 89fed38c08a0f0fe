"""Where a year is lived: in folders of its own, or in namespaces of an installation on AWS."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from rearview import bootstrap
from rearview.evaluation.stage import PATIENCE
from rearview.evaluation.years_clock import CachedEmbedder, YearClock
from rearview.settings import Settings
from rearview.usecases.app import Rearview


class Place(Protocol):
    """One store for each variant of the year."""

    @property
    def variants(self) -> tuple[str, ...]:
        """The stores that there are."""
        ...

    def namespace(self, variant: str) -> str:
        """Where the variant's memories lie."""
        ...

    def opened(self, variant: str, clock: YearClock) -> AbstractContextManager[Rearview]:
        """The use cases over the variant's store."""
        ...

    def fresh(self, variant: str, clock: YearClock) -> AbstractContextManager[Rearview]:
        """The use cases over the variant's store, as it was at the year's end; what is asked there changes nothing."""
        ...


class Folders:
    """A folder for each variant; a copy for each round of questions."""

    variants: tuple[str, ...] = ("kept", "summary", "years")

    def __init__(self, folder: Path, settings: Settings, embedder: CachedEmbedder) -> None:
        self._folder, self._settings, self._embedder = folder, settings, embedder

    def namespace(self, variant: str) -> str:  # noqa: ARG002 - a folder has one only
        """The default one."""
        return "default"

    @contextmanager
    def opened(self, variant: str, clock: YearClock) -> Iterator[Rearview]:
        """Over the folder itself."""
        with self._over(self._folder / variant, clock) as app:
            yield app

    @contextmanager
    def fresh(self, variant: str, clock: YearClock) -> Iterator[Rearview]:
        """Over a copy of the folder."""
        with tempfile.TemporaryDirectory(prefix="rearview-years-") as name:
            copy = Path(name) / "copy"
            shutil.copytree(self._folder / variant, copy)
            with self._over(copy, clock) as app:
                yield app

    @contextmanager
    def _over(self, folder: Path, clock: YearClock) -> Iterator[Rearview]:
        settings = self._settings.model_copy(update={"data": folder, "wait_seconds": PATIENCE})
        with bootstrap.opened(settings, embedder=self._embedder, clock=clock) as runtime:
            yield runtime.app


class Installation:
    """Namespaces of their own on the AWS resources that the ``REARVIEW_…`` settings name; this process enriches."""

    variants: tuple[str, ...] = ("kept", "years")

    def __init__(self, embedder: CachedEmbedder) -> None:
        self._embedder, self._run = embedder, secrets.token_hex(4)

    def namespace(self, variant: str) -> str:
        """One that no other run has."""
        return f"years-{self._run}-{variant}"

    @contextmanager
    def opened(self, variant: str, clock: YearClock) -> Iterator[Rearview]:  # noqa: ARG002 - one table for all
        """Over the installation."""
        from rearview.bootstrap_aws import aws
        from rearview.settings import AwsSettings

        runtime = aws(AwsSettings(wait_seconds=PATIENCE), embedder=self._embedder, clock=clock)
        runtime.app.services.inline = True
        try:
            yield runtime.app
        finally:
            # Questions must not wake what later ones look for.
            runtime.app.touches.drop()
            runtime.close()

    @contextmanager
    def fresh(self, variant: str, clock: YearClock) -> Iterator[Rearview]:
        """The same: nothing that is asked is written down."""
        with self.opened(variant, clock) as app:
            yield app
