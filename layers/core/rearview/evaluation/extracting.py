"""Judging sets of conversations: which turns leave a memory, and is it the right one?

Extraction is decided at acknowledgement, so nothing is embedded.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rearview.domain.language import sentences
from rearview.domain.principal import LOCAL
from rearview.errors import RearviewError
from rearview.evaluation.floor import LONG_TURN, covered, is_long
from rearview.evaluation.report import Row, Table, precision_recall, share
from rearview.evaluation.sets import FILES, Record, RetrievalSet, records_of, rows, text
from rearview.evaluation.stage import BATCH, Stage
from rearview.usecases.app import Rearview
from rearview.usecases.commands import WriteTurns
from rearview.usecases.fields import read

#: A found memory matches a gold text when it holds so much of its words.
MATCH: Final = 0.5
#: Types of the MemPalace notes in the service's words; the others have no counterpart.
_KINDS: Final = {
    "preference": "preference",
    "fact": "fact",
    "event": "event",
    "decision": "conclusion",
    "opinion": "preference",
}

Memories = dict[str, list[dict[str, Any]]]


def keep(
    stage: Stage, app: Rearview, user: str, session: str, turns: Sequence[dict[str, Any]]
) -> Memories | None:
    """The memories of a conversation by turn id; None (and counted) where the service refused it."""
    found: Memories = defaultdict(list)
    for start in range(0, len(turns), BATCH):
        request = {"user_id": user, "session_id": session, "turns": list(turns[start : start + BATCH])}
        try:
            _, body = app.sessions.turns(LOCAL, read(WriteTurns, request))
        except RearviewError:
            stage.skipped["rows refused by the service"] += 1
            return None
        for result in body["results"]:
            kept = [one for one in result["memories"] if one["verdict"] not in ("drop", "quarantine")]
            found[result["turn_id"]] += [one["memory"] for one in kept if one["memory"]]
    return found


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A short conversation with what is to be kept of it. ``quiet``: turns that hold nothing."""

    id: str
    language: str
    turns: tuple[dict[str, Any], ...]
    gold: tuple[tuple[str, str, tuple[str, ...]], ...]
    quiet: frozenset[str]


def run_dialogues(stage: Stage) -> Table:
    """``turns_extract``: per turn (does it leave something) and per gold memory (kind, keys verbatim). A turn that
    only gives context counts neither way."""
    started = time.perf_counter()
    dialogues = list(rows(stage.data / "turns_extract.jsonl", _dialogue, stage.skipped))[: stage.limit]
    turns: dict[str, list[tuple[bool, bool, bool]]] = defaultdict(list)
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    with stage.opened() as app:
        for done, dialogue in enumerate(dialogues, 1):
            found = keep(stage, app, dialogue.id, dialogue.id, dialogue.turns)
            stage.tell("turns_extract", done, len(dialogues))
            if found is None:
                continue
            for group in (dialogue.language, "all"):
                turns[group] += _turn_marks(dialogue, found)
                sums[group].update(_gold_marks(dialogue, found))
    table = []
    for group in sorted(turns, key=lambda one: (one == "all", one)):
        mine, total = turns[group], sums[group]
        figures = _turn_figures([(truth, kept) for truth, kept, _ in mine])
        figures["kind right"] = share(total["kind"], total["gold"])
        figures["keys kept"] = share(total["keys kept"], total["keys"])
        below = _turn_figures([(truth, long) for truth, _, long in mine])
        table.append(Row(group, len(mine), figures, below))
    return Table(
        "turns_extract",
        "dialogues: precision and recall of the turns that leave a memory",
        ("precision", "recall", "quiet", "kind right", "keys kept"),
        tuple(table),
        {"dialogues": len(dialogues), "gold memories": sums["all"]["gold"], **stage.skipped},
        (
            "quiet: share of the turns with nothing to keep that leave nothing; kind right and keys kept: per gold",
            f"floor: every turn of the user with at least {LONG_TURN} characters",
        ),
        time.perf_counter() - started,
    )


def _dialogue(row: dict[str, Any]) -> Dialogue:
    turns = tuple(
        {
            "turn_id": str(turn["turn"]),
            "role": turn["role"],
            "content": text(turn["text"]),
            **({"at": turn["at"]} if turn.get("at") else {}),
        }
        for turn in row["dialogue"]
    )
    gold = tuple(
        (str(one["source_turn"]), text(one["kind"]), tuple(map(str, one.get("keys") or ())))
        for one in row["gold"]
    )
    return Dialogue(text(row["id"]), text(row["lang"]), turns, gold, frozenset(map(str, row["nothing"])))


def _turn_marks(dialogue: Dialogue, found: Memories) -> list[tuple[bool, bool, bool]]:
    """(holds something, was kept, would be kept by length) of every turn that counts."""
    holds = {turn for turn, _, _ in dialogue.gold}
    return [
        (
            turn["turn_id"] in holds,
            bool(found.get(turn["turn_id"])),
            turn["role"] == "user" and is_long(turn["content"], LONG_TURN),
        )
        for turn in dialogue.turns
        if turn["turn_id"] in holds | dialogue.quiet
    ]


def _gold_marks(dialogue: Dialogue, found: Memories) -> Counter[str]:
    together = " ".join(memory["content"] for some in found.values() for memory in some)
    sums: Counter[str] = Counter()
    for turn, kind, keys in dialogue.gold:
        sums["gold"] += 1
        sums["kind"] += any(memory["kind"] == kind for memory in found.get(turn, ()))
        sums["keys"] += len(keys)
        sums["keys kept"] += sum(key in together for key in keys)
    return sums


def _turn_figures(said: Sequence[tuple[bool, bool]]) -> dict[str, float | None]:
    precision, recall = precision_recall(said)
    silent = [not kept for truth, kept in said if not truth]
    return {"precision": precision, "recall": recall, "quiet": share(sum(silent), len(silent))}


def run_notes(stage: Stage) -> Table:
    """``extraction_mempalace``: notes with gold memories in English. Only the English notes are scored."""
    started = time.perf_counter()

    def parse(row: dict[str, Any]) -> tuple[str, str, list[tuple[str, str]]]:
        gold = [(text(one["content"]), text(one["type"])) for one in row["memories"]]
        return text(row["id"]), text(row["text_en"]), gold

    notes = list(rows(stage.data / "extraction_mempalace.jsonl", parse, stage.skipped))[: stage.limit]
    sums: dict[str, Counter[str]] = {"kept": Counter(), "floor": Counter()}
    with stage.opened() as app:
        for done, (note, content, gold) in enumerate(notes, 1):
            found = keep(stage, app, note, note, [{"turn_id": "1", "content": content}])
            stage.tell("extraction_mempalace", done, len(notes))
            if found is None:
                continue
            memories = [(memory["content"], memory["kind"]) for memory in found.get("1", ())]
            sums["kept"].update(_matches(gold, memories))
            sums["floor"].update(_matches(gold, [(one, "fact") for one in sentences(content)]))
    figures, below = _note_figures(sums["kept"]), _note_figures(sums["floor"])
    return Table(
        "extraction_mempalace",
        "notes: precision and recall of memories against gold texts",
        ("precision", "recall", "kind right"),
        (Row("en", len(notes), figures, below),),
        {"notes": len(notes), "gold memories": sums["kept"]["gold"], **stage.skipped},
        (
            f"a match holds at least {MATCH:.0%} of the gold's words; kind right: of the golds whose type we have",
            "floor: every sentence is a fact",
        ),
        time.perf_counter() - started,
    )


def _matches(gold: Sequence[tuple[str, str]], memories: Sequence[tuple[str, str]]) -> Counter[str]:
    sums: Counter[str] = Counter(gold=len(gold), memories=len(memories))
    for wanted, kind in gold:
        hits = [have for content, have in memories if covered(wanted, content) >= MATCH]
        sums["found"] += bool(hits)
        if kind in _KINDS:
            sums["typed"] += 1
            sums["kind"] += _KINDS[kind] in hits
    sums["true"] = sum(
        any(covered(wanted, content) >= MATCH for wanted, _ in gold) for content, _ in memories
    )
    return sums


def _note_figures(sums: Counter[str]) -> dict[str, float | None]:
    return {
        "precision": share(sums["true"], sums["memories"]),
        "recall": share(sums["found"], sums["gold"]),
        "kind right": share(sums["kind"], sums["typed"]),
    }


def run_observations(stage: Stage) -> Table:
    """``locomo_observations``: which turns of the chats hold something, by the facts noted from them."""
    started = time.perf_counter()
    turns_read = RetrievalSet(records_of("locomo", stage.data, stage.skipped), ())
    records = turns_read.first(stage.limit).records

    def parse(row: dict[str, Any]) -> tuple[str, frozenset[str]]:
        return text(row["conv"]), frozenset(map(text, row["evidence"]))

    facts = list(rows(stage.data / FILES["locomo_observations"][1], parse, stage.skipped))
    gold = {(conv, turn) for conv, turns in facts for turn in turns}
    sessions: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        sessions[record.group, record.session or ""].append(record)
    marks: list[tuple[bool, bool, bool]] = []
    kept: set[tuple[str, str]] = set()
    with stage.opened() as app:
        for done, ((conv, session), mine) in enumerate(sessions.items(), 1):
            turns = [
                {"turn_id": one.id, "content": one.text, "at": one.at, "speaker": one.speaker} for one in mine
            ]
            found = keep(stage, app, conv, session, turns)
            stage.tell("locomo_observations", done, len(sessions))
            if found is None:
                continue
            for one in mine:
                left = bool(found.get(one.id))
                marks.append(((conv, one.id) in gold, left, is_long(one.text, LONG_TURN)))
                kept |= {(conv, one.id)} if left else set()
    seen = {record.group for record in records}
    asked = [{(conv, turn) for turn in turns} for conv, turns in facts if conv in seen]
    figures = _turn_figures([(truth, left) for truth, left, _ in marks])
    figures["facts reached"] = share(sum(bool(turns & kept) for turns in asked), len(asked))
    below = _turn_figures([(truth, long) for truth, _, long in marks])
    return Table(
        "locomo_observations",
        "chats: precision and recall of the turns that leave a memory",
        ("precision", "recall", "quiet", "facts reached"),
        (Row("en", len(marks), figures, below),),
        {"turns": len(marks), "facts": len(asked), **stage.skipped},
        (
            "a turn without a noted fact may well hold one: precision and quiet are lower bounds",
            f"floor: every turn with at least {LONG_TURN} characters",
        ),
        time.perf_counter() - started,
    )
