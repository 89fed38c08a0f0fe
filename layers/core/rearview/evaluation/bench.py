"""``rearview bench``: how long the verbs take on this machine, as ratios to bare numpy + FTS5 on the same data.

The ratios say what the service costs; the milliseconds say how fast the machine was and what else it did meanwhile.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rearview import bootstrap
from rearview.domain.chunks import index_text
from rearview.domain.tokens import query_terms, tokenise
from rearview.errors import InvalidInput
from rearview.evaluation.bench_data import Sample, samples
from rearview.evaluation.bench_floor import BareStore
from rearview.evaluation.bench_service import ServiceBench, Timings, percentile
from rearview.evaluation.eval import circumstances
from rearview.evaluation.report import Report, Row, Table, Value
from rearview.evaluation.stage import PATIENCE, Progress
from rearview.ports import Embedder
from rearview.settings import Settings

if TYPE_CHECKING:
    from rearview.ports import Vectors

USERS: Final = 50
#: Questions asked, and writes followed until they are found, per layout.
QUESTIONS: Final = 200
FOLLOWED: Final = 40
#: Texts per embedding call, for the bare store as for the service.
STEP: Final = 16
#: When the memories were said: part of the text that is indexed.
SAID: Final = datetime(2026, 3, 1, 9, tzinfo=UTC)
TOP_K: Final = 5


@dataclass(frozen=True, slots=True)
class _Embedded:
    """The vectors of the memories, made once, and what one of them took on average."""

    vectors: Vectors
    seconds_each: float


def run(settings: Settings, memories: int = 1000, progress: Progress | None = None) -> Report:
    """Measures ``memories`` memories of 50 users and then of one user, in temporary folders, one process.

    ``settings.data`` is not touched. Raises InvalidInput for fewer than one memory.
    """
    if memories < 1:
        raise InvalidInput.of("memories", "greater_than_equal", "must be at least 1")
    started = time.perf_counter()
    embedder = bootstrap.make_embedder(settings)
    embedder.embed_queries(["warm", "热身"])
    base = resident_bytes()
    texts = [_indexed(sample.content) for sample in samples(memories, 1)]
    embedded = _embed(embedder, texts, progress)
    tables = [
        _layout(settings, embedder, samples(memories, users), embedded, base, progress)
        for users in (min(USERS, memories), 1)
    ]
    about: dict[str, Value] = {
        **circumstances(embedder),
        "memories": memories,
        "cores": os.cpu_count(),
        "load": _load(),
    }
    return Report("rearview bench", about, tuple(tables), (), time.perf_counter() - started)


def _layout(
    settings: Settings,
    embedder: Embedder,
    data: Sequence[Sample],
    embedded: _Embedded,
    base: int,
    progress: Progress | None,
) -> Table:
    started = time.perf_counter()
    users = len({sample.user for sample in data})
    name = f"{users} users" if users > 1 else "one user"
    questions = list({sample.question: sample for sample in data}.values())
    # Spread over all templates and users; no question twice, or the cache would answer.
    asked = questions[:: max(1, len(questions) // QUESTIONS)][:QUESTIONS]
    with tempfile.TemporaryDirectory(prefix="rearview-bench-") as folder:
        own = settings.model_copy(update={"data": Path(folder), "wait_seconds": PATIENCE})
        with bootstrap.opened(own, embedder=embedder) as runtime:
            service = ServiceBench(runtime, name, progress)
            timings = service.run(data, asked, FOLLOWED, SAID)
            resident = resident_bytes()
        size = folder_bytes(Path(folder))
    with tempfile.TemporaryDirectory(prefix="rearview-bench-") as folder:
        bare, matrix, verdicts = _bare(Path(folder), embedder, data, asked, embedded)
        bare_size = folder_bytes(Path(folder))
    rows = [
        *_latency("write acknowledged", timings.acknowledged, bare.acknowledged),
        *_latency("found by keyword after", timings.found_by_keyword, ()),
        *_latency("found enriched after", timings.found_enriched, bare.found_enriched),
        *_latency("recall", timings.recalled, bare.recalled),
        *_latency("recall without embedding", timings.recalled_unembedded, bare.recalled_unembedded),
        _row("enrichment, ms each", len(data), _each(timings.enriched, data), _each(bare.enriched, data)),
        _row("resident, MB", 1, resident / 1e6, (base + matrix) / 1e6),
        _row("on disk, KB each", len(data), size / 1e3 / len(data), bare_size / 1e3 / len(data)),
    ]
    return Table(
        name,
        f"{len(data)} memories; milliseconds unless said otherwise",
        ("rearview", "bare", "ratio"),
        tuple(rows),
        dict(service.verdicts) | verdicts,
        (
            "bare: one FTS5 table with the same terms + one float32 matrix, WAL, synchronous FULL, nothing else",
            "found after: from the acknowledgement to the recall that answers with it, its query embedded before",
            "enrichment: all memories written before the worker starts; resident: this process with the model"
            " (bare: before a store was opened, plus the matrix)",
        ),
        time.perf_counter() - started,
    )


def _bare(
    folder: Path, embedder: Embedder, data: Sequence[Sample], asked: Sequence[Sample], embedded: _Embedded
) -> tuple[Timings, int, dict[str, int]]:
    """The same work without the service. Answers the timings, the matrix's size, and how often both found it."""
    timings = Timings()
    counts: Counter[str] = Counter()
    with closing(BareStore(folder, embedded.vectors.shape[1], len(data))) as store:
        numbers = []
        for sample in data:
            begun = time.perf_counter()
            numbers.append(store.write(sample.user, sample.content, tokenise(_indexed(sample.content))))
            timings.acknowledged.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        for at, sample in enumerate(data):
            once = time.perf_counter()
            store.embed(sample.user, [numbers[at]], embedded.vectors[at : at + 1])
            timings.found_enriched.append(time.perf_counter() - once + embedded.seconds_each)
        timings.enriched = time.perf_counter() - begun + embedded.seconds_each * len(data)
        for sample in asked:
            begun = time.perf_counter()
            vector = embedder.embed_queries([sample.question])[0]
            ready = time.perf_counter()
            hits = store.search(sample.user, query_terms(sample.question), vector, TOP_K)
            done = time.perf_counter()
            timings.recalled.append(done - begun)
            timings.recalled_unembedded.append(done - ready)
            counts["questions answered by bare"] += any(content == sample.content for _, content in hits)
        return timings, store.matrix_bytes, dict(counts)


def _embed(embedder: Embedder, texts: Sequence[str], progress: Progress | None) -> _Embedded:
    import numpy as np

    parts = []
    begun = time.perf_counter()
    for start in range(0, len(texts), STEP):
        parts.append(embedder.embed_passages(texts[start : start + STEP]))
        if progress is not None:
            progress("bare: embed", min(start + STEP, len(texts)), len(texts))
    return _Embedded(np.concatenate(parts), (time.perf_counter() - begun) / len(texts))


def _indexed(content: str) -> str:
    return index_text(content, occurred_at=SAID, speaker=None)


def _each(seconds: float, data: Sequence[Sample]) -> float:
    return 1000 * seconds / len(data)


def _latency(label: str, mine: Sequence[float], bare: Sequence[float]) -> list[Row]:
    return [
        _row(
            f"{label}, {name}",
            len(mine),
            1000 * percentile(mine, share) if mine else None,
            1000 * percentile(bare, share) if bare else None,
        )
        for name, share in (("p50", 0.5), ("p99", 0.99))
    ]


def _row(label: str, n: int, mine: float | None, bare: float | None) -> Row:
    figures: dict[str, Value] = {"rearview": None if mine is None else round(mine, 3)}
    figures["bare"] = None if bare is None else round(bare, 3)
    figures["ratio"] = round(mine / bare, 2) if mine is not None and bare else None
    return Row(label, n, figures)


def _load() -> float | None:
    """Processes that wanted to run in the last minute; None where the system does not count them."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def folder_bytes(folder: Path) -> int:
    """What a folder's files take on disk."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def resident_bytes() -> int:
    """Memory that this process holds now; where the system does not tell, the most it ever held; else 0."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
