"""The audit's look at the archive: is every text there that the store says lies there, and is it the one that went?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rearview.domain import keys
from rearview.domain.memory import Memory
from rearview.domain.records import Finding, Session
from rearview.domain.scope import Scope
from rearview.errors import TextLost, Unavailable
from rearview.usecases import turns
from rearview.usecases.portions import portions
from rearview.usecases.scans import histories_of, memories_of
from rearview.usecases.services import Services
from rearview.usecases.sessions import session_id_digest
from rearview.usecases.texts import MISSING, object_key, problems_of
from rearview.usecases.transfer import records

#: Texts that are fetched in one go, and ids that one finding lists.
PORTION, REFS = 64, 50
MEND = "restore the archive's objects from a backup or an earlier version"


def archive_check(services: Services, scope: Scope, *, fetch: bool) -> Iterable[Finding]:
    """Memories, in any of their versions, and sessions whose archived text is missing or another. Without ``fetch`` only
    what is missing: that takes a listing, not a request for each text."""
    lost: dict[str, list[str]] = {}
    try:
        for ref, detail in _fetched(services, scope) if fetch else _listed(services, scope):
            lost.setdefault(detail, []).append(ref)
    except Unavailable as error:
        yield Finding("archive", "error", f"the archive could not be looked at: {error.detail}")
        return
    for detail, found in lost.items():
        ids = list(dict.fromkeys(found))
        yield Finding("archive", "error", f"{len(ids)} times: {detail}", tuple(ids[:REFS]), MEND)


def _fetched(services: Services, scope: Scope) -> Iterator[tuple[str, str]]:
    """(id, what is wrong) of each text that cannot be had."""
    for batch in portions(_archived(services, scope), PORTION, lambda _: 0):
        for memory, error in problems_of(services, batch):
            if not isinstance(error, TextLost):
                raise error
            yield memory.id, error.detail
    for session in records(services.store, scope.partition, keys.SESSIONS, Session):
        try:
            turns.stowed(services, session, anew=True)
        except TextLost as error:
            yield session_id_digest(session.id), error.detail


def _listed(services: Services, scope: Scope) -> Iterator[tuple[str, str]]:
    """(id, what is wrong) of each text that has no object."""
    partition = scope.partition
    # The store is read first: what goes on its way while we look is no finding.
    memories = list(_archived(services, scope))
    sessions = [
        one for one in records(services.store, partition, keys.SESSIONS, Session) if one.turns_archived
    ]
    there: set[str] = set()
    if memories or sessions:
        there = {
            key for prefix in ("text", "turns") for key in services.archive.keys(f"{partition}/{prefix}/")
        }
    for memory in memories:
        if object_key(partition, memory.id, memory.text_digest) not in there:
            yield memory.id, MISSING
    for session in sessions:
        if turns.objects_of(partition, session.id) + session.turns_digest not in there:
            yield session_id_digest(session.id), turns.MISSING


def _archived(services: Services, scope: Scope) -> Iterator[Memory]:
    """Each state whose text lies in the archive, those with the same text once."""
    seen: set[tuple[str, str]] = set()
    there: set[str] = set()
    for memory in memories_of(services.store, scope.partition):
        there.add(memory.id)
        if memory.text_archived and (memory.id, memory.text_digest) not in seen:
            seen.add((memory.id, memory.text_digest))
            yield memory
    for row in histories_of(services.store, scope.partition):
        state = row.memory
        # The history of what was purged a moment ago may still be going.
        if state.text_archived and state.id in there and (state.id, state.text_digest) not in seen:
            seen.add((state.id, state.text_digest))
            yield state
