"""One self-contained page that shows what an experiment found, with its charts as pictures beside it."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import polars as pl
import vl_convert

from rankloop.experiments.charts import axis_title, chart_config, learning_curves
from rankloop.experiments.files import write_whole
from rankloop.experiments.statistics import SummaryRow, curves, summarise
from rankloop.experiments.table import summary_html

MEANINGS = {
    "offline": "How good is what was learned? The ranking without exploration, on queries never trained on.",
    "online": "How good were the lists people saw? With exploration, averaged since the last checkpoint.",
    "cumulative": "What did people get in total while it learned? Early rounds weigh most.",
    "pairwise": "What did learning cost? All pairs shown the wrong way round so far; flat is free.",
}

GUIDE = """
<p>A <b>policy</b> ranks documents, sees what a <b>user</b> clicks, learns, and ranks again: that is one
<b>round</b>. The users are simulated, so the true relevance is known and every list can be graded. All
policies meet the same queries; several independent <b>runs</b> show how much is luck.</p>
<ul>
<li><b>Lines</b> are means over runs; the <b>bands</b> around them are 95&nbsp;% confidence intervals. Where
bands overlap widely, do not conclude that one policy is better.</li>
<li><b>Panels</b> are user models; all panels of a chart share one scale.</li>
<li><b>Tables</b> show the last round. <b>Bold</b> is the best; ▽ and ▼ are worse than the best beyond luck.
No mark means that this experiment could not tell them apart.</li>
<li>Point at a line for its numbers; click a name in a legend to single a policy out, twice to go back.</li>
</ul>"""

STYLE = """
:root { color-scheme: light dark;
  --ink: #1f2328; --soft: #59636e; --line: #e3e6ea; --paper: #ffffff; --page: #f6f7f9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --soft: #9aa4af; --line: #33383f; --paper: #16181c; --page: #0e1013; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 40px 20px 64px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 21px; margin: 0; overflow-wrap: anywhere; }
.lead, .meaning, caption, footer { color: var(--soft); }
.lead { margin: 0 0 24px; } .meaning { margin: 2px 0 18px; }
section, details { background: var(--paper); border: 1px solid var(--line); border-radius: 10px;
  padding: 22px 24px; margin: 18px 0; overflow-x: auto; }
details { padding: 14px 24px; } summary { cursor: pointer; font-weight: 600; }
figure { margin: 0 0 18px; } .chart { min-height: 330px; } figcaption { font-weight: 600; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: min(100%, 880px); }
caption { caption-side: bottom; text-align: left; font-size: 13.5px; line-height: 1.5; padding-top: 12px; }
th, td { padding: 6px 18px 6px 0; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
th[scope=row], th.name { text-align: left; }
thead th { color: var(--soft); font-weight: 600; font-size: 14px; }
th[scope=row] { font-weight: 500; } td.best { font-weight: 700; }
dl { display: grid; grid-template-columns: fit-content(40%) 1fr; gap: 6px 22px; margin: 12px 0 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
footer { font-size: 13.5px; margin-top: 28px; }
"""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart of the report and the name of its files."""

    name: str
    metric: str
    data: str
    spec: dict[str, Any]  # for the page: interactive, without colours of light or dark
    picture: str  # the specification of the PNG and the SVG


def write_report(
    results: pl.DataFrame,
    directory: Path | str,
    *,
    title: str = "rankloop",
    notes: Mapping[str, str] | None = None,
) -> Path:
    """Write `report.html` and the PNG and SVG of every chart into `directory`; return the page's path.

    The page needs no network: styles, data and the drawing library are inside. `notes` are shown as
    they are given: the conventions and options a reader must know to compare numbers. The same
    results give the same bytes.
    """
    folder = Path(directory)
    rows, charts = summarise(results), list(_charts(curves(results)))
    files = {"report.html": render_page(rows, charts, title=title, notes=notes or {}).encode()}
    for chart in charts:
        files[f"{chart.name}.svg"] = _numbered(vl_convert.vegalite_to_svg(chart.picture)).encode()
        files[f"{chart.name}.png"] = vl_convert.vegalite_to_png(chart.picture, scale=2)
    for name, content in files.items():
        write_whole(folder / name, partial(Path.write_bytes, data=content))
    return folder / "report.html"


def render_page(rows: list[SummaryRow], charts: list[Chart], *, title: str, notes: Mapping[str, str]) -> str:
    """The page as text; every name in it is escaped, and only our own two scripts may run."""
    metrics = list(dict.fromkeys(row.metric for row in rows))
    sections = "\n".join(_section(rows, charts, metric) for metric in metrics)
    schemes = {"light": chart_config(dark=False), "dark": chart_config(dark=True)}
    library = _library()
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_policy(library, DRAW)}">
<title>{html.escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>{html.escape(title)}</h1>
<p class="lead">{html.escape(_lead(rows))}</p>
{_notes(notes)}
<details open><summary>How to read this page</summary>
{GUIDE}
</details>
{sections}
<footer>Made by rankloop. Each chart is also beside this page as PNG and SVG.</footer>
</main>
{_json("schemes", schemes)}
{"".join(_json(f"spec-{chart.name}", chart.spec) for chart in charts)}
<script>{library}</script>
<script>{DRAW}</script>
</body>
</html>
"""


def _charts(frame: pl.DataFrame) -> Iterator[Chart]:
    several = frame["data"].n_unique() > 1
    taken: set[str] = set()
    for metric, data in frame.select("metric", "data").unique(maintain_order=True).iter_rows():
        name = _file_name(f"{metric} {data}" if several else metric, taken)
        spec = learning_curves(frame, metric=metric, data=data, interactive=True).to_dict()
        spec.pop("config")
        picture = learning_curves(frame, metric=metric, data=data).to_json()
        yield Chart(name=name, metric=metric, data=data if several else "", spec=spec, picture=picture)


def _section(rows: list[SummaryRow], charts: list[Chart], metric: str) -> str:
    figures = "".join(_figure(chart) for chart in charts if chart.metric == metric)
    meaning = MEANINGS.get(metric.partition(" ")[0], axis_title(metric))
    return (
        f'<section>\n<h2>{html.escape(metric)}</h2>\n<p class="meaning">{html.escape(meaning)}</p>\n'
        f"{figures}{summary_html(rows, metric=metric)}\n</section>"
    )


def _figure(chart: Chart) -> str:
    caption = f"<figcaption>{html.escape(chart.data)}</figcaption>" if chart.data else ""
    return f'<figure>{caption}<div class="chart" data-spec="spec-{chart.name}"></div></figure>\n'


def _lead(rows: list[SummaryRow]) -> str:
    counts = {name: len({getattr(row, name) for row in rows}) for name in ("policy", "user", "data")}
    plural = {"policy": "policies", "user": "users", "data": "data sets"}
    single = {"policy": "policy", "user": "user", "data": "data set"}
    parts = [f"{n} {single[name] if n == 1 else plural[name]}" for name, n in counts.items()]
    runs, rounds = max(row.runs for row in rows), max(row.round for row in rows)
    return f"{', '.join(parts)}, {runs} {'run' if runs == 1 else 'runs'} of {rounds:,} rounds each."


def _notes(notes: Mapping[str, str]) -> str:
    if not notes:
        return ""
    items = "".join(
        f"<dt>{html.escape(key)}</dt><dd>{html.escape(text)}</dd>\n" for key, text in notes.items()
    )
    return f"<section>\n<h2>What was run</h2>\n<dl>{items}</dl>\n</section>"


def _json(identity: str, value: object) -> str:
    """Data for our script; no text inside can end the element, because no `<` is left in it."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{identity}">{text}</script>\n'


def _policy(*scripts: str) -> str:
    """Let nothing be fetched and nothing run but these scripts (Vega compiles its expressions: eval)."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return f"default-src 'none'; script-src {allowed} 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"


# The one name our script uses; vl-convert's default makes more of them global.
_EXPOSE = "window.vegaEmbed = vegaEmbed;"


@lru_cache(maxsize=1)
def _library() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script; bundling takes seconds, so once per process."""
    bundle = str(vl_convert.javascript_bundle(_EXPOSE))
    assert "</script" not in bundle.lower()
    return bundle


def _numbered(svg: str) -> str:
    """The picture with its clip paths numbered from 0: Vega counts on from the picture before."""
    names: dict[str, str] = {}
    return re.sub(r"\bclip\d+\b", lambda found: names.setdefault(found[0], f"clip{len(names)}"), svg)


def _file_name(text: str, taken: set[str]) -> str:
    """A short plain file name: `offline`, `regret`; numbered if two metrics would share it."""
    words = re.findall(r"[a-z0-9]+", re.sub(r"ndcg@\d+|pairwise", " ", text.casefold())) or ["chart"]
    name = base = "-".join(words)[:60]
    number = 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    taken.add(name)
    return name
