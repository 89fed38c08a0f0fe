"""Where records lie: partition and typed sort keys, the same on every store (design, section 7a)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from rearview.domain.scope import Scope

HEAD = "HEAD"
USER_KEY = "KEY"
LEASE = "LEASE"
MEMORIES = "M#"
HISTORY = "H#"
DECISIONS = "D#"
OUTCOMES = "O#"
CONFLICTS = "C#"
LEDGER = "L#"
PENDING = "P#"
HASHES = "X#"
SESSIONS = "S#"
TURNS = "T#"
LATEST = "W#"
NEXT = "N#"
USERS = "U#"
AUDITS = "A#"
API_KEYS = "K#"
IMPORTS = "I#"
POLICIES = "V#"
RUNS = "R#"
OPEN_RUNS = "RO#"
JOBS = "J#"
PACKS = "Z#"
PROFILE = "F#"
SAYING = "B#"
GONE = "G#"
UNWANTED = "Q#"
NAMESPACES = "NS#"

#: Partitions that belong to no user.
SERVICE = "@service"


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """One item's address."""

    partition: str
    sort: str


def _short(text: str) -> str:
    # Ids may be 256 characters of any Unicode; a sort key may not (DynamoDB allows 1,024 bytes).
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def memory(partition: str, memory_id: str) -> Key:
    """A memory's current version."""
    return Key(partition, MEMORIES + memory_id)


def history(partition: str, memory_id: str, version: int) -> Key:
    """One version of a memory; versions are padded so that they sort as numbers."""
    return Key(partition, f"{HISTORY}{memory_id}#{version:08d}")


def history_of(memory_id: str) -> str:
    """Prefix of all rows of one memory, in version order."""
    return f"{HISTORY}{memory_id}#"


def decision(partition: str, decision_id: str) -> Key:
    """A decision."""
    return Key(partition, DECISIONS + decision_id)


def outcome(partition: str, decision_id: str, outcome_id: str) -> Key:
    """An outcome, beneath the decision that it judges."""
    return Key(partition, f"{OUTCOMES}{decision_id}#{outcome_id}")


def outcomes_of(decision_id: str) -> str:
    """Prefix of all outcomes of one decision, oldest first."""
    return f"{OUTCOMES}{decision_id}#"


def conflict(partition: str, conflict_id: str) -> Key:
    """A conflict between two memories."""
    return Key(partition, CONFLICTS + conflict_id)


def ledger(partition: str, seq: int) -> Key:
    """The chain's entry number ``seq``, padded so that entries sort as numbers."""
    return Key(partition, f"{LEDGER}{seq:012d}")


def pending(partition: str, seq: int) -> Key:
    """The mark that enrichment is due for what was written as number ``seq``; padded like the ledger."""
    return Key(partition, f"{PENDING}{seq:012d}")


def content_hash(partition: str, digest: str) -> Key:
    """Who holds a content: ``digest`` is its duplicate identity under the user's key, never the content's own hash."""
    return Key(partition, HASHES + digest)


def imported(partition: str, digest: str) -> Key:
    """That a line of an import file went in; ``digest`` under the user's key."""
    return Key(partition, IMPORTS + digest)


def session(partition: str, session_id: str) -> Key:
    """A session's state; its id goes in hashed."""
    return Key(partition, SESSIONS + _short(session_id))


def turn(partition: str, session_id: str, number: int) -> Key:
    """Turn ``number`` of a session, padded so that turns sort in order."""
    return Key(partition, f"{TURNS}{_short(session_id)}#{number:08d}")


def turns_of(session_id: str) -> str:
    """Prefix of all turns of one session, in order."""
    return f"{TURNS}{_short(session_id)}#"


def following(partition: str, memory_id: str) -> Key:
    """Which memory was written after this one in its session: its keywords hold some of this one's."""
    return Key(partition, NEXT + memory_id)


def latest(partition: str, session_id: str) -> Key:
    """Which memory was written last in a session."""
    return Key(partition, LATEST + _short(session_id))


def head(partition: str) -> Key:
    """The scope's head: the last sequence number, id and time given out, and the chain's last hash."""
    return Key(partition, HEAD)


def locator(record_id: str) -> Key:
    """Where to look up which partition and sort key an id has; written with the record itself."""
    return Key(f"@id#{record_id}", "AT")


def user(scope: Scope) -> Key:
    """The namespace's directory entry of a user."""
    return Key(directory(scope.namespace), USERS + scope.partition)


def directory(namespace: str) -> str:
    """The partition that lists a namespace's users and audits."""
    return f"@namespace#{namespace}"


def namespace(name: str) -> Key:
    """That somebody has written in this namespace; in the partition of no user."""
    return Key(SERVICE, NAMESPACES + name)


def audit(namespace: str, audit_id: str) -> Key:
    """An audit's report, in the directory of its namespace."""
    return Key(directory(namespace), AUDITS + audit_id)


def policy(namespace: str, version: int) -> Key:
    """One version of a namespace's policy, in the namespace's own scope, the one of no user; padded to sort."""
    return Key(Scope(namespace, "").partition, f"{POLICIES}{version:08d}")


def run(namespace: str, run_id: str) -> Key:
    """A maintenance run and its report, in the directory of its namespace; ids sort by time."""
    return Key(directory(namespace), RUNS + run_id)


def open_run(namespace: str, run_id: str) -> Key:
    """That a run is not finished."""
    return Key(directory(namespace), OPEN_RUNS + run_id)


def schedule(namespace: str, cadence: str) -> Key:
    """Which day's or week's run of a namespace was started last."""
    return Key(directory(namespace), f"SCHEDULE#{cadence}")


def job(partition: str, run_id: str) -> Key:
    """One user's part of a maintenance run, from when it was given out until its outcome was gathered."""
    return Key(partition, JOBS + run_id)


def pack(partition: str, pack_id: str) -> Key:
    """What is known in the store of one archive object with cold memories."""
    return Key(partition, PACKS + pack_id)


def profile_entry(partition: str, digest: str) -> Key:
    """A profile's entry; ``digest`` of its slot or tag."""
    return Key(partition, PROFILE + digest)


def profile_state(partition: str) -> Key:
    """How far a user's profile was reckoned; behind all entries, whose digests are hexadecimal."""
    return Key(partition, PROFILE + "~")


def saying(partition: str, digest: str) -> Key:
    """Which memories spoke of a slot or tag lately; ``digest`` as of :func:`profile_entry`."""
    return Key(partition, SAYING + digest)


def gone(partition: str, memory_id: str) -> Key:
    """That a memory was purged, when and why; no content."""
    return Key(partition, GONE + memory_id)


def consolidating(partition: str) -> Key:
    """How many abstractions were made of a user's episodes."""
    return Key(partition, "CONSOLIDATING")


def unwanted(partition: str, memory_id: str) -> Key:
    """Which episodes an abstraction rested on that the user took back."""
    return Key(partition, UNWANTED + memory_id)


def forgetting(partition: str) -> Key:
    """How far a user's proposals to forget have come this week, and in which reports the open ones stand."""
    return Key(partition, "FORGETTING")


def idempotency(principal_id: str, namespace: str, route: str, key: str) -> Key:
    """Per (principal, namespace, route, key): no part may be spelled into another."""
    joined = hashlib.sha256()
    for part in (principal_id, namespace, route, key):
        raw = part.encode()
        joined.update(len(raw).to_bytes(4, "big") + raw)
    return Key(f"@once#{joined.hexdigest()}", "ONCE")


def api_key(key_id: str) -> Key:
    """An API key's record (its secret's hash, never the secret), in the partition of no user."""
    return Key(SERVICE, API_KEYS + key_id)


def service_secret() -> Key:
    """The key under which this installation seals tokens, cursors and recall ids."""
    return Key(SERVICE, "SECRET")
