"""Charts: one look, and one way to put them into a page, for reports and for the service's pages."""

from rankloop.charts.embed import DRAW, SCHEMES, json_element, library
from rankloop.charts.families import Stroke, family, key, short_names, strokes
from rankloop.charts.look import PALETTE, chart_config

__all__ = [
    "DRAW",
    "PALETTE",
    "SCHEMES",
    "Stroke",
    "chart_config",
    "family",
    "json_element",
    "key",
    "library",
    "short_names",
    "strokes",
]
