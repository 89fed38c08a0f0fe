"""Blame and credit: what an outcome does to the memories its decision rested on. Recorded, and taken back by one call.

A failure takes 15 % of a memory's importance (a ``score`` scales it), a success gives a twentieth of what is missing
to 1. Three failures in a row archive the memory (``archived_because: blame``). Only memories of the decision's own
scope are touched: another user's evidence is not ours to change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import decode
from rearview.domain.memory import Memory
from rearview.domain.records import Decision, Effect, Outcome
from rearview.domain.types import LIVE
from rearview.usecases.book import Book
from rearview.usecases.past import history_of
from rearview.usecases.waking import sleeps, status_before, wake

LOSS = 0.15
GAIN = 0.05
FAILURES_TO_ARCHIVE = 3
#: Memories that one outcome changes: with six items each they stay under the hundred of a DynamoDB transaction.
MOST = 14


def apply(book: Book, decision: Decision, outcome: Outcome) -> tuple[Effect, ...]:
    """Changes the memories and answers what was changed. What proved of use counts as used, and wakes if it was cold."""
    effects: list[Effect] = []
    changed = 0
    for memory_id in decision.memory_ids:
        body = book.uow.get(keys.memory(book.partition, memory_id))
        memory = None if body is None else decode(Memory, body)
        if memory is None or outcome.result == "unknown" or changed >= MOST:
            continue
        good = _score(outcome) > 0
        if memory.status not in LIVE and not (good and sleeps(memory)):
            continue
        effect = _effect(memory, outcome)
        if effect is None and not good:
            continue
        changed += 1
        used: dict[str, Any] = {"last_used_at": book.now} if good else {}
        if effect is None:
            if sleeps(memory):
                wake(book, memory, reason=outcome.id, **used)
            else:
                book.save(replace(memory, **used))
            continue
        effects.append(effect)
        fields: dict[str, Any] = {"importance": effect.after, **used}
        if outcome.result == "failure":
            fields["failures_in_a_row"] = memory.failures_in_a_row + 1
        elif outcome.result == "success":
            fields["failures_in_a_row"] = 0
        if effect.archived:
            fields |= {"status": "archived", "archived_because": "blame"}
        action = "blamed" if effect.after < effect.before else "credited"
        if sleeps(memory):
            wake(book, memory, action, reason=outcome.id, **fields)
        else:
            book.change(memory, action, reason=outcome.id, **fields)
    return tuple(effects)


def _score(outcome: Outcome) -> float:
    if outcome.score is not None:
        return outcome.score
    return {"success": 1.0, "failure": -1.0, "mixed": 0.0}.get(outcome.result, 0.0)


def _effect(memory: Memory, outcome: Outcome) -> Effect | None:
    score = _score(outcome)
    before = memory.importance
    after = before * (1 + LOSS * score) if score < 0 else before + (1 - before) * GAIN * score
    failed = memory.failures_in_a_row + 1 if outcome.result == "failure" else 0
    archived = failed >= FAILURES_TO_ARCHIVE and not memory.conflicts
    if after == before and not archived and failed == memory.failures_in_a_row:
        return None
    return Effect(memory.id, before, after, memory.failures_in_a_row, archived, memory.status)


def take_back(book: Book, outcome: Outcome) -> None:
    """Undoes the effects of an outcome, keeping whatever others did since."""
    for effect in outcome.effects:
        body = book.uow.get(keys.memory(book.partition, effect.memory_id))
        if body is None:
            continue
        memory = decode(Memory, body)
        if memory.status == "merged":
            continue
        importance = min(1.0, max(0.0, memory.importance + effect.before - effect.after))
        fields: dict[str, Any] = {"importance": importance}
        if outcome.result == "failure":
            if _still_in_the_row(book, memory, outcome):
                fields["failures_in_a_row"] = max(0, memory.failures_in_a_row - 1)
        elif outcome.result == "success" and memory.failures_in_a_row == 0:
            fields["failures_in_a_row"] = effect.failures_before
        # Whichever of the failures is taken back: without it they are no longer so many in a row.
        fewer = fields.get("failures_in_a_row", FAILURES_TO_ARCHIVE) < FAILURES_TO_ARCHIVE
        if memory.archived_because == "blame" and (effect.archived or fewer):
            fields["archived_because"] = None
            # What was forgotten meanwhile stays so; should it be restored, it is no longer archived.
            if memory.status == "archived":
                fields["status"] = status_before(book, memory)
        book.change(memory, "blame_reverted", reason=outcome.id, **fields)


def _still_in_the_row(book: Book, memory: Memory, outcome: Outcome) -> bool:
    """Whether the failures that are counted now go back to this one: what worked since, or was confirmed by the user,
    began a new row, unless that was taken back."""
    before, counted, since = 0, True, False
    for row in history_of(book.uow, book.partition, memory.id):
        now = row.memory.failures_in_a_row
        if since and row.change != "blame_reverted":
            counted = counted and now > 0
        elif since and now > before:
            counted = True
        since = since or row.reason == outcome.id
        before = now
    return counted
