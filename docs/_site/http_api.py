"""The HTTP reference: the service's own OpenAPI description, written out when the site is built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from rankloop.service import RankingService
from rankloop.service.http import AppContext, Keys
from rankloop.service.http.app import described

Schema = Mapping[str, Any]
LIMITS = {"minimum": "from", "maximum": "to", "maxLength": "characters, at most", "maxItems": "at most"}


def description() -> dict[str, Any]:
    """What a service says about itself."""
    return described(AppContext(service=RankingService().facade, keys=Keys.fresh()[0]))


def markdown(api: Mapping[str, Any]) -> str:
    """An OpenAPI description as Markdown: a section for each route, then one for each type."""
    routes = [
        route(f"{method.upper()} {path}", operation)
        for path, methods in api["paths"].items()
        for method, operation in methods.items()
    ]
    types = [
        f"### {name}\n\n{fields(schema)}" for name, schema in sorted(api["components"]["schemas"].items())
    ]
    return "\n\n".join(["## Routes", *routes, "## Types", *types])


def route(name: str, operation: Mapping[str, Any]) -> str:
    """What a route does, what it takes, and what it answers."""
    parts = [f"### `{name}`", f"**{operation['summary']}.** {operation.get('description', '')}"]
    if operation.get("parameters"):
        rows = ((each["name"], each["in"], *described_by(each["schema"])) for each in operation["parameters"])
        parts.append(table(("parameter", "in", "type", "default", "meaning"), rows))
    takes = f"Takes {content(operation['requestBody'])}, answers" if "requestBody" in operation else "Answers"
    return "\n\n".join([*parts, f"{takes} {content(operation['responses']['200'])}."])


def content(body: Mapping[str, Any]) -> str:
    """The type of a body, and its format if it is not JSON."""
    ((media, found),) = body["content"].items()
    return kind(found["schema"]) if media == "application/json" else f"`{media}`"


def fields(schema: Schema) -> str:
    """The fields of a type."""
    required = schema.get("required", ())
    rows = (
        (name, "yes" if name in required else "", *described_by(each))
        for name, each in schema["properties"].items()
    )
    return table(("field", "required", "type", "default", "meaning"), rows)


def described_by(schema: Schema) -> tuple[str, str, str]:
    """Type, default and meaning."""
    limits = [f"{word} {schema[name]:g}" for name, word in LIMITS.items() if name in schema]
    default = f"`{schema['default']!r}`" if "default" in schema else ""
    return kind(schema), default, "; ".join(filter(None, [schema.get("description", ""), ", ".join(limits)]))


def kind(schema: Schema) -> str:
    """A type in words, with a link if it has a section.

    >>> kind({"type": "array", "items": {"$ref": "#/components/schemas/Result"}})
    'list of [Result](#result)'
    """
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "oneOf" in schema:
        return " or ".join(kind(each) for each in schema["oneOf"])
    if schema.get("type") == "array":
        return f"list of {kind(schema.get('items', {}))}"
    if schema.get("additionalProperties"):
        return f"object of {kind(schema['additionalProperties'])}"
    return str(schema.get("type", "anything"))


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; the first column is code, and a column in which nothing stands is left out."""
    body = [[f"`{name}`", *rest] for name, *rest in rows]
    columns = [(title, "---", *cells) for title, *cells in zip(head, *body, strict=True) if any(cells)]
    lines = zip(*columns, strict=True)
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


class HttpApi(SphinxDirective):
    """Puts the reference where it stands."""

    def run(self) -> list[nodes.Node]:
        """Read it as Markdown, like the page around it."""
        return self.parse_text_to_nodes(markdown(description()), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("http-api", HttpApi)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
