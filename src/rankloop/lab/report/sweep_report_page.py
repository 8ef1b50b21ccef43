"""Page of a sweep: one self-contained file that shows what was found, with pictures of its charts."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from rankloop.charts import DRAW, SCHEMES, json_element, read_vega
from rankloop.lab.analysis.sweep_analysis import SweepAnalysis
from rankloop.lab.report.chart_files import Kind, render_chart
from rankloop.lab.report.chart_lines import ChartLines, ChartStyle, choose_lines, list_charts
from rankloop.lab.report.curve_charts import draw_lines, title_axis
from rankloop.lab.report.latex_text import make_slug
from rankloop.lab.report.result_tables import build_tables
from rankloop.lab.report.table_formats import to_html
from rankloop.lab.sweeps.results_folder import write_json, write_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class PageChart:
    """A chart of the page, with the name of its files."""

    name: str
    lines: ChartLines
    caption: str
    spec: dict[str, Any]  # for the page, without colours of light or dark
    pictures: Mapping[Kind, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What the page shows of one metric: its charts and its tables."""

    metric: str
    meaning: str = ""
    charts: list[PageChart]
    tables: list[str]  # in HTML


def write_report(
    analysis: SweepAnalysis, folder: Path | str, title: str = "rankloop", *, lines: int = ChartStyle().lines
) -> Path:
    """Write `report.html`, `summary.json` and the PNG and SVG of every chart; return the page's path.

    The page needs no network: styles, data and the drawing library are inside. If the question is about some
    metrics, these come first and only these are drawn. A chart has at most so many `lines` and says what it
    leaves out. The same results give the same bytes.
    """
    folder = Path(folder)
    charts = list(_draw_charts(analysis, ChartStyle(lines=lines)))
    pictures = {f"{chart.name}.{kind}": each for chart in charts for kind, each in chart.pictures.items()}
    page = _render(analysis, charts, title).encode()
    for name, content in {"report.html": page, **pictures}.items():
        write_whole(folder / name, partial(Path.write_bytes, data=content))
    write_json(folder / "summary.json", [each.to_json() for each in analysis.summaries])
    return folder / "report.html"


def _draw_charts(analysis: SweepAnalysis, style: ChartStyle) -> Iterator[PageChart]:
    several = analysis.results["data"].n_unique() > 1
    taken: set[str] = set()
    for metric, data in list_charts(analysis):
        lines = choose_lines(analysis, metric, data=data, style=style)
        short = metric if lines.measure.profile else lines.measure.short or metric
        spec = draw_lines(lines, replace(style, look="page")).to_dict()
        spec.pop("config")
        yield PageChart(
            name=_choose_file_name(f"{short} {data}" if several else short, taken),
            lines=lines,
            caption=data if several else "",
            spec=spec,
            pictures=render_chart(draw_lines(lines, style), "svg", "png"),
        )


def _render(analysis: SweepAnalysis, charts: list[PageChart], title: str) -> str:
    """Render the page: every name in it is escaped, and only our own two scripts may run."""
    vega = read_vega()
    drawn = dict.fromkeys(chart.lines.metric for chart in charts)
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = files("rankloop.lab.report").joinpath("sweep_report.html").read_text("utf-8")
    return page.from_string(template).render(
        title=title,
        analysis=analysis,
        lead=_describe_size(analysis),
        sections=[_make_section(analysis, charts, metric) for metric in drawn],
        others=[
            Section(metric=name, charts=[], tables=_print_tables(analysis, name))
            for name, measure in analysis.measures.items()
            if name not in drawn and not measure.profile
        ],
        policy=_allow_scripts(vega, DRAW),
        data=[("schemes", SCHEMES), *((f"spec-{chart.name}", chart.spec) for chart in charts)],
        json_element=json_element,
        scripts=[vega, DRAW],
    )


def _make_section(analysis: SweepAnalysis, charts: list[PageChart], metric: str) -> Section:
    own = [chart for chart in charts if chart.lines.metric == metric]
    measure = own[0].lines.measure
    return Section(
        metric=metric,
        meaning=measure.meaning or title_axis(measure),
        charts=own,
        tables=[] if measure.profile else _print_tables(analysis, metric),
    )


def _print_tables(analysis: SweepAnalysis, metric: str) -> list[str]:
    return [to_html(table) for table in build_tables(analysis, metric)]


def _describe_size(analysis: SweepAnalysis) -> str:
    """Say how many policies, users and runs there are, and on which data."""
    summaries = analysis.summaries
    policies, users, data = (
        {getattr(each, name) for each in summaries} for name in ("policy", "user", "data")
    )
    runs, rounds = max(each.runs for each in summaries), max(each.round for each in summaries)
    counted = (
        f"{len(policies)} {'policy' if len(policies) == 1 else 'policies'}",
        f"{len(users)} {'user' if len(users) == 1 else 'users'}",
        f"{runs} {'run' if runs == 1 else 'runs'} of {rounds:,} rounds each",
    )
    where = data.pop() if len(data) == 1 else f"{len(data)} data sets"
    return f"{', '.join(counted)}, on {where}."


def _allow_scripts(*scripts: str) -> str:
    """Let nothing be fetched and nothing run but these scripts (Vega compiles its expressions: eval)."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return f"default-src 'none'; script-src {allowed} 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"


def _choose_file_name(text: str, taken: set[str]) -> str:
    """Choose a short plain file name: `offline`, `regret`; numbered if two charts would share it."""
    name = base = make_slug(text)
    number = 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    taken.add(name)
    return name
