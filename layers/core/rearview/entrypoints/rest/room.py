"""A room of the API: routes as data, and the one path that every call takes through them.

Authenticate, read path, query and body through the strict models, claim the idempotency key, call the use case,
answer. It all runs in one thread of the pool, because store and embedder are synchronous.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from anyio import to_thread
from pydantic import BaseModel, ConfigDict
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from rearview.domain.principal import Principal
from rearview.entrypoints.rest import paths
from rearview.entrypoints.rest.auth import principal_of
from rearview.entrypoints.rest.bodies import parse
from rearview.entrypoints.rest.problems import UnsupportedMediaType, request_id_of, respond, unexpected
from rearview.entrypoints.rest.queries import pairs_of, read_query
from rearview.errors import InvalidInput, RearviewError
from rearview.usecases.app import Rearview
from rearview.usecases.fields import read
from rearview.usecases.idempotency import Answer, Once, run_once

_KEY = re.compile(r"[\x21-\x7e]{1,255}\Z")
_JSON = re.compile(r"application/(json|[\w.-]+\+json)\Z")


class Nothing(BaseModel):
    """No parameters."""

    model_config = ConfigDict(extra="forbid")


class Waits(BaseModel):
    """The one query parameter of writes."""

    model_config = ConfigDict(extra="forbid", strict=True)
    wait: bool = False


M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Call(Generic[M]):
    """One request, read and checked. ``asked``: its body, or for GET and DELETE its query."""

    principal: Principal
    asked: M
    path: Mapping[str, str]
    wait: bool = False
    once: Once | None = None


@dataclass(frozen=True, slots=True)
class Spec:
    """A route as the document describes it. ``answers``: status → (model, when). ``secret``: a field of the answer that
    is shown once and never kept for a replay."""

    method: str
    path: str
    summary: str
    room: str
    asked: type[BaseModel]
    answers: Mapping[int, tuple[type[BaseModel], str]]
    verb: Callable[[Call[Any]], Answer]
    waits: bool = False
    changes: bool = True
    example: Mapping[str, Any] = field(default_factory=dict)
    secret: str | None = None

    @property
    def in_body(self) -> bool:
        """Whether what is asked comes in the body."""
        return self.method in ("POST", "PATCH")

    @property
    def route(self) -> str:
        """Method and template: what idempotency tells apart."""
        return f"{self.method} {self.path}"


class Room:
    """Collects the routes of one function of the API."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.specs: list[Spec] = []

    def route(
        self,
        method: str,
        path: str,
        summary: str,
        asked: type[M],
        answers: Mapping[int, tuple[type[BaseModel], str]],
        *,
        waits: bool = False,
        changes: bool | None = None,
        example: Mapping[str, Any] | None = None,
        secret: str | None = None,
    ) -> Callable[[Callable[[Call[M]], Answer]], None]:
        """Decorates the function that answers. ``changes``: takes an Idempotency-Key; all but GET unless said."""

        def add(verb: Callable[[Call[M]], Answer]) -> None:
            self.specs.append(
                Spec(
                    method=method,
                    path=path,
                    summary=summary,
                    room=self.name,
                    asked=asked,
                    answers=answers,
                    verb=verb,
                    waits=waits,
                    changes=method != "GET" if changes is None else changes,
                    example=example or {},
                    secret=secret,
                )
            )

        return add


class Desk:
    """Takes requests to the verbs behind them."""

    def __init__(self, app: Rearview, *, auth: bool, on_write: Callable[[], None] | None) -> None:
        self.app, self.auth, self.on_write = app, auth, on_write

    def endpoint(self, spec: Spec) -> Callable[[Request], Any]:
        """The ASGI side of a route."""

        async def serve(request: Request) -> Response:
            request.state.route = spec.path
            # At the end of the process nobody waits for a thread that is in the middle of an embedding.
            return await to_thread.run_sync(self._answer, spec, request, abandon_on_cancel=True)

        return serve

    def _answer(self, spec: Spec, request: Request) -> Response:
        try:
            status, body, replayed = self._call(spec, request)
        except RearviewError as error:
            if error.status >= 500 and type(error) is RearviewError:
                return unexpected(error, request_id_of(request))
            return respond(error, request_id_of(request))
        except Exception as error:
            return unexpected(error, request_id_of(request))
        if spec.changes and not replayed and self.on_write is not None:
            self.on_write()
        headers = {"Idempotency-Replayed": "true"} if replayed else None
        content = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return Response(content.encode(), status_code=status, headers=headers, media_type="application/json")

    def _call(self, spec: Spec, request: Request) -> tuple[int, dict[str, Any], bool]:
        principal = principal_of(request.headers, self.app.keyring, auth=self.auth)
        path = paths.decoded(request.path_params)
        pairs = pairs_of(request.scope.get("query_string", b""))
        wait = False
        raw: dict[str, Any]
        if spec.in_body:
            wait = read_query(Waits if spec.waits else Nothing, pairs).model_dump().get("wait", False)
            raw = _body(spec, request.headers, request.state.body)
            asked = read(spec.asked, raw)
        else:
            asked = read_query(spec.asked, pairs)
            raw = asked.model_dump(mode="json", exclude_unset=True)
        if not spec.changes:
            return (*spec.verb(Call(principal, asked, path)), False)
        hidden: dict[str, Any] = {}

        def call(once: Once | None) -> Answer:
            status, body = spec.verb(Call(principal, asked, path, wait, once))
            if spec.secret is not None:
                hidden[spec.secret] = body[spec.secret]
                body = {**body, spec.secret: None}
            return status, body

        status, body, replayed = run_once(
            self.app.services,
            principal,
            getattr(asked, "namespace", None),
            spec.route,
            _idempotency_key(request.headers),
            {"path": path, "body": raw},
            call,
        )
        return status, {**body, **hidden}, replayed


def _body(spec: Spec, headers: Headers, raw: bytes) -> dict[str, Any]:
    if not raw and (spec.asked is Nothing or getattr(spec.asked, "BODY_OPTIONAL", False)):
        return {}
    _check_media_type(headers)
    return parse(raw)


def _check_media_type(headers: Headers) -> None:
    kind, _, parameters = headers.get("content-type", "").partition(";")
    if not _JSON.match(kind.strip().lower()):
        raise UnsupportedMediaType("the Content-Type must be application/json")
    for parameter in parameters.lower().split(";"):
        name, _, value = parameter.strip().partition("=")
        if name == "charset" and value.strip('" ') not in ("utf-8", "utf8"):
            raise UnsupportedMediaType("JSON must come in UTF-8")


def _idempotency_key(headers: Headers) -> str | None:
    given = headers.getlist("idempotency-key")
    if not given:
        return None
    if len(given) > 1 or not _KEY.match(given[0]):
        raise InvalidInput.of(
            "Idempotency-Key", "pattern", "must be given once, as 1-255 visible ASCII characters"
        )
    return given[0]


def rooms_named(names: Collection[str], known: Mapping[str, Callable[[Rearview], Room]]) -> list[str]:
    """The names in the order of ``known``; ValueError for one that is not there."""
    strangers = set(names) - set(known)
    if strangers:
        raise ValueError(f"no such rooms: {sorted(strangers)}")
    return [name for name in known if name in names]
