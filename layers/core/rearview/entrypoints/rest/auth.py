"""Who calls: the credential in the headers, looked up on every request, so that a revocation holds at once."""

from __future__ import annotations

from starlette.datastructures import Headers

from rearview.domain.principal import LOCAL, Principal
from rearview.errors import Unauthorized
from rearview.usecases.credentials import Keyring

_LONGEST = 4096


def principal_of(headers: Headers, keyring: Keyring, *, auth: bool) -> Principal:
    """The caller behind ``Authorization: Bearer`` or ``X-API-Key``; LOCAL where authentication is off.

    Raises Unauthorized if there is no credential, more than one, or one nobody knows.
    """
    if not auth:
        return LOCAL
    given = {*_bearer(headers), *(item.strip() for item in headers.getlist("x-api-key"))}
    if not given:
        raise Unauthorized("needs an API key: Authorization: Bearer …, or X-API-Key: …")
    if len(given) > 1:
        raise Unauthorized("more than one credential was given")
    credential = given.pop()
    if len(credential) > _LONGEST:
        raise Unauthorized("the API key is unknown, revoked or expired")
    return keyring.principal(credential)


def _bearer(headers: Headers) -> list[str]:
    found = []
    for value in headers.getlist("authorization"):
        scheme, _, credential = value.strip().partition(" ")
        if scheme.lower() != "bearer" or not credential.strip():
            raise Unauthorized("the Authorization header must read: Bearer, a space, the key")
        found.append(credential.strip())
    return found
