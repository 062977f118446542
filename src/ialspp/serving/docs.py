"""The OpenAPI document as a page that people read. It loads nothing, and runs no script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; font-size: 1.1rem; }
code, .method { font-family: ui-monospace, monospace; }
.method { font-weight: bold; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-top: 1px solid #8886; }
"""


def page_of(document: Mapping[str, Any]) -> str:
    """Make the page: each route with its parameters, its body and its answer, then the types they name."""
    title = escape(f"{document['info']['title']} {document['info']['version']}")
    return "".join(
        [
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>',
            f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style><h1>{title}</h1>',
            f"<p>{_prose(document['info'].get('description', ''))}</p>",
            '<p>For programs: <a href="/openapi.json">/openapi.json</a></p>',
            *_routes(document),
            "<h1>Types</h1>",
            *_types(document),
            "</html>",
        ]
    )


def _prose(text: str) -> str:
    """Return text as HTML; what is between backticks is code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _routes(document: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            yield f'<h2><span class="method">{escape(method.upper())}</span> <code>{escape(path)}</code></h2>'
            yield f"<p>{escape(route.get('description') or route.get('summary', ''))}</p>"
            rows = [
                (each["name"], each["in"], each["schema"], each.get("description", ""))
                for each in route.get("parameters", [])
            ]
            body = _content(route.get("requestBody", {}))
            rows += [("body", "", body, "")] if body else []
            answer = _content(route["responses"].get("200", {}))
            rows += [("answer", "", answer, "")] if answer else []
            yield "<table>"
            for name, place, schema, meaning in rows:
                yield f"<tr><td><code>{escape(name)}</code> {escape(place)}<td>{_type(schema)}"
                yield f"<td>{escape(schema.get('description') or meaning)}"
            yield "</table>"


def _types(document: Mapping[str, Any]) -> Iterator[str]:
    for name, schema in sorted(document.get("components", {}).get("schemas", {}).items()):
        yield f'<h2 id="{escape(name)}"><code>{escape(name)}</code></h2><table>'
        required = schema.get("required", [])
        for field, kind in schema.get("properties", {}).items():
            needed = "required" if field in required else _default(kind)
            yield f"<tr><td><code>{escape(field)}</code> {needed}<td>{_type(kind)}"
            yield f"<td>{escape(kind.get('description', ''))}"
        yield "</table>"


def _default(schema: Mapping[str, Any]) -> str:
    return f"= {escape(str(schema['default']))}" if "default" in schema else "optional"


def _content(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a body, whatever its media type is."""
    kinds = list(part.get("content", {}).values())
    schema: Mapping[str, Any] = kinds[0].get("schema", {}) if kinds else {}
    return schema


def _type(schema: Mapping[str, Any]) -> str:
    """Describe a type in a few words, with links to those that have a name."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rsplit("/", 1)[-1])
        return f'<a href="#{name}"><code>{name}</code></a>'
    for choice in ("oneOf", "anyOf", "allOf"):
        if choice in schema:
            return " or ".join(dict.fromkeys(map(_type, schema[choice])))
    if "enum" in schema:
        return escape(" or ".join(map(str, schema["enum"])))
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {_type(schema['additionalProperties'])}"
    return escape(" or ".join(kind) if isinstance(kind, list) else str(kind))
