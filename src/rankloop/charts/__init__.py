"""Charts: one look, and one way to put them into a page, for reports and for the service's pages."""

from rankloop.charts.embedding import DRAW, SCHEMES, json_element, read_vega
from rankloop.charts.theme import PALETTE, chart_config

__all__ = [
    "DRAW",
    "PALETTE",
    "SCHEMES",
    "chart_config",
    "json_element",
    "read_vega",
]
