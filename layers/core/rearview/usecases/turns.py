"""Turns: the raw utterances of a session, wherever they lie.

After a while they move to the archive, one object a session: ``{partition}/turns/{session}/{digest}``, a turn a line.
The session remembers which (:class:`rearview.domain.records.Session`); turns that come later lie in the store again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.ledger import text_digest
from rearview.domain.records import Session, Turn
from rearview.errors import TextLost, Unavailable
from rearview.ports import Filter, Reading
from rearview.usecases.services import Services, told
from rearview.usecases.texts import user_key

MISSING = "the turns of this session are missing from the archive"
DIFFERS = "the turns of this session in the archive are not those that were put there"


def objects_of(partition: str, session_id: str) -> str:
    """The prefix of all objects with turns of a session; more than one only while they are being moved."""
    return f"{partition}/turns/{keys.session('', session_id).sort.removeprefix(keys.SESSIONS)}/"


def packed(turns: list[Turn]) -> str:
    """Turns as the text of an object."""
    return "".join(json.dumps(encode(turn), ensure_ascii=False) + "\n" for turn in turns)


def hot(reading: Reading, partition: str, session_id: str) -> list[Turn]:
    """The turns of a session that the store holds, in order."""
    found: list[Turn] = []
    after: str | None = None
    while True:
        page = reading.query(partition, keys.turns_of(session_id), after=after, limit=500)
        found += [decode(Turn, body) for _, body in page.items]
        after = page.last
        if after is None:
            return found


def stowed(
    services: Services, session: Session, reading: Reading | None = None, *, anew: bool = False
) -> list[Turn]:
    """The turns of a session that lie in the archive, in order; ``anew``: whatever this process has of them.

    Raises TextLost when they are missing or not those that were put there, Unavailable while the archive is away.
    """
    if not session.turns_archived:
        return []
    partition = session.scope.partition
    at = (partition, objects_of(partition, session.id), session.turns_digest)
    text = None if anew else services.texts.get(at)
    if text is None:
        key = user_key(reading or services.store, partition)
        raw = services.archive.get(at[1] + at[2])
        if raw is None:
            raise TextLost(MISSING)
        text = raw.decode(errors="replace")
        if text_digest(key, text) != session.turns_digest:
            raise TextLost(DIFFERS)
        services.texts.put(at, text, len(raw))
    # Not splitlines: a turn may hold U+2028, which JSON leaves as it is.
    return [decode(Turn, json.loads(line)) for line in text.split("\n") if line]


def all_turns(services: Services, session: Session, reading: Reading) -> list[Turn]:
    """All turns of a session, in order. Raises like :func:`stowed`."""
    early = stowed(services, session, reading)
    # While they are being moved some lie in both places.
    late = [turn for turn in hot(reading, session.scope.partition, session.id) if turn.number > len(early)]
    return early + late


def known(reading: Reading, partition: str, session_id: str, ids: Sequence[str]) -> set[tuple[str, str]]:
    """(id, text) of the turns with these ids that the store holds."""
    if not ids:
        return set()
    where = (Filter("turn_id", "in", list(ids)),)
    rows = reading.query(partition, keys.turns_of(session_id), where=where).items
    return {(row["turn_id"], row["content"]) for _, row in rows}


def last_texts(reading: Reading, session: Session, early: Sequence[Turn], limit: int) -> list[str]:
    """What was said last in a session, in order; ``early``: its turns that lie in the archive."""
    prefix = keys.turns_of(session.id)
    rows = reading.query(session.scope.partition, prefix, limit=limit, reverse=True).items
    late = [row["content"] for _, row in reversed(rows) if row["number"] > len(early)]
    return [*(turn.content for turn in early), *late][-limit:]


def last_turns(services: Services, session: Session, limit: int) -> tuple[list[Turn], bool]:
    """The last turns of a session, in order, and whether they are all that were asked for: without the archive, which is
    asked only when the store does not hold enough of them, it answers those of the store."""
    page = services.store.query(session.scope.partition, keys.turns_of(session.id), limit=limit, reverse=True)
    found = [decode(Turn, body) for _, body in reversed(page.items)]
    if len(found) >= limit or not session.turns_archived or (found and found[0].number == 1):
        return found, True
    try:
        early = stowed(services, session)
    except Unavailable as error:
        told("the turns of a session cannot be had", error)
        return found, False
    return [*early, *(turn for turn in found if turn.number > len(early))][-limit:], True
