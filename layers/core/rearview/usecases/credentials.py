"""Credentials: API keys made, listed, revoked, and turned into principals. Only hashes are stored."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.ids import is_ulid, next_ulid
from rearview.domain.principal import Principal
from rearview.domain.records import ApiKey
from rearview.domain.times import optional_text, plus, to_text
from rearview.domain.types import DEFAULT_NAMESPACE, PERMISSIONS
from rearview.errors import Forbidden, InvalidInput, NotFound, Unauthorized
from rearview.ports import UnitOfWork
from rearview.usecases.commands import CreateKey
from rearview.usecases.services import Services

PREFIX = "rv"


class Keyring:
    """The verbs of API keys. A key is ``rv_<id>_<secret>``; the secret has 256 random bits, so a plain hash will do."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def principal(self, credential: str) -> Principal:
        """Whose key this is; Unauthorized for anything unknown, revoked or expired."""
        parts = credential.split("_", 2)
        refused = Unauthorized("the API key is unknown, revoked or expired")
        # What is no id is not looked up: a store that bounds its keys would call it a fault.
        if len(parts) != 3 or parts[0] != PREFIX or not credential.isascii() or not is_ulid(parts[1]):
            raise refused
        body = self.services.store.get(keys.api_key(parts[1]))
        if body is None:
            raise refused
        held = decode(ApiKey, body)
        good = hmac.compare_digest(held.secret_hash, _hash(parts[2]))
        now = self.services.now()
        if (
            not good
            or held.revoked_at is not None
            or (held.expires_at is not None and held.expires_at <= now)
        ):
            raise refused
        return Principal(
            id=f"key:{held.id}",
            namespaces=frozenset(held.namespaces),
            permissions=frozenset(held.permissions),
            default_namespace=held.default_namespace,
        )

    def create(self, principal: Principal, request: CreateKey) -> dict[str, Any]:
        """A new key; its secret is in this answer and nowhere else. Raises Forbidden for namespaces that are not the
        caller's to administer."""
        principal.require("admin")
        home = request.default_namespace or request.namespaces[0]
        if home not in request.namespaces:
            raise InvalidInput.of("default_namespace", "member", "must be one of namespaces")
        if not request.permissions:
            raise InvalidInput.of("permissions", "min_length", "must name at least one permission")
        if not _administers(principal, request.namespaces):
            raise Forbidden("this credential does not cover the namespace")
        now = self.services.now()
        expires = None if request.ttl_seconds is None else plus(now, timedelta(seconds=request.ttl_seconds))
        key, secret = self._new(
            name=request.name,
            namespaces=tuple(dict.fromkeys(request.namespaces)),
            permissions=tuple(dict.fromkeys(request.permissions)),
            default_namespace=home,
            created_by=principal.id,
            expires_at=expires,
        )
        self.services.store.transact(keys.SERVICE, lambda uow: uow.put(keys.api_key(key.id), encode(key)))
        return {**view(key), "key": secret}

    def first(self) -> str | None:
        """The very first key, which covers the namespace ``default`` with all permissions; None if keys exist."""
        key, secret = self._new(
            name="first key",
            namespaces=(DEFAULT_NAMESPACE,),
            permissions=PERMISSIONS,
            default_namespace=DEFAULT_NAMESPACE,
            created_by="local",
            expires_at=None,
        )

        def work(uow: UnitOfWork) -> bool:
            if uow.query(keys.SERVICE, keys.API_KEYS, limit=1).items:
                return False
            uow.put(keys.api_key(key.id), encode(key))
            return True

        return secret if self.services.store.transact(keys.SERVICE, work) else None

    def list(self, principal: Principal) -> dict[str, Any]:
        """The keys that the caller administers, oldest first, without secrets."""
        principal.require("admin")
        page = self.services.store.query(keys.SERVICE, keys.API_KEYS, limit=10_000)
        held = (decode(ApiKey, body) for _, body in page.items)
        mine = [view(key) for key in held if _administers(principal, key.namespaces)]
        return {"items": mine, "next_cursor": None}

    def revoke(self, principal: Principal, key_id: str) -> dict[str, Any]:
        """Ends a key at once; a repeat changes nothing."""
        principal.require("admin")

        def work(uow: UnitOfWork) -> ApiKey:
            body = uow.get(keys.api_key(key_id))
            if body is None:
                raise NotFound("no such key")
            key = decode(ApiKey, body)
            if not _administers(principal, key.namespaces):
                raise NotFound("no such key")
            if key.revoked_at is None:
                key = replace(key, revoked_at=self.services.now())
                uow.put(keys.api_key(key_id), encode(key))
            return key

        return view(self.services.store.transact(keys.SERVICE, work))

    def _new(self, **fields: Any) -> tuple[ApiKey, str]:
        now = self.services.now()
        secret = secrets.token_urlsafe(32)
        key = ApiKey(
            id=next_ulid(None, now, secrets.token_bytes(10)),
            secret_hash=_hash(secret),
            created_at=now,
            **fields,
        )
        return key, f"{PREFIX}_{key.id}_{secret}"


def _administers(principal: Principal, namespaces: Iterable[str]) -> bool:
    """Whether keys of these namespaces are the caller's business: all are that of whoever covers ``default``, which the
    first key does; others may give no more than they have."""
    return principal.covers(DEFAULT_NAMESPACE) or all(map(principal.covers, namespaces))


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def view(key: ApiKey) -> dict[str, Any]:
    """A key as callers may see it."""
    return {
        "id": key.id,
        "name": key.name,
        "namespaces": list(key.namespaces),
        "permissions": list(key.permissions),
        "default_namespace": key.default_namespace,
        "created_at": to_text(key.created_at),
        "created_by": key.created_by,
        "expires_at": optional_text(key.expires_at),
        "revoked_at": optional_text(key.revoked_at),
    }
