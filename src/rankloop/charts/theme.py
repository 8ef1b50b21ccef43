"""How charts look: colours that stay apart, quiet axes, on a light or a dark page."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's colours, which stay apart for colour-blind readers, without black and yellow:
# both vanish on one of the two backgrounds.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")


def chart_config(*, dark: bool) -> dict[str, Any]:
    """Quiet axes on a light or a dark page."""
    ink, faint, paper = ("#e6e8eb", "#33383f", "#16181c") if dark else ("#1f2328", "#e3e6ea", "#ffffff")
    axis = {
        "labelColor": ink,
        "titleColor": ink,
        "gridColor": faint,
        "domainColor": faint,
        "tickColor": faint,
    }
    sizes = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": 500, "titlePadding": 10}
    return {
        "background": paper,
        "font": "system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif",
        "padding": 8,
        "view": {"stroke": None},
        "axis": {**axis, **sizes, "domain": False},
        "title": {"color": ink},
        "legend": {
            "labelColor": ink,
            "labelFontSize": 13,
            "orient": "top",
            "columnPadding": 18,
            "offset": 14,
        },
        "header": {"labelColor": ink, "labelFontSize": 14, "labelFontWeight": 600, "labelPadding": 10},
        "facet": {"spacing": 28},
    }
