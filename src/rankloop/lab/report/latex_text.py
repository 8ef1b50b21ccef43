r"""Tables and captions in LaTeX (booktabs), as they stand in a paper."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rankloop.lab.analysis.policy_summaries import SummaryRow
from rankloop.lab.report.result_tables import Layout, Line, arrange, mark, span
from rankloop.lab.report.series_names import key, short_names

HEAD = "% Written by rankloop. Needs the packages booktabs (tables), graphicx (PDF) or svg (SVG).\n"
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "±": r"$\pm$",
    "²": r"\textsuperscript{2}",
    "–": "--",
    "ε": r"$\varepsilon$",
    "λ": r"$\lambda$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
}
DAGGERS = {"": "", "▽": r"^{\dagger}", "▼": r"^{\ddagger}"}
NARROW = 1  # users whose columns have room in one column of a paper


def escape(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> print(escape("95 % of PairRank(step_size=0.1) & more"))
    95 \% of PairRank(step\_size=0.1) \& more
    """
    return "".join(SPECIAL.get(letter, letter) for letter in " ".join(text.split()))


def code(name: str) -> str:
    r"""A name in type of one width, whose lines may break between settings.

    >>> print(code("MGD(step_size=0.1)"))
    \texttt{MGD(\allowbreak{}step\_size=0.1)}
    """
    broken = escape(name).replace("(", r"(\allowbreak{}").replace(",", r",\allowbreak{}")
    return rf"\texttt{{{broken}}}"


def summary_latex(
    rows: Sequence[SummaryRow],
    *,
    metric: str,
    queries: Mapping[str, str] | None = None,
    outside: Collection[str] = (),
    remark: str = "",
) -> str:
    r"""The summary of one metric as a LaTeX table: best in bold, daggers for what is significantly worse.

    `queries` says for each dataset how many test queries the means rest on; those named `outside` do not
    compete and are set in italics. Beside each mean of several runs stands its worst run. Long names of
    policies are shortened, and the key stands below. A `remark` ends the caption.
    """
    layout = arrange(rows, metric=metric)
    short = short_names(line.policy for line in layout.lines)
    star = "" if len(layout.users) <= NARROW else "*"
    return "\n".join(
        [
            rf"\begin{{table{star}}}[t]",
            r"\centering\small",
            rf"\caption{{{_caption(rows, layout, queries or {}, outside, remark)}}}",
            rf"\label{{tab:{slug(metric)}}}\smallskip",
            rf"\begin{{tabular}}{{l{'r' * len(layout.users)}}}",
            r"\toprule",
            " & ".join(["policy", *map(escape, layout.users)]) + r" \\",
            *_body(layout, short, outside),
            r"\bottomrule",
            r"\end{tabular}",
            *below(key_told(short)),
            rf"\end{{table{star}}}",
            "",
        ]
    )


def below(note: str) -> list[str]:
    r"""A note below a table or a caption, in small type and ragged: names of one width tear justified lines.

    >>> print(*below("Key: a: b."))
    \par\smallskip{\footnotesize\raggedright Key: a: b.\par}
    """
    return [rf"\par\smallskip{{\footnotesize\raggedright {note}\par}}"] if note else []


def key_told(short: Mapping[str, str]) -> str:
    """What short names stand for, as a sentence of a note; empty if all are whole."""
    pairs = [f"{escape(brief)}: {code(name)}" for brief, name in key(dict(short)).items()]
    return f"Key: {'; '.join(pairs)}." if pairs else ""


def queries_sentence(queries: Mapping[str, str], data: Sequence[str]) -> str:
    """How many test queries the means of these datasets rest on, or that nobody knows."""
    known = [name for name in data if name in queries]
    if len(data) == 1 and known:
        return f"Means over {escape(queries[data[0]])}."
    told = "; ".join(f"{escape(name)}, {escape(queries[name])}" for name in known)
    unknown = [escape(name) for name in data if name not in queries]
    missing = f"How many test queries there are is not known of {', '.join(unknown)}." if unknown else ""
    return " ".join(filter(None, [f"Means over test queries: {told}." if told else "", missing]))


def runs_told(rows: Sequence[SummaryRow]) -> str:
    """How many seeds there were, and runs if each seed was run on several folds."""
    runs, seeds = (span({getattr(row, name) for row in rows}) for name in ("runs", "seeds"))
    plural = "" if seeds == "1" else "s"
    return f"{seeds} seed{plural}" if runs == seeds else f"{runs} runs ({seeds} seed{plural} on each fold)"


def slug(text: str) -> str:
    """A name for labels and files.

    >>> slug("offline nDCG@10")
    'offline-ndcg-10'
    """
    letters = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in text.casefold())
    return "-".join(letters.split()) or "metric"


def _body(layout: Layout, short: Mapping[str, str], outside: Collection[str]) -> list[str]:
    body: list[str] = []
    previous = None
    for line in layout.lines:
        if line.data != previous:
            body.append(r"\midrule")
            if layout.several_data_sets:
                columns = 1 + len(layout.users)
                body.append(rf"\multicolumn{{{columns}}}{{l}}{{\emph{{{escape(line.data)}}}}} \\")
        previous = line.data
        body.append(_line(layout, line, short, outside))
    return body


def _line(layout: Layout, line: Line, short: Mapping[str, str], outside: Collection[str]) -> str:
    name = escape(short[line.policy])
    name = rf"\textit{{{name}}}" if line.policy in outside else name
    return " & ".join([name, *(_cell(layout, cell) for cell in line.cells)]) + r" \\"


def _cell(layout: Layout, cell: SummaryRow | None) -> str:
    if cell is None:
        return "--"
    mean = _number(cell.mean, layout.decimals)
    mean = rf"\mathbf{{{mean}}}" if cell.best else mean
    half = "" if cell.half_width is None else rf" \pm {_number(cell.half_width, layout.decimals)}"
    dagger = DAGGERS[mark(cell)] or (r"\phantom{^{\ddagger}}" if layout.has_marks else "")
    return f"${mean}{half}{dagger}$" + _worst(layout, cell)


def _worst(layout: Layout, cell: SummaryRow) -> str:
    if cell.worst is None or cell.runs < 2:
        return ""
    return rf" {{\scriptsize(${_number(cell.worst, layout.decimals)}$)}}"


def _number(value: float, decimals: int) -> str:
    return f"{value:,.{decimals}f}".replace(",", "{,}")


def _caption(
    rows: Sequence[SummaryRow],
    layout: Layout,
    queries: Mapping[str, str],
    outside: Collection[str],
    remark: str,
) -> str:
    chosen = [row for row in rows if row.metric == layout.metric]
    data = list(dict.fromkeys(line.data for line in layout.lines))
    rounds = span({row.round for row in chosen})
    where = f" on {escape(data[0])}" if len(data) == 1 else ""
    single = max(row.runs for row in chosen) < 2
    over = "one run" if single else runs_told(chosen)
    what = "values of" if single else r"mean $\pm$ half of the 95\,\% Student-t interval over"
    worst = "" if single or chosen[0].worst is None else "; in parentheses the worst run"
    sentences = [
        f"{escape(layout.metric)}{where} after {rounds} rounds: {what} {over}{worst}.",
        queries_sentence(queries, data) if layout.metric.startswith("offline") else "",
        _grading(layout, chosen[0]),
        "In italics: taught by the labels, shown for reference only."
        if any(line.policy in outside for line in layout.lines)
        else "",
        escape(remark),
    ]
    return " ".join(filter(None, sentences))


def _grading(layout: Layout, row: SummaryRow) -> str:
    if row.direction is None:
        return "A description, neither better nor worse."
    better = f"{row.direction.capitalize()} is better; the best is bold."
    tests = (
        r" Worse than the best: $\dagger$~$p<.05$, $\ddagger$~$p<.01$ "
        "(paired t-test over runs, Holm-corrected)."
    )
    return better + (tests if layout.has_marks else "")
