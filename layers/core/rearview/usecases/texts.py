"""Texts: where the whole text of a memory lies once only its summary is kept in the store.

One object a text, ``{partition}/text/{memory id}/{digest}``: whatever belongs to a user or to a memory is found by
prefix. The digest is the text's HMAC under the user's key, so that all versions that say the same share an object,
nothing can be learnt from a name, and what comes back can be held against what went.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from rearview.domain import keys
from rearview.domain.ledger import text_digest
from rearview.domain.memory import Memory
from rearview.errors import TextLost, Unavailable
from rearview.ports import Reading
from rearview.usecases.services import Services, told

#: Texts that are fetched one after the other; more go over several connections, or a list would take seconds.
FEW, CONNECTIONS = 4, 8
#: What a recall names in ``degraded`` when a text was wanted that could not be had.
AWAY = "archive"
MISSING = "the text of this memory is missing from the archive"
DIFFERS = "the text of this memory in the archive is not the one that was put there"
KEYLESS = "the key of this user is gone, and with it the texts in the archive"


def object_key(partition: str, memory_id: str, digest: str) -> str:
    """Where one text lies in the archive."""
    return texts_of(partition, memory_id) + digest


def texts_of(partition: str, memory_id: str) -> str:
    """The prefix of all texts that a memory has had."""
    return f"{partition}/text/{memory_id}/"


def user_key(reading: Reading, partition: str) -> bytes:
    """The user's HMAC key; TextLost once erasure destroyed it."""
    body = reading.get(keys.Key(partition, keys.USER_KEY))
    if body is None:
        raise TextLost(KEYLESS)
    return base64.b64decode(body["key"])


def stow(services: Services, memory: Memory, key: bytes | None = None) -> str:
    """Puts a memory's text into the archive and answers its digest. Idempotent; the store is left as it is.

    A memory whose text lies there already is not touched. ``key``: the user's, for who has it at hand.
    """
    if memory.text_archived:
        return memory.text_digest
    partition = memory.scope.partition
    digest = text_digest(key or user_key(services.store, partition), memory.content)
    services.archive.put(object_key(partition, memory.id, digest), memory.content.encode())
    return digest


def stow_many(services: Services, memories: Sequence[Memory], key: bytes) -> list[str]:
    """:func:`stow` for memories of one user, in order, over several connections where they are many."""
    put = services.archive.put

    def one(memory: Memory) -> str:
        if memory.text_archived:
            return memory.text_digest
        digest = text_digest(key, memory.content)
        put(object_key(memory.scope.partition, memory.id, digest), memory.content.encode())
        return digest

    if len(memories) <= FEW:
        return [one(item) for item in memories]
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return list(pool.map(one, memories))


def drop(services: Services, partition: str, memory_id: str, *, keep: frozenset[str] = frozenset()) -> int:
    """Deletes the texts of a memory from the archive but those with the digests in ``keep``; answers how many."""
    prefix = texts_of(partition, memory_id)
    found = [key for key in services.archive.keys(prefix) if key[len(prefix) :] not in keep]
    for key in found:
        services.archive.delete(key)
        services.texts.forget((partition, memory_id, key[len(prefix) :]))
    return len(found)


# --- back again
#
# All for reading: ``text_archived`` stays set, and Book writes no text of a memory that bears it. Hot memories come back
# as they are and cost nothing. ``reading``: whence the user's key is read; inside a transaction its unit of work.


def full(services: Services, memory: Memory, reading: Reading | None = None) -> Memory:
    """The memory with its text, fetched from the archive if it lies there.

    Raises TextLost when the object is missing or is not what was put there, Unavailable when the archive is away.
    """
    return full_many(services, [memory], reading)[0] if memory.text_archived else memory


def full_many(services: Services, memories: Iterable[Memory], reading: Reading | None = None) -> list[Memory]:
    """:func:`full` for each, in order; raises for the first whose text cannot be had."""

    def refuse(_memory: Memory, error: Unavailable) -> Memory:
        raise error

    return _filled(services, list(memories), reading, refuse)


def full_or_bare(
    services: Services, memories: Sequence[Memory], reading: Reading | None = None
) -> tuple[list[Memory], bool]:
    """:func:`full_many` that does without what cannot be had: such memories keep their empty content.

    Answers the memories in order, and whether every text was there.
    """
    bare: list[str] = []

    def leave(memory: Memory, error: Unavailable) -> Memory:
        told("the text of a memory cannot be had", error)
        bare.append(memory.id)
        return memory

    return _filled(services, memories, reading, leave), not bare


def full_or_gist(
    services: Services, memories: Iterable[Memory], reading: Reading | None = None
) -> list[Memory]:
    """:func:`full_many` with the summary where the text is lost for good; raises Unavailable while the archive is away,
    because then it is worth waiting."""

    def summarised(memory: Memory, error: Unavailable) -> Memory:
        if not isinstance(error, TextLost):
            raise error
        told("the text of a memory is lost, its summary must do", error)
        return replace(memory, content=memory.summary)

    return _filled(services, list(memories), reading, summarised)


def problems_of(services: Services, memories: Sequence[Memory]) -> list[tuple[Memory, Unavailable]]:
    """Those whose text in the archive cannot be had, and why; each is fetched anew."""
    for item in memories:
        services.texts.forget(_place(item))
    found = _fetched(services, memories, services.store)
    checked = [(item, found[_place(item)]) for item in memories]
    return [(item, error) for item, error in checked if isinstance(error, Unavailable)]


def same_text(one: Memory, other: Memory) -> bool:
    """Whether two states of one memory say the same, wherever their texts lie."""
    if one.text_archived and other.text_archived:
        return one.text_digest == other.text_digest
    if one.text_archived or other.text_archived:
        # Equal but for what normalisation takes away: near enough for what is asked here.
        return one.content_hash == other.content_hash
    return one.content == other.content


def said_alike(services: Services, memories: Mapping[str, Memory]) -> dict[str, str]:
    """By id a text that is equal where memories say the same: the text itself, or its digest where one of those with
    the same summary lies in the archive."""
    stowed = {(item.scope.partition, item.summary) for item in memories.values() if item.text_archived}
    if not stowed:
        return {memory_id: item.content for memory_id, item in memories.items()}
    secrets: dict[str, bytes] = {}
    out = {}
    for memory_id, item in memories.items():
        partition = item.scope.partition
        if item.text_archived:
            out[memory_id] = item.text_digest
        elif (partition, item.summary) in stowed:
            if partition not in secrets:
                secrets[partition] = user_key(services.store, partition)
            out[memory_id] = text_digest(secrets[partition], item.content)
        else:
            out[memory_id] = item.content
    return out


def said(now: Memory, fetched: Memory) -> str:
    """What a memory says as it stands in a transaction, by the state of it that was fetched before; its summary if it
    moved since."""
    return fetched.content if not now.content and same_text(now, fetched) else now.gist


def _filled(
    services: Services,
    memories: Sequence[Memory],
    reading: Reading | None,
    without: Callable[[Memory, Unavailable], Memory],
) -> list[Memory]:
    away = [item for item in memories if item.text_archived]
    if not away:
        return list(memories)
    texts = _fetched(services, away, reading or services.store)
    out = []
    for item in memories:
        if not item.text_archived:
            out.append(item)
            continue
        found = texts[_place(item)]
        out.append(without(item, found) if isinstance(found, Unavailable) else replace(item, content=found))
    return out


_Place = tuple[str, str, str]


def _place(memory: Memory) -> _Place:
    return memory.scope.partition, memory.id, memory.text_digest


def _fetched(
    services: Services, memories: Sequence[Memory], reading: Reading
) -> dict[_Place, str | Unavailable]:
    """Each text by its place, or why it cannot be had."""
    found: dict[_Place, str | Unavailable] = {}
    wanted: list[_Place] = []
    for at in dict.fromkeys(map(_place, memories)):
        held = services.texts.get(at)
        if held is None:
            wanted.append(at)
        else:
            found[at] = held
    if not wanted:
        return found
    secrets: dict[str, bytes] = {}
    for partition in {at[0] for at in wanted}:
        try:
            secrets[partition] = user_key(reading, partition)
        except TextLost as error:
            found |= {at: error for at in wanted if at[0] == partition}
    wanted = [at for at in wanted if at[0] in secrets]
    # Asked for here, so that a client that is made at first use is not made in several threads.
    get = services.archive.get

    def fetch(at: _Place) -> str | Unavailable:
        try:
            return _checked(get(object_key(*at)), secrets[at[0]], at[2])
        except Unavailable as error:
            return error

    if len(wanted) <= FEW:
        texts = [fetch(at) for at in wanted]
    else:
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            texts = list(pool.map(fetch, wanted))
    for at, text in zip(wanted, texts, strict=True):
        found[at] = text
        if not isinstance(text, Unavailable):
            services.texts.put(at, text, len(text.encode()))
    return found


def _checked(raw: bytes | None, secret: bytes, digest: str) -> str:
    if raw is None:
        raise TextLost(MISSING)
    text = raw.decode(errors="replace")
    if text_digest(secret, text) != digest:
        raise TextLost(DIFFERS)
    return text
