"""Open questions: the conflicts that a recall may ask about."""

from __future__ import annotations

from collections.abc import Collection

from rearview.domain import keys
from rearview.domain.memory import Memory
from rearview.domain.records import Conflict
from rearview.domain.scope import Scope
from rearview.ports import Reading
from rearview.usecases.moot import as_open
from rearview.usecases.settle import conflict_bodies


def open_questions(
    reading: Reading, memory: Memory, scopes: Collection[Scope], *, earlier: bool
) -> list[Conflict]:
    """The open conflicts of a memory that is shown to the users of ``scopes``; ``earlier``: of a state of the past.

    A question quotes both sides. Of another user's lesson it is asked only where the other side is a lesson too.
    """
    partition = memory.scope.partition
    # A memory names its open conflicts: what it named then was open then, whatever came of it.
    found = [
        as_open(item) if earlier else item
        for item in conflict_bodies(reading, partition, list(memory.conflicts))
    ]
    found = [item for item in found if item.state == "open"]
    if not found or memory.scope in scopes:
        return found
    wanted = {keys.memory(partition, side) for item in found for side in item.memory_ids}
    bodies = reading.get_many(wanted).values()
    lessons = {body["id"] for body in bodies if body.get("audience") == "namespace"}
    return [item for item in found if lessons.issuperset(item.memory_ids)]
