"""Consolidation measured: what must stay apart, by hard pairs of statements; what must come together, by generated habits.

All are written word for word as short-term events at the time that they tell of, and consolidated by the task itself.
Pairs: each belongs to a user of its own, and once more all of them to a single one; the smallest group is two. Habits:
groups of three to twelve, zh and en, among look-alikes (see ``consolidating_data``).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from typing import Any, Final

from rearview.domain.language import language_of
from rearview.domain.memory import Memory
from rearview.domain.policy import Consolidation, Policy
from rearview.domain.scope import Scope
from rearview.domain.times import to_text
from rearview.domain.types import DEFAULT_NAMESPACE
from rearview.evaluation.consolidating_data import Told, generate
from rearview.evaluation.report import Row, Table, Value, share
from rearview.evaluation.sets import rows, text
from rearview.evaluation.stage import Stage
from rearview.usecases.app import Rearview
from rearview.usecases.maintenance.consolidate import ConsolidateTask
from rearview.usecases.maintenance.task import Job
from rearview.usecases.scans import memories_of

GROUPS: Final = 200
HARD: Final = ("contradicts", "compatible", "unrelated")
COLUMNS: Final = ("joined", "whole", "foreign")
_EVERYBODY: Final = "everybody"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements that must not be joined, or (``label`` duplicates) may be."""

    id: str
    label: str
    texts: tuple[str, str]


def run(stage: Stage) -> Table:
    """The table of ``consolidation``."""
    started = time.perf_counter()
    pairs = [
        pair for pair in rows(stage.data / "slot_pairs.jsonl", _parse, stage.skipped) if pair.label in HARD
    ][: stage.limit]
    users = generate(min(GROUPS, stage.limit or GROUPS))
    with stage.opened() as app:
        table = _pairs(stage, app, pairs) + _groups(stage, app, users)
    return Table(
        "consolidation",
        "hard pairs that must stay apart, and generated habits among look-alikes",
        COLUMNS,
        tuple(table),
        dict(stage.skipped),
        (
            "joined: pairs of statements that one memory stands for (in one store: of any two of them)",
            "whole: share of the groups that became one memory with the right count and dates",
            "foreign: share of the consolidated episodes that are not of the group they are in",
        ),
        time.perf_counter() - started,
    )


# --- what must stay apart ---


def _pairs(stage: Stage, app: Rearview, pairs: Sequence[Pair]) -> list[Row]:
    alone = [_item(pair.id, each, None) for pair in pairs for each in pair.texts]
    together = [_item(_EVERYBODY, each, None) for pair in pairs for each in pair.texts]
    stage.batches(app, alone, "pairs, each alone", wait=True)
    written = stage.batches(app, together, "pairs, all in one store", wait=True)
    own = sum(len(_consolidated(app, pair.id, 2)) for pair in pairs)
    place = {answer["id"]: at // 2 for at, answer in enumerate(written) if answer is not None}
    joined, within = 0, 0
    for memory in _consolidated(app, _EVERYBODY, 2):
        for a, b in combinations(memory.evidence, 2):
            joined += 1
            within += place[a] == place[b]
    return [
        Row("hard pairs, each alone", len(pairs), {"joined": own}),
        Row("hard pairs, all in one store", len(pairs), {"joined": joined}),
        Row("of them sides of one pair", len(pairs), {"joined": within}),
    ]


# --- what must come together ---


def _groups(stage: Stage, app: Rearview, users: Sequence[Sequence[Told]]) -> list[Row]:
    found: dict[str, list[tuple[bool, int, int]]] = defaultdict(list)
    for number, told in enumerate(users):
        user = f"habits {number}"
        items = [_item(user, one.text, one.at) for one in told]
        written = stage.batches(app, items, f"habits of user {number + 1} of {len(users)}", wait=True)
        ids = {answer["id"]: one for answer, one in zip(written, told, strict=True) if answer is not None}
        for language, outcome in _outcomes(ids, list(_consolidated(app, user, 3))):
            found[language].append(outcome)
            found["all"].append(outcome)
    return [
        Row(f"habits, {name}", len(some), _figures(some))
        for name, some in sorted(found.items(), reverse=True)
    ]


def _outcomes(ids: Mapping[str, Told], made: Sequence[Memory]) -> Iterable[tuple[str, tuple[bool, int, int]]]:
    """By group: its language, and (whether it is whole, members that are foreign, members) of its memory."""
    groups: dict[int, set[str]] = defaultdict(set)
    for memory_id, one in ids.items():
        if one.group is not None:
            groups[one.group].add(memory_id)
    owned: dict[int | None, list[Memory]] = defaultdict(list)
    for memory in made:
        numbers = [ids[item].group for item in memory.evidence]
        owned[max(set(numbers), key=lambda number: (numbers.count(number), str(number)))].append(memory)
    for number, members in groups.items():
        mine = owned.get(number, [])
        foreign = sum(len(set(memory.evidence) - members) for memory in mine)
        language = language_of(ids[next(iter(members))].text)
        yield language, (_whole(members, mine, ids), foreign, sum(len(memory.evidence) for memory in mine))
    for memory in owned.get(None, []):
        size = len(memory.evidence)
        yield language_of(memory.content), (False, size, size)


def _whole(members: set[str], mine: Sequence[Memory], ids: Mapping[str, Told]) -> bool:
    if len(mine) != 1 or set(mine[0].evidence) != members:
        return False
    times = sorted(ids[item].at for item in members)
    told = mine[0].metadata["consolidation"]
    return (told["count"], told["since"], told["until"]) == (
        len(members),
        to_text(times[0]),
        to_text(times[-1]),
    )


def _figures(some: Sequence[tuple[bool, int, int]]) -> dict[str, Value]:
    foreign, members = sum(one[1] for one in some), sum(one[2] for one in some)
    return {"whole": share(sum(one[0] for one in some), len(some)), "foreign": share(foreign, members)}


# --- both ---


def _item(user: str, content: str, at: datetime | None) -> dict[str, Any]:
    told = {} if at is None else {"occurred_at": to_text(at)}
    return {
        "user_id": user,
        "content": content,
        "memory_type": "short_term",
        "kind": "event",
        "admission": "verbatim",
        **told,
    }


def _consolidated(app: Rearview, user: str, smallest: int) -> list[Memory]:
    """What the task makes of a user's episodes."""
    scope = Scope(DEFAULT_NAMESPACE, user)
    policy = Policy(DEFAULT_NAMESPACE, consolidation=Consolidation(True, smallest))
    ConsolidateTask(app.services).run(Job("evaluation", scope, app.services.now(), policy), lambda: False)
    return [item for item in memories_of(app.services.store, scope.partition) if item.evidence]


def _parse(row: dict[str, Any]) -> Pair:
    return Pair(text(row["id"]), text(row["label"]), (text(row["old"]), text(row["new"])))
