"""Packs: archive objects with what the index held of memories that left it. Immutable: a change makes a new one.

An object ``{partition}/cold/{pack id}`` is a line with the sizes of its parts, a compressed JSON part (entries and an
inverted index of their words) and the vectors as float16 (half the bytes; the cosine changes by less than 0.001). What
filters ask for is not in it: the store's records have that, and only they say whether an entry still counts.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from rearview.domain import keys
from rearview.domain.bm25 import Words
from rearview.domain.codec import decode
from rearview.domain.lifecycle import packed
from rearview.domain.memory import Memory
from rearview.errors import Unavailable
from rearview.ports import Reading
from rearview.usecases.services import Services, told
from rearview.usecases.texts import CONNECTIONS, FEW

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rearview.ports.index import Vectors

    Owners = NDArray[np.int64]

_MAGIC: Final = b"rearview pack 1"
#: Vectors are rounded as those of the index are, so that ties are ties.
_DECIMALS: Final = 6


@dataclass(frozen=True, slots=True)
class PackItem:
    """What the store knows of a pack.

    ``state``: ``new`` while the object is on its way, ``open`` while its memories follow it out of the hot store,
    ``done``, and ``gone`` while it waits to be removed. ``left``: of an open pack, memory id → [version, digest of the
    text] of those that are to follow, with ``because``, ``reason`` and ``fields`` (memory id → fields to set) of the
    change. ``fingerprint``: of the model of its vectors; ``weight``: about the bytes that it takes in memory.
    """

    id: str
    state: Literal["new", "open", "done", "gone"]
    ids: tuple[str, ...]
    fingerprint: str
    left: Mapping[str, Any] = field(default_factory=dict)
    because: str | None = None
    reason: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory's text and the digest that its record bears for it; ``slots``: ``[subject, slot]`` of what it claims."""

    id: str
    digest: str
    text: str
    slots: Sequence[Sequence[str]] = ()

    def of(self, memory: Memory | None) -> bool:
        """Whether this is what the record's text lies in the archive as."""
        return (
            memory is not None
            and packed(memory)
            and memory.text_archived
            and memory.text_digest == self.digest
        )


@dataclass(frozen=True, slots=True)
class Loose:
    """An entry with its words (term → frequency) and vectors (n, dims), outside of any pack."""

    entry: Entry
    words: Mapping[str, int]
    vectors: Vectors | None


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack in memory. ``vectors``: rows (n, dims) of all chunks, ``owners``: the entry's number for each row."""

    id: str
    fingerprint: str
    entries: Sequence[Entry]
    words: Words
    vectors: Vectors
    owners: Owners

    def cosines(self, query: Vectors) -> dict[int, float]:
        """Entry's number → cosine of its best chunk to a query of one row; those without vectors are missing."""
        import numpy as np

        if not len(self.owners) or self.vectors.shape[1] != query.shape[-1]:
            return {}
        scores = np.round(np.vecdot(self.vectors, query.reshape(-1)), _DECIMALS)
        best = np.full(len(self.entries), -np.inf)
        np.maximum.at(best, self.owners, scores)
        return {int(number): float(best[number]) for number in np.flatnonzero(best > -np.inf)}

    def loose(self) -> list[Loose]:
        """The entries, taken apart."""
        rows: list[Vectors | None] = [None] * len(self.entries)
        for number in set(self.owners.tolist()):
            rows[number] = self.vectors[self.owners == number]
        return [
            Loose(entry, words, vectors)
            for entry, words, vectors in zip(self.entries, self.words.counts(), rows, strict=True)
        ]


def weight_of(text: str) -> int:
    """About the bytes that an entry with this text takes in memory: text, words and vectors."""
    return 4 * len(text.encode()) + 2000


def object_key(partition: str, pack_id: str) -> str:
    """Where a pack lies in the archive: beneath its user, so that an erasure finds it."""
    return f"{partition}/cold/{pack_id}"


def to_bytes(fingerprint: str, entries: Sequence[Loose]) -> bytes:
    """The object of a pack."""
    import numpy as np

    words = Words.of(item.words for item in entries)
    rows = [item.vectors for item in entries if item.vectors is not None]
    matrix = np.concatenate(rows).astype("<f2") if rows else np.empty((0, 0), "<f2")
    text = {
        "fingerprint": fingerprint,
        "dims": matrix.shape[1],
        "entries": [
            {**asdict(item.entry), "rows": 0 if item.vectors is None else len(item.vectors)}
            for item in entries
        ],
        "lengths": words.lengths,
        "postings": words.postings,
    }
    head = zlib.compress(json.dumps(text, ensure_ascii=False, separators=(",", ":")).encode(), 6)
    return b"%s %d\n%s%s" % (_MAGIC, len(head), head, matrix.tobytes())


def from_bytes(pack_id: str, raw: bytes) -> Pack:
    """The inverse of :func:`to_bytes`. Raises ValueError for what is none."""
    import numpy as np

    line, _, rest = raw.partition(b"\n")
    magic, _, size = line.rpartition(b" ")
    if magic != _MAGIC:
        raise ValueError("not a pack")
    text = json.loads(zlib.decompress(rest[: int(size)]))
    entries = [Entry(one["id"], one["digest"], one["text"], one["slots"]) for one in text["entries"]]
    owners = np.repeat(np.arange(len(entries)), [one["rows"] for one in text["entries"]])
    vectors = np.frombuffer(rest[int(size) :], "<f2").astype(np.float32).reshape(len(owners), text["dims"])
    return Pack(
        pack_id, text["fingerprint"], entries, Words(text["lengths"], text["postings"]), vectors, owners
    )


def items_of(reading: Reading, partition: str) -> list[PackItem]:
    """What the store knows of a user's packs, oldest first."""
    items: list[PackItem] = []
    after: str | None = None
    while True:
        page = reading.query(partition, keys.PACKS, after=after)
        items += [decode(PackItem, body) for _, body in page.items]
        after = page.last
        if after is None:
            return items


def load(services: Services, partition: str, pack_id: str) -> Pack | None:
    """A pack, from this process's cache or the archive; None if it is not there or cannot be read.

    Raises Unavailable when the archive is away.
    """
    held = services.packs.get(pack_id)
    if held is not None:
        return held
    raw = services.archive.get(object_key(partition, pack_id))
    if raw is None:
        return None
    try:
        pack = from_bytes(pack_id, raw)
    except (ValueError, KeyError, zlib.error) as error:
        told("a pack of cold memories cannot be read", error)
        return None
    # Postings and texts take about twenty times their compressed JSON (measured: 9 for long texts, 24 for short ones),
    # which is what the object has beside the vectors' halves.
    services.packs.put(pack_id, pack, 20 * (len(raw) - pack.vectors.nbytes // 2) + pack.vectors.nbytes)
    return pack


def load_all(
    services: Services, partitions: Iterable[str], *, patient: bool = False
) -> tuple[list[tuple[str, Pack]], bool]:
    """(partition, pack) of all packs of these users, and whether all could be had.

    With ``patient``, for who can wait and try again, raises Unavailable while the archive is away.
    """
    found: list[tuple[str, Pack]] = []
    whole = True
    for partition in partitions:
        # A pack that was replaced since the list was read is gone from a second list.
        for attempt in range(2):
            there = [
                item.id for item in items_of(services.store, partition) if item.state in ("open", "done")
            ]
            packs = _each(services, partition, there, load if patient else _quietly)
            if None not in packs or attempt:
                break
        found += [(partition, pack) for pack in packs if pack is not None]
        whole = whole and None not in packs
    return found, whole


def _each(
    services: Services, partition: str, ids: Sequence[str], one: Callable[[Services, str, str], Pack | None]
) -> list[Pack | None]:
    """The packs in order; over several connections where many are not at hand: a caller waits for all of them."""
    if sum(services.packs.get(pack_id) is None for pack_id in ids) <= FEW:
        return [one(services, partition, pack_id) for pack_id in ids]
    # Asked for here, so that a client that is made at first use is not made in several threads.
    _ = services.archive.get
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return list(pool.map(lambda pack_id: one(services, partition, pack_id), ids))


def _quietly(services: Services, partition: str, pack_id: str) -> Pack | None:
    try:
        return load(services, partition, pack_id)
    except Unavailable as error:
        told("a pack of cold memories cannot be had", error)
        return None
