"""Charts in a page that needs no network: the drawing library, our script, and data for it."""

from __future__ import annotations

import json
from functools import lru_cache

import vl_convert

from rankloop.charts.theme import chart_config

SCHEMES = {"light": chart_config(dark=False), "dark": chart_config(dark=True)}

DRAW = """
const schemes = JSON.parse(document.getElementById("schemes").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
async function draw(chart) {
  const spec = JSON.parse(document.getElementById(chart.dataset.spec).textContent);
  try {
    const config = dark.matches ? schemes.dark : schemes.light;
    await vegaEmbed(chart, spec, {config, renderer: "svg", actions: false});
    chart.dataset.state = "drawn";
  } catch (problem) {
    chart.dataset.state = "failed";
    chart.textContent = "This chart could not be drawn (" + problem + "). Its picture is beside this page.";
  }
}
const drawAll = () => document.querySelectorAll(".chart").forEach(draw);
dark.addEventListener("change", drawAll);
drawAll();
"""


def json_element(identity: str, value: object) -> str:
    """Data for our script; no text inside can end the element, because no `<` is left in it."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{identity}">{text}</script>\n'


# The one name our script uses; vl-convert's default makes more of them global.
_EXPOSE = "window.vegaEmbed = vegaEmbed;"


@lru_cache(maxsize=1)
def library() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script; bundling takes seconds, so once per process."""
    bundle = str(vl_convert.javascript_bundle(_EXPOSE))
    assert "</script" not in bundle.lower()
    return bundle
