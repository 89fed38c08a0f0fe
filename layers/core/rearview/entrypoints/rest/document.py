"""The OpenAPI document, generated from the routes and the models that check what they take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from rearview.entrypoints.rest.answers import Health, Problem, Ready
from rearview.entrypoints.rest.paths import names_of
from rearview.entrypoints.rest.problems import MEDIA_TYPE
from rearview.entrypoints.rest.queries import properties_of
from rearview.entrypoints.rest.room import Nothing, Spec

REF = "#/components/schemas/{model}"
_ABOUT = """Memory and decision traces for LLM agents: write, recall, and look back at why.

Texts may be in any language. Times come in as RFC 3339 and leave as UTC. Every refusal is a problem document (RFC 9457)
that names field and rule. Lists are pages, oldest first unless said otherwise: pass `next_cursor` as `cursor`. Writes take an
`Idempotency-Key`; a repeat within 24 hours gets the first answer again."""
_TAGS = {
    "write": "Memories, conversations, sessions, edits, forgetting, conflicts",
    "read": "Recall, context, and everything by id or by list",
    "trace": "Decisions, outcomes, precedents, replays",
    "audit": "Audits, conflicts, ledger, API keys",
    "service": "Is it there?",
}
_ULID = {
    "type": "string",
    "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$",
    "examples": ["01JWB5A8ZK3V9Q6M2T4X7C1D0E"],
}
_PATH = {
    "session_id": {"type": "string", "minLength": 1, "maxLength": 256, "examples": ["2026-05-03/1"]},
    "token": {"type": "string", "minLength": 1, "maxLength": 2000},
}
_PROBLEMS = {
    400: "the body is no JSON that this service reads",
    401: "no credential, or one nobody knows",
    403: "the credential does not cover this namespace or verb",
    404: "nothing there that this caller may see",
    409: "collides with the present state, or a twin in flight",
    410: "it was here and is gone",
    413: "the body is over the limit",
    415: "the body is not declared as JSON",
    422: "a rule is broken, or the idempotency key was used with another body",
    429: "writers of one user met too often; try again",
    500: "a fault of ours",
    503: "a part that this call needs is away; try again",
}


def build(specs: Sequence[Spec], *, auth: bool) -> dict[str, Any]:
    """The document (OpenAPI 3.1) for these routes."""
    models: dict[type[BaseModel], str] = {
        Problem: "serialization",
        Health: "serialization",
        Ready: "serialization",
    }
    for spec in specs:
        if spec.in_body:
            models[spec.asked] = "validation"
        models |= {model: "serialization" for model, _ in spec.answers.values()}
    schemas, definitions = models_json_schema(list(models.items()), ref_template=REF)  # type: ignore[arg-type]
    refs: dict[Any, Any] = {model: schema for (model, _), schema in schemas.items()}
    paths: dict[str, dict[str, Any]] = {}
    for spec in specs:
        paths.setdefault(spec.path, {})[spec.method.lower()] = _operation(spec, refs, auth=auth)
    for path, model, summary in (("/health", Health, "The process lives"), ("/ready", Ready, "It can serve")):
        paths[path] = {"get": _plain(path, refs[model], summary)}
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "Rearview", "version": _version(), "description": _ABOUT},
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": paths,
        "components": {"schemas": _open(definitions.get("$defs", {}), specs)},
    }
    if auth:
        document["components"]["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer", "description": "an API key"},
            "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        }
        document["security"] = [{"bearer": []}, {"apiKey": []}]
    return document


def _operation(spec: Spec, refs: Mapping[type[BaseModel], Any], *, auth: bool) -> dict[str, Any]:
    words = [
        spec.method.lower(),
        *spec.path.removeprefix("/v1/").replace("{", "").replace("}", "").split("/"),
    ]
    operation: dict[str, Any] = {
        "operationId": "_".join(words),
        "summary": spec.summary,
        "description": (spec.asked.__doc__ or "").strip() if spec.asked is not Nothing else "",
        "tags": [spec.room],
        "parameters": list(_parameters(spec)),
        "responses": {
            str(status): {
                "description": when,
                "headers": _headers(spec),
                "content": {"application/json": {"schema": refs[model]}},
            }
            for status, (model, when) in spec.answers.items()
        },
    }
    operation["responses"] |= _problems(spec, auth=auth)
    if spec.in_body and spec.asked is not Nothing:
        content: dict[str, Any] = {"schema": refs[spec.asked]}
        if spec.example:
            content["example"] = dict(spec.example)
        required = not getattr(spec.asked, "BODY_OPTIONAL", False)
        operation["requestBody"] = {"required": required, "content": {"application/json": content}}
    return operation


def _parameters(spec: Spec) -> Iterable[dict[str, Any]]:
    for name in names_of(spec.path):
        yield {"name": name, "in": "path", "required": True, "schema": _PATH.get(name, _ULID)}
    if not spec.in_body:
        required = spec.asked.model_json_schema().get("required", [])
        for name, schema in properties_of(spec.asked).items():
            parameter: dict[str, Any] = {"name": name, "in": "query", "schema": _without_null(schema)}
            parameter["required"] = name in required
            if parameter["schema"].get("type") == "array":
                parameter |= {"style": "form", "explode": True}
            yield parameter
    if spec.waits:
        schema = {"type": "boolean", "default": False}
        about = "answer when enrichment is done (after 25 seconds at the latest)"
        yield {"name": "wait", "in": "query", "required": False, "schema": schema, "description": about}
    if spec.changes:
        schema = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"}
        about = "a repeat with the same key and body gets the first answer again"
        yield {
            "name": "Idempotency-Key",
            "in": "header",
            "required": False,
            "schema": schema,
            "description": about,
        }
    schema = {"type": "string", "maxLength": 128, "pattern": "^[A-Za-z0-9._:/+=@-]+$"}
    yield {"name": "X-Request-Id", "in": "header", "required": False, "schema": schema}


def _headers(spec: Spec) -> dict[str, Any]:
    headers: dict[str, Any] = {"X-Request-Id": {"schema": {"type": "string"}}}
    if spec.changes:
        about = "true: this is the first call's answer again"
        headers["Idempotency-Replayed"] = {"description": about, "schema": {"type": "string"}}
    return headers


def _problems(spec: Spec, *, auth: bool) -> dict[str, Any]:
    statuses = {422, 429, 500, 503, 413}
    statuses |= {401, 403} if auth else set()
    statuses |= {400, 415} if spec.in_body else set()
    statuses |= {409} if spec.changes else set()
    statuses |= {404, 410} if names_of(spec.path) or spec.asked is not Nothing else set()
    return {str(status): _problem(_PROBLEMS[status]) for status in sorted(statuses)}


def _problem(description: str) -> dict[str, Any]:
    return {
        "description": description,
        "content": {MEDIA_TYPE: {"schema": {"$ref": REF.format(model="Problem")}}},
    }


def _plain(path: str, ref: Any, summary: str) -> dict[str, Any]:
    content = {"application/json": {"schema": ref}}
    responses = {"200": {"description": "yes", "content": content}}
    if path == "/ready":
        responses["503"] = {"description": "not now", "content": content}
    return {
        "operationId": path.strip("/"),
        "summary": summary,
        "tags": ["service"],
        "security": [],
        "responses": responses,
    }


def _without_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A query parameter is absent rather than null."""
    options = [item for item in schema.get("anyOf", []) if item.get("type") != "null"]
    flat = {key: value for key, value in schema.items() if key not in ("anyOf", "title")}
    if flat.get("default", 0) is None:
        del flat["default"]
    return (
        {**options[0], **flat} if len(options) == 1 else {**flat, **({"anyOf": options} if options else {})}
    )


def _open(definitions: dict[str, Any], specs: Sequence[Spec]) -> dict[str, Any]:
    """Answers may gain fields: clients are told to expect it. Requests stay closed."""
    asked = {name for spec in specs if spec.in_body for name in _reached(spec.asked)}
    for name, schema in definitions.items():
        if name not in asked:
            schema.pop("additionalProperties", None)
    return definitions


def _reached(model: type[BaseModel]) -> set[str]:
    return {model.__name__, *model.model_json_schema().get("$defs", {})}


def _version() -> str:
    try:
        return version("rearview-memory")
    except PackageNotFoundError:
        return "0"
