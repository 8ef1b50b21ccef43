"""One self-contained page that shows what an experiment found, with its charts as pictures beside it."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from rankloop.charts import DRAW, SCHEMES, json_element, read_vega
from rankloop.lab.analysis.changes import Change, relative_changes
from rankloop.lab.analysis.policy_summaries import SummaryRow, curves, summarise
from rankloop.lab.analysis.single_runs import SingleRuns, single_runs
from rankloop.lab.report.change_table import change_html
from rankloop.lab.report.chart_files import pictures
from rankloop.lab.report.curve_charts import MOST_LINES, Legend, axis_title, learning_curves, legend_of
from rankloop.lab.report.page import GUIDE, STYLE
from rankloop.lab.report.profile import fold_profiles, position_profile
from rankloop.lab.report.result_tables import summary_html
from rankloop.lab.report.worst_table import worst_html
from rankloop.lab.simulation.known_measures import NONE, measure_of, point_of
from rankloop.lab.simulation.measures import Measure, Measures
from rankloop.lab.sweeps.files import write_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart of the report and the name of its files."""

    name: str
    metric: str
    measure: Measure  # of a profile, one of its points
    data: str
    legend: Legend
    spec: dict[str, Any]  # for the page: interactive, without colours of light or dark
    picture: str  # the specification of the PNG and the SVG


def write_report(
    results: pl.DataFrame,
    directory: Path | str,
    *,
    title: str = "rankloop",
    notes: Mapping[str, str] | None = None,
    measures: Measures = NONE,
    about: Sequence[str] = (),
    against: Mapping[str, str] | None = None,
    outside: Collection[str] = (),
    worst_runs: bool = False,
    banner: str = "",
    queries: str = "",
    lines: int = MOST_LINES,
) -> Path:
    """Write `report.html` and the PNG and SVG of every chart into `directory`; return the page's path.

    The page needs no network: styles, data and the drawing library are inside. `notes` are shown as they are
    given: the conventions and options a reader must know to compare numbers. `measures` say what each number
    is (those of a sweep are `sweep.measures`; the usual ones are known). If the question is `about` some of
    them, these come first and only these are drawn; under them stands how much policies changed `against`
    others. Those named `outside` are shown for reference only. With `worst_runs` the worst run has a table,
    too. A `banner` stands above everything; `queries`, on how many test queries there are, under every
    offline table. A chart has at most so many `lines` and says what it leaves out. The same results
    give the same bytes.
    """
    folder = Path(directory)
    measures = {name: measure_of(name, measures) for name in results["metric"].unique(maintain_order=True)}
    rows = summarise(results, measures=measures, outside=outside)
    charts = list(_charts(fold_profiles(curves(results), measures=measures), measures, about, lines, outside))
    tables = [name for name, measure in measures.items() if not measure.profile]  # a profile has a chart only
    changes = relative_changes(results, against or {}, measures=measures)
    page = render_page(
        rows,
        charts,
        tables,
        title=title,
        notes=notes or {},
        changes=changes,
        worst_runs=worst_runs,
        runs=single_runs(results),
        banner=banner,
        queries={name: queries for name, measure in measures.items() if measure.kind == "offline"},
    )
    files = {"report.html": page.encode()}
    for chart in charts:
        files |= pictures(chart.name, chart.picture)
    for name, content in files.items():
        write_whole(folder / name, partial(Path.write_bytes, data=content))
    return folder / "report.html"


def render_page(
    rows: list[SummaryRow],
    charts: list[Chart],
    tables: Sequence[str],
    *,
    title: str,
    notes: Mapping[str, str],
    changes: Sequence[Change] = (),
    worst_runs: bool = False,
    runs: SingleRuns | None = None,
    banner: str = "",
    queries: Mapping[str, str] | None = None,
) -> str:
    """The page as text, with the charts and a table of each of these metrics.

    Every name in it is escaped, and only our own two scripts may run.
    """
    table = partial(_table, rows, runs=runs or {}, queries=queries or {})
    drawn = list(dict.fromkeys(chart.metric for chart in charts))
    sections = "\n".join(_section(rows, charts, changes, metric, worst_runs, table) for metric in drawn)
    others = [metric for metric in tables if metric not in drawn]
    script = read_vega()
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_policy(script, DRAW)}">
<title>{html.escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
{f'<p class="banner" role="note">{html.escape(banner)}</p>' if banner else ""}
<h1>{html.escape(title)}</h1>
<p class="lead">{html.escape(_lead(rows))}</p>
{_notes(notes)}
<details open><summary>How to read this page</summary>
{GUIDE}
</details>
{sections}
{_others(others, table)}
<footer>Made by rankloop. Each chart is also beside this page as PNG and SVG.</footer>
</main>
{json_element("schemes", SCHEMES)}
{"".join(json_element(f"spec-{chart.name}", chart.spec) for chart in charts)}
<script>{script}</script>
<script>{DRAW}</script>
</body>
</html>
"""


def _charts(
    frame: pl.DataFrame, measures: Measures, about: Sequence[str], lines: int, outside: Collection[str]
) -> Iterator[Chart]:
    several = frame["data"].n_unique() > 1
    taken: set[str] = set()
    pairs = frame.select("metric", "data").unique(maintain_order=True).rows()
    chosen = [pair for metric in about for pair in pairs if pair[0] == metric] or pairs
    for metric, data in chosen:
        measure = measures[metric] if metric in measures else point_of(metric, measures)
        short = measure.short or metric
        name = _file_name(f"{short} {data}" if several else short, taken)
        options: dict[str, Any] = {
            "metric": metric,
            "data": data,
            "measures": measures,
            "lines": lines,
            "outside": outside,
        }
        draw = position_profile if measure.profile else learning_curves
        spec = draw(frame, **options, interactive=True).to_dict()
        spec.pop("config")
        yield Chart(
            name=name,
            metric=metric,
            measure=measure,
            data=data if several else "",
            legend=legend_of(frame, **options),
            spec=spec,
            picture=draw(frame, **options).to_json(),
        )


def _table(rows: list[SummaryRow], metric: str, *, runs: SingleRuns, queries: Mapping[str, str]) -> str:
    return summary_html(rows, metric=metric, note=queries.get(metric, ""), runs=runs)


def _others(metrics: Sequence[str], table: Callable[[str], str]) -> str:
    """Tables of what was measured besides, folded away."""
    if not metrics:
        return ""
    tables = "\n".join(f"<h3>{html.escape(metric)}</h3>\n{table(metric)}" for metric in metrics)
    return f"<details><summary>What else was measured</summary>\n{tables}\n</details>"


def _section(
    rows: list[SummaryRow],
    charts: list[Chart],
    changes: Sequence[Change],
    metric: str,
    worst_runs: bool,
    table: Callable[[str], str],
) -> str:
    own = [chart for chart in charts if chart.metric == metric]
    figures, measure = "".join(map(_figure, own)), own[0].measure
    meaning = measure.meaning or axis_title(measure)
    tables = "" if measure.profile else table(metric)
    if worst_runs and tables:
        tables += f"\n{worst_html(rows, metric=metric)}"
    if any(change.metric == metric for change in changes):
        tables += f"\n{change_html(changes, metric=metric)}"
    return (
        f'<section>\n<h2>{html.escape(metric)}</h2>\n<p class="meaning">{html.escape(meaning)}</p>\n'
        f"{figures}{tables}\n</section>"
    )


def _figure(chart: Chart) -> str:
    caption = f"<figcaption>{html.escape(chart.data)}</figcaption>" if chart.data else ""
    drawing = f'<div class="chart" data-spec="spec-{chart.name}"></div>'
    return f"<figure>{caption}{drawing}{_key(chart.legend)}</figure>\n"


def _key(legend: Legend) -> str:
    """What the short names of a chart stand for, and what it leaves out; nothing, if all is there."""
    items = [
        f"<dt>{html.escape(brief)}</dt><dd>{html.escape(name)}</dd>" for brief, name in legend.key.items()
    ]
    if legend.left_out:
        names = html.escape("; ".join(legend.left_out))
        items.append(f"<dt>not drawn</dt><dd>{names} (<code>rankloop report --lines</code> draws more)</dd>")
    return f'<dl class="key">{"".join(items)}</dl>' if items else ""


def _lead(rows: list[SummaryRow]) -> str:
    policies, users, data = ({getattr(row, name) for row in rows} for name in ("policy", "user", "data"))
    runs, rounds = max(row.runs for row in rows), max(row.round for row in rows)
    counted = (
        f"{len(policies)} {'policy' if len(policies) == 1 else 'policies'}",
        f"{len(users)} {'user' if len(users) == 1 else 'users'}",
        f"{runs} {'run' if runs == 1 else 'runs'} of {rounds:,} rounds each",
    )
    where = data.pop() if len(data) == 1 else f"{len(data)} data sets"
    return f"{', '.join(counted)}, on {where}."


def _notes(notes: Mapping[str, str]) -> str:
    if not notes:
        return ""
    items = "".join(
        f"<dt>{html.escape(key)}</dt><dd>{html.escape(text)}</dd>\n" for key, text in notes.items()
    )
    return f"<section>\n<h2>What was run</h2>\n<dl>{items}</dl>\n</section>"


def _policy(*scripts: str) -> str:
    """Let nothing be fetched and nothing run but these scripts (Vega compiles its expressions: eval)."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return f"default-src 'none'; script-src {allowed} 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"


def _file_name(text: str, taken: set[str]) -> str:
    """A short plain file name: `offline`, `regret`; numbered if two charts would share it."""
    words = re.findall(r"[a-z0-9]+", text.casefold()) or ["chart"]
    name = base = "-".join(words)[:60]
    number = 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    taken.add(name)
    return name
