"""Tellings: memories read as episodes, with all their occurrences, and the words for a group of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

from rearview.domain.consolidation import Episode
from rearview.domain.consolidation_text import SCHEMA, Abstraction, abstract, holds, prompt
from rearview.domain.memory import Memory
from rearview.domain.scope import Scope
from rearview.domain.summary import summarise
from rearview.errors import Unavailable
from rearview.ports import Filter
from rearview.usecases.past import history_of
from rearview.usecases.scans import memories_of
from rearview.usecases.services import Services, log, told
from rearview.usecases.texts import full_or_gist


class Tellings:
    """Reads episodes and words abstractions."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def episodes(
        self, scope: Scope, memories: Sequence[Memory], known: Iterable[Memory] | None = None
    ) -> list[Episode]:
        """The memories as episodes, in their order. ``known``: all memories of the user, for who has read them.

        A memory happened once by itself, once more for each memory merged into it, and once more each time that its own
        words came again. That the user confirmed it is no occurrence. Raises Unavailable while the archive is away.
        """
        rows = known
        if rows is None:
            rows = memories_of(self.services.store, scope.partition, (Filter("status", "eq", "merged"),))
        merged: dict[str, list[datetime]] = defaultdict(list)
        for item in rows:
            if item.status == "merged" and item.merged_into is not None:
                merged[item.merged_into].append(item.valid_from)
        whole = full_or_gist(self.services, memories)
        return [self._episode(item, merged) for item in whole]

    def _episode(self, memory: Memory, merged: Mapping[str, Sequence[datetime]]) -> Episode:
        times, more = [memory.valid_from, *merged.get(memory.id, ())], 0
        if memory.confirmations or memory.repeats:
            rows = history_of(self.services.store, memory.scope.partition, memory.id)
            asked = {
                after.memory.repeats[-1].at
                for before, after in pairwise(rows)
                if after.change == "updated"
                and after.memory.repeats
                and after.memory.confirmations > before.memory.confirmations
            }
            times += [item.at for item in memory.repeats if item.at not in asked]
            more = max(0, 1 + sum(row.change == "confirmed" for row in rows) - len(times))
        room = (memory.kind, memory.source.speaker or "")
        return Episode(memory.id, memory.content, memory.valid_from, room, tuple(sorted(times)), more)

    def summed(self, group: Sequence[Episode]) -> Abstraction:
        """The words of a group without a model."""
        return abstract(group, self.services.rules.slots)

    def worded(self, group: Sequence[Episode]) -> Abstraction:
        """The words of a group: a language model's, where there is one and it keeps to the evidence."""
        plain = self.summed(group)
        model = self.services.language_model
        if model is None:
            return plain
        try:
            answer = model.complete(prompt(group, plain), SCHEMA)
        except Unavailable as error:
            log.info("no wording from the language model: %s", error.detail)
            return plain
        except Exception as error:
            told("the language model failed", error)
            return plain
        text = answer.get("content")
        if not isinstance(text, str) or not holds(text, group, plain, self.services.rules.slots):
            log.info("the language model's wording did not keep to the evidence")
            return plain
        text = text.strip()
        return replace(plain, content=text, summary=summarise(text))
