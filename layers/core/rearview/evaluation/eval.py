"""``rearview eval``: the sets of a folder through the product's own use cases, beside their floors."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from rearview.bootstrap import make_embedder
from rearview.errors import InvalidInput
from rearview.evaluation import consolidating, extracting, judging, profiling, relating, retrieval, years
from rearview.evaluation.report import Report, Table, Value
from rearview.evaluation.sets import FILES
from rearview.evaluation.stage import Progress, Stage
from rearview.ports import Embedder
from rearview.settings import Settings

_RUNNERS: Final[Mapping[str, Callable[[Stage], Table]]] = {
    "locomo": lambda stage: retrieval.run(stage, "locomo"),
    "lifebench": lambda stage: retrieval.run(stage, "lifebench"),
    "memorybank": lambda stage: retrieval.run(stage, "memorybank"),
    "filter": judging.run_filter,
    "conflict_pairs": lambda stage: relating.run(stage, "conflict_pairs"),
    "slot_pairs": lambda stage: relating.run(stage, "slot_pairs"),
    "consolidation": consolidating.run,
    "turns_extract": extracting.run_dialogues,
    "poison": lambda stage: judging.run_poison(stage, "poison"),
    "poison_zh": lambda stage: judging.run_poison(stage, "poison_zh"),
    "extraction_mempalace": extracting.run_notes,
    "locomo_observations": extracting.run_observations,
    "profile": profiling.run,
    "years": years.run,
}
#: Names that ``sets`` may hold, in the order in which they run.
SETS: Final = tuple(_RUNNERS)
#: Those that run only when they are named: they are generated, or take many minutes.
LONG: Final = frozenset({"consolidation", "profile", "years"})


def run(
    data: Path | None,
    settings: Settings,
    sets: Sequence[str] | None = None,
    progress: Progress | None = None,
    limit: int | None = None,
    *,
    aws: bool = False,
) -> Report:
    """Runs ``sets`` (all by default) of the folder ``data`` (None: sets that are generated) and answers their tables.

    ``settings.data`` is not touched: each set gets an empty store in a temporary folder. ``limit`` takes the first
    so many conversations or users of a set that is searched, rows of one that is judged. A set whose files are not
    all there is named in ``missing``. Raises InvalidInput for a folder that is none, an unknown set, a limit below 1.
    """
    chosen = _chosen(data, sets, limit)
    folder = data or Path()
    started = time.perf_counter()
    embedder = make_embedder(settings)
    tables: list[Table] = []
    missing: list[str] = []
    for name in chosen:
        absent = [file for file in FILES[name] if not (folder / file).is_file()]
        if absent:
            missing.append(f"{name}: no {', '.join(absent)}")
            continue
        tables.append(_RUNNERS[name](Stage(folder, settings, embedder, progress, limit, aws=aws)))
    about = circumstances(embedder)
    if limit is not None:
        about["limit"] = limit
    return Report("rearview eval", about, tuple(tables), tuple(missing), time.perf_counter() - started)


def circumstances(embedder: Embedder) -> dict[str, Value]:
    """What figures depend on: the versions of what was measured and run."""
    try:
        release = version("rearview-memory")
    except PackageNotFoundError:  # run from a checkout that is not installed
        release = "uninstalled"
    return {
        "rearview": release,
        "embedder": embedder.fingerprint,
        "python": platform.python_version(),
    }


def _chosen(data: Path | None, sets: Sequence[str] | None, limit: int | None) -> list[str]:
    generated = bool(sets) and all(not FILES.get(name, ("",)) for name in sets or ())
    if not generated and (data is None or not data.is_dir()):
        raise InvalidInput.of("data", "folder", "must be a folder with the sets")
    unknown = [name for name in sets or () if name not in SETS]
    if unknown:
        raise InvalidInput.of(
            "sets", "known_set", f"must be among {', '.join(SETS)}, not {', '.join(unknown)}"
        )
    if limit is not None and limit < 1:
        raise InvalidInput.of("limit", "greater_than_equal", "must be at least 1")
    return [name for name in SETS if (name in sets if sets else name not in LONG)]
