"""Files of a chart: SVG and PNG with the same bytes for the same chart, and PDF."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Literal

import altair as alt
import vl_convert

from rankloop.lab.sweeps.results_folder import write_whole

Kind = Literal["svg", "png", "pdf"]


def render_chart(chart: alt.TopLevelMixin, *kinds: Kind) -> dict[Kind, bytes]:
    """Render a chart in each of these formats; the others are made from the SVG, so that Vega runs once."""
    svg = _number_clips(vl_convert.vegalite_to_svg(chart.to_json()))
    files: dict[Kind, bytes] = {}
    for kind in kinds:
        if kind == "svg":
            files[kind] = svg.encode()
        else:
            files[kind] = vl_convert.svg_to_pdf(svg) if kind == "pdf" else vl_convert.svg_to_png(svg, scale=2)
    return files


def write_chart(chart: alt.TopLevelMixin, folder: Path, name: str) -> list[Path]:
    """Write the SVG and the PNG of a chart."""
    files = {folder / f"{name}.{kind}": each for kind, each in render_chart(chart, "svg", "png").items()}
    for file, content in files.items():
        write_whole(file, partial(Path.write_bytes, data=content))
    return list(files)


def measure_width(chart: alt.TopLevelMixin) -> int:
    """Measure how wide a chart is when it is drawn, with its axes and its legend."""
    found = re.search(r'width="(\d+)', vl_convert.vegalite_to_svg(chart.to_json()))
    assert found
    return int(found[1])


def _number_clips(svg: str) -> str:
    """Count the clip paths of a picture from 0: Vega counts on from the picture before."""
    names: dict[str, str] = {}
    return re.sub(r"\bclip\d+\b", lambda found: names.setdefault(found[0], f"clip{len(names)}"), svg)
