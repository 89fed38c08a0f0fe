"""Idempotency: one answer per (principal, namespace, route, key), kept 24 hours.

The key is claimed before the work and sealed with the answer inside the work's own transaction, so that a crash
between the two leaves either nothing done or the answer kept.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from rearview.domain import keys
from rearview.domain.ledger import canonical
from rearview.domain.principal import Principal
from rearview.domain.times import from_text, to_text
from rearview.domain.types import IDEMPOTENCY_KEPT
from rearview.errors import IdempotencyInFlight, IdempotencyMismatch
from rearview.ports import UnitOfWork
from rearview.usecases.services import Services

#: A claim older than this belongs to a caller that died; its key may be tried again.
CLAIM_SECONDS = 60.0

Answer = tuple[int, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Once:
    """One guarded request. ``resumed``: an earlier try died on the way, parts of it may be done."""

    key: keys.Key
    body_hash: str
    until: datetime
    resumed: bool = False
    claimant: str = ""
    sealed: list[Answer] = field(default_factory=list, compare=False)

    def seal(self, uow: UnitOfWork, status: int, answer: dict[str, Any]) -> None:
        """Keeps the answer, in the transaction that did the work. Raises IdempotencyInFlight, which undoes that
        work, if another call took the key over because this one stood still for too long."""
        held = uow.get(self.key)
        kept = held is not None and from_text(held["expires_at"]) > self.until - IDEMPOTENCY_KEPT
        if kept and held is not None and held.get("claimant", self.claimant) != self.claimant:
            raise IdempotencyInFlight("another call took over this idempotency key")
        body = {
            "state": "done",
            "hash": self.body_hash,
            "claimant": self.claimant,
            "status": status,
            "answer": answer,
        }
        uow.put(self.key, {**body, "expires_at": to_text(self.until)}, expires_at=self.until, ttl=True)
        self.sealed.append((status, answer))

    def part(self, number: int) -> Once:
        """The guard of one item of a batch."""
        return Once(
            keys.Key(f"{self.key.partition}#{number}", self.key.sort),
            self.body_hash,
            self.until,
            self.resumed,
            claimant=self.claimant,
        )

    def kept(self, services: Services) -> Answer | None:
        """The answer that was sealed, if it was."""
        body = services.store.get(self.key)
        if body is None or body["state"] != "done" or from_text(body["expires_at"]) <= services.now():
            return None
        return body["status"], body["answer"]


def run_once(
    services: Services,
    principal: Principal,
    namespace: str | None,
    route: str,
    key: str | None,
    request: Any,
    call: Callable[[Once | None], Answer],
) -> tuple[int, dict[str, Any], bool]:
    """Runs ``call`` at most once per key; answers (status, body, replayed).

    ``request`` (JSON types) is what must be equal on a repeat: IdempotencyMismatch otherwise. While another call
    with the key runs: IdempotencyInFlight. Errors are not kept; the key may be tried again after one.
    """
    if key is None:
        return (*call(None), False)
    chosen = namespace if namespace is not None else principal.default_namespace
    at = keys.idempotency(principal.id, chosen, route, key)
    digest = hashlib.sha256(canonical(request)).hexdigest()
    once, answer = services.store.transact(at.partition, lambda uow: _claim(uow, at, digest, services.now()))
    if answer is not None:
        return (*answer, True)
    try:
        status, body = call(once)
    except BaseException:
        services.store.transact(at.partition, lambda uow: _give_back(uow, once))
        raise
    if once.sealed[-1:] != [(status, body)]:
        # What is answered is more than what was known at acknowledgement (a batch, or a write that waited).
        services.store.transact(at.partition, lambda uow: once.seal(uow, status, body))
    return status, body, False


def _claim(uow: UnitOfWork, at: keys.Key, digest: str, now: datetime) -> tuple[Once, Answer | None]:
    held = uow.get(at)
    once = Once(at, digest, now + IDEMPOTENCY_KEPT, claimant=secrets.token_hex(8))
    if held is not None and from_text(held["expires_at"]) > now:
        if held["hash"] != digest:
            raise IdempotencyMismatch("this idempotency key was used with another body")
        if held["state"] == "done":
            return once, (held["status"], held["answer"])
        if from_text(held["claimed_until"]) > now:
            raise IdempotencyInFlight("a request with this idempotency key is still being answered")
        once = replace(once, resumed=True)
    claim = {
        "state": "in_flight",
        "hash": digest,
        "claimant": once.claimant,
        "claimed_until": to_text(now + timedelta(seconds=CLAIM_SECONDS)),
        "expires_at": to_text(once.until),
    }
    uow.put(at, claim, expires_at=once.until, ttl=True)
    return once, None


def _give_back(uow: UnitOfWork, once: Once) -> None:
    held = uow.get(once.key)
    if held is not None and held["state"] == "in_flight" and held.get("claimant") == once.claimant:
        uow.delete(once.key)
