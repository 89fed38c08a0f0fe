"""What the use cases are given: the ports, the rules and a few settings. Bootstrap fills it."""

from __future__ import annotations

import base64
import logging
import math
import secrets
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rearview.domain import keys
from rearview.domain.admission import AdmissionRules
from rearview.domain.claims import SlotRules
from rearview.domain.extraction import ExtractionRules
from rearview.domain.scope import Scope
from rearview.domain.signing import seal, unseal
from rearview.domain.types import ConflictPolicy
from rearview.errors import NotFound
from rearview.ports import (
    Archive,
    Clock,
    Embedder,
    LanguageModel,
    MemoryStore,
    Reranker,
    UnitOfWork,
    VectorIndex,
    WriteQueue,
)
from rearview.usecases.held import Held
from rearview.usecases.policies import PolicyBook

if TYPE_CHECKING:
    from rearview.usecases.packs import Pack

log = logging.getLogger("rearview")


def told(text: str, error: BaseException) -> None:
    """Logs trouble by its type and place. The message stays out: it may hold what a user wrote."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    place = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames))
    log.warning("%s: %s at %s", text, type(error).__name__, place)


@dataclass(frozen=True, slots=True)
class Rules:
    """The compiled rule files."""

    admission: AdmissionRules
    extraction: ExtractionRules
    slots: SlotRules


@dataclass(slots=True)
class Services:
    """Ports and settings that every use case shares. ``owner`` names this process in leases; ``alive`` tells whether
    the owner of a lease still runs (True when that cannot be known)."""

    store: MemoryStore
    index: VectorIndex
    queue: WriteQueue
    archive: Archive
    embedder: Embedder
    clock: Clock
    rules: Rules
    owner: str
    alive: Callable[[str], bool] = lambda _owner: True
    conflict_policy: ConflictPolicy = "ask"
    reranker: Reranker | None = None
    language_model: LanguageModel | None = None
    inline: bool = True
    wait_seconds: float = 25.0
    #: Seconds that the request at hand may still wait, where whoever sent it is told that it failed when they are over.
    seconds_left: Callable[[], float] = lambda: math.inf
    secret_source: Callable[[], bytes] | None = None
    #: Seconds between looks of a waiting writer, first and at most: each look is a read that some stores charge for.
    poll_seconds: tuple[float, float] = (0.02, 0.02)
    #: Told of each item that is given up: (partition, what is known of it without content).
    gave_up: Callable[[str, Mapping[str, Any]], None] = lambda _partition, _what: None
    #: Sends the queue's dead letters again, up to so many; answers how many.
    redrive_letters: Callable[[int], int] = lambda _limit: 0
    #: Texts that were fetched from the archive lately, by (partition, memory id, digest).
    texts: Held[tuple[str, str, str], str] = field(default_factory=lambda: Held(256, 4_000_000))
    #: Packs of cold memories by id, up to so many bytes (estimated); they never change.
    packs: Held[str, Pack] = field(default_factory=lambda: Held(4096, 96_000_000))
    #: Words of hot candidates that were ranked beside cold ones, by (memory id, version).
    words: Held[tuple[str, int], Mapping[str, int]] = field(default_factory=lambda: Held(2000, 2000))
    #: Hour (UTC) at which maintenance's days and weeks begin.
    maintenance_hour: int = 3
    policies: PolicyBook = field(init=False)
    _secret: bytes | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.policies = PolicyBook(self.store)

    def now(self) -> datetime:
        """The clock's time."""
        return self.clock.now()

    @property
    def secret(self) -> bytes:
        """The service's own key, for tokens, cursors and recall ids; made on first use and kept in the store."""
        if self._secret is None:
            with self._lock:
                if self._secret is None:
                    self._secret = self.secret_source() if self.secret_source else self._stored_secret()
        return self._secret

    def _stored_secret(self) -> bytes:
        at = keys.service_secret()
        body = self.store.get(at)
        if body is None:

            def work(uow: UnitOfWork) -> dict[str, str]:
                held = uow.get(at)
                if held is None:
                    held = {"key": base64.b64encode(secrets.token_bytes(32)).decode()}
                    uow.put(at, held)
                return held

            body = self.store.transact(at.partition, work)
        return base64.b64decode(body["key"])

    # --- consistency tokens ---

    def token(self, scope: Scope, seq: int) -> str:
        """The opaque form of a user's sequence number."""
        payload = {"n": scope.namespace, "p": scope.partition, "s": seq}
        return seal(self.secret, "consistency token", payload)

    def open_token(self, token: str, field_name: str = "token") -> tuple[str, str, int]:
        """(namespace, partition, sequence number) of a consistency token."""
        payload = unseal(self.secret, "consistency token", token, field_name)
        return str(payload["n"]), str(payload["p"]), int(payload["s"])

    # --- records by id ---

    def locate(self, record_id: str, prefix: str, what: str) -> keys.Key:
        """The address of a record; NotFound if there is none of that kind."""
        body = self.store.get(keys.locator(record_id))
        if body is None or not body["sort"].startswith(prefix):
            raise NotFound(f"no such {what}")
        return keys.Key(body["partition"], body["sort"])

    def ring(self, scope_partition: str, seq: int, attempt: int = 0) -> None:
        """Rings the doorbell; if the queue refuses, the write stands and a sweep re-drives it."""
        try:
            self.queue.send(scope_partition, f"{seq}-{attempt}", {"partition": scope_partition, "seq": seq})
        except Exception as error:
            told("the queue refused a doorbell, the sweep will re-drive it", error)
