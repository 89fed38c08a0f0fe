"""Policies: how a namespace's memories age, as versioned data. Every change is told in the namespace's own ledger."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from rearview.domain import keys
from rearview.domain.codec import decode, encode
from rearview.domain.policy import Policy
from rearview.domain.principal import Principal
from rearview.domain.scope import Scope
from rearview.errors import Conflicting, Forbidden, InvalidInput, NotFound
from rearview.ports import MemoryStore, UnitOfWork
from rearview.usecases.book import Book
from rearview.usecases.paging import Pager

if TYPE_CHECKING:
    from rearview.usecases.policy_commands import ChangePolicy, ListPolicies, ReadPolicy
    from rearview.usecases.services import Services

#: Seconds that a process goes by the policy it read last: a change elsewhere takes so long to reach it.
FRESH = 15.0
PARTS = ("shelf_lives", "archiving", "forgetting", "consolidation", "profile")


class PolicyBook:
    """The policies in force, read from the store and kept for some seconds."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._held: dict[str, tuple[float, Policy]] = {}
        self._lock = Lock()

    def of(self, namespace: str) -> Policy:
        """The policy in force; the defaults where nobody set one."""
        with self._lock:
            held = self._held.get(namespace)
        if held is not None and time.monotonic() - held[0] < FRESH:
            return held[1]
        return self.fresh(namespace)

    def fresh(self, namespace: str) -> Policy:
        """The policy as the store holds it now."""
        at = keys.policy(namespace, 0)
        page = self._store.query(at.partition, keys.POLICIES, limit=1, reverse=True)
        policy = decode(Policy, page.items[0][1]) if page.items else Policy(namespace)
        self.keep(policy)
        return policy

    def keep(self, policy: Policy) -> None:
        """This one is in force."""
        with self._lock:
            if len(self._held) > 10_000:
                self._held.clear()
            self._held[policy.namespace] = (time.monotonic(), policy)


class PolicyKeeper:
    """The policy verbs."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def get(self, principal: Principal, request: ReadPolicy) -> dict[str, Any]:
        """The policy in force, or the version that is asked for."""
        namespace = _readable(principal, request.namespace)
        if request.version is None:
            return view(self.services.policies.fresh(namespace))
        if request.version == 0:
            return view(Policy(namespace))
        body = self.services.store.get(keys.policy(namespace, request.version))
        if body is None:
            raise NotFound("no such version of the policy")
        return view(decode(Policy, body))

    def history(self, principal: Principal, request: ListPolicies) -> dict[str, Any]:
        """A page of the versions that were set, newest first."""
        namespace = _readable(principal, request.namespace)
        partition = keys.policy(namespace, 0).partition
        pager = Pager(self.services, partition, keys.POLICIES, request, "-version")
        return pager.answer(pager.stored(()), lambda bodies: [view(decode(Policy, body)) for body in bodies])

    def change(self, principal: Principal, request: ChangePolicy) -> dict[str, Any]:
        """A new version with what the request names; what it leaves out stays. Raises Conflicting when ``if_version`` is
        not the version in force."""
        principal.require("admin")
        namespace = request.namespace if request.namespace is not None else principal.default_namespace
        scope = principal.scope("admin", namespace, "")

        def work(uow: UnitOfWork) -> Policy:
            page = uow.query(scope.partition, keys.POLICIES, limit=1, reverse=True)
            current = decode(Policy, page.items[0][1]) if page.items else Policy(namespace)
            if request.if_version is not None and request.if_version != current.version:
                raise Conflicting(f"the policy is at version {current.version}")
            wanted = _merged(current, request)
            if replace(wanted, version=current.version) == current:
                return current
            book = Book(uow, scope, self.services.now(), principal.id)
            policy = replace(
                wanted, version=current.version + 1, updated_at=book.now, updated_by=principal.id
            )
            uow.put(keys.policy(namespace, policy.version), encode(policy), absent=True)
            book.record("policy_changed", f"policy-{policy.version}", encode(policy))
            book.close()
            return policy

        policy = self.services.store.transact(scope.partition, work)
        self.services.policies.keep(policy)
        return view(policy)


def _merged(current: Policy, request: ChangePolicy) -> Policy:
    fields: dict[str, Any] = {}
    for name in PARTS:
        given = getattr(request, name)
        if given is not None:
            named = {field: getattr(given, field) for field in given.model_fields_set - {"timezone"}}
            fields[name] = replace(getattr(current, name), **named)
    if "conflicts" in request.model_fields_set:
        fields["conflicts"] = request.conflicts
    if request.review_sample is not None:
        fields["review_sample"] = request.review_sample
    wanted = replace(current, **fields)
    early, cold = wanted.archiving.summary_only_days, wanted.archiving.cold_days
    if early is not None and cold is not None and early > cold:
        raise InvalidInput.of(
            "archiving.summary_only_days", "at_most_cold_days", "must not be more than cold_days"
        )
    return wanted


def _readable(principal: Principal, namespace: str | None) -> str:
    """The namespace asked, for callers who may audit or administer it."""
    if not {"audit", "admin"} & principal.permissions:
        raise Forbidden("this credential lacks the permission 'audit'")
    chosen = namespace if namespace is not None else principal.default_namespace
    permission = "audit" if "audit" in principal.permissions else "admin"
    scope: Scope = principal.scope(permission, chosen, "")  # type: ignore[arg-type]
    return scope.namespace


def view(policy: Policy) -> dict[str, Any]:
    """A policy as JSON types."""
    body = encode(policy)
    for name in PARTS:
        body[name] = asdict(getattr(policy, name))
    return body
