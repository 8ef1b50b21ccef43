"""Vega-Lite specifications as plain dictionaries, without colours of light or dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Spec: TypeAlias = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


def number(field: str, **more: Any) -> Spec:
    """Show a field of numbers.

    >>> number("y", title="clicks")
    {'field': 'y', 'type': 'quantitative', 'title': 'clicks'}
    """
    return {"field": field, "type": "quantitative", **more}


def time(field: str, **more: Any) -> Spec:
    """Show a field of moments."""
    return {"field": field, "type": "temporal", **more}


def word(field: str, **more: Any) -> Spec:
    """Show a field of words."""
    return {"field": field, "type": "nominal", **more}


def layer(data: str, mark: Spec, **encoding: Any) -> Spec:
    """Draw the data of this name with a mark, whose channels are encoded so."""
    return {"data": {"name": data}, "mark": mark, "encoding": encoding}


def layered(
    layers: Sequence[Spec], data: Mapping[str, Sequence[Spec]], *, height: int, description: str
) -> Spec:
    """Lay layers over each other, as wide as the page has room for."""
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": height,
        "description": description,
        "datasets": {name: list(rows) for name, rows in data.items() if rows},
        "layer": list(layers),
    }
