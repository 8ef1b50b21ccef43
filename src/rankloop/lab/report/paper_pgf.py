r"""Figures for a paper as pgfplots source: text that LaTeX draws, in the type of the paper itself.

Its numbers are those of the other formats, as coordinates of the data, so that a line can be read, changed or
drawn anew where the paper is written. It needs `\usepackage{pgfplots}` and `\usepgfplotslibrary{groupplots}`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import polars as pl

from rankloop.lab.report.chart_lines import LETTER, Drawing
from rankloop.lab.report.curve_charts import band_strength, has_bands, thinned
from rankloop.lab.report.latex_text import escape
from rankloop.lab.report.series_names import Stroke

GAP = 12  # points between panels that stand beside each other
NEXT = r"\pgfmatrixnextcell"  # not &, which a name may have
STROKE = 14  # points of the line beside a name in the legend
MOST_TICKS = 6
FURTHEST = (
    10  # heights of a panel: what lies further outside of it is drawn as far, or TeX could not compute it
)
EDGES = ",".join(
    f"{what} at=edge {side}"
    for side, axis in (("bottom", "x"), ("left", "y"))
    for what in (f"{axis}labels", f"{axis}ticklabels")
)


def pgf_picture(drawing: Drawing) -> str:
    """The `tikzpicture` of a figure, as wide as asked to a few points, whatever the type of the paper."""
    size = drawing.style.font_size
    colours = [
        rf"\definecolor{{rankloop{index}}}{{HTML}}{{{stroke.colour[1:]}}}% {escape(name)}"
        for index, (name, stroke) in enumerate(drawing.lines.items())
    ]
    return "\n".join(
        [
            r"% Needs \usepackage{pgfplots}, \usepgfplotslibrary{groupplots} and \pgfplotsset{compat=1.16}.",
            rf"\begin{{tikzpicture}}[font={_font(size)}]",
            *colours,
            rf"\begin{{groupplot}}[{_axes(drawing)}]",
            *(line for index in range(len(drawing.users)) for line in _panel(drawing, index)),
            r"\end{groupplot}",
            *_legend(drawing),
            r"\end{tikzpicture}",
            "",
        ]
    )


def ticks(low: float, high: float) -> list[float]:
    """Round numbers between two others, at most six of them.

    >>> ticks(0, 1000)
    [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]
    >>> ticks(0.41, 0.68)
    [0.45, 0.5, 0.55, 0.6, 0.65]
    """
    unit = 10.0 ** math.floor(math.log10(high - low)) / 10
    for factor in (1, 2, 5, 10, 20, 50):
        step = unit * factor
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < MOST_TICKS:
            break
    return [float(f"{number * step:.10g}") for number in range(first, last + 1)]


def logarithmic_ticks(low: float, high: float) -> list[float]:
    """Those that begin with 1, 2 or 5, of many only the powers of ten; if there are not two, round numbers.

    >>> logarithmic_ticks(10, 1000), logarithmic_ticks(3, 70000)
    ([10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0], [10.0, 100.0, 1000.0, 10000.0])
    >>> logarithmic_ticks(0.58, 0.71)
    [0.6, 0.65, 0.7]
    """
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    within = [
        [float(f"{factor * 10.0**decade:.10g}") for decade in decades for factor in factors]
        for factors in ((1, 2, 5), (1,))
    ]
    fine, coarse = ([tick for tick in every if low <= tick <= high] for every in within)
    if len(fine) < 2 and low < high:
        return ticks(low, high)
    return fine if len(fine) <= MOST_TICKS + 1 or len(coarse) < 2 else coarse


def short_number(value: float) -> str:
    """A number as an axis labels it.

    >>> short_number(0.45), short_number(1000.0), short_number(2.5e6), short_number(-20.0)
    ('0.45', '1k', '2.5M', '-20')
    """
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return f"{value / unit:g}{letter}"
    return f"{value:g}"


def _axes(drawing: Drawing) -> str:
    """What the panels have in common: their size, their axes, and that they stand below or beside."""
    users, size = len(drawing.users), drawing.style.font_size
    (low, high), rounds = drawing.span, _rounds(drawing)
    values = logarithmic_ticks(low, high) if drawing.log_values else ticks(low, high)
    labels = max(len(short_number(tick)) for tick in values) * LETTER * size + 4
    title, half_label = 1.6 * size, 1.1 * size  # the name of the axis; half of the last round sticks out
    across = users if drawing.beside else 1
    room = drawing.style.width - labels - title - half_label - GAP * (across - 1)
    width = math.floor(room / across)
    height = max(round(width * (0.75 if drawing.beside else 0.42)), 70)
    shape = f"{users} by 1" if drawing.beside else f"1 by {users}"
    gaps = f"horizontal sep={GAP}pt" if drawing.beside else f"vertical sep={round(2.4 * size)}pt"
    options = [
        rf"group style={{group size={shape},{gaps},{EDGES}}}",
        f"scale only axis,width={width}pt,height={height}pt",
        *(f"{axis}mode=log" for axis, log in (("x", drawing.log_rounds), ("y", drawing.log_values)) if log),
        f"xmin={rounds[0]:g},xmax={rounds[1]:g},ymin={low:.6g},ymax={high:.6g}",
        f"restrict y to domain*={_reach(drawing)}",
        _ticks("x", _round_ticks(drawing)),
        _ticks("y", values),
        rf"xlabel={{rounds}},ylabel={{{escape(drawing.measure.name)}}}",
        r"minor tick num=0,minor tick style={draw=none},scaled ticks=false",
        r"axis x line*=bottom,axis y line*=left,axis line style={black!60},tick style={black!60}",
        r"ymajorgrids,grid style={black!12,line width=.4pt},tick align=outside,major tick length=2pt",
        r"label style={inner sep=1pt},tick label style={inner sep=1pt}",
        rf"title style={{font={_font(size)}\bfseries,inner sep=0pt,at={{({0.5 if drawing.beside else 0},1)}},"
        rf"anchor=base{'' if drawing.beside else ' west'},yshift=-3pt}}",
    ]
    return "\n  " + ",\n  ".join(options)


def _font(size: int) -> str:
    return rf"\fontsize{{{size}}}{{{1.2 * size:g}}}\selectfont"


def _ticks(axis: str, values: Sequence[float]) -> str:
    labels = ",".join(map(short_number, values))
    return f"{axis}tick={{{','.join(f'{value:g}' for value in values)}}},{axis}ticklabels={{{labels}}}"


def _rounds(drawing: Drawing) -> tuple[int, int]:
    """Where the axis of the rounds begins and ends."""
    low, high = drawing.means.select(low=pl.col("round").min(), high=pl.col("round").max()).row(0)
    return (low if drawing.log_rounds else 0), high


def _round_ticks(drawing: Drawing) -> list[float]:
    low, high = _rounds(drawing)
    return logarithmic_ticks(low, high) if drawing.log_rounds else ticks(low, high)


def _reach(drawing: Drawing) -> str:
    low, high = drawing.span
    if drawing.log_values:
        return f"{low / FURTHEST:.6g}:{high * FURTHEST:.6g}"
    return f"{low - FURTHEST * (high - low):.6g}:{high + FURTHEST * (high - low):.6g}"


def _panel(drawing: Drawing, index: int) -> Iterator[str]:
    """A panel: its user, the bands of all policies, and their lines in front of them."""
    user = drawing.users[index]
    yield rf"\nextgroupplot[title={{{escape(user)}}}]"
    means = thinned(drawing.means.filter(pl.col("user") == user))
    curves = {name: means.filter(pl.col("policy") == name).sort("round") for name in drawing.lines}
    if has_bands(drawing.means):
        strength = band_strength(len(drawing.lines))
        for number, curve in enumerate(curves.values()):
            style = f"draw=none,fill=rankloop{number},fill opacity={strength:.2g}"
            if band := _band(curve, drawing):
                yield rf"\addplot[{style}] coordinates {{{band}}} -- cycle;"
    for number, (name, curve) in enumerate(curves.items()):
        points = " ".join(f"({at},{mean:g})" for at, mean in curve.select("round", "mean").rows())
        style = f"rankloop{number},line width=.8pt,line join=round{_dashes(drawing.lines[name])}"
        yield rf"\addplot[{style}] coordinates {{{points}}};% {escape(name)}"


def _band(curve: pl.DataFrame, drawing: Drawing) -> str:
    """The outline of a band: its lower edge, and the upper one back; empty, if there was a single run."""
    least = drawing.span[0] / FURTHEST if drawing.log_values else -math.inf
    edges = curve.select("round", "low", "high").drop_nulls()
    there = [(at, max(low, least)) for at, low, _ in edges.rows()]
    back = [(at, high) for at, _, high in edges.rows()[::-1]]
    return " ".join(f"({at},{value:g})" for at, value in there + back)


def _dashes(stroke: Stroke) -> str:
    lengths = stroke.dash
    if len(lengths) < 2 or not lengths[1]:
        return ""
    words = (f"{word} {length / 2:g}pt" for word, length in zip(["on", "off"] * 2, lengths, strict=False))
    return f",dash pattern={' '.join(words)}"


def _legend(drawing: Drawing) -> Iterator[str]:
    """The names below all panels, each after its stroke, in as many columns as have room."""
    columns = drawing.legend_columns
    yield (
        r"\matrix[anchor=north,inner sep=1pt,row sep=0pt,column sep=2pt,"
        r"nodes={anchor=mid west,inner sep=1pt}] at (current bounding box.south) {"
    )
    entries = [
        rf"\draw[rankloop{number},line width=1.1pt{_dashes(stroke)}] (0,0)--({STROKE}pt,0);"
        rf" {NEXT} \node{{{escape(name)}}};"
        for number, (name, stroke) in enumerate(drawing.lines.items())
    ]
    for start in range(0, len(entries), columns):
        yield f" {NEXT}[6pt] ".join(entries[start : start + columns]) + r" \pgfmatrixendrow"
    yield "};"
