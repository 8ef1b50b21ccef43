"""Charts as files that need nothing to be looked at."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import altair as alt
import vl_convert

from rankloop.lab.sweeps.files import write_whole


def pictures(name: str, spec: str) -> dict[str, bytes]:
    """The SVG and the PNG of a Vega-Lite specification, by file name; the same chart gives the same bytes."""
    svg = vl_convert.vegalite_to_svg(spec)  # the PNG is drawn from it: Vega need not run twice
    return {f"{name}.svg": _numbered(svg).encode(), f"{name}.png": vl_convert.svg_to_png(svg, scale=2)}


def write_chart(chart: alt.TopLevelMixin, folder: Path, name: str) -> list[Path]:
    """Write the SVG and the PNG of a chart."""
    files = pictures(name, chart.to_json())
    for file, content in files.items():
        write_whole(folder / file, partial(Path.write_bytes, data=content))
    return [folder / file for file in files]


def _numbered(svg: str) -> str:
    """The picture with its clip paths numbered from 0: Vega counts on from the picture before."""
    names: dict[str, str] = {}
    return re.sub(r"\bclip\d+\b", lambda found: names.setdefault(found[0], f"clip{len(names)}"), svg)
