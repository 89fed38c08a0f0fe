"""Principal: who calls, and what their grants cover. It goes through every use case."""

from __future__ import annotations

from dataclasses import dataclass

from rearview.domain.scope import Scope
from rearview.domain.types import DEFAULT_NAMESPACE, PERMISSIONS, Permission
from rearview.errors import Forbidden, NotFound


@dataclass(frozen=True, slots=True)
class Principal:
    """``namespaces`` None means all of them (the local principal of ``--no-auth``)."""

    id: str
    namespaces: frozenset[str] | None
    permissions: frozenset[Permission] = frozenset(PERMISSIONS)
    default_namespace: str = DEFAULT_NAMESPACE
    default_user: str | None = None

    def covers(self, namespace: str) -> bool:
        """Whether a record of this namespace may leave to this caller."""
        return self.namespaces is None or namespace in self.namespaces

    def require(self, permission: Permission) -> None:
        """Raises Forbidden unless the caller holds the permission."""
        if permission not in self.permissions:
            raise Forbidden(f"this credential lacks the permission '{permission}'")

    def scope(self, permission: Permission, namespace: str | None, user_id: str) -> Scope:
        """The scope that a call names, once permission and grants are checked."""
        self.require(permission)
        chosen = namespace if namespace is not None else self.default_namespace
        if not self.covers(chosen):
            raise Forbidden("this credential does not cover the namespace")
        return Scope(chosen, user_id)

    def see(self, permission: Permission, namespace: str, what: str) -> None:
        """Raises NotFound for a record of a foreign namespace: its existence is nobody's business, so that this comes
        before the permission."""
        if not self.covers(namespace):
            raise NotFound(f"no such {what}")
        self.require(permission)


LOCAL = Principal(id="local", namespaces=None)
