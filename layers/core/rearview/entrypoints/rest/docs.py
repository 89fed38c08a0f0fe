"""The API reference as one page, made from the document: no script, no font, nothing from elsewhere."""

from __future__ import annotations

import json
from html import escape
from typing import Any

_STYLE = """
:root{color-scheme:light dark;--line:#8884;--soft:#8881}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code,pre{font:14px/1.45 ui-monospace,monospace}pre{background:var(--soft);padding:.8rem;overflow:auto;border-radius:6px}
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:.4rem .8rem}
summary{cursor:pointer}summary b{display:inline-block;min-width:4.5rem}
table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid var(--line);padding:.3rem .5rem;text-align:left;
vertical-align:top}h2{margin-top:2rem}
"""


def page(document: dict[str, Any]) -> str:
    """The reference as HTML."""
    info = document["info"]
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f"<title>{escape(info['title'])} API</title><style>{_STYLE}</style>",
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>",
        *(f"<p>{escape(text)}</p>" for text in info["description"].split("\n\n")),
        "<p>For machines: <a href='openapi.json'>openapi.json</a></p>",
    ]
    for tag in document["tags"]:
        found = [
            (path, method, operation)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
            if tag["name"] in operation["tags"]
        ]
        if found:
            parts.append(f"<h2 id='{tag['name']}'>{tag['name']}</h2><p>{escape(tag['description'])}</p>")
            parts += [_operation(document, *item) for item in found]
    parts.append("<h2 id=shapes>Shapes</h2>")
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts.append(
            f"<details id='{name}'><summary><code>{name}</code></summary>{_schema(schema)}</details>"
        )
    return "\n".join(parts)


def _operation(document: dict[str, Any], path: str, method: str, operation: dict[str, Any]) -> str:
    parts = [
        f"<details id='{operation['operationId']}'><summary><b>{method.upper()}</b> <code>{escape(path)}</code> "
        f"{escape(operation['summary'])}</summary>",
        f"<p>{escape(operation.get('description', ''))}</p>",
    ]
    rows = "".join(
        f"<tr><td><code>{escape(item['name'])}</code>{' *' if item.get('required') else ''}<td>{item['in']}"
        f"<td>{_kind(item['schema'])}<td>{escape(item.get('description', item['schema'].get('description', '')))}"
        for item in operation.get("parameters", [])
    )
    if rows:
        parts.append(f"<table><tr><th>parameter<th>in<th>type<th>{rows}</table>")
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body:
        parts.append(f"<p>Body: {_kind(body['schema'])}</p>")
        if "example" in body:
            text = json.dumps(body["example"], ensure_ascii=False, indent=2)
            parts.append(f"<pre>{escape(_curl(document, method, path, text))}</pre>")
    rows = "".join(
        f"<tr><td>{status}<td>{escape(answer['description'])}<td>"
        + ", ".join(_kind(item["schema"]) for item in answer.get("content", {}).values())
        for status, answer in sorted(operation["responses"].items())
    )
    return "".join([*parts, f"<table><tr><th>status<th>when<th>shape{rows}</table></details>"])


def _curl(document: dict[str, Any], method: str, path: str, text: str) -> str:
    key = " -H 'X-API-Key: …'" if "security" in document else ""
    quoted = text.replace("'", "'\\''")
    return f"curl -X {method.upper()} …{path}{key} -H 'content-type: application/json' -d '{quoted}'"


def _schema(schema: dict[str, Any]) -> str:
    required = set(schema.get("required", []))
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code>{' *' if name in required else ''}<td>{_kind(field)}"
        f"<td>{escape(field.get('description', ''))}"
        for name, field in schema.get("properties", {}).items()
    )
    return f"<p>{escape(schema.get('description', ''))}</p><table>{rows}</table>"


def _kind(schema: dict[str, Any]) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"<a href='#{name}'>{name}</a>"
    if "enum" in schema:
        return " | ".join(escape(str(item)) for item in schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(_kind(item) for item in schema[union])
    kind = str(schema.get("const", schema.get("type", "any")))
    if kind == "array":
        kind = f"list of {_kind(schema.get('items', {}))}"
    names = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "format", "default")
    bounds = [
        f"{name} {escape(json.dumps(schema[name]))}"
        for name in names
        if schema.get(name) not in (None, [], {})
    ]
    return f"{kind}{' (' + ', '.join(bounds) + ')' if bounds else ''}"
