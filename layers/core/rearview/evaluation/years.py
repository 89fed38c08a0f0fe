"""A year in minutes: LifeBench's memories written in the order of their dates, with maintenance every day and week.

Three stores live through the same year: ``kept`` without maintenance, ``summary`` with the texts of short_term memories
leaving for the archive and nothing else, ``years`` with all of it. At the year's end each question is asked of fresh
copies. R@10 is the mean over the questions of |gold ∩ top 10| / |gold|, gold counted by a memory's own id.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rearview.domain.principal import LOCAL
from rearview.domain.scope import Scope
from rearview.domain.times import parse
from rearview.errors import Gone
from rearview.evaluation import years_report as report
from rearview.evaluation.report import Table
from rearview.evaluation.retrieval import DEPTH, item
from rearview.evaluation.sets import Question, Record, RetrievalSet, retrieval_set
from rearview.evaluation.stage import PATIENCE, Stage
from rearview.evaluation.years_clock import CachedEmbedder, YearClock
from rearview.evaluation.years_places import Folders, Installation, Place
from rearview.evaluation.years_report import Year
from rearview.usecases.app import Rearview
from rearview.usecases.commands import WriteBatch
from rearview.usecases.fields import read
from rearview.usecases.policy_commands import ChangePolicy
from rearview.usecases.questions import Recall
from rearview.usecases.scans import memories_of

if TYPE_CHECKING:
    from rearview.domain.runs import Cadence

NAME: Final = "years"
TITLE: Final = "A year of LifeBench, written by date, with maintenance every day and week"
#: What the variant ``summary`` leaves out.
_SUMMARY_ONLY: Final = {
    "archiving": {"cold_days": None},
    "forgetting": {"mode": "off"},
    "consolidation": {"enabled": False},
}


def run(stage: Stage) -> Table:
    """The table of the year. ``stage.limit`` takes the first so many users."""
    started = time.perf_counter()
    data = retrieval_set("lifebench", stage.data, stage.skipped).first(stage.limit)
    records = sorted(data.records, key=lambda record: (_at(record), record.group, record.id))
    embedder = CachedEmbedder(stage.embedder)
    with tempfile.TemporaryDirectory(prefix="rearview-years-") as name:
        place: Place = Installation(embedder) if stage.aws else Folders(Path(name), stage.settings, embedder)
        years = {variant: live_through(stage, place, records, variant) for variant in place.variants}
        found = {
            variant: asked(place, variant, data, years[variant], archived=False) for variant in place.variants
        }
        found["hot"] = found.pop("years")
        found["archive"] = asked(place, "years", data, years["years"], archived=True)
        speeds = timed(place, embedder, data)
    gold = [_newest(question, records) for question in answerable(data)]
    return Table(
        NAME,
        TITLE,
        report.COLUMNS,
        tuple(report.rows(answerable(data), found, gold, _end(records))),
        report.counts(len(records), len(answerable(data)), years["years"]) | dict(stage.skipped),
        report.notes(years, speeds, len(records)),
        time.perf_counter() - started,
    )


# --- the year ---


def live_through(stage: Stage, place: Place, records: Sequence[Record], variant: str) -> Year:
    """Writes the records day by day, with the variant's maintenance at three in the morning, to the end of the year."""
    year = Year()
    namespace = place.namespace(variant)
    users = {record.group for record in records}
    clock = YearClock(_at(records[0]).replace(hour=0, minute=0))
    with place.opened(variant, clock) as app:
        if variant == "summary":
            app.policy_keeper.change(LOCAL, read(ChangePolicy, {**_SUMMARY_ONLY, "namespace": namespace}))
        days: dict[datetime, list[Record]] = defaultdict(list)
        for record in records:
            days[_at(record).replace(hour=0, minute=0, second=0)].append(record)
        day, end, written = min(days), _end(records), 0
        while day <= end:
            clock.set(day + timedelta(hours=3))
            if variant != "kept":
                _maintain(app, namespace, users, year, day)
            write(app, namespace, clock, days.get(day, []), year)
            written += len(days.get(day, []))
            stage.tell(f"years, {variant}: memories", written, len(records))
            day += timedelta(days=1)
        clock.set(end)
        if variant != "kept":
            _maintain(app, namespace, users, year, end)
        _look(app, namespace, users, year)
    return year


def write(app: Rearview, namespace: str, clock: YearClock, records: Sequence[Record], year: Year) -> None:
    """One day's records, each at its own time; enriched at the end of the day."""
    waiting: dict[str, int] = {}
    for record in records:
        clock.set(max(_at(record), clock.at))
        body = {**item(record), "namespace": namespace, "memory_type": "short_term", "kind": "event"}
        _, answer = app.writer.batch(LOCAL, read(WriteBatch, {"items": [body]}), wait=False)
        result = answer["results"][0]
        year.ids[result["id"]] = record
        _, partition, seq = app.services.open_token(result["token"])
        waiting[partition] = seq
    app.enricher.wait_all(waiting, PATIENCE)


def _maintain(app: Rearview, namespace: str, users: set[str], year: Year, day: datetime) -> None:
    started = time.perf_counter()
    kinds: list[Cadence] = ["daily"]
    if day.weekday() == 0:
        kinds.append("weekly")
    app.sweeper.sweep()
    for kind in kinds:
        run_ = app.maintainer.start(namespace, kind, by="years")
        app.maintainer.advance(run_, lambda: False, inline=True)
        for name, one in app.maintainer.read(run_).tasks.items():
            for action, number in one["counts"].items():
                year.done[f"{name}.{action}"] += number
    # What runs changed is indexed before the day begins.
    for user in users:
        while app.enricher.drain(Scope(namespace, user).partition):
            pass
    year.seconds += time.perf_counter() - started


def _look(app: Rearview, namespace: str, users: set[str], year: Year) -> None:
    """What is hot before anybody asks, and whether every id answers with the text that was written."""
    now = app.services.now()
    for user in users:
        partition = Scope(namespace, user).partition
        year.hot += sum(memory.live(now) for memory in memories_of(app.services.store, partition))
        year.documents += len(app.services.index.versions(partition))
    for memory_id, record in year.ids.items():
        try:
            held = app.reader.memory(LOCAL, memory_id)
        except Gone:
            year.gone += 1
            continue
        year.answered += held.content == record.text
        year.lost += held.content != record.text


# --- the questions ---


def asked(place: Place, variant: str, data: RetrievalSet, year: Year, *, archived: bool) -> list[float]:
    """R@10 of each question that has gold, on a fresh copy of the store."""
    found = []
    with place.fresh(variant, YearClock(_end(data.records))) as app:
        for question in answerable(data):
            request = _request(question, place.namespace(variant), archived=archived)
            answer = app.recaller.recall(LOCAL, read(Recall, request))
            ids = [year.ids[hit.id].id for hit in answer.hits if hit.id in year.ids]
            top = [one for one in ids if one not in question.ignored][:DEPTH]
            found.append(len(question.gold & set(top)) / len(question.gold))
    return found


def timed(place: Place, embedder: CachedEmbedder, data: RetrievalSet) -> dict[str, float]:
    """Median milliseconds of a recall whose query is embedded already, stores taking turns question by question."""
    took: dict[str, list[float]] = {"kept": [], "years": []}
    clock = YearClock(_end(data.records))
    with place.fresh("kept", clock) as one, place.fresh("years", clock) as two:
        apps = {"kept": one, "years": two}
        for number, question in enumerate(answerable(data)):
            embedder.embed_queries([question.text])
            for name in list(apps) if number % 2 else list(reversed(apps)):
                request = read(Recall, _request(question, place.namespace(name), archived=False))
                started = time.perf_counter()
                apps[name].recaller.recall(LOCAL, request)
                took[name].append((time.perf_counter() - started) * 1000)
    return {name: statistics.median(values) for name, values in took.items() if values}


def _request(question: Question, namespace: str, *, archived: bool) -> dict[str, Any]:
    return {
        "user_id": question.group,
        "namespace": namespace,
        "query": question.text,
        "top_k": min(50, DEPTH + len(question.ignored)),
        "include_content": False,
        "include_archived": archived,
    }


def answerable(data: RetrievalSet) -> list[Question]:
    """The questions that have gold."""
    return [question for question in data.questions if question.gold]


def _newest(question: Question, records: Sequence[Record]) -> datetime:
    """When the newest of its gold memories was written."""
    return max(
        _at(record) for record in records if record.group == question.group and record.id in question.gold
    )


# --- times ---


def _at(record: Record) -> datetime:
    return parse(record.at, UTC)


def _end(records: Sequence[Record]) -> datetime:
    """The last moment of the year of the newest record."""
    last = max(_at(record) for record in records)
    return datetime(last.year, 12, 31, 23, 59, tzinfo=UTC)


__all__ = ["run"]
