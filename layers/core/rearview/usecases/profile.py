"""The profile verb: what is known of a user by slot, most certain first."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from rearview.domain import keys
from rearview.domain.chunks import weight
from rearview.domain.codec import Body, decode
from rearview.domain.principal import Principal
from rearview.domain.profile import Entry
from rearview.domain.scope import Scope
from rearview.domain.summary import cut
from rearview.domain.times import from_text, to_text
from rearview.domain.types import LIVE
from rearview.usecases.paging import Pager, Row, all_rows
from rearview.usecases.profile_views import ProfileItem
from rearview.usecases.questions import ListOf
from rearview.usecases.services import Services
from rearview.usecases.views import plain

#: Characters of one line for a prompt.
LINE = 300
#: Slots whose values have no business in every prompt; whoever asks for the profile, or for them, still gets them.
PRIVATE = re.compile(
    r"\b(?:(?:gate|door|access|pass|pin|security|alarm) ?code|password|passcode|pin)\b"
    r"|\b(?:passport|id|account|card) number\b|身 ?份 ?证|护 ?照|账 ?号|卡 ?号|密 ?码|口 ?令"
)


class Profiles:
    """Reads profiles. What an entry rests on is looked at again: one whose evidence is gone is not shown."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def get(self, principal: Principal, request: ListOf) -> dict[str, Any]:
        """A page of a user's entries, most certain and then latest first; an unknown user has none."""
        scope = principal.scope("read", request.namespace, request.user_id)
        pager = Pager(self.services, scope.partition, keys.PROFILE, request, order="-rank")
        rows = self._standing(scope)
        page = pager.answer(
            pager.ranked(rows, "rank"), lambda bodies: [plain(_view(body)) for body in bodies], "rank"
        )
        state = self.services.store.get(keys.profile_state(scope.partition))
        times = [body["at"] for _, body in rows] + ([] if state is None else [state["at"]])
        return {
            "user_id": scope.user_id,
            "namespace": scope.namespace,
            "updated_at": max(times, default=None),
            **page,
        }

    def lines(self, scope: Scope, budget: float) -> list[str]:
        """The entries as lines for a prompt, most certain and latest first, as many as fit into so many tokens."""
        out: list[str] = []
        for _, body in sorted(self._standing(scope), key=lambda row: (-row[1]["rank"], row[0])):
            entry = decode(Entry, body)
            if PRIVATE.search(entry.slot or ""):
                continue
            line = cut(_line(entry), LINE)
            budget -= weight(line) + 1.6
            if budget < 0:
                break
            out.append(line)
        return out

    def _standing(self, scope: Scope) -> list[Row]:
        """The stored entries that still have evidence; a conflict that is closed is not named any more."""
        partition, store = scope.partition, self.services.store
        rows = [(sort, body) for sort, body in all_rows(store, partition, keys.PROFILE) if "key" in body]
        alive = self._alive(partition, {body["evidence"][0] for _, body in rows})
        doubtful = [body for _, body in rows if body["evidence"][0] not in alive]
        alive |= self._alive(partition, {item for body in doubtful for item in body["evidence"][1:]})
        asked = [keys.conflict(partition, body["conflict"]) for _, body in rows if body["conflict"]]
        still = {key.sort for key, body in store.get_many(asked).items() if body["state"] == "open"}
        shown = []
        for sort, body in rows:
            if not alive.isdisjoint(body["evidence"]):
                conflict = body["conflict"] if keys.CONFLICTS + str(body["conflict"]) in still else None
                shown.append((sort, {**body, "conflict": conflict, "rank": _rank(body)}))
        return shown

    def _alive(self, partition: str, ids: Iterable[str]) -> set[str]:
        found = self.services.store.get_many([keys.memory(partition, item) for item in ids])
        now = to_text(self.services.now())
        return {str(body["id"]) for body in found.values() if _stands(body, now)}


def _stands(body: Body, now: str) -> bool:
    if body["expires_at"] is not None and body["expires_at"] <= now:
        return False
    kept = body["status"] == "archived" and body["archived_because"] != "blame"
    return kept or body["status"] in LIVE


def _rank(body: Body) -> float:
    """Orders by confidence, entries of the same one by time."""
    latest: datetime = from_text(body["last_updated"])
    return float(body["confidence"]) + latest.timestamp() / 1e13


def _view(body: Body) -> ProfileItem:
    return ProfileItem.of(decode(Entry, body))


def _line(one: Entry) -> str:
    name = one.key if one.item is None else one.key.removesuffix(f": {one.item}")
    about = f"{one.confidence:.2f}, {one.count} of {one.total}, last {one.last_updated:%Y-%m-%d}"
    origins = ", ".join(one.origins)
    if one.conflict is None:
        return f"{name}: {one.value} ({about}; {origins})"
    if one.latest == one.value:
        return f"{name}: {one.value} ({about}; {origins}, disputed)"
    return f"{name}: said last: {one.latest}, disputed; mostly: {one.value} ({about}; {origins})"
