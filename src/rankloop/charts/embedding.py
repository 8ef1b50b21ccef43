"""Charts in a page that needs no network: the drawing library, our script, and data for it."""

from __future__ import annotations

import json
from importlib.resources import files

from rankloop.charts.theme import chart_config

FOLDER = files("rankloop.charts")
SCHEMES = {"light": chart_config(dark=False), "dark": chart_config(dark=True)}

DRAW = FOLDER.joinpath("draw.js").read_text("utf-8")  # draws the charts of a page, light or dark


def json_element(identity: str, value: object) -> str:
    """Data for our script; no text inside can end the element, because no `<` is left in it."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{identity}">{text}</script>\n'


def read_vega() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, with their licences; `scripts/build_vega` makes it."""
    return FOLDER.joinpath("vega.js").read_text("utf-8")
