"""Where a set is run: an empty store of its own in a temporary folder, and the product's own use cases over it."""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rearview import bootstrap
from rearview.domain.principal import LOCAL
from rearview.ports import Embedder
from rearview.settings import Settings
from rearview.usecases.app import Rearview
from rearview.usecases.commands import WriteBatch
from rearview.usecases.fields import read

#: (what is done, how many are done, of how many).
Progress = Callable[[str, int, int], None]
#: Items of one batch call: the most that the API takes.
BATCH = 100
#: Enrichment of a hundred long texts takes longer than a caller of the API would wait.
PATIENCE = 600.0


@dataclass(frozen=True, slots=True)
class Stage:
    """What the runners of all sets share. ``limit`` cuts a set short: so many users or conversations where a set
    is searched, so many rows where it is judged."""

    data: Path
    settings: Settings
    embedder: Embedder
    progress: Progress | None = None
    limit: int | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    #: On the installation that the environment names, where a set can be run there.
    aws: bool = False

    @contextmanager
    def opened(self) -> Iterator[Rearview]:
        """The use cases over an empty store, which is gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="rearview-eval-") as folder:
            settings = self.settings.model_copy(update={"data": Path(folder), "wait_seconds": PATIENCE})
            with bootstrap.opened(settings, embedder=self.embedder) as runtime:
                yield runtime.app

    def tell(self, what: str, done: int, total: int) -> None:
        """Reports progress."""
        if self.progress is not None:
            self.progress(what, done, total)

    def batches(
        self, app: Rearview, items: Sequence[dict[str, Any]], what: str, *, wait: bool
    ) -> list[dict[str, Any] | None]:
        """Writes ``items`` in batches; one answer each, None (and counted) where an item was refused."""
        answers: list[dict[str, Any] | None] = []
        for start in range(0, len(items), BATCH):
            some = list(items[start : start + BATCH])
            _, body = app.writer.batch(LOCAL, read(WriteBatch, {"items": some}), wait=wait)
            for answer in body["results"]:
                if "error" in answer:
                    logging.getLogger("rearview.evaluation").info("refused: %s", answer["error"]["title"])
                    self.skipped["rows refused by the service"] += 1
                    answers.append(None)
                else:
                    answers.append(answer)
            self.tell(what, len(answers), len(items))
        return answers
